"""`make soak` for a quarter of a minute, or for a minute with FULL=1: mixed load with faults. Memory and descriptors stay constant, and
all counts balance."""

import sys
import time

import harness

sys.path.append(str(harness.ROOT / "tests/soak"))
import soak  # noqa: E402


def test_mixed_load_with_faults(tmp_path):
    seed = harness.size(1, int(time.time()))
    faults = soak.run(tmp_path, harness.size(0.25, 0.5 if harness.SANITIZED else 1), seed)
    assert not faults, "\n".join([f"SOAK_SEED={seed}", *faults])
