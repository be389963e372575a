#include "config/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/string_list.h"

static void issuer_done(struct config_issuer *issuer)
{
    for (size_t i = 0; i < issuer->rule_count; i++) {
        free(issuer->rules[i].claim);
        free(issuer->rules[i].contains);
        string_list_free(issuer->rules[i].projects);
    }
    free(issuer->rules);
    free(issuer->issuer);
    free(issuer->audience);
    string_list_free(issuer->algorithms);
    free(issuer->client_id);
    free(issuer->http_proxy);
    string_list_free(issuer->scopes);
}

void config_free(struct config *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->account_count; i++) {
        struct config_account *a = &c->accounts[i];
        free(a->name);
        free(a->cloud);
        free(a->url);
        free(a->login);
        mem_free_secret(a->password);
        free(a->password_file);
        free(a->password_env);
        free(a->token_file);
        free(a->http_proxy);
    }
    free(c->accounts);
    for (size_t i = 0; i < c->project_count; i++) {
        struct config_project *p = &c->projects[i];
        free(p->name);
        free(p->region);
        free(p->project_id);
        json_decref(p->defaults);
    }
    free(c->projects);
    for (size_t i = 0; i < c->oidc.issuer_count; i++)
        issuer_done(&c->oidc.issuers[i]);
    free(c->oidc.issuers);
    free(c->listen);
    free(c->state_dir);
    free(c->public_url);
    free(c->backups.directory);
    string_list_free(c->trusted_proxies);
    string_list_free(c->webhooks.allow);
    free(c->webhooks.ports);
    for (size_t i = 0; i < c->tls.client_count; i++) {
        free(c->tls.clients[i].name);
        string_list_free(c->tls.clients[i].projects);
    }
    free(c->tls.clients);
    free(c->tls.certificate);
    free(c->tls.key);
    free(c->tls.client_ca);
    free(c->tracing.endpoint);
    string_list_free(c->cors.origins);
    free(c);
}

const struct config_project *config_project(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->project_count; i++)
        if (!strcmp(c->projects[i].name, name))
            return &c->projects[i];
    return NULL;
}
