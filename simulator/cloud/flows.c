/* Tables with the name, the duration, and the progress over time of each kind of run. */
#include "simulator/cloud/lifecycle.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static const struct flow_step create_steps[] = {
    {0, 0, "Reconciliation of Shoot cluster initialized."},
    {5, 0, "Starting Shoot cluster reconciliation"},
    {20, 4, "Deploying internal domain DNS record, Initializing secrets management"},
    {50, 11, "Waiting until Shoot infrastructure has been reconciled"},
    {250, 20, "Waiting until main and event ETCDs have been reconciled"},
    {350, 29, "Waiting until Kubernetes API server rolled out"},
    {450, 41, "Waiting until shoot control plane has been reconciled"},
    {500, 62,
     "Deploying CoreDNS system component, Deploying kube-proxy system component, "
     "Deploying shoot network plugin"},
    {550, 78, "Waiting until worker pools have been reconciled"},
    {930, 88, "Waiting until the Kubernetes API server can connect to the Shoot workers"},
    {970, 95, "Reconciling Shoot Prometheus"},
};

static const struct flow_step delete_steps[] = {
    {0, 0, "Deletion of Shoot cluster in progress."},
    {10, 0, "Starting Shoot cluster deletion"},
    {30, 8, "Initializing connection to Shoot"},
    {60, 17, "Cleaning up webhooks, Deleting cluster autoscaler"},
    {100, 32, "Cleaning Kubernetes resources"},
    {350, 45, "Destroying shoot network plugin, Destroying shoot workers"},
    {400, 53, "Waiting until shoot worker nodes have been terminated"},
    {650, 71, "Waiting until shoot control plane has been destroyed"},
    {720, 80, "Waiting until shoot infrastructure has been deleted"},
    {900, 91, "Destroying external domain DNS record, Destroying internal domain DNS record"},
    {950, 97, "Waiting until shoot namespace in Seed has been deleted"},
};

static const struct flow_step hibernate_steps[] = {
    {0, 0, "Reconciliation of Shoot cluster initialized."},
    {20, 0, "Starting Shoot cluster reconciliation"},
    {60, 18, "Deploying Shoot infrastructure, Waiting until main and event ETCDs have been reconciled"},
    {150, 44, "Scaling down cluster autoscaler, Scaling down machine-controller-manager"},
    {300, 69, "Waiting until worker pools have been reconciled"},
    {700, 84, "Hibernating control plane"},
    {850, 93,
     "Destroying external domain DNS record if hibernated, Destroying internal domain DNS record if "
     "hibernated"},
};

static const struct flow_step wake_steps[] = {
    {0, 0, "Reconciliation of Shoot cluster initialized."},
    {20, 0, "Starting Shoot cluster reconciliation"},
    {60, 11, "Deploying external domain DNS record, Deploying internal domain DNS record"},
    {150, 23, "Waiting until main and event ETCDs have been reconciled"},
    {300, 37, "Waiting until Kubernetes API server rolled out"},
    {400, 78, "Waiting until worker pools have been reconciled"},
    {900, 92, "Waiting until the Kubernetes API server can connect to the Shoot workers"},
};

static const struct flow_step roll_steps[] = {
    {0, 0, "Reconciliation of Shoot cluster initialized."},
    {10, 0, "Starting Shoot cluster reconciliation"},
    {30, 14, "Waiting until main and event ETCDs have been reconciled"},
    {70, 31, "Waiting until Kubernetes API server rolled out"},
    {150, 58, "Configuring worker pools"},
    {200, 78, "Waiting until worker pools have been reconciled"},
    {930, 94, "Waiting until all shoot worker nodes have updated the operating system config"},
};

static const struct flow_step control_plane_steps[] = {
    {0, 0, "Reconciliation of Shoot cluster initialized."},
    {10, 0, "Starting Shoot cluster reconciliation"},
    {50, 9, "Initializing secrets management"},
    {100, 22, "Waiting until main and event ETCDs have been reconciled"},
    {400, 38, "Waiting until Kubernetes API server rolled out"},
    {700, 66, "Waiting until shoot control plane has been reconciled"},
    {850, 88, "Waiting until Plutono for Shoot in Seed is reconciled"},
};

