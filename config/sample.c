/* The annotated sample, written from the table of keys: `shootd --sample-config`. */
#include <string.h>

#include "config/keys_private.h"

static void write_group(FILE *out, const struct key_group *g, int indent, bool first_dashed)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct key *k = &g->keys[i];
        const char *value = k->preset ? k->preset : k->example;
        int dash = first_dashed && i == 0 ? 2 : 0;
        (void)fprintf(out, "%*s# %s%s%s%s\n", indent, "", k->help, k->preset ? " Default: " : "",
                      k->preset ? k->preset : "", k->preset ? "." : "");
        if (k->group) {
            (void)fprintf(out, "%*s%s:\n", indent, "", k->name);
            write_group(out, k->group, indent + (k->type == KEY_ITEMS ? 4 : 2), k->type == KEY_ITEMS);
        } else {
            (void)fprintf(out, "%*s%s%s%s: %s\n", indent - dash, "", dash ? "- " : "", value ? "" : "# ",
                          k->name,
                          value                        ? value
                          : k->type == KEY_STRING_LIST ? "[]"
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
