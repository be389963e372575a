/*
 * The handlers of the route table, one per operation. Each runs on the worker of its request with everything
 * checked that the table declares, and either fills r->answer or parks (api/park.h). None blocks.
 */
#ifndef API_RESOURCES_HANDLERS_H
#define API_RESOURCES_HANDLERS_H

struct request;

/* health.c */
void handle_livez(struct request *r);
void handle_readyz(struct request *r);
/* meta.c */
void handle_metrics(struct request *r);
void handle_version(struct request *r);
void handle_openapi_yaml(struct request *r);
void handle_openapi_json(struct request *r);
void handle_whoami(struct request *r);
/* projects.c */
void handle_projects(struct request *r);
void handle_project(struct request *r);
void handle_location_confirm(struct request *r);
void handle_catalog(struct request *r);
/* cluster_list.c */
void handle_clusters(struct request *r);
/* summary.c */
void handle_summary(struct request *r);
/* issues.c */
void handle_issues(struct request *r);
/* clusters.c */
void handle_cluster_create(struct request *r);
void handle_cluster(struct request *r);
void handle_cluster_put(struct request *r);
void handle_cluster_patch(struct request *r);
void handle_cluster_delete(struct request *r);
void handle_cluster_action(struct request *r);
/* audit.c */
void handle_audit(struct request *r);
/* problems.c */
void handle_problem(struct request *r);
/* node_pools.c */
void handle_node_pools(struct request *r);
void handle_node_pool_create(struct request *r);
void handle_node_pool(struct request *r);
void handle_node_pool_put(struct request *r);
void handle_node_pool_patch(struct request *r);
void handle_node_pool_delete(struct request *r);
/* lookups.c */
void handle_monitoring(struct request *r);
void handle_nodes(struct request *r);
void handle_ssh_key(struct request *r);
void handle_upgrades(struct request *r);
void handle_quota(struct request *r);
/* kubeconfig.c */
void handle_kubeconfig(struct request *r);
/* credential.c */
void handle_credential(struct request *r);
/* operations.c */
void handle_operations(struct request *r);
void handle_cluster_operations(struct request *r);
void handle_operation(struct request *r);
void handle_operation_cancel(struct request *r);
/* events.c */
void handle_events(struct request *r);
void handle_cluster_events(struct request *r);
/* stream_tickets.c */
void handle_stream_ticket_create(struct request *r);
/* webhooks.c */
void handle_webhooks(struct request *r);
void handle_webhook_create(struct request *r);
void handle_webhook(struct request *r);
void handle_webhook_patch(struct request *r);
void handle_webhook_delete(struct request *r);
void handle_webhook_enable(struct request *r);
void handle_webhook_rotate(struct request *r);
void handle_webhook_test(struct request *r);
void handle_webhook_recover(struct request *r);
void handle_deliveries(struct request *r);
void handle_delivery(struct request *r);
void handle_redeliver(struct request *r);
/* tokens.c */
void handle_tokens(struct request *r);
void handle_token_create(struct request *r);
void handle_token_delete(struct request *r);
/* accounts.c */
void handle_accounts(struct request *r);
void handle_account_login(struct request *r);
void handle_account_verify(struct request *r);

#endif
