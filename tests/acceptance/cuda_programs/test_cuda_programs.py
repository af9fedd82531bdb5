"""Programs of other packages compute with the CUDA driver of this one what numpy does, each in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bindless.cli.cuda_driver import driver_folder

HERE = Path(__file__).resolve().parent
GROUPS = ("integers", "floats", "shared", "warps", "control", "images", "streams", "errors")


def run(*arguments: str, **variables: str) -> str:
    """The output of a Python program on the driver; fails with the end of its messages."""
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": os.pathsep.join([str(driver_folder()), os.environ.get("LD_LIBRARY_PATH", "")]),
        "PYTHONPATH": str(HERE.parents[2]),
        "BINDLESS_CUDA_ARCH": "",
        **variables,
    }
    done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-4000:]}"
    return done.stdout


def need(*modules: str, package: str) -> None:
    """Skip without these modules, or fail if the variable CUDA_PROGRAMS is ``all``."""
    try:
        missing = [module for module in modules if importlib.util.find_spec(module) is None]
    except ModuleNotFoundError as error:
        missing = [str(error.name)]
    if missing and os.environ.get("CUDA_PROGRAMS") != "all":
        pytest.skip(f"pip install {package}")
    assert not missing, f"pip install {package}"


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_of_checks_through_cuda_bindings(group: str) -> None:
    need("cuda.bindings", package="cuda-bindings nvidia-cuda-nvrtc nvidia-cuda-runtime")
    passes, _, total = run("-m", "tests.acceptance.cuda_programs.bindings", group).rpartition(": ")[2].split()
    assert passes == total != "0"


def test_cuda_core() -> None:
    need("cuda.core", "cuda.bindings", package="cuda-core nvidia-cuda-nvrtc")
    run(str(HERE / "programs" / "core_program.py"))


def test_numba() -> None:
    need("numba_cuda", package="numba-cuda nvidia-cuda-nvcc nvidia-cuda-nvrtc nvidia-cuda-runtime")
    run(str(HERE / "programs" / "numba_program.py"))


@pytest.mark.parametrize("device", ["CUDA", "CUDA:PTX"])
def test_tinygrad(device: str) -> None:
    """Kernels in CUDA C++ that NVRTC compiles, and kernels in PTX of tinygrad's own."""
    need("tinygrad", package="tinygrad nvidia-cuda-nvrtc")
    run(str(HERE / "programs" / "tinygrad_program.py"), DEV=device, CACHELEVEL="0")


def test_pycuda() -> None:
    need("pycuda", "cuda.bindings", package="pycuda cuda-bindings")
    run(str(HERE / "programs" / "pycuda_program.py"))
