/*
 * The handlers of the route table, one per operation. Each runs on the worker of its request after all checks
 * that the table declares. It fills r->http.answer, suspends the request (api/commands.h), or returns a
 * problem. A handler never blocks.
 */
#ifndef API_RESOURCES_HANDLERS_H
#define API_RESOURCES_HANDLERS_H

struct problem;
struct request;

/* dashboard.c */
struct problem *handle_dashboard(struct request *r);
struct problem *handle_dashboard_file(struct request *r);
/* health.c */
struct problem *handle_livez(struct request *r);
struct problem *handle_readyz(struct request *r);
/* meta.c */
struct problem *handle_metrics(struct request *r);
struct problem *handle_version(struct request *r);
struct problem *handle_openapi_yaml(struct request *r);
struct problem *handle_openapi_json(struct request *r);
struct problem *handle_auth(struct request *r);
struct problem *handle_whoami(struct request *r);
struct problem *handle_problem(struct request *r);
/* projects.c */
struct problem *handle_projects(struct request *r);
struct problem *handle_project(struct request *r);
struct problem *handle_location_confirm(struct request *r);
struct problem *handle_catalog(struct request *r);
struct problem *handle_durations(struct request *r);
/* freeze.c */
struct problem *handle_freezes(struct request *r);
struct problem *handle_freeze_put(struct request *r);
struct problem *handle_freeze_delete(struct request *r);
/* backups.c */
struct problem *handle_backups(struct request *r);
struct problem *handle_backup_create(struct request *r);
/* reload.c */
struct problem *handle_last_reload(struct request *r);
struct problem *handle_reload(struct request *r);
/* cluster_list.c */
struct problem *handle_clusters(struct request *r);
/* summary.c */
struct problem *handle_summary(struct request *r);
/* issues.c */
struct problem *handle_issues(struct request *r);
struct problem *handle_all_issues(struct request *r);
/* clusters.c */
struct problem *handle_cluster_create(struct request *r);
struct problem *handle_cluster(struct request *r);
struct problem *handle_cluster_put(struct request *r);
struct problem *handle_cluster_patch(struct request *r);
struct problem *handle_cluster_delete(struct request *r);
struct problem *handle_cluster_action(struct request *r);
struct problem *handle_monitoring(struct request *r);
struct problem *handle_nodes(struct request *r);
struct problem *handle_ssh_key(struct request *r);
struct problem *handle_upgrades(struct request *r);
struct problem *handle_quota(struct request *r);
/* audit.c */
struct problem *handle_audit(struct request *r);
/* node_pools.c */
struct problem *handle_node_pools(struct request *r);
struct problem *handle_node_pool_create(struct request *r);
struct problem *handle_node_pool(struct request *r);
struct problem *handle_node_pool_put(struct request *r);
struct problem *handle_node_pool_patch(struct request *r);
struct problem *handle_node_pool_delete(struct request *r);
/* kubeconfig.c */
struct problem *handle_kubeconfig(struct request *r);
struct problem *handle_credential(struct request *r);
/* operations.c */
struct problem *handle_operations(struct request *r);
struct problem *handle_cluster_operations(struct request *r);
struct problem *handle_operation(struct request *r);
struct problem *handle_operation_cancel(struct request *r);
/* events.c */
struct problem *handle_events(struct request *r);
struct problem *handle_cluster_events(struct request *r);
struct problem *handle_stream_ticket_create(struct request *r);
/* webhooks.c */
struct problem *handle_webhooks(struct request *r);
struct problem *handle_webhook_create(struct request *r);
struct problem *handle_webhook(struct request *r);
struct problem *handle_webhook_patch(struct request *r);
struct problem *handle_webhook_delete(struct request *r);
struct problem *handle_webhook_enable(struct request *r);
struct problem *handle_webhook_rotate(struct request *r);
struct problem *handle_webhook_test(struct request *r);
struct problem *handle_webhook_recover(struct request *r);
struct problem *handle_deliveries(struct request *r);
struct problem *handle_delivery(struct request *r);
struct problem *handle_redeliver(struct request *r);
/* tokens.c */
struct problem *handle_tokens(struct request *r);
struct problem *handle_token(struct request *r);
struct problem *handle_token_create(struct request *r);
struct problem *handle_token_patch(struct request *r);
struct problem *handle_token_rotate(struct request *r);
struct problem *handle_token_delete(struct request *r);
/* accounts.c */
struct problem *handle_accounts(struct request *r);
struct problem *handle_account_login(struct request *r);
struct problem *handle_account_verify(struct request *r);

#endif
