/* YAML documents of users. A value that was read is equal after it is written and read again. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "cli/yaml_in.h"
#include "cli/yaml_out.h"

static void check_again(const json_t *document)
{
    struct buffer text CLEANUP_BUFFER;
    struct yaml_fault fault = {0};
    buffer_init(&text, YAML_MAX_BYTES);
    yaml_write(&text, document);
    if (text.overflow)
        return;
    json_t *again CLEANUP_JSON = yaml_read(text.data, text.len, &fault);
    if (!again)
        (void)fprintf(stderr, "line %zu: %s\n%s", fault.line, fault.text, text.data);
    FUZZ_CHECK(json_array_size(again) == 1 && json_equal(json_array_get(again, 0), document));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct yaml_fault fault = {0};
    size_t i;
    json_t *document;
    char *text CLEANUP_FREE = fuzz_text(bytes, len);
    json_t *all CLEANUP_JSON = yaml_read(text, len, &fault);
    FUZZ_CHECK(all || *fault.text);
    json_array_foreach (all, i, document)
        check_again(document);
    return 0;
}
