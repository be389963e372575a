#include "tests/support/temporary.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/check.h"

void make_temporary(char *path, size_t size)
{
    const char *base = getenv("TMPDIR");
    (void)snprintf(path, size, "%s/shootd-test-XXXXXX", base && *base ? base : "/tmp");
    assert_non_null(mkdtemp(path));
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    return remove(path);
}

void remove_temporary(const char *path)
{
    assert_int_equal(nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}
