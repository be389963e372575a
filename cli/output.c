#include "cli/output.h"

#include <assert.h>

#include "base/mem.h"
#include "cli/glyphs.h"
#include "cli/yaml_out.h"

enum { OUTPUT_MAX_BYTES = 1024 * 1024 * 1024 };

bool output_is_document(const struct cli *cli)
{
    enum output_form form = cli_form(cli);
    return form != OUTPUT_TABLE && form != OUTPUT_WIDE;
}

bool output_may_be_endless(const struct cli *cli, const char *flag)
{
    enum output_form form = cli_form(cli);
    if (form != OUTPUT_JSON && form != OUTPUT_YAML)
        return true;
    (void)cli_fail(END_USAGE, "-o %s is one document that ends, but %s does not end: use -o jsonl",
                   output_forms[form], flag);
    return false;
}

char *output_text(const json_t *value)
{
    return json_text(value ? value : json_null());
}

static void write_json(struct buffer *out, const json_t *document, size_t flags)
{
    char *text = json_dumps(document, flags | JSON_ENCODE_ANY);
    glyphs_show_json(out, text ? text : "null");
    mem_free_secret(text);
}

void output_begin(struct output *output, struct cli *cli)
{
    *output = (struct output){.cli = cli, .form = cli_form(cli)};
    buffer_init(&output->text, OUTPUT_MAX_BYTES);
}

static int check_size(const struct buffer *text)
{
    return text->overflow ? cli_fail(END_REFUSED, "the output has more than 1 GiB") : END_OK;
}

static int add_list_item(struct output *output, const json_t *document)
{
    json_t *list CLEANUP_JSON = json_array();
    (void)json_array_append(list, (json_t *)(uintptr_t)document);
    if (output->form == OUTPUT_YAML) {
        yaml_write(&output->text, list);
    } else {
        buffer_add_str(&output->text, output->count ? ",\n" : "[\n");
        write_json(&output->text, document, JSON_INDENT(2));
    }
    return output->text.overflow ? cli_fail(END_REFUSED, "the list has more than 1 GiB: use -o jsonl")
                                 : END_OK;
}

int output_add(struct output *output, const json_t *document, const char *name)
{
    int code = END_OK;
    assert(output->form != OUTPUT_TABLE && output->form != OUTPUT_WIDE);
    if (output->form == OUTPUT_NAME) {
        char *shown CLEANUP_FREE = glyphs_shown(name);
        (void)fprintf(output->cli->out.file, "%s\n", shown);
    } else if (output->form == OUTPUT_JSONL) {
        struct buffer line CLEANUP_BUFFER;
        buffer_init(&line, OUTPUT_MAX_BYTES);
        write_json(&line, document, JSON_COMPACT);
        code = check_size(&line);
        if (code == END_OK)
            (void)fprintf(output->cli->out.file, "%s\n", line.data);
    } else {
        code = add_list_item(output, document);
    }
    output->count++;
    return code;
}

int output_end(struct output *output)
{
    FILE *file = output->cli->out.file;
    bool collected = output->form == OUTPUT_JSON || output->form == OUTPUT_YAML;
    if (collected && !output->count)
        (void)fputs("[]\n", file);
    else if (output->form == OUTPUT_JSON)
        (void)fprintf(file, "%s\n]\n", output->text.data);
    else if (collected)
        (void)fputs(output->text.data, file);
    output_drop(output);
    return END_OK;
}

void output_drop(struct output *output)
{
    buffer_done(&output->text);
}

void output_finish(struct output *output, int code)
{
    bool is_whole = !output->text.overflow;
    if (is_whole && (output->count || code == END_OK))
        (void)output_end(output);
    else
        output_drop(output);
}

int output_one(struct cli *cli, const json_t *document, const char *name)
{
    struct buffer text CLEANUP_BUFFER;
    enum output_form form = cli_form(cli);
    assert(output_is_document(cli));
    buffer_init(&text, OUTPUT_MAX_BYTES);
    if (form == OUTPUT_NAME)
        glyphs_show(&text, name ? name : "-");
    else if (form == OUTPUT_YAML)
        yaml_write(&text, document);
    else
        write_json(&text, document, form == OUTPUT_JSONL ? JSON_COMPACT : JSON_INDENT(2));
    int code = check_size(&text);
    if (code == END_OK)
        (void)fprintf(cli->out.file, form == OUTPUT_YAML ? "%s" : "%s\n", text.data ? text.data : "");
    return code;
}
