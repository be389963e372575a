/* Functions for texts: they cut a text, clean foreign text, and check names in HTTP. Pure; any thread. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the length of the longest beginning of `text` that has at most `max` bytes and ends between two
 * characters. The text is UTF-8. For other bytes only the limit is guaranteed.
 */
size_t utf8_cut(const char *text, size_t max);
/* Copies the beginning of `text` that utf8_cut finds; NULL for NULL. The caller frees the copy. */
char *utf8_cut_copy(const char *text, size_t max);

/*
 * Cleans foreign text that is shown to people: in logs, messages, the delivery log. Each control (C0, C1,
 * line separators) and each mark that changes the direction of text becomes a space. A byte that is not part
 * of valid UTF-8 becomes a question mark. The text is cut only between two characters. Writes the part that
 * fits into `size` bytes together with the NUL. The NUL is always written; `size` is at least 1. Returns the
 * length without the NUL; this length is never more than `len`. `to` and `from` may be the same buffer when
 * `size` is at least len + 1.
 */
size_t printable_write(char *to, size_t size, const char *from, size_t len);

/* Whether the text is a token of RFC 9110 5.6.2, like the names of header fields: letters, digits and a few
 * signs. */
bool http_is_token(const char *text, size_t len);

/* Returns the next item of a comma-separated list as in header fields, without white space around it; false
 * at the end. A comma in quotes separates nothing. */
bool text_next_item(const char **cursor, const char **ret_item, size_t *ret_len);

/* Returns the length of a byte order mark at the beginning of the text, or 0. Some programs write the mark
 * before UTF-8. RFC 8259, 8.1, allows a reader to skip it. */
size_t text_mark_length(const char *bytes, size_t len);

/* Returns the place of the word in a table of words, which may have gaps (NULL); -1 for NULL and words that
 * are not in the table. */
int word_index(const char *const *words, size_t count, const char *word);

/* Returns the secret in the text of a file or a variable, as editors and shells may have written it: the
 * first line, without a byte order mark, and without blanks at both ends. The result points into `text`,
 * which is changed. Pure. */
char *text_secret_line(char *text);

#endif
