/* The operations of the simulated API, with the names of the route table. Each is called with the lock. */
#ifndef SIMULATOR_HANDLERS_HANDLERS_H
#define SIMULATOR_HANDLERS_HANDLERS_H

#include <jansson.h>
#include <stdbool.h>

struct sim_exchange;
struct sim;

/* login.c */
void auth_create_token(struct sim_exchange *x);
void auth_create_by_hash(struct sim_exchange *x);
void auth_request_code(struct sim_exchange *x);
void auth_verify_code(struct sim_exchange *x);
void auth_validate(struct sim_exchange *x);
void auth_revoke(struct sim_exchange *x);
/* sim_clusters.c */
void handle_cloud_profiles(struct sim_exchange *x);
void handle_bootstrap(struct sim_exchange *x);
void handle_list_shoots(struct sim_exchange *x);
void handle_create_shoot(struct sim_exchange *x);
void handle_get_shoot(struct sim_exchange *x);
void handle_edit_shoot(struct sim_exchange *x);
void handle_delete_shoot(struct sim_exchange *x);
void handle_name_taken(struct sim_exchange *x);
/* workers.c */
void handle_create_worker(struct sim_exchange *x);
void handle_update_worker(struct sim_exchange *x);
void handle_delete_worker(struct sim_exchange *x);
/* actions.c */
void handle_hibernate(struct sim_exchange *x);
void handle_wake(struct sim_exchange *x);
void handle_reconcile(struct sim_exchange *x);
void handle_maintenance(struct sim_exchange *x);
void handle_retry(struct sim_exchange *x);
void handle_enable_ha(struct sim_exchange *x);
void handle_rotate_ca(struct sim_exchange *x);
void handle_ca_stage(struct sim_exchange *x);
void handle_upgrade_check(struct sim_exchange *x);
void handle_upgrade_prepare(struct sim_exchange *x);
void handle_upgrade_revert(struct sim_exchange *x);
/* Answers without a body: with 202 or 204, depending on the generation of the API. */
void answer_action(struct sim_exchange *x);
/* Answers 409 and returns true when the shoot cannot accept a change now. */
bool refuse_when_busy(struct sim_exchange *x);
/* monitoring.c */
void handle_monitoring(struct sim_exchange *x);
void handle_node_details(struct sim_exchange *x);
void handle_worker_details(struct sim_exchange *x);
void handle_node_names(struct sim_exchange *x);
void handle_nodes_overview(struct sim_exchange *x);
void handle_ssh_key(struct sim_exchange *x);
/* sim_kubeconfig.c */
void handle_kubeconfig(struct sim_exchange *x);
void handle_dead_kubeconfig(struct sim_exchange *x);
/* identity.c: domains and projects of the account */
#define DOMAIN_ID_SIZE  33
#define ACCOUNT_USER_ID 42
/* Returns the tag of the domain's region, or NULL. */
const char *identity_region_of(const struct sim *sim, const char *domain);
/* Returns all projects with this domain as a new value, with the names of v2. */
json_t *identity_projects(const struct sim *sim, const char *domain);
void handle_current_user(struct sim_exchange *x);
void handle_domains(struct sim_exchange *x);
void handle_current_projects(struct sim_exchange *x);
void handle_quota(struct sim_exchange *x);
void handle_v1_projects(struct sim_exchange *x);
/* openstack.c */
void handle_domain_endpoints(struct sim_exchange *x);
void handle_domain_roles(struct sim_exchange *x);
void handle_domain_users(struct sim_exchange *x);
void handle_project_users(struct sim_exchange *x);
void handle_user_projects(struct sim_exchange *x);
void handle_rc_credentials(struct sim_exchange *x);
void handle_project_logs(struct sim_exchange *x);
/* Answers 403. Cleura gives this answer to a user without the privilege; the simulator gives it to all calls
 * that are not simulated. */
void handle_no_access(struct sim_exchange *x);
/* routes.c */
void handle_apidoc(struct sim_exchange *x);
/* control.c */
void control_healthz(struct sim_exchange *x);
void control_counters(struct sim_exchange *x);
void control_requests(struct sim_exchange *x);
void control_requests_clear(struct sim_exchange *x);
void control_clock(struct sim_exchange *x);
void control_clock_set(struct sim_exchange *x);
void control_faults(struct sim_exchange *x);
void control_faults_add(struct sim_exchange *x);
void control_faults_clear(struct sim_exchange *x);
void control_fault_remove(struct sim_exchange *x);
void control_tokens(struct sim_exchange *x);
void control_tokens_expire(struct sim_exchange *x);
void control_settings(struct sim_exchange *x);
void control_settings_set(struct sim_exchange *x);
void control_down(struct sim_exchange *x);
void control_replay(struct sim_exchange *x);
void control_replay_clear(struct sim_exchange *x);
/* control_catalog.c */
void control_catalog(struct sim_exchange *x);
void control_catalog_change(struct sim_exchange *x);
/* control_runs.c */
void control_lifecycle(struct sim_exchange *x);
void control_lifecycle_clear(struct sim_exchange *x);
void control_run(struct sim_exchange *x);
/* control_conditions.c */
void control_conditions(struct sim_exchange *x);
void control_conditions_set(struct sim_exchange *x);
void control_conditions_clear(struct sim_exchange *x);
void control_condition_clear(struct sim_exchange *x);
/* control_state.c */
void control_shoots_seed(struct sim_exchange *x);
void control_shoot_vanish(struct sim_exchange *x);
void control_state(struct sim_exchange *x);
void control_state_set(struct sim_exchange *x);

#endif
