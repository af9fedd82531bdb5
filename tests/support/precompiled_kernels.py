"""Precompiled kernels of the tests, for machines with a GPU but without LLVM.

    python -m tests.support.precompiled_kernels DIR              on the machine with LLVM: compiles all kernels into DIR
    BINDLESS_TEST_KERNELS=DIR pytest tests --device cuda         on the machine with the GPU

With the variable set, ``bindless.build`` searches the folder first, and stores its results and errors there.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import bindless as bl
from bindless.compiler.build import build as compile_now

__all__ = ["FOLDER", "build", "ptx_of"]

FOLDER = os.environ.get("BINDLESS_TEST_KERNELS", "")
_TESTS = Path(__file__).resolve().parents[1]


def build(source: Any, output: Any = None, **options: Any) -> bl.KernelFile:
    """``bindless.build``, compiled once per set of arguments for all machines."""
    if isinstance(source, str) and "\n" in source:
        text = source.encode()
    elif Path(source).is_file():
        text = Path(source).read_bytes()
    else:
        return compile_now(source, output, **options)
    around = [Path(name) for name in _listed(options.get("includes", ()))]
    headers = [file.read_bytes() for folder in around if folder.is_dir() for file in sorted(folder.glob("*.[ch]*"))]
    rest = {name: value for name, value in options.items() if name != "includes"}
    key = hashlib.sha256(b"\0".join([text, *headers, repr(sorted(rest.items())).encode()])).hexdigest()
    kept, error = Path(FOLDER) / f"{key}.blk", Path(FOLDER) / f"{key}.json"
    if error.is_file():
        refusal = json.loads(error.read_text())
        raise bl.BuildError(refusal["message"], log=refusal["log"])
    if not kept.is_file():
        try:
            said = compile_now(source, kept, **options).log
            kept.with_suffix(".log").write_text(said)
        except bl.BuildError as refused:
            error.write_text(json.dumps({"message": str(refused), "log": refused.log}))
            raise
        except bl.FeatureNotSupportedError as missing:
            pytest.skip(f"{FOLDER} does not have this kernel: {missing}")
    file = replace(bl.KernelFile.load(kept), log=kept.with_suffix(".log").read_text())
    if output is not None:
        file.save(output)
    return file


def _listed(value: Any) -> list[Any]:
    return [value] if isinstance(value, (str, os.PathLike)) else list(value)


def ptx_of(text: str) -> bytes:
    """Compile a source for NVIDIA GPUs; skip the test if PTX lacks a feature of the source."""
    try:
        return bl.build(f"{text}\n", targets="ptx").sections[0].data
    except bl.BuildError as refused:
        last = (refused.log or str(refused)).strip().splitlines()
        why = next((line for line in last if "error:" in line), str(refused))
        pytest.skip(f"PTX has not all of this kernel: {why[:200]}")


def main(folder: str) -> int:
    """Run the tests that build kernels, on the reference device, and print the number of stored files."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "BINDLESS_TEST_KERNELS": str(Path(folder).resolve())}
    names = ("build", "element_types", "image_instructions", "user_types", "value_arguments")
    kernels = [f"compiler/test_{name}.py" for name in names]
    runtime = ["interop/test_native.py", "level_zero/test_reference.py", "bindless_images/test_gather.py"]
    runtime.append("image/test_kernel_bridge.py")
    runtime += ["sycl/kernel/test_bound_launch.py", "sycl/kernel/test_offset.py"]
    runtime += ["sycl/device/test_two_devices_kernels.py"]
    runtime += [
        "sycl/queue/test_interrupted_calls.py",
        "submission/test_submissions_return.py",
        "submission/test_command_graph.py",
        "submission/test_repeated_launches.py",
    ]
    runtime.append("opencl/test_handles.py")
    folders = ["reference_kernels", "docs/examples", "interop/vulkan"]
    where = [str(_TESTS / name) for name in (*folders, *kernels, *runtime)]
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", *where], env=environment, check=False, timeout=3600)
    files = [file for file in Path(folder).iterdir() if file.suffix != ".log"]
    errors = [file for file in files if file.suffix == ".json"]
    size = sum(file.stat().st_size for file in files)
    print(
        f"{folder}: {len(files) - len(errors)} files of kernels, {len(errors)} that do not build, {size / 1e6:.1f} MB"
    )
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
