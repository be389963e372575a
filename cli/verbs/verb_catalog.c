/* The command `catalog`: the values that a cluster of a project may use (versions, images, machine types),
 * and the defaults for a new cluster. */
#include <inttypes.h>

#include "base/mem.h"
#include "cli/api.h"
#include "cli/glyphs.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/verbs/verbs.h"
#include "cli/when.h"
#include "cli/yaml_out.h"

static const struct column version_columns[] = {
    {"KUBERNETES", false}, {"STATE", false}, {"EXPIRES", false}, {NULL, false}};
static const struct column image_columns[] = {
    {"IMAGE", false}, {"VERSION", false}, {"STATE", false}, {"EXPIRES", false}, {NULL, false}};
static const struct column type_columns[] = {
    {"MACHINE TYPE", false}, {"CPUS", false},   {"GPUS", false}, {"MEMORY", false},
    {"ARCHITECTURE", false}, {"USABLE", false}, {NULL, false}};

static enum style state_style(const char *state)
{
    return mem_same_str(state, "supported")    ? STYLE_GOOD
           : mem_same_str(state, "deprecated") ? STYLE_BUSY
                                               : STYLE_PLAIN;
}

static void add_version(const struct cli *cli, struct table *table, const json_t *version)
{
    const char *state = json_str(version, "state");
    table_add(table, json_str(version, "version"), STYLE_PLAIN);
    table_add(table, state, state_style(state));
    table_add_take(table, when_column(cli, json_str(version, "expires_at")), STYLE_PLAIN);
}

static void print_versions(const struct cli *cli, const json_t *catalog)
{
    struct table *table CLEANUP_TABLE = table_new(version_columns);
    size_t i;
    json_t *version;
    json_array_foreach (json_arr(catalog, "kubernetes_versions"), i, version)
        add_version(cli, table, version);
    table_print(table, &cli->out);
}

static void print_images(const struct cli *cli, const json_t *catalog)
{
    struct table *table CLEANUP_TABLE = table_new(image_columns);
    size_t i, v;
    json_t *image, *version;
    json_array_foreach (json_arr(catalog, "machine_images"), i, image) {
        json_array_foreach (json_arr(image, "versions"), v, version) {
            table_add(table, json_str(image, "name"), STYLE_PLAIN);
            add_version(cli, table, version);
        }
    }
    (void)fputc('\n', cli->out.file);
    table_print(table, &cli->out);
}

static char *number_text(const json_t *object, const char *name)
{
    int64_t number = json_int(object, name, -1);
    return number < 0 ? NULL : mem_printf("%" PRId64, number);
}

static char *memory_text(int64_t mib)
{
    if (mib < 0)
        return NULL;
    return mib % 1024 ? mem_printf("%" PRId64 " MiB", mib) : mem_printf("%" PRId64 " GiB", mib / 1024);
}

static void print_types(const struct cli *cli, const json_t *catalog)
{
    struct table *table CLEANUP_TABLE = table_new(type_columns);
    size_t i;
    json_t *type;
    json_array_foreach (json_arr(catalog, "machine_types"), i, type) {
        table_add(table, json_str(type, "name"), STYLE_PLAIN);
        table_add_take(table, number_text(type, "cpus"), STYLE_PLAIN);
        table_add_take(table, number_text(type, "gpus"), STYLE_PLAIN);
        table_add_take(table, memory_text(json_int(type, "memory_mib", -1)), STYLE_PLAIN);
        table_add(table, json_str(type, "architecture"), STYLE_PLAIN);
        table_add(table, json_bool(type, "usable", true) ? "yes" : "no", STYLE_PLAIN);
    }
    (void)fputc('\n', cli->out.file);
    table_print(table, &cli->out);
}

static void print_words(const struct cli *cli, const json_t *catalog, const char *title, const char *name)
{
    size_t i;
    json_t *word;
    (void)fprintf(cli->out.file, "%s", title);
    json_array_foreach (json_arr(catalog, name), i, word) {
        char *shown CLEANUP_FREE = glyphs_shown(json_string_value(word));
        (void)fprintf(cli->out.file, "%s%s", i ? ", " : " ", shown);
    }
    (void)fputc('\n', cli->out.file);
}

static int print_names(const struct cli *cli, const json_t *catalog)
{
    size_t i;
    json_t *version;
    json_array_foreach (json_arr(catalog, "kubernetes_versions"), i, version) {
        char *shown CLEANUP_FREE = glyphs_shown(json_str(version, "version"));
        (void)fprintf(cli->out.file, "%s\n", shown);
    }
    return END_OK;
}

static void print_catalog(const struct cli *cli, const json_t *catalog)
{
    struct buffer defaults CLEANUP_BUFFER;
    buffer_init(&defaults, 1024 * 1024);
    print_versions(cli, catalog);
    print_images(cli, catalog);
    print_types(cli, catalog);
    (void)fputc('\n', cli->out.file);
    print_words(cli, catalog, "Zones:                  ", "zones");
    print_words(cli, catalog, "Floating pools:         ", "floating_pools");
    print_words(cli, catalog, "Load balancer providers:", "load_balancer_providers");
    if (json_obj(catalog, "defaults")) {
        yaml_write(&defaults, json_obj(catalog, "defaults"));
        (void)fprintf(cli->out.file, "\nDefaults of a create:\n%s", defaults.data);
    }
}

int verb_catalog(struct cli *cli)
{
    int code = cli_connect(cli);
    const char *project = code == END_OK ? cli_project(cli, &code) : NULL;
    struct api_target target CLEANUP_TARGET = {0};
    json_t *catalog CLEANUP_JSON = NULL;
    if (!project)
        return code;
    api_target_init(&target, API_CATALOG, project, NULL, NULL);
    code = api_get(cli, &target, &catalog);
    if (code != END_OK)
        return code;
    if (cli_form(cli) == OUTPUT_NAME)
        return print_names(cli, catalog);
    if (output_is_document(cli))
        return output_one(cli, catalog, project);
    print_catalog(cli, catalog);
    return END_OK;
}
