/* The issues that conditions and constraints of a shoot show (GA-4). */
#include <string.h>

#include "base/timefmt.h"
#include "model/error_meanings.h"
#include "model/issues_private.h"
#include "model/phase_meaning.h"

struct issue_check {
    const char *type;   /* NULL: any other */
    const char *reason; /* NULL: any other */
    struct issue_kind kind;
};

static const struct issue_check conditions[] = {
    {"APIServerAvailable",
     NULL,
     {"api_server_unavailable",
      ISSUE_CRITICAL,
      "condition",
      BY_CLEURA,
      "The API server does not answer",
      "Wait some minutes: Cleura restarts the API server. If the issue remains, look for overload by clients "
      "and webhooks, then contact Cleura.",
      {REMEDY_WAIT, "Cleura restarts the API server."}}},
    {"ControlPlaneHealthy",
     NULL,
     {"control_plane_unhealthy",
      ISSUE_CRITICAL,
      "condition",
      BY_CLEURA,
      "The control plane is not healthy",
      "Cleura repairs the control plane; to reconcile the cluster may help. Contact Cleura if the issue "
      "remains.",
      {REMEDY_ACTION, "reconcile"}}},
    {"EveryNodeReady",
     "MissingNodes",
     {"nodes_not_ready",
      ISSUE_WARNING,
      "condition",
      BY_USER,
      "Nodes are missing",
      "Check the project's quota and whether the machine type is sold out. Cleura goes on to create the "
      "nodes.",
      {REMEDY_WAIT, "Cleura goes on to create the nodes."}}},
    {"EveryNodeReady",
     "KubeletVersionMismatch",
     {"nodes_not_ready",
      ISSUE_WARNING,
      "condition",
      BY_USER,
      "Nodes run a different version",
      "Their replacement is in progress or blocked: look for disruption budgets that allow no eviction.",
      {REMEDY_WAIT, "The nodes are being replaced."}}},
    {"EveryNodeReady",
     NULL,
     {"nodes_not_ready",
      ISSUE_WARNING,
      "condition",
      BY_USER,
      "Not every node is ready",
      "kubectl get nodes shows which; look for disk or memory pressure and for disruption budgets that block "
      "the replacement.",
      {0}}},
    {"SystemComponentsHealthy",
     "NoTunnelDeployed",
     {"system_components_unhealthy",
      ISSUE_WARNING,
      "condition",
      BY_USER,
      "The control plane does not reach the nodes",
      "Nodes must exist and reach the API server: check firewalls, allowed_cidrs and webhooks that block "
      "kube-system.",
      {0}}},
    {"SystemComponentsHealthy",
     "TunnelConnectionBroken",
     {"system_components_unhealthy",
      ISSUE_WARNING,
      "condition",
      BY_USER,
      "The control plane does not reach the nodes",
      "Nodes must reach the API server: check firewalls, allowed_cidrs and network policies in "
      "kube-system.",
      {0}}},
    {"SystemComponentsHealthy",
     NULL,
     {"system_components_unhealthy",
      ISSUE_WARNING,
      "condition",
      BY_USER,
      "A system component is not healthy",
      "kubectl -n kube-system get pods shows which; free resources on the nodes, and remove webhooks that "
      "block kube-system.",
      {0}}},
    {"ObservabilityComponentsHealthy",
     NULL,
     {"observability_unhealthy",
      ISSUE_INFO,
      "condition",
      BY_CLEURA,
      "Monitoring is not healthy",
      "The cluster itself is not affected. Contact Cleura if the issue remains.",
      {REMEDY_WAIT, "Cleura repairs its monitoring."}}},
    {NULL,
     NULL,
     {"condition_not_met",
      ISSUE_WARNING,
      "condition",
      BY_USER,
      "A condition is not met",
      "Read the description; contact Cleura if the issue remains.",
      {REMEDY_CONTACT, BY_CLEURA}}},
};

static const struct issue_check constraints[] = {
    {"HibernationPossible",
     NULL,
     {"hibernation_blocked",
      ISSUE_WARNING,
      "constraint",
      BY_USER,
      "The cluster cannot be hibernated",
      "Webhooks inside the cluster would prevent its wake-up: correct or remove the webhooks in the "
      "description, or give them failurePolicy Ignore.",
      {0}}},
    {"MaintenancePreconditionsSatisfied",
     NULL,
     {"maintenance_blocked",
      ISSUE_WARNING,
      "constraint",
      BY_USER,
      "Maintenance may fail",
      "Webhooks inside the cluster may block nodes and system components: correct or remove the webhooks in "
      "the description.",
      {0}}},
    {"CACertificateValiditiesAcceptable",
     NULL,
     {"ca_expiring",
      ISSUE_WARNING,
      "constraint",
      BY_USER,
      "A certificate authority expires within a year",
      "Rotate the certificate authority: prepare the rotation, hand out new kubeconfigs, then complete it.",
      {REMEDY_ACTION, "rotate-ca-prepare"}}},
    {"CRDsWithProblematicConversionWebhooks",
     NULL,
     {"conversion_webhooks",
      ISSUE_WARNING,
      "constraint",
      BY_USER,
      "Conversion webhooks may block Gardener",
      "Store the custom resources in one version and remove the conversion webhooks in the description.",
      {0}}},
    {NULL,
     NULL,
     {"constraint_not_met",
      ISSUE_INFO,
      "constraint",
      BY_USER,
      "A constraint is not met",
      "Read the description; contact Cleura if the issue remains.",
      {REMEDY_CONTACT, BY_CLEURA}}},
};