static const struct flow_step short_steps[] = {
    {0, 0, "Reconciliation of Shoot cluster initialized."},
    {100, 0, "Starting Shoot cluster reconciliation"},
    {250, 29, "Waiting until Kubernetes API server rolled out"},
    {500, 57, "Waiting until shoot control plane has been reconciled"},
    {700, 84, "Waiting until worker pools have been reconciled"},
    {900, 97, "Restarting control plane pods"},
};

#define STEPS(table) table, sizeof(table) / sizeof((table)[0])

static const struct {
    const char *name;
    double seconds;
    const struct flow_step *steps;
    size_t count;
} kinds[RUN_KIND_MAX_] = {
    [RUN_CREATE] = {"create", 720, STEPS(create_steps)},
    [RUN_DELETE] = {"delete", 300, STEPS(delete_steps)},
    [RUN_HIBERNATE] = {"hibernate", 90, STEPS(hibernate_steps)},
    [RUN_WAKE] = {"wake", 150, STEPS(wake_steps)},
    [RUN_RECONCILE] = {"reconcile", 30, STEPS(short_steps)},
    [RUN_SCALE] = {"scale", 10, STEPS(short_steps)},
    [RUN_ROLL] = {"roll", 240, STEPS(roll_steps)},
    [RUN_WORKER_CREATE] = {"worker_create", 150, STEPS(roll_steps)},
    [RUN_WORKER_DELETE] = {"worker_delete", 90, STEPS(roll_steps)},
    [RUN_PATCH] = {"patch", 20, STEPS(short_steps)},
    [RUN_UPGRADE] = {"upgrade", 420, STEPS(roll_steps)},
    [RUN_HA] = {"ha", 180, STEPS(control_plane_steps)},
    [RUN_CA_PREPARE] = {"ca_prepare", 480, STEPS(roll_steps)},
    [RUN_CA_COMPLETE] = {"ca_complete", 480, STEPS(control_plane_steps)},
    [RUN_MAINTENANCE] = {"maintenance", 60, STEPS(short_steps)},
};

const char *run_kind_name(enum run_kind kind)
{
    assert((unsigned)kind < RUN_KIND_MAX_);
    return kinds[kind].name;
}

enum run_kind run_kind_find(const char *name)
{
    for (int i = 0; name && i < RUN_KIND_MAX_; i++)
        if (!strcmp(kinds[i].name, name))
            return (enum run_kind)i;
    return RUN_KIND_INVALID;
}

double run_kind_seconds(enum run_kind kind)
{
    return kinds[kind].seconds;
}

const struct flow_step *flow_at(enum run_kind kind, int64_t elapsed_us, int64_t duration_us)
{
    assert((unsigned)kind < RUN_KIND_MAX_ && kinds[kind].count > 0);
    const struct flow_step *step = &kinds[kind].steps[0];
    for (size_t i = 1; i < kinds[kind].count; i++)
        if (elapsed_us >= duration_us / 1000 * kinds[kind].steps[i].permille)
            step = &kinds[kind].steps[i];
    return step;
}

const struct flow_step *flow_reaching(enum run_kind kind, int progress)
{
    assert((unsigned)kind < RUN_KIND_MAX_ && kinds[kind].count > 0);
    const struct flow_step *step = &kinds[kind].steps[0];
    for (size_t i = 0; i < kinds[kind].count; i++) {
        step = &kinds[kind].steps[i];
        if (step->progress >= progress)
            break;
    }
    return step;
}

const char *run_type_name(enum run_type type)
{
    static const char *const names[RUN_TYPE_MAX_] = {
        [RUN_TYPE_CREATE] = "Create", [RUN_TYPE_RECONCILE] = "Reconcile", [RUN_TYPE_DELETE] = "Delete"};
    return type < RUN_TYPE_MAX_ ? names[type] : "";
}

const char *run_state_name(enum run_state state)
{
    static const char *const names[RUN_STATE_MAX_] = {[RUN_PENDING] = "Pending",
                                                      [RUN_PROCESSING] = "Processing",
                                                      [RUN_SUCCEEDED] = "Succeeded",
                                                      [RUN_ERROR] = "Error",
                                                      [RUN_FAILED] = "Failed"};
    return state < RUN_STATE_MAX_ ? names[state] : "";
}
