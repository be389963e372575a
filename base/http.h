/* Syntax that both sides of HTTP share. Pure functions, any thread. */
#ifndef BASE_HTTP_H
#define BASE_HTTP_H

#include <stdbool.h>
#include <stddef.h>

/* A body in gzip form, made by those who serve it. */
struct http_coded {
    size_t len;
    char bytes[];
};

/* A token of RFC 9110 5.6.2, as the names of header fields are: letters, digits and a few signs. */
bool http_is_token(const char *text, size_t len);

#endif
