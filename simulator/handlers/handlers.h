/* The operations of the simulated API, with the names of the route table. Each is called with the lock. */
#ifndef SIMULATOR_HANDLERS_HANDLERS_H
#define SIMULATOR_HANDLERS_HANDLERS_H

#include <jansson.h>
#include <stdbool.h>

struct exchange;
struct sim;

/* login.c */
void auth_create_token(struct exchange *x);
void auth_create_by_hash(struct exchange *x);
void auth_request_code(struct exchange *x);
void auth_verify_code(struct exchange *x);
void auth_validate(struct exchange *x);
void auth_revoke(struct exchange *x);
/* clusters.c */
void handle_cloud_profiles(struct exchange *x);
void handle_bootstrap(struct exchange *x);
void handle_list_shoots(struct exchange *x);
void handle_create_shoot(struct exchange *x);
void handle_get_shoot(struct exchange *x);
void handle_edit_shoot(struct exchange *x);
void handle_delete_shoot(struct exchange *x);
void handle_name_taken(struct exchange *x);
/* workers.c */
void handle_create_worker(struct exchange *x);
void handle_update_worker(struct exchange *x);
void handle_delete_worker(struct exchange *x);
/* actions.c */
void handle_hibernate(struct exchange *x);
void handle_wake(struct exchange *x);
void handle_reconcile(struct exchange *x);
void handle_maintenance(struct exchange *x);
void handle_retry(struct exchange *x);
void handle_enable_ha(struct exchange *x);
void handle_rotate_ca(struct exchange *x);
void handle_ca_stage(struct exchange *x);
void handle_upgrade_check(struct exchange *x);
void handle_upgrade_prepare(struct exchange *x);
void handle_upgrade_revert(struct exchange *x);
/* Answers without a body: with 202 or 204, depending on the generation of the API. */
void answer_action(struct exchange *x);
/* Answers 409 and returns true when the shoot cannot accept a change now. */
bool refuse_when_busy(struct exchange *x);
/* monitoring.c */
void handle_monitoring(struct exchange *x);
void handle_node_details(struct exchange *x);
void handle_worker_details(struct exchange *x);
void handle_node_names(struct exchange *x);
void handle_nodes_overview(struct exchange *x);
void handle_ssh_key(struct exchange *x);
/* kubeconfig.c */
void handle_kubeconfig(struct exchange *x);
void handle_dead_kubeconfig(struct exchange *x);
/* identity.c: domains and projects of the account */
#define DOMAIN_ID_SIZE  33
#define ACCOUNT_USER_ID 42
/* Returns the tag of the domain's region, or NULL. */
const char *identity_region_of(const struct sim *sim, const char *domain);
/* Returns all projects with this domain as a new value, with the names of v2. */
json_t *identity_projects(const struct sim *sim, const char *domain);
void handle_current_user(struct exchange *x);
void handle_domains(struct exchange *x);
void handle_current_projects(struct exchange *x);
void handle_quota(struct exchange *x);
void handle_v1_projects(struct exchange *x);
/* openstack.c */
void handle_domain_endpoints(struct exchange *x);
void handle_domain_roles(struct exchange *x);
void handle_domain_users(struct exchange *x);
void handle_project_users(struct exchange *x);
void handle_user_projects(struct exchange *x);
void handle_rc_credentials(struct exchange *x);
void handle_project_logs(struct exchange *x);
/* Answers 403. Cleura gives this answer to a user without the privilege; the simulator gives it to all calls
 * that are not simulated. */
void handle_no_access(struct exchange *x);
/* routes.c */
void handle_apidoc(struct exchange *x);
/* control.c */
void control_healthz(struct exchange *x);
void control_counters(struct exchange *x);
void control_requests(struct exchange *x);
void control_requests_clear(struct exchange *x);
void control_clock(struct exchange *x);
void control_clock_set(struct exchange *x);
void control_faults(struct exchange *x);
void control_faults_add(struct exchange *x);
void control_faults_clear(struct exchange *x);
void control_fault_remove(struct exchange *x);
void control_tokens(struct exchange *x);
void control_tokens_expire(struct exchange *x);
void control_settings(struct exchange *x);
void control_settings_set(struct exchange *x);
void control_down(struct exchange *x);
void control_replay(struct exchange *x);
void control_replay_clear(struct exchange *x);
/* control_catalog.c */
void control_catalog(struct exchange *x);
void control_catalog_change(struct exchange *x);
/* control_state.c */
void control_lifecycle(struct exchange *x);
void control_lifecycle_clear(struct exchange *x);
void control_shoots_seed(struct exchange *x);
void control_shoot_vanish(struct exchange *x);
void control_state(struct exchange *x);
void control_state_set(struct exchange *x);

#endif
