/*
 * A request as libmicrohttpd hands it over, made of bytes: a request line and header fields, taken apart in
 * place as version 0.9.75 does it, leniently. The functions of libmicrohttpd that the checks of a request
 * call are here too, in place of the library's.
 */
#ifndef FUZZ_HTTP_INPUT_H
#define FUZZ_HTTP_INPUT_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/request.h"
#include "http/http.h"

enum { HTTP_INPUT_MAX = 200 };

struct http_pair {
    const char *key, *value; /* no value: NULL */
    size_t key_len, value_len;
};

struct http_pairs {
    struct http_pair items[HTTP_INPUT_MAX];
    size_t count;
};

struct http_input {
    const char *method, *target, *version;
    size_t target_len; /* with its query */
    const char *body;
    struct MHD_Connection *mhd;
};

/* Takes `text` apart, which it changes and which has to live as long. False when it is no request. */
bool http_input_read(char *text, struct http_input *ret);
/* The parameters of a query, in place. */
void http_input_query(char *query, struct http_input *ret);

/* A server with an empty view, one project "team-a", and an admin whose token is HTTP_INPUT_TOKEN; requests
 * are made by it. */
#define HTTP_INPUT_TOKEN "shd_fuzzfuzzfuzzfuzzfuzzfuzzfuzzfuzz1mhqWy"
struct http *http_input_server(void);

#endif
