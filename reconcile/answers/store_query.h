/* Queries of commands to the store's reader. A query runs on the reader thread; its result returns to the
 * loop as a task. */
#ifndef RECONCILE_ANSWERS_STORE_QUERY_H
#define RECONCILE_ANSWERS_STORE_QUERY_H

#include "loop/loop.h"
#include "model/kept.h"
#include "model/command.h"
#include "storage/storage.h"

struct store_query;

/* Decides the command of the query by its result. Returns the problem with which the command is answered;
 * NULL: the command was taken over. */
typedef struct problem *query_end(struct store_query *s);

/* A query and its result. The kind of query decides which of the five results is set; after a failure no
 * result is set. */
struct store_query {
    struct loop_task task;
    query_end *on_found; /* called at the end of the turn */
    struct list found;   /* in turn.found (world/world.h), from the result to the end of that turn */
    struct command *cmd;
    enum store_status status;
    struct event_page *events;
    struct audit_page *audit;
    struct replay *replay;
    struct operation_page *operations;
    struct delivery *deliveries;
    size_t count; /* the number of deliveries */
};

/*
 * Makes a query for the command, to pass to storage_query_... together with one of the functions below.
 * `on_found` runs at the end of the turn that brought the result. Loop thread.
 */
struct store_query *store_query_question(struct command *cmd, query_end *on_found);
/* Frees the query and its result. */
void store_query_free(struct store_query *s);

/* The store calls these functions; `ctx` is the query; the result is taken over. The functions run on the
 * reader thread, and only post the query to the loop. */
void store_query_events(void *ctx, enum store_status status, struct event_page *page);
void store_query_audit(void *ctx, enum store_status status, struct audit_page *page);
void store_query_replay(void *ctx, enum store_status status, struct replay *replay);
void store_query_operations(void *ctx, enum store_status status, struct operation_page *page);
void store_query_deliveries(void *ctx, enum store_status status, struct delivery *array, size_t count);

#endif
