#include "view/place_facts.h"

#include <stdlib.h>

#include "base/mem.h"

static void facts_free(void *facts)
{
    struct place_facts *f = facts;
    free(f->issue);
    free(f);
}

struct view_blob *place_blob_new(const char *etag, char *body, bool is_frozen, const char *issue)
{
    struct place_facts *f = MEM_NEW(struct place_facts);
    f->is_frozen = is_frozen;
    f->issue = mem_strdup(issue);
    return view_blob_new(etag, body, 0, f, facts_free);
}
