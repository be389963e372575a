/* Configuration files. The loader reads the input from a file without a name. */
#include "fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "config/config.h"

static FILE *nowhere(void)
{
    static FILE *file;
    if (!file)
        file = fopen("/dev/null", "we");
    FUZZ_CHECK(file != NULL);
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char path[64];
    int fd = memfd_create("config", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && (!len || write(fd, bytes, len) == (ssize_t)len));
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    struct config *config = config_load(path, CONFIG_TO_CHECK, nowhere());
    (void)close(fd);
    if (config)
        FUZZ_CHECK(config->account_count && config->project_count && config->projects->account);
    config_free(config);
    return 0;
}
