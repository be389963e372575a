/*
 * The program that replays the inputs of fuzz targets: the stored seeds, and each input that once showed a
 * fault. The program is for the targets of REPLAYED, a list in fuzz/fuzz.h.
 */
#ifndef TESTS_UNIT_FUZZ_REPLAY_H
#define TESTS_UNIT_FUZZ_REPLAY_H

#include "tests/support/check.h"

#include <dirent.h>
#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "fuzz/fuzz.h"

/* In this program each target has its own name in place of LLVMFuzzerTestOneInput. */
#define DECLARE(target) int fuzz_target_##target(const uint8_t *bytes, size_t len);
REPLAYED(DECLARE)

typedef int target_run(const uint8_t *bytes, size_t len);

static void feed(target_run *run, const char *path)
{
    enum { LARGEST = 4 * 1024 * 1024 };
    FILE *file = fopen(path, "re");
    if (!file)
        fail_msg("%s cannot be read", path);
    char *bytes CLEANUP_FREE = mem_calloc(LARGEST, 1);
    size_t len = fread(bytes, 1, LARGEST, file);
    (void)fclose(file);
    (void)fprintf(stderr, "%s\n", path); /* the last path in the output is the input that ended the program */
    /* The copy has exactly the size of the input, so that sanitizers detect an access behind its end. */
    char *exact CLEANUP_FREE = mem_dup(bytes, len ? len : 1);
    (void)run((const uint8_t *)exact, len);
}

static unsigned feed_folder(target_run *run, const char *folder, const char *target)
{
    char *path CLEANUP_FREE = mem_printf("fuzz/%s/%s", folder, target);
    unsigned count = 0;
    DIR *dir = opendir(path);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        if (e->d_name[0] == '.')
            continue;
        char *file CLEANUP_FREE = mem_printf("%s/%s", path, e->d_name);
        feed(run, file);
        count++;
    }
    if (dir)
        (void)closedir(dir);
    return count;
}

static void replay(target_run *run, const char *target)
{
    fuzz_be_silent();
    (void)run((const uint8_t *)"", 0);
    if (!feed_folder(run, "corpus", target))
        fail_msg("no file in fuzz/corpus/%s: run this from the top of the project", target);
    (void)feed_folder(run, "found", target);
}

#define DEFINE_TEST(target)                    \
    static void fuzz_##target(void **state)    \
    {                                          \
        (void)state;                           \
        replay(fuzz_target_##target, #target); \
    }
REPLAYED(DEFINE_TEST)

/* A target that is in no list would not be run. */
static void each_folder_has_its_target(void **state)
{
    static const char *const roots[] = {"fuzz/corpus", "fuzz/found"};
#define NAME(target) #target,
    static const char *const names[] = {FUZZ_TARGETS(NAME) FUZZ_CLI_TARGETS(NAME)};
    for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
        DIR *dir = opendir(roots[i]);
        assert_non_null(dir);
        for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
            bool known = e->d_name[0] == '.';
            for (size_t n = 0; n < ARRAY_LEN(names); n++)
                known = known || !strcmp(names[n], e->d_name);
            if (!known)
                fail_msg("%s/%s is of no target", roots[i], e->d_name);
        }
        (void)closedir(dir);
    }
}

#define ADD(target) cmocka_unit_test(fuzz_##target),

int main(void)
{
    const struct CMUnitTest tests[] = {REPLAYED(ADD) cmocka_unit_test(each_folder_has_its_target)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
