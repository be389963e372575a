/* Replays the inputs of the fuzz targets of the command line. */
#include "fuzz/fuzz.h"

#define REPLAYED FUZZ_CLI_TARGETS
#include "tests/unit/fuzz_replay.h"
