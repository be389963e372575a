/*
 * A request in the form of libmicrohttpd, made from bytes: a request line and header fields, parsed in place
 * and leniently, like version 0.9.75. This file also replaces the functions of libmicrohttpd that the checks
 * of a request call.
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
    const char *key, *value; /* `value` is NULL when there is none */
    size_t key_len, value_len;
};

struct http_pairs {
    struct http_pair items[HTTP_INPUT_MAX];
    size_t count;
};

struct http_input {
    const char *method, *target, *version;
    size_t target_len; /* the length of the path and the query */
    const char *body;
    struct MHD_Connection *mhd;
};

/* Parses `text`, which is changed and must stay valid as long as the result. False when it is no request. */
bool http_input_read(char *text, struct http_input *ret);
/* Parses the parameters of a query, in place. */
void http_input_query(char *query, struct http_input *ret);

/* A server with an empty view, one project "team-a", and an admin with the token HTTP_INPUT_TOKEN, who makes
 * the requests. */
#define HTTP_INPUT_TOKEN "shd_fuzzfuzzfuzzfuzzfuzzfuzzfuzzfuzz1mhqWy"
struct http *http_input_server(void);

#endif
