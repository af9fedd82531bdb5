"""torch's own tests of ``grid_sample`` pass with ``bindless.torch.grid_sample`` (``torch_plugin.py``).

Those of ``torch.testing`` come with torch: the samples of its table of operators. Those of ``test/test_nn.py`` are in
torch's repository alone: ``BINDLESS_TORCH_TEST_NN`` names the file.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", minversion="2.5", reason="pip install torch")
pytest.importorskip("expecttest", reason="pip install expecttest, which torch.testing needs")

from bindless.torch import grid_sample  # noqa: E402
from tests.acceptance.torch_grid_sample.selection import selected  # noqa: E402

pytestmark = pytest.mark.torch

ROOT = Path(__file__).parents[3]
LEAST_TESTS, LEAST_CALLS = 9, 500  # of torch 2.6 and later, without a GPU


@pytest.fixture(scope="module")
def described() -> Any:
    """torch's own description of its operator."""
    from torch.testing._internal.common_methods_invocations import op_db

    return next(found for found in op_db if found.name == "nn.functional.grid_sample")


def values_and_gradients(function: Any, sample: Any) -> tuple[Any, ...]:
    tensors = [part.detach().clone().requires_grad_() for part in (sample.input, sample.args[0])]
    values = function(*tensors, *sample.args[1:], **sample.kwargs)
    weights = torch.linspace(-1, 1, values.numel(), dtype=values.dtype).reshape(values.shape)
    return values.detach(), *torch.autograd.grad((values * weights).sum(), tensors)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_samples_of_torch_s_table(described: Any, dtype: Any) -> None:
    """In torch's own tolerances of each type, compared with torch in double precision."""
    count = 0
    for sample in described.sample_inputs("cpu", dtype):
        wide = sample.transform(lambda part: part.double() if isinstance(part, torch.Tensor) else part)
        expected = values_and_gradients(torch.nn.functional.grid_sample, wide)
        for found, theirs in zip(values_and_gradients(grid_sample, sample), expected):
            atol = 1e-2 * max(1.0, float(theirs.abs().max())) if dtype.itemsize == 2 else 1e-5
            torch.testing.assert_close(found.double(), theirs, rtol=1.6e-2 if dtype.itemsize == 2 else 1e-5, atol=atol)
        count += 1
    assert count >= 30


def test_reference_samples_of_torch_s_table(described: Any) -> None:
    """Pixels from 0 to 255, positions from 0 to 456, which single precision rounds to 3e-5: as near as torch is."""
    for sample in described.reference_inputs("cpu", torch.float32):
        found = grid_sample(sample.input, *sample.args, **sample.kwargs)
        expected = torch.nn.functional.grid_sample(sample.input, *sample.args, **sample.kwargs)
        wide = sample.transform(lambda part: part.double() if isinstance(part, torch.Tensor) else part)
        truth = torch.nn.functional.grid_sample(wide.input, *wide.args, **wide.kwargs)
        away, theirs = ((part.double() - truth).abs() for part in (found, expected))
        far = away > 0.02  # nearest: positions half way between two pixels
        assert far.sum() <= 2 * (theirs > 0.02).sum() + 10


def test_torch_s_tests_pass(tmp_path: Path) -> None:
    source = os.environ.get("BINDLESS_TORCH_TEST_NN")
    if not source:
        pytest.skip("BINDLESS_TORCH_TEST_NN does not name the file test/test_nn.py of torch's repository")
    (tmp_path / "test_selected.py").write_text(selected(Path(source).read_text()))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-c", str(tmp_path / "pytest.ini"), "-q", "--tb=short", "-W", "ignore"]
    command += ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "tests.acceptance.torch_grid_sample.torch_plugin"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=280)
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
    passed = re.search(r"(\d+) passed", ran.stdout)
    calls = re.search(r"calls of bindless.torch.grid_sample: (\d+)", ran.stdout)
    assert passed is not None and int(passed[1]) >= LEAST_TESTS, ran.stdout[-500:]
    assert calls is not None and int(calls[1]) >= LEAST_CALLS, ran.stdout[-500:]
