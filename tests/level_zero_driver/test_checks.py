"""The Level Zero driver through the system's loader: every check of this folder, in a separate process."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .conftest import Checker

pytestmark = pytest.mark.level_zero

HERE = Path(__file__).resolve().parent
CHECKS = [
    (path.stem, name)
    for path in sorted(HERE.glob("*_checks.py"))
    for name in re.findall(r"^def (check_\w+)\(rig: Rig\)", path.read_text(), re.MULTILINE)
]


@pytest.mark.parametrize(("module", "name"), CHECKS)
def test_check(check: Checker, module: str, name: str) -> None:
    check(module, name)
