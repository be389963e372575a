/*
 * A table of text. Cells are escaped when they are added, and a column is as wide as its widest cell. On a
 * terminal the flexible columns are cut until a line fits; otherwise no column is cut. One thread.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/terminal.h"

struct column {
    const char *title; /* NULL ends an array of columns */
    bool flexible;     /* the column may be cut on a terminal */
};

struct table;

/* Makes a table. `columns` must stay valid while the table exists. */
struct table *table_new(const struct column *columns);
void table_free(struct table *table);
/* Adds the next cell, row by row. NULL and "" show as "-". */
void table_add(struct table *table, const char *text, enum style style);
/* Does the same as table_add, and frees the text. */
void table_add_take(struct table *table, char *text, enum style style);
size_t table_rows(const struct table *table);
/* Makes the column at least `width` wide, if the terminal is wide enough. */
void table_widen(struct table *table, size_t column, size_t width);
/* Prints titles and rows. */
void table_print(const struct table *table, const struct terminal *to);
/* Prints rows without titles. */
void table_print_rows(const struct table *table, const struct terminal *to);
/* Removes the rows. Columns keep their width, so that later rows are aligned with the printed rows. */
void table_forget_rows(struct table *table);

DEFINE_CLEANUP(table_cleanup, struct table *, table_free)
#define CLEANUP_TABLE CLEANUP(table_cleanup)

#endif
