/*
 * A table of text: cells are escaped when they are put in, columns are as wide as their widest cell so far,
 * and on a terminal the flexible ones give way until a line fits (elsewhere nothing is cut). One
 * thread.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/terminal.h"

struct column {
    const char *title; /* NULL ends an array of columns */
    bool flexible;     /* may be cut on a terminal */
};

struct table;

/* `columns` has to live as long as the table. */
struct table *table_new(const struct column *columns);
void table_free(struct table *table);
/* The next cell, row after row; NULL and "" show as "-". */
void table_add(struct table *table, const char *text, enum style style);
/* The same, and frees the text. */
void table_add_take(struct table *table, char *text, enum style style);
size_t table_rows(const struct table *table);
/* The column is so wide at least, as long as a terminal has the room. */
void table_widen(struct table *table, size_t column, size_t width);
/* Titles and rows. */
void table_print(const struct table *table, const struct terminal *to);
/* Rows without titles. */
void table_print_rows(const struct table *table, const struct terminal *to);
/* Removes the rows. Those that come later are as wide as they were: columns never get narrower. */
void table_forget_rows(struct table *table);

DEFINE_CLEANUP(table_cleanup, struct table *, table_free)
#define CLEANUP_TABLE CLEANUP(table_cleanup)

#endif
