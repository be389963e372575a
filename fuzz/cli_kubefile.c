/* Kubeconfigs of users, into which an entry is merged. A second merge of the same entry changes nothing. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "cli/kubefile.h"

static bool merge(const char *text, size_t len, struct buffer *out)
{
    json_t *cluster CLEANUP_JSON = json_pack("{s:s}", "server", "https://api.example.com");
    json_t *user CLEANUP_JSON = json_pack("{s:{s:s,s:[s,s],s:b}}", "exec", "command", "shootctl", "args", "a",
                                          "b: c", "provideClusterInfo", 0);
    const struct kube_entry entry = {"team-a--dev@host", cluster, user, KUBE_CURRENT_IF_EMPTY};
    struct buffer fault CLEANUP_BUFFER;
    buffer_init(&fault, 4096);
    buffer_init(out, 16 * 1024 * 1024);
    bool good = kubefile_merged(text, len, &entry, out, &fault);
    FUZZ_CHECK(good || fault.len);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct buffer first CLEANUP_BUFFER, second CLEANUP_BUFFER;
    char *text CLEANUP_FREE = fuzz_text(bytes, len);
    json_t *found CLEANUP_JSON = kubefile_cluster(text, len);
    FUZZ_CHECK(!found || json_str(found, "server"));
    if (!merge(text, len, &first)) {
        buffer_init(&second, 1);
        return 0;
    }
    FUZZ_CHECK(merge(first.data, first.len, &second));
    FUZZ_CHECK(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    FUZZ_CHECK(strstr(first.data, "team-a--dev@host"));
    return 0;
}
