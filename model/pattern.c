#include "model/pattern.h"

#include <pthread.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"

static const char *const patterns[] = {PATTERN_DNS_LABEL, PATTERN_VERSION, PATTERN_UUID, PATTERN_WINDOW_TIME,
                                       PATTERN_CRON};
static regex_t compiled[ARRAY_LEN(patterns)]; /* for the life of the process */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void compile_all(void)
{
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
        if (regcomp(&compiled[i], patterns[i], REG_EXTENDED | REG_NOSUB) != 0)
            abort();
}

bool pattern_matches(const char *pattern, const char *text)
{
    (void)pthread_once(&once, compile_all);
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
        if (!strcmp(patterns[i], pattern))
            return regexec(&compiled[i], text, 0, NULL, 0) == 0;
    abort(); /* our own patterns */
}
