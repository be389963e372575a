/* Replays the inputs of the daemon's fuzz targets. */
#include "fuzz/fuzz.h"

#define REPLAYED FUZZ_TARGETS
#include "tests/unit/fuzz_replay.h"
