"""The CUDA backend without a GPU: its tests run on a driver that is compiled here and keeps a record."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bindless as bl
from needs import c_compiler

HERE = Path(__file__).parent
TYPES = HERE.parents[1] / "csrc" / "bindgen" / "generated"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fake libcuda."""
    compiler = c_compiler()
    library = tmp_path_factory.mktemp("fake") / "libcuda.so.1"
    source = [f"-I{TYPES}", str(HERE / "fake_cuda.c"), "-o", str(library), "-lpthread"]
    subprocess.run(
        [
            compiler,
            "-std=gnu11",
            "-Werror=implicit-function-declaration",
            "-O1",
            "-fPIC",
            "-shared",
            "-fvisibility=hidden",
            *source,
        ],
        check=True,
        timeout=120,
    )
    return library


def run(library: Path, *arguments: str) -> None:
    """Runs pytest on the fake device in a process of its own, and fails with its output."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n0",
        "-q",
        "-p",
        "no:cacheprovider",
        "--device",
        "cuda:gpu:0",
        *arguments,
    ]
    environment = {**os.environ, "BINDLESS_LIBCUDA": str(library)}
    for name in ("ONEAPI_DEVICE_SELECTOR", "SYCL_DEVICE_FILTER", "BINDLESS_REQUIRE", "PYTEST_ADDOPTS"):
        environment.pop(name, None)
    done = subprocess.run(command, cwd=HERE.parents[1], env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " skipped" not in done.stdout.splitlines()[-1], done.stdout


def test_what_is_asked_of_the_driver(library: Path) -> None:
    run(library, str(HERE / "recorded_cuda.py"))


def test_launches(library: Path) -> None:
    run(library, str(HERE / "recorded_launches.py"))


def test_large_copies(library: Path) -> None:
    run(library, str(HERE / "recorded_copies.py"))


def test_copies_that_are_repeated(library: Path) -> None:
    run(library, str(HERE.parent / "images" / "test_repeated_copies.py"))


def test_what_lies_below_sycl(library: Path) -> None:
    run(library, str(HERE / "recorded_native.py"))


@pytest.mark.skipif(not bl.kernels_available(), reason="needs a kernel compiler: pip install 'bindless[kernels]'")
def test_kernels_of_users(library: Path) -> None:
    run(library, str(HERE / "recorded_user_kernels.py"))


def test_a_lost_device(library: Path) -> None:
    run(library, str(HERE.parent / "sycl" / "test_faults.py"))


def test_stress(library: Path) -> None:
    run(library, str(HERE.parent / "sycl" / "test_stress.py"))


def test_the_contract_apart_from_what_kernels_compute(library: Path) -> None:
    contract = [str(HERE / f"test_contract{name}.py") for name in ("", "_images", "_copies")]
    run(library, *contract)


def test_arrays_and_streams_of_another_library(library: Path) -> None:
    exchange = HERE.parent / "interop"
    run(library, str(exchange / "recorded_exchange.py"), str(exchange / "test_dlpack_export.py"))


def test_objects_of_native_ones(library: Path) -> None:
    run(library, "tests/interop/test_native_cuda.py")


def test_command_groups_on_this_driver_and_the_reference(library: Path) -> None:
    """Streams that run nothing before somebody asks: a wait that the graph of command groups forgets shows."""
    run(library, "tests/sycl/test_graph.py", "tests/sycl/test_graph_random.py", "tests/sycl/test_buffer.py")


def test_two_devices(library: Path) -> None:
    """The fake driver takes a command in the context of its stream alone, and an event of the same."""
    run(library, "tests/sycl/test_two_devices.py", str(HERE / "recorded_devices.py"))


def test_memory_and_semaphores_of_others(library: Path) -> None:
    interop = HERE.parent / "interop"
    names = ("external_memory", "external_semaphore", "imported_objects", "outside_waits")
    files = [str(interop / f"test_{name}.py") for name in names]
    run(library, str(HERE / "recorded_external.py"), *files, "-k", "not sampled")
