/*
 * The built page of dashboard/ as part of the program, in each coding in which it may be sent. Made by
 * tools/embed_dashboard.py. Constant, any thread.
 */
#ifndef API_DASHBOARD_FILES_H
#define API_DASHBOARD_FILES_H

#include <stddef.h>

enum { DASHBOARD_FORMS = 3 };

struct dashboard_form {
    const char *coding; /* "br", "gzip" or "identity" */
    const unsigned char *bytes;
    size_t len;
    const char *etag; /* a strong entity tag, in quotes; each form has its own entity tag */
};

struct dashboard_file {
    const char *name; /* the last segment of the file's path, which changes with the content */
    const char *type;
    struct dashboard_form forms[DASHBOARD_FORMS]; /* the forms: the smallest first, "identity" last */
};

/* The page; NULL in a program that was built without it. */
extern const struct dashboard_file *const dashboard_page;
/* The files that the page loads. */
extern const struct dashboard_file dashboard_files[];
extern const size_t dashboard_file_count;

#endif
