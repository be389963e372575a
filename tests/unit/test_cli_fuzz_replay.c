/* Runs the fuzz targets of the command line with their stored inputs. */
#include "fuzz/fuzz.h"

#define REPLAYED FUZZ_CLI_TARGETS
#include "tests/unit/fuzz_replay.h"
