/* Reads the file of a configuration, and checks that it is small and flat enough for libyaml, whose effort
 * grows with the square of the depth and of the number of anchors. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/config_private.h"

enum { FILE_MAX = 4 * 1024 * 1024, DEPTH_MAX = 16, ANCHORS_MAX = 1000 };

/* Reads at most FILE_MAX bytes. Returns NULL and sets *ret_error (static) on a failure. */
static char *read_all(int fd, size_t *ret_len, const char **ret_error)
{
    char *text CLEANUP_FREE = mem_calloc(FILE_MAX + 1, 1);
    size_t len = 0;
    for (ssize_t n = 1; n && len <= FILE_MAX; len += (size_t)n) {
        n = read(fd, text + len, FILE_MAX + 1 - len);
        if (n < 0) {
            *ret_error = strerror(errno);
            return NULL;
        }
    }
    *ret_len = len;
    *ret_error = len > FILE_MAX ? "is longer than 4 MiB" : NULL;
    return *ret_error ? NULL : TAKE_PTR(text);
}

char *config_file_read(const char *path, size_t *ret_len, const char **ret_error)
{
    struct stat st;
    char *text = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0)
        *ret_error = strerror(errno);
    else if (!S_ISREG(st.st_mode))
        *ret_error = "is not a regular file";
    else
        text = read_all(fd, ret_len, ret_error);
    if (fd >= 0)
        (void)close(fd);
    return text;
}

const char *config_file_excess(const char *text, size_t len, size_t *ret_line)
{
    /* indexed by the type of the event */
    static const int steps[] = {[YAML_SEQUENCE_START_EVENT] = 1,
                                [YAML_SEQUENCE_END_EVENT] = -1,
                                [YAML_MAPPING_START_EVENT] = 1,
                                [YAML_MAPPING_END_EVENT] = -1};
    yaml_parser_t parser;
    yaml_event_t event;
    int depth = 0, anchors = 0;
    const char *excess = NULL;
    if (!yaml_parser_initialize(&parser))
        abort();
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    for (bool is_last = false; !is_last && !excess && yaml_parser_parse(&parser, &event);) {
        depth += steps[event.type];
        anchors += (event.type == YAML_SCALAR_EVENT && event.data.scalar.anchor) ||
                   (event.type == YAML_SEQUENCE_START_EVENT && event.data.sequence_start.anchor) ||
                   (event.type == YAML_MAPPING_START_EVENT && event.data.mapping_start.anchor);
        if (depth > DEPTH_MAX)
            excess = "is nested more than 16 levels deep";
        else if (anchors > ANCHORS_MAX)
            excess = "has more than 1000 anchors";
        *ret_line = event.start_mark.line + 1;
        is_last = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return excess;
}
