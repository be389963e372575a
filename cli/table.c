#include "cli/table.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "cli/glyphs.h"

enum { GAP = 2, LEAST_FLEXIBLE = 12, LEAST_READABLE = 4 };

struct cell {
    char *text;
    size_t width;
    enum style style;
};

struct table {
    const struct column *columns;
    size_t column_count;
    size_t *content; /* for each column: the width of its widest cell so far, the title included */
    size_t *least;   /* for each column: its least width, if the terminal is wide enough */
    struct cell *cells;
    size_t count, capacity;
};

struct table *table_new(const struct column *columns)
{
    struct table *table = MEM_NEW(struct table);
    table->columns = columns;
    while (columns[table->column_count].title)
        table->column_count++;
    assert(table->column_count > 0);
    table->content = mem_calloc(table->column_count, sizeof(*table->content));
    table->least = mem_calloc(table->column_count, sizeof(*table->least));
    for (size_t c = 0; c < table->column_count; c++)
        table->content[c] = strlen(columns[c].title);
    return table;
}

void table_forget_rows(struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i].text);
    table->count = 0;
}

void table_free(struct table *table)
{
    table_forget_rows(table);
    free(table->cells);
    free(table->content);
    free(table->least);
    free(table);
}

void table_widen(struct table *table, size_t column, size_t width)
{
    assert(column < table->column_count);
    table->least[column] = width;
}

void table_add(struct table *table, const char *text, enum style style)
{
    if (table->count == table->capacity) {
        table->capacity = table->capacity ? table->capacity * 2 : 64;
        table->cells = mem_realloc_array(table->cells, table->capacity, sizeof(*table->cells));
    }
    bool is_empty = !text || !*text;
    char *shown = glyphs_shown(is_empty ? NULL : text);
    size_t width = glyphs_width(shown), *content = &table->content[table->count % table->column_count];
    table->cells[table->count++] = (struct cell){shown, width, is_empty ? STYLE_PLAIN : style};
    *content = width > *content ? width : *content;
}

void table_add_take(struct table *table, char *text, enum style style)
{
    table_add(table, text, style);
    free(text);
}

size_t table_rows(const struct table *table)
{
    assert(table->count % table->column_count == 0); /* the last row is complete */
    return table->count / table->column_count;
}

/* Narrows the widest flexible column, again and again, until the line fits or no flexible column can be
 * narrowed. Returns the new width of the line. */
static size_t squeeze_flexible(const struct table *table, size_t *widths, size_t sum, size_t available)
{
    while (sum > available) {
        size_t widest = table->column_count;
        for (size_t c = 0; c < table->column_count; c++) {
            bool gives = table->columns[c].flexible && widths[c] > LEAST_FLEXIBLE;
            if (gives && (widest == table->column_count || widths[c] > widths[widest]))
                widest = c;
        }
        if (widest == table->column_count)
            break;
        widths[widest]--;
        sum--;
    }
    return sum;
}

/* Narrows columns to the width of their content. Returns the new width of the line. */
static size_t squeeze_padding(const struct table *table, size_t *widths, size_t sum, size_t available)
{
    for (size_t c = table->column_count; c-- > 0 && sum > available;) {
        size_t gives = widths[c] > table->content[c] ? widths[c] - table->content[c] : 0;
        gives = gives < sum - available ? gives : sum - available;
        widths[c] -= gives;
        sum -= gives;
    }
    return sum;
}

/* Makes the line fit. As a last step it cuts the last columns. A column that would be too narrow to read is
 * left out (width 0). */
static void squeeze(const struct table *table, size_t *widths, size_t available)
{
    size_t sum = (table->column_count - 1) * GAP;
    for (size_t c = 0; c < table->column_count; c++)
        sum += widths[c];
    sum = squeeze_flexible(table, widths, sum, available);
    sum = squeeze_padding(table, widths, sum, available);
    for (size_t c = table->column_count; c-- > 1 && sum > available;) {
        size_t over = sum - available;
        bool stays = widths[c] >= over + LEAST_READABLE;
        sum -= stays ? over : widths[c] + GAP;
        widths[c] = stays ? widths[c] - over : 0;
    }
    if (sum > available && available)
        widths[0] = available;
}

static void print_cell(const struct terminal *to, const struct cell *cell, size_t width, bool is_last)
{
    const char *begin = terminal_begin(to, cell->style), *end = terminal_end(to, cell->style);
    size_t padding = 0;
    assert(width || !cell->width);
    if (cell->width > width) {
        size_t fits = glyphs_fit(cell->text, width - 1);
        (void)fprintf(to->file, "%s%.*s…%s", begin, (int)fits, cell->text, end);
    } else {
        (void)fprintf(to->file, "%s%s%s", begin, cell->text, end);
        padding = width - cell->width;
    }
    if (!is_last)
        (void)fprintf(to->file, "%*s", (int)(padding + GAP), "");
}

static void print_row(const struct table *table, const struct terminal *to, const struct cell *row,
                      const size_t *widths)
{
    size_t shown = table->column_count;
    while (shown > 1 && !widths[shown - 1])
        shown--;
    for (size_t c = 0; c < shown; c++)
        print_cell(to, &row[c], widths[c], c + 1 == shown);
    (void)fputc('\n', to->file);
}

/* Returns the printed width of each column; the caller frees the array. */
static size_t *widths_of(const struct table *table, const struct terminal *to)
{
    size_t *widths = mem_calloc(table->column_count, sizeof(*widths));
    for (size_t c = 0; c < table->column_count; c++)
        widths[c] = table->content[c] > table->least[c] ? table->content[c] : table->least[c];
    if (to->is_terminal)
        squeeze(table, widths, terminal_width(to));
    return widths;
}

void table_print_rows(const struct table *table, const struct terminal *to)
{
    size_t *widths CLEANUP_FREE = widths_of(table, to);
    for (size_t r = 0; r < table_rows(table); r++)
        print_row(table, to, &table->cells[r * table->column_count], widths);
}

void table_print(const struct table *table, const struct terminal *to)
{
    size_t *widths CLEANUP_FREE = widths_of(table, to);
    struct cell *titles CLEANUP_FREE = mem_calloc(table->column_count, sizeof(*titles));
    for (size_t c = 0; c < table->column_count; c++) {
        const char *title = table->columns[c].title;
        titles[c] = (struct cell){mem_strdup(title), strlen(title), STYLE_BOLD};
    }
    print_row(table, to, titles, widths);
    for (size_t c = 0; c < table->column_count; c++)
        free(titles[c].text);
    table_print_rows(table, to);
}
