"""A minute of `make soak`: mixed load with faults; what is held stays flat, and what was counted balances."""

import pathlib
import sys
import time

import harness

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "soak"))
import soak  # noqa: E402

SECONDS = 30 if harness.SANITIZED else 60


def test_a_minute_of_mixed_load_with_faults(tmp_path, capsys):
    seed = int(time.time())
    faults = soak.run(tmp_path, SECONDS, seed)
    assert not faults, f"SOAK_SEED={seed}\n" + "\n".join(faults)
    assert "balance" in capsys.readouterr().out
