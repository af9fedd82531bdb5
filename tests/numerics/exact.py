"""Run cases in the exact mode of the reference device, which needs a separate process.

python -m numerics.exact GROUP FILE writes the results of every case of a group.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import bindless as bl
from tests.goldens.configuration import Array
from tests.goldens.device import run

from .cases import Case

_ROOT = Path(__file__).resolve().parents[2]


def _cases(group: str) -> Sequence[Case]:
    if group == "numpy":
        from .numpy_cases import CASES

        return CASES
    from .opencl_cases import CASES as OPENCL
    from .opencl_cases import EVERY

    return EVERY if group == "opencl_table" else OPENCL


def exact_results(group: str, folder: Path) -> dict[str, Array]:
    """Return (points, channels) by name of the case, from a new process."""
    file = folder / f"{group}.npz"
    subprocess.run(
        [sys.executable, "-m", "tests.numerics.exact", group, str(file)],
        cwd=_ROOT,
        env=os.environ | {"BINDLESS_REFERENCE_FILTERING": "exact"},
        check=True,
        timeout=120,
    )
    with np.load(file) as stored:
        return {key: stored[key] for key in stored.files}


if __name__ == "__main__":
    group, file = sys.argv[1:]
    with bl.Queue("reference:*:*") as queue:
        results = {case.name: run(queue, case) for case in _cases(group)}
    arrays: dict[str, Any] = dict(results)
    np.savez(file, **arrays)
