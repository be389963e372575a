/* Replacing files: what is kept, what is refused, and what is left after a failure. */
#include "tests/support/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/private_file.h"
#include "base/replace_file.h"

enum { SOMEBODY = 12345 };

struct test {
    char path[32];
    int directory;
};

static int set_up(void **state)
{
    struct test *t = MEM_NEW(struct test);
    (void)snprintf(t->path, sizeof(t->path), "/tmp/shootd-replace-XXXXXX");
    assert_non_null(mkdtemp(t->path));
    t->directory = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(t->directory >= 0);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct test *t = *state;
    (void)close(t->directory);
    char *remove CLEANUP_FREE = mem_printf("rm -r %s", t->path);
    const int status = system(remove);
    free(t);
    return status;
}

static void put(const struct test *t, const char *name, const char *text, mode_t mode)
{
    int fd = openat(t->directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fchmod(fd, mode) == 0);
    assert_int_equal(close(fd), 0);
}

static int replace(const struct test *t, const char *name, const char *text)
{
    return replace_file(t->directory, name, "draft", 0640, text, strlen(text));
}

static void holds(const struct test *t, const char *name, const char *text)
{
    char bytes[64] = "";
    int fd = openat(t->directory, name, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && read(fd, bytes, sizeof(bytes) - 1) >= 0);
    assert_string_equal(bytes, text);
    assert_int_equal(close(fd), 0);
    assert_int_equal(faccessat(t->directory, "draft", F_OK, AT_SYMLINK_NOFOLLOW), -1);
}

static struct stat look(const struct test *t, const char *name)
{
    struct stat st;
    assert_int_equal(fstatat(t->directory, name, &st, AT_SYMLINK_NOFOLLOW), 0);
    return st;
}

static void a_file_is_made_and_replaced(void **state)
{
    const struct test *t = *state;
    put(t, "draft", "of a process that was killed", 0600);
    assert_int_equal(replace(t, "file", "first"), 0);
    holds(t, "file", "first");
    const struct stat first = look(t, "file");
    assert_int_equal(first.st_mode & 07777, 0640);
    assert_int_equal(replace(t, "file", "x"), 0);
    holds(t, "file", "x");
    assert_true(look(t, "file").st_ino != first.st_ino);
}

static void only_regular_files(void **state)
{
    const struct test *t = *state;
    put(t, "target", "kept", 0600);
    assert_int_equal(mkfifoat(t->directory, "fifo", 0600), 0);
    assert_int_equal(mkdirat(t->directory, "directory", 0700), 0);
    assert_int_equal(symlinkat("target", t->directory, "link"), 0);
    const bool has_device = mknodat(t->directory, "device", S_IFCHR | 0666, 0x103) == 0;
    assert_int_equal(replace(t, "fifo", "x"), -EPERM);
    assert_int_equal(replace(t, "directory", "x"), -EPERM);
    assert_int_equal(replace(t, "link", "x"), -ELOOP);
    assert_int_equal(private_file_write(t->directory, "fifo", "x", 1), -EPERM);
    assert_true(S_ISFIFO(look(t, "fifo").st_mode) && S_ISLNK(look(t, "link").st_mode));
    assert_int_equal(private_file_write(t->directory, "link", "x", 1), 0);
    assert_true(S_ISREG(look(t, "link").st_mode));
    holds(t, "target", "kept");
    if (has_device) {
        assert_int_equal(replace(t, "device", "x"), -EPERM);
        assert_true(S_ISCHR(look(t, "device").st_mode));
    }
}

static void the_owner_stays(void **state)
{
    const struct test *t = *state;
    if (geteuid() != 0)
        skip();
    put(t, "file", "old", 0600);
    assert_int_equal(fchownat(t->directory, "file", SOMEBODY, SOMEBODY + 1, 0), 0);
    assert_int_equal(replace(t, "file", "new"), 0);
    holds(t, "file", "new");
    assert_int_equal(look(t, "file").st_uid, SOMEBODY);
    assert_int_equal(look(t, "file").st_gid, SOMEBODY + 1);
    assert_int_equal(look(t, "file").st_mode & 07777, 0640);
}

/* Somebody may write the file, but not the directory: the file of a group, or a mount. */
static void a_file_in_a_directory_that_stays_as_it_is(void **state)
{
    const struct test *t = *state;
    if (geteuid() != 0)
        skip();
    put(t, "file", "a long old text", 0666);
    put(t, "others", "old", 0600);
    assert_int_equal(fchmod(t->directory, 0755), 0);
    assert_int_equal(seteuid(SOMEBODY), 0);
    const int in_place = replace(t, "file", "new"), refused = replace(t, "others", "x"),
              none = replace(t, "none", "x");
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(in_place, 0);
    assert_int_equal(refused, -EACCES);
    assert_int_equal(none, -EACCES);
    holds(t, "file", "new");
    holds(t, "others", "old");
    assert_int_equal(look(t, "file").st_uid, 0);
}

static void a_file_that_is_mounted(void **state)
{
    const struct test *t = *state;
    char *from CLEANUP_FREE = mem_printf("%s/source", t->path),
               *to CLEANUP_FREE = mem_printf("%s/file", t->path);
    put(t, "source", "a long old text", 0600);
    put(t, "file", "", 0600);
    if (mount(from, to, NULL, MS_BIND, NULL) < 0)
        skip(); /* this needs root, and a container may forbid it */
    const int r = replace(t, "file", "new");
    assert_int_equal(umount(to), 0);
    assert_int_equal(r, 0);
    holds(t, "source", "new");
    holds(t, "file", "");
}

#define FILE_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_file_is_made_and_replaced),
        FILE_TEST(only_regular_files),
        FILE_TEST(the_owner_stays),
        FILE_TEST(a_file_in_a_directory_that_stays_as_it_is),
        FILE_TEST(a_file_that_is_mounted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
