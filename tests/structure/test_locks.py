"""``bindless.core.lock.Lock`` is the lock of the package: a KeyboardInterrupt never leaves it locked."""

from __future__ import annotations

import re
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src" / "bindless"
OTHERS = {
    "backends/opencl/polling.py",  # a signal between two threads
    "submission/host_dependency.py",  # the same
    "compiler/process/worker.py",  # below the package core
    "kernels/load.py",  # below the package core
    "drivers/common/loader.py",  # runs without the package's C modules
}


def test_the_packages_lock_is_used() -> None:
    files = (path for path in SOURCES.rglob("*.py") if re.search(r"threading\.R?Lock\b", path.read_text("utf-8")))
    assert {path.relative_to(SOURCES).as_posix() for path in files} == OTHERS
