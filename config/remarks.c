/* The faults and notes of a configuration. They are collected and then reported in the order of lines. */
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"
#include "config/config_private.h"

enum { REMARK_MAX = 4096, REMARKS_MAX = 1000 };

static void add(struct loader *l, size_t line, const char *text)
{
    if (l->remark_count == REMARKS_MAX)
        return;
    l->remarks = mem_realloc_array(l->remarks, l->remark_count + 1, sizeof(*l->remarks));
    l->remarks[l->remark_count++] = (struct config_remark){line, mem_strdup(text)};
}

static void add_of(struct loader *l, const yaml_node_t *node, const char *key, const char *kind,
                   const char *detail)
{
    char *text CLEANUP_FREE = mem_printf("%s: %s%s", key, kind, detail);
    add(l, node ? node->start_mark.line + 1 : 0, text);
}

void config_fault(struct loader *l, const yaml_node_t *node, const char *key, const char *format, ...)
{
    char detail[REMARK_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    l->faults++;
    add_of(l, node, key, "", detail);
}

void config_note(struct loader *l, const yaml_node_t *node, const char *key, const char *format, ...)
{
    char detail[REMARK_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    add_of(l, node, key, "note: ", detail);
}

void config_file_fault(struct loader *l, size_t line, const char *text)
{
    l->faults++;
    add(l, line, text);
}

/* Writes the remarks in the order of lines, and remarks of the same line in the order in which they were
 * found. */
void config_report(struct loader *l, FILE *out)
{
    for (size_t remark = 0; remark < l->remark_count; remark++) {
        struct config_remark *first = NULL;
        for (size_t i = 0; i < l->remark_count; i++)
            if (l->remarks[i].text && (!first || l->remarks[i].line < first->line))
                first = &l->remarks[i];
        assert(first);
        if (first->line)
            (void)fprintf(out, "%s:%zu: %s\n", l->file, first->line, first->text);
        else
            (void)fprintf(out, "%s: %s\n", l->file, first->text);
        free(first->text);
        first->text = NULL;
    }
    if (l->remark_count == REMARKS_MAX)
        (void)fprintf(out, "%s: at most %d faults are shown\n", l->file, REMARKS_MAX);
    free(l->remarks);
    l->remarks = NULL;
    l->remark_count = 0;
}
