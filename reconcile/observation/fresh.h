/*
 * Readers that wait for a read of Cleura: one read for all waiting readers of a project. A reader is a
 * caller's request for fresh data, or a decision that needs it. Loop thread.
 */
#ifndef RECONCILE_OBSERVATION_FRESH_H
#define RECONCILE_OBSERVATION_FRESH_H

#include "model/command.h"
#include "reconcile/world/project.h"

/* A reader of one project. Its memory belongs to the caller; it stays valid until `done` or `dropped`. */
struct fresh_reader {
    /* ---- set by the caller; texts are borrowed ---- */
    const char *name; /* only this cluster is needed; NULL: all clusters of the project */
    mono_us until;
    bool accepts_recent;       /* the result of a read that has just ended is sufficient */
    const struct trace *trace; /* the trace of the request that waits, or NULL */
    const char *request_id;    /* the id of the request that waits, or NULL */
    /* Called when the wait has ended. The changes of the read are then durable and shown, unless the read
     * failed or was refused. */
    void (*done)(struct fresh_reader *reader, enum fresh_outcome outcome);
    /* Called in place of `done` after the loop has ended: the project does not exist any more. */
    void (*dropped)(struct fresh_reader *reader);
    /* ---- used only by fresh.c, except the project ---- */
    struct project *project;
    struct list link;
    struct loop_timer deadline;
};

void fresh_init(struct project *p);
/* Waits for a read that begins after this call. May call `done` at once. */
void fresh_read(struct project *p, struct fresh_reader *reader);
/* Called when a read starts: the read serves all readers that wait now. Returns the name of the shoot when
 * all these readers want only this shoot; otherwise NULL. */
const char *fresh_take_up(struct project *p);
/* Gives a call the trace and the request id of the first reader that the read serves. */
void fresh_call_for(const struct project *p, struct upstream_call *call);
/* Called at the end of the read for which fresh_take_up was called: ends the wait of the readers of this
 * read. */
void fresh_answer(struct project *p, bool ok);
/* Ends all waits as refused, because the project or shootd stops. */
void fresh_refuse(struct project *p);

#endif
