/* What lists and counts need of an account or a project, without parsing its body. Immutable; any thread. */
#ifndef VIEW_PLACE_FACTS_H
#define VIEW_PLACE_FACTS_H

#include <jansson.h>
#include <stdbool.h>

#include "view/view.h"

struct place_facts {
    bool is_frozen;
    char *issue; /* its issue as JSON text (issue_of_place in model/issues.h); NULL: nothing is wrong */
};

/* Makes the blob of an account or project; takes over `body`. `issue` may be NULL. */
struct view_blob *place_blob_new(const char *etag, char *body, bool is_frozen, const char *issue);

#endif
