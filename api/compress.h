/*
 * gzip of answers (HT-53). Strong entity tags differ per coding: "x" and "x-gz" are one version in two forms,
 * and preconditions take either (api/conditional.h). Prepared bodies are coded once and kept beside
 * themselves; made ones each time. Whatever fails, the plain answer goes out. The worker of the request.
 */
#ifndef API_COMPRESS_H
#define API_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "api/request.h"
#include "view/view.h"

/* Whether answers of the route of `r` may come coded at all: not where secrets are. */
bool compress_is_possible(const struct request *r);
/* Chooses the form of r->answer by Accept-Encoding; a 304 has the form whose tag the client named. */
void compress_answer(struct request *r);

/* Whether an Accept-Encoding value wants gzip rather than nothing. NULL and "" do not. Pure. */
bool compress_is_wanted(const char *accept_encoding);
/* The gzip form; NULL when there is no memory for it or it is no smaller. The caller frees it. Pure. */
struct view_coded *compress_bytes(const char *bytes, size_t len, int level);

#endif
