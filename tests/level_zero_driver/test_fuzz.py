"""The driver's functions, called without a loader, with random arguments."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

CALLS = 10000


@pytest.mark.skipif(sys.platform != "linux", reason="the Level Zero driver is built on Linux alone")
@pytest.mark.parametrize("seed", [1, 2])
def test_calls_at_random_neither_crash_nor_hang(seed: int) -> None:
    program = Path(__file__).with_name("fuzz_calls.py")
    done = subprocess.run(
        [sys.executable, str(program), str(seed), str(CALLS)], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    results = {int(code, 16): int(number) for code, number in re.findall(r"(0x\w+):(\d+)", done.stdout)}
    assert sum(results.values()) == CALLS
    assert results[0] > CALLS / 10  # calls that happen to be valid
    refusals = {0x78000004, 0x78000005, 0x78000007, 0x7800000C}  # argument, null handle, null pointer, enumeration
    assert refusals <= results.keys()
