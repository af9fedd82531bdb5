"""Cost of ``import bindless`` beyond numpy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

Compare = Callable[..., Any]


def _python(code: str) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_import(compare: Compare) -> None:
    compare(
        _python("import numpy, bindless"),
        {"numpy alone": _python("import numpy")},
        name="import numpy, bindless",
        rounds=9,
        target="less than 60 ms more than numpy alone",
    )
