#include "oidc/rules.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Unescapes a member name of a JSON pointer in place (RFC 6901, 4). */
static void unescape(char *name)
{
    char *to = name;
    for (; *name; name++, to++) {
        const bool escaped = *name == '~' && (name[1] == '0' || name[1] == '1');
        *to = *name;
        if (escaped)
            *to = *++name == '1' ? '/' : '~';
    }
    *to = '\0';
}

static const json_t *claim_at(const json_t *claims, const char *path)
{
    if (*path != '/')
        return json_object_get(claims, path);
    char *copy CLEANUP_FREE = mem_strdup(path + 1), *rest = copy;
    for (char *name = strsep(&rest, "/"); name && claims; name = strsep(&rest, "/")) {
        unescape(name);
        claims = json_object_get(claims, name); /* NULL for a value that is not an object */
    }
    return claims;
}

/* Whether the claim may be a list of words separated by spaces: `scope` (RFC 8693, 4.2), or `scp`, its name
 * at other issuers. */
static bool has_words(const char *claim)
{
    return !strcmp(claim, "scope") || !strcmp(claim, "scp");
}

/* Whether the text, a list of words separated by spaces, contains the word. */
static bool has_word(const char *text, const char *word)
{
    const size_t len = strlen(word);
    for (; *text; text += strspn(text, " ")) {
        const size_t run = strcspn(text, " ");
        if (run == len && !memcmp(text, word, len))
            return true;
        text += run;
    }
    return false;
}

static bool fits(const struct config_rule *rule, const json_t *claims)
{
    assert(rule->claim && rule->contains); /* checked by the loader of the configuration */
    const json_t *value = claim_at(claims, rule->claim), *item;
    size_t i;
    if (json_is_string(value) && has_words(rule->claim))
        return has_word(json_string_value(value), rule->contains);
    if (json_is_string(value))
        return !strcmp(json_string_value(value), rule->contains);
    json_array_foreach (value, i, item)
        if (json_is_string(item) && !strcmp(json_string_value(item), rule->contains))
            return true;
    return false;
}

const struct config_rule *oidc_rule_for(const struct config_issuer *issuer, const json_t *claims)
{
    for (size_t i = 0; i < issuer->rule_count; i++)
        if (fits(&issuer->rules[i], claims))
            return &issuer->rules[i];
    return NULL;
}