static const struct issue_kind *kind_of(const struct issue_check *checks, const json_t *found)
{
    const char *type = json_str_or(found, "type", ""), *reason = json_str_or(found, "reason", "");
    while (checks->type &&
           (strcmp(checks->type, type) != 0 || (checks->reason && strcmp(checks->reason, reason) != 0)))
        checks++;
    return &checks->kind;
}

/* What Cleura does not know is not critical yet. */
static enum issue_severity severity_of(const struct issue_kind *kind, bool unknown)
{
    return unknown && kind->severity == ISSUE_CRITICAL ? ISSUE_WARNING : kind->severity;
}

static json_t *codes_of_check(const json_t *found)
{
    json_t *codes = json_array();
    issue_add_codes(codes, json_arr(found, "codes"));
    return codes;
}

/* kubectl shows nothing while the API server is down. */
static bool needs_api_server(const struct issue_kind *kind)
{
    return strstr(kind->action, "kubectl");
}

/* When the condition changed, as far as Cleura says it; else when the trouble of the cluster began. */
static wall_us since_of(const struct issues *in, const json_t *found)
{
    wall_us since;
    const char *text = json_str(found, "last_transition_time");
    return text && time_parse_rfc3339(text, &since) ? since : in->cluster->trouble_since;
}

/* What Cleura says about a condition, or NULL. */
static const char *said_by(const json_t *found)
{
    const char *message = json_str(found, "message"), *reason = json_str(found, "reason");
    return message && *message ? message : reason && *reason ? reason : NULL;
}

static void issue_add_check(struct issues *in, const struct issue_check *checks, const json_t *found,
                            bool unknown, bool api_server_is_down)
{
    static const char answers_first[] = "Wait until the API server answers again: it may be the only cause.";
    const struct issue_kind *kind = kind_of(checks, found);
    const char *code = json_string_value(json_array_get(json_arr(found, "codes"), 0));
    const struct error_meaning *meaning = code ? model_error_meaning(code) : NULL;
    const bool has_to_wait = api_server_is_down && needs_api_server(kind);
    issue_add(in, kind, severity_of(kind, unknown),
              &(struct issue_occurrence){.subject = json_str(found, "type"),
                                         .description = said_by(found),
                                         .action = meaning       ? meaning->action
                                                   : has_to_wait ? answers_first
                                                                 : kind->action,
                                         .responsible = meaning ? meaning->responsible : NULL,
                                         .since = since_of(in, found),
                                         .remedy = has_to_wait ? (struct remedy){REMEDY_WAIT, answers_first}
                                                               : issue_remedy(in, kind->remedy),
                                         .codes = codes_of_check(found)});
}

static bool api_server_is_down(const struct shoot *s)
{
    bool is_down = false;
    size_t i;
    json_t *found;
    json_array_foreach (json_doc_tree(s->conditions), i, found)
        is_down |= !strcmp(json_str_or(found, "type", ""), "APIServerAvailable") &&
                   !strcmp(json_str_or(found, "status", ""), "False");
    return is_down;
}

void issues_of_conditions(struct issues *in)
{
    const struct shoot *s = in->cluster->shoot;
    size_t i;
    json_t *found;
    if (!s)
        return;
    if (phase_has_conditions(in->cluster->phase) && !s->hibernated) {
        const bool is_down = api_server_is_down(s);
        json_array_foreach (json_doc_tree(s->conditions), i, found) {
            const char *status = json_str_or(found, "status", "");
            bool unknown = !strcmp(status, "Unknown");
            if (unknown || !strcmp(status, "False")) /* Progressing is normal for some time after each run */
                issue_add_check(in, conditions, found, unknown, is_down);
        }
    }
    if (in->cluster->phase == PHASE_DELETING)
        return;
    json_array_foreach (json_doc_tree(s->constraints), i, found)
        if (!strcmp(json_str_or(found, "status", ""), "False"))
            issue_add_check(in, constraints, found, false, false);
}

const char *issue_of_conditions(const struct shoot *s, const char **ret_said,
                                enum issue_severity *ret_severity)
{
    const struct issue_kind *worst = NULL;
    size_t i;
    json_t *found;
    *ret_said = NULL;
    *ret_severity = ISSUE_SEVERITY_MAX_;
    json_array_foreach (json_doc_tree(s->conditions), i, found) {
        const char *status = json_str_or(found, "status", "");
        const bool unknown = !strcmp(status, "Unknown");
        if (!unknown && strcmp(status, "False") != 0)
            continue;
        const struct issue_kind *kind = kind_of(conditions, found);
        const enum issue_severity its = severity_of(kind, unknown);
        if (its >= *ret_severity)
            continue;
        worst = kind;
        *ret_severity = its;
        *ret_said = said_by(found);
    }
    return worst ? worst->title : NULL;
}
