/* The path of a request target. Pure, no allocation. */
#ifndef HTTP_MESSAGE_PATH_H
#define HTTP_MESSAGE_PATH_H

#include <stdbool.h>

enum { PATH_MAX_SEGMENTS = 8 };

struct path_segments {
    const char *items[PATH_MAX_SEGMENTS]; /* decoded */
    unsigned count;                       /* 0 also for a path with more of them */
};

/* Origin-form, or absolute-form without its authority (6.5); NULL for anything else. Points into `target`. */
const char *path_of_target(const char *target);
/* Takes a path apart, in place. Why it cannot be taken at all; NULL when it is fine. */
const char *path_split(char *path, struct path_segments *ret);
/* Decodes %xx in place; false for bad escapes, NUL and bytes that are not UTF-8. */
bool percent_decode(char *text);

#endif
