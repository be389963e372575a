/*
 * The configuration in force. The loop thread puts another one in its place; HTTP threads look at it without
 * a lock, between enter and leave (base/epoch.h): it is freed when nobody can look at it any more.
 */
#ifndef CONFIG_CURRENT_H
#define CONFIG_CURRENT_H

#include "config/config.h"

struct config_current;

/* The configuration in force belongs to who frees this, each one that is replaced to this. */
struct config_current *config_current_new(const struct config *first);
/* No thread is inside. NULL is allowed. */
void config_current_free(struct config_current *current);

/* Any thread that does not block meanwhile; not nested. */
void config_current_enter(struct config_current *current);
void config_current_leave(struct config_current *current);
/* Valid until leave. On the loop thread, without enter: until it is replaced. */
const struct config *config_current_get(const struct config_current *current);

/* Loop thread: takes `next`; the one before is freed, now or with a later replacement. */
void config_current_replace(struct config_current *current, const struct config *next);

#endif
