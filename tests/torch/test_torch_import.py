"""``import bindless`` does not import torch, and ``bindless.torch`` says what it needs."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import bindless
assert "torch" not in sys.modules
sys.modules["torch"] = None  # as if it were not installed
try:
    import bindless.torch
except bindless.FeatureNotSupportedError as error:
    assert error.code is bindless.Errc.feature_not_supported
else:
    raise AssertionError("imported without torch")
"""


def test_torch_is_imported_by_its_package_alone() -> None:
    ran = subprocess.run([sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
