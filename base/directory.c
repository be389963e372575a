#include "base/directory.h"

#include <errno.h>
#include <unistd.h>

int directory_sync(int directory)
{
    return fsync(directory) == 0 || errno == EINVAL ? 0 : -errno;
}
