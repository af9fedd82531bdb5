"""scipy's own tests of interpolation pass with the functions of ``bindless.ndimage`` (``plugin.py``)."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = "scipy.ndimage.tests.test_interpolation"
ROOT = Path(__file__).parents[3]
LEAST = 400  # tests of scipy 1.15 and later, and calls of functions


@pytest.fixture
def installed() -> None:
    pytest.importorskip("scipy", minversion="1.15")  # earlier ones have other tests
    if importlib.util.find_spec(TESTS) is None:
        pytest.skip("scipy is installed without its tests: install the wheel of PyPI")


@pytest.mark.usefixtures("installed", "device")
def test_scipy_s_tests_pass(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  array_api_backends: scipy's\n")
    command = [sys.executable, "-m", "pytest", "-c", str(tmp_path / "pytest.ini"), "-q", "--tb=short"]
    command += ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "tests.acceptance.scipy_ndimage.plugin"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    environment |= {"BINDLESS_NDIMAGE_DEVICE": pytestconfig.getoption("--device"), "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [*command, "--pyargs", TESTS], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=280
    )
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
    for found in (re.search(r"(\d+) passed", ran.stdout), re.search(r"calls of bindless.ndimage: (\d+)", ran.stdout)):
        assert found is not None and int(found[1]) >= LEAST, ran.stdout[-500:]
