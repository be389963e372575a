/* Shared by the files of the fake backend only: what a change does to its tables, and reading them. */
#ifndef STORAGE_FAKE_FAKE_PRIVATE_H
#define STORAGE_FAKE_FAKE_PRIVATE_H

#include "storage/fake/tables.h"

enum store_status fake_apply_change(struct fake_tables *t, struct change *change);
enum store_status fake_read_all(const struct fake_tables *t, const struct store_visitor *visitor);
void fake_read_events(const struct fake_tables *t, const struct event_query *query,
                      struct event_page *ret_page);
/* NULL when there is none. The caller owns it. */
struct event *fake_read_event(const struct fake_tables *t, const char *id);
void fake_read_deliveries(const struct fake_tables *t, const struct delivery_query *query,
                          struct delivery **ret_array, size_t *ret_count);

/* NULL when there is none. The caller owns it. */
struct replay *fake_read_replay(const struct fake_tables *t, const char *key);
void fake_read_audit(const struct fake_tables *t, const struct audit_query *query,
                     struct audit_page *ret_page);

#endif
