"""What the CUDA backend asks of its driver: calls, their order and their failures, on a driver that records them and
runs no kernels. Tests of results run on the package's driver for processors (``--device processor_cuda``).

A process has one libcuda: each group of files runs in its own process, which pytest-xdist may place on any worker.
``pytest --device recorded_cuda FILE`` runs tests of a file on that driver directly.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import bindless as bl
from tests.support.recorded_driver import DEVICE, compile_driver

TESTS = Path(__file__).resolve().parents[2]
NEEDS_COMPILER = pytest.mark.skipif(
    not bl.kernels_available(), reason="needs a kernel compiler: pip install 'bindless[kernels]'"
)
NEEDS_DASK = pytest.mark.skipif(find_spec("dask") is None, reason="pip install 'bindless[dask]'")

# Arguments of pytest, relative to the folder of the tests.
RUNS = {
    "calls": tuple(f"backends/cuda/recorded_{name}.py" for name in ("cuda", "modules", "images")),
    "launches": tuple(f"backends/cuda/recorded_{name}.py" for name in ("launches", "splines", "guarded")),
    "blocks": ("backends/cuda/recorded_blocks.py",),
    "repeated-blocks": ("dask/test_dask_python_calls.py",),
    "pictures": ("backends/cuda/recorded_resampling.py",),
    "large-copies": tuple(f"backends/cuda/recorded_{name}.py" for name in ("copies", "host_calls", "pinned_frames")),
    "repeated-ndimage": ("ndimage/recorded_python_calls.py", "cv2/recorded_maps.py"),
    "native-objects": ("backends/cuda/recorded_native.py",),
    "kernels-of-users": ("backends/cuda/recorded_user_kernels.py",),
    "kernels-in-python": ("backends/cuda/recorded_python_kernels.py",),
    "arrays-of-another-library": ("interop/recorded_exchange.py", "interop/recorded_exchange_functions.py"),
    # On this driver and the reference: its streams run nothing until the host queries or waits, so that a dependency
    # missing from the graph of command groups shows.
    "command-groups": ("submission/test_graph.py", "submission/test_graph_random.py", "sycl/buffer/test_buffer.py"),
    # The driver accepts commands and events only in the context of their stream.
    "two-devices": ("sycl/device/test_two_devices.py", "backends/cuda/recorded_devices.py"),
    # Its copies to the host return at once, so that a test may signal after them what they wait for.
    "external-memory-and-semaphores": (
        "backends/cuda/recorded_external.py",
        *(
            f"interop/test_{name}.py"
            for name in ("external_memory", "external_semaphore", "imported_objects", "outside_waits")
        ),
        "-k",
        "not sampled",
    ),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recording driver."""
    return compile_driver(tmp_path_factory.mktemp("recording"))


def needs(name: str) -> tuple[pytest.MarkDecorator, ...]:
    return (NEEDS_COMPILER,) if "users" in name else (NEEDS_DASK,) if name.endswith("blocks") else ()


@pytest.mark.parametrize("arguments", [pytest.param(RUNS[name], id=name, marks=needs(name)) for name in RUNS])
def test_on_the_recording_driver(library: Path, arguments: tuple[str, ...]) -> None:
    """Every test of the files passes, and none is skipped."""
    options = ["-n0", "-q", "-p", "no:cacheprovider", "--device", DEVICE]
    environment = {**os.environ, "BINDLESS_LIBCUDA": str(library)}
    for name in ("ONEAPI_DEVICE_SELECTOR", "SYCL_DEVICE_FILTER", "BINDLESS_REQUIRE", "PYTEST_ADDOPTS"):
        environment.pop(name, None)
    paths = [f"{TESTS.name}/{argument}" if argument.endswith(".py") else argument for argument in arguments]
    command = [sys.executable, "-m", "pytest", *options, *paths]
    done = subprocess.run(command, cwd=TESTS.parent, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " skipped" not in done.stdout.splitlines()[-1], done.stdout
