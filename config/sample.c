/* The annotated sample, written from the table of keys: `shootd --sample-config`. */
#include <string.h>

#include "config/keys_private.h"

static bool is_list(const struct key *k)
{
    return k->type == KEY_STRING_LIST || k->type == KEY_INTEGER_LIST;
}

static void write_help(FILE *out, const struct key *k, int indent)
{
    (void)fprintf(out, "%*s# %s", indent, "", k->help);
    if (k->preset)
        (void)fprintf(out, " Default: %s.", k->preset);
    else if (is_list(k) && k->example)
        (void)fprintf(out, " Example: %s.", k->example);
    (void)fputc('\n', out);
}

/* Lists open something: whoever takes the sample as it is opens nothing. */
static const char *sample_value(const struct key *k)
{
    return k->preset ? k->preset : is_list(k) && k->example ? "[]" : k->example;
}

static void write_group(FILE *out, const struct key_group *g, int indent, bool first_dashed)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct key *k = &g->keys[i];
        const char *value = sample_value(k);
        int dash = first_dashed && i == 0 ? 2 : 0;
        write_help(out, k, indent);
        if (k->group) {
            (void)fprintf(out, "%*s%s:\n", indent, "", k->name);
            write_group(out, k->group, indent + (k->type == KEY_ITEMS ? 4 : 2), k->type == KEY_ITEMS);
        } else {
            (void)fprintf(out, "%*s%s%s%s: %s\n", indent - dash, "", dash ? "- " : "", value ? "" : "# ",
                          k->name,
                          value        ? value
                          : is_list(k) ? "[]"
                                       : "...");
        }
        if (indent == 0)
            (void)fputc('\n', out);
    }
}

void config_write_sample(FILE *out)
{
    (void)fputs("# shootd: every key, with its default where it has one. Durations: 250ms 15s 5m 2h 30d.\n"
                "# Check a file with: shootd --config FILE --check-config\n\n",
                out);
    write_group(out, &config_root, 0, false);
}
