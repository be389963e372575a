/*
 * The current configuration. The loop thread replaces it. HTTP threads read it without a lock, between enter
 * and leave (base/epoch.h). An old configuration is freed when no thread can read it any more.
 */
#ifndef CONFIG_CURRENT_H
#define CONFIG_CURRENT_H

#include "config/config.h"

struct config_current;

/* `first` is the current configuration. A configuration is freed after config_current_replace has replaced
 * it. */
struct config_current *config_current_new(const struct config *first);
/* Does not free the current configuration, which then belongs to the caller. No thread may be between enter
 * and leave. NULL is allowed. */
void config_current_free(struct config_current *current);

/* Called on any thread that does not block before leave. Calls must not be nested. */
void config_current_enter(struct config_current *current);
void config_current_leave(struct config_current *current);
/* Returns the current configuration, which is valid until leave. The loop thread needs no enter: for it the
 * configuration is valid until it is replaced. */
const struct config *config_current_get(const struct config_current *current);

/* Takes over `next`. The previous configuration is freed now, or at a later replacement. Loop thread. */
void config_current_replace(struct config_current *current, const struct config *next);

#endif
