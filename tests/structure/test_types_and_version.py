"""What a program outside of the package sees: its types, its stubs of C modules, and one version."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import bindless
from bindless.drivers import reference
from tests.support.needs import lacks

PROGRAM = """
import numpy as np

import bindless as bl
from bindless import ndimage

queue: bl.Queue = bl.Queue("reference")
pixels = np.zeros((4, 6), np.float32)
with bl.Image(pixels, filtering="cubic", precision=bl.Precision.exact, queue=queue) as image:
    sampled: bl.SampledImageHandle = image.handle
    shape: tuple[int, ...] = image.shape
    image.sample([[0.5, 0.5]], level=0)
    image.resize((3, 2))
desc = bl.ImageDescriptor(6, 4, num_channels=1, channel_type="fp32")
memory = bl.ImageMem(desc, queue)
event: bl.Event = queue.ext_oneapi_copy(pixels, memory)
handle: bl.UnsampledImageHandle = bl.create_image(memory, desc, queue)
array: bl.UsmArray = bl.usm_empty((3,), np.float32, queue)
ndimage.shift(pixels, (0, 1))
image.warp("no shape")
bl.ImageDescriptor(width="six")
wrong: bl.SampledImageHandle = bl.create_image(memory, desc, queue)
bl.Quue("reference")
"""
RIGHT = """
from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import bindless as bl
from bindless import device, info, interop, level_zero, ndimage, opencl


@bl.device_function
def squared(x: float) -> float:
    return x * x


@bl.kernel
def edges(image: Any, out: Any, scale: float) -> None:
    row, column = device.item_id(0), device.item_id(1)
    out[row, column] = scale * squared(device.sample_image(image, column + 0.5, row + 0.5)[0])


@bl.kernel(default_float=np.float64)
def double(out: Any) -> None:
    out[device.item_id(0)] = 1.5


queue = bl.Queue("reference", in_order=True)
out = bl.usm_empty((4, 6), np.float32, queue)
with bl.Image(np.zeros((4, 6), np.float32), mipmaps=True, queue=queue) as image:
    event: bl.Event = queue.parallel_for((4, 6), edges, image, out, 0.5)
    event.wait()
    launch = edges.bind(queue, (4, 6), image, out, 0.5)
    launch[2] = 0.25
    launch().wait()
    picture: Any = image.warp(np.eye(3), (4, 6))
values: npt.NDArray[Any] = out.numpy()
name: str = queue.device.name
size: int = queue.device.get_info(info.device.image2d_max_width)
with bl.Buffer(np.zeros(4, np.int32)) as buffer:
    queue.submit(lambda h: h.fill(buffer.get_access(h, "write"), 1))
try:
    bl.Queue("cuda:gpu:9")
except (bl.CopyError, bl.Error) as error:
    code: bl.Errc = error.code
with bl.CommandGraph(queue) as graph:
    graph.fill(out, 0, 4)
graph().wait()
bundle = bl.load_kernel_bundle(bl.build("kernel void f(global float *x) {}"), queue)
kernel: bl.Kernel = bundle.get_kernel("f")
rotated: Any = ndimage.rotate(np.zeros((4, 4)), 30)
natives: Any = interop.get_native(queue)
"""
# What the stubs declare and the C types do not show: methods that subclasses define, and a slot's signature.
ALLOWED = "bindless.core._submission.Owner._finalize\nbindless.core._submission.Bound.__call__\n"


def mypy(*arguments: str, folder: Path, module: str = "mypy") -> subprocess.CompletedProcess[str]:
    if importlib.util.find_spec("mypy") is None:
        lacks("mypy", "pip install mypy")
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=240)


def test_types_outside_of_the_package(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "right.py").write_text(RIGHT, encoding="utf-8")
    done = mypy("--strict", "program.py", "right.py", folder=tmp_path)
    assert "right.py" not in done.stdout, done.stdout
    found = re.findall(r"^program\.py:(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.MULTILINE)
    lines = PROGRAM.splitlines()
    assert [(lines[int(line) - 1].split("(")[0].split(":")[0], code) for line, code in found] == [
        ("image.warp", "call-arg"),
        ("bl.ImageDescriptor", "call-overload"),
        ("wrong", "assignment"),
        ("bl.Quue", "attr-defined"),
    ], done.stdout


def test_stubs_are_those_of_the_modules(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.write_text(ALLOWED, encoding="utf-8")
    modules = ("bindless.core._submission", "bindless.sycl.usm._dlpack")
    options = ("--concise", "--ignore-disjoint-bases", "--allowlist", str(allowed))
    done = mypy(*modules, *options, folder=tmp_path, module="mypy.stubtest")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_version_has_one_place() -> None:
    assert importlib.metadata.version("bindless") == bindless.__version__
    root = Path(__file__).parents[2]
    for file in ("pyproject.toml", "CMakeLists.txt"):
        assert bindless.__version__ not in (root / file).read_text(encoding="utf-8")


def test_the_drivers_have_the_version_of_the_package() -> None:
    assert ".".join(map(str, reference.version())) == bindless.__version__
    assert bindless.Queue("reference").device.get_info("driver_version") == bindless.__version__
    header = Path(__file__).parents[2] / "include" / "bindless" / "reference.h"
    assert not re.search(r"VERSION_\w+ +\d", header.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", ["docs/CITATION.cff"])
def test_files_about_the_package_have_its_version(file: str) -> None:
    text = (Path(__file__).parents[2] / file).read_text(encoding="utf-8")
    assert re.search(rf"^version: {re.escape(bindless.__version__)}$", text, re.MULTILINE)


BINARIES = ["bindless/a.so", "bindless/a.dylib", "bindless/a.dll", "bindless/a.pyd", "bindless/kernels/a.zip"]


def test_bill_of_materials(tmp_path: Path) -> None:
    wheel = tmp_path / "bindless-9.8.7-py3-none-any.whl"
    metadata = (
        "Name: bindless\nVersion: 9.8.7\nRequires-Dist: cffi>=1.16\nRequires-Dist: scipy>=1.11; extra == 'test'\n"
    )
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("bindless-9.8.7.dist-info/METADATA", metadata)
        for binary in BINARIES:
            archive.writestr(binary, b"library")
        archive.writestr("bindless/a.py", b"pass")
    program = Path(__file__).parents[2] / ".ci" / "sbom"
    subprocess.run([sys.executable, str(program), str(wheel)], check=True, capture_output=True, timeout=60)
    bill = json.loads(wheel.with_name(f"{wheel.name}.cdx.json").read_text(encoding="utf-8"))
    assert bill["metadata"]["component"]["version"] == "9.8.7"
    parts = {part["name"]: part for part in bill["components"]}
    assert parts["cffi"]["scope"] == "required"
    assert parts["scipy"]["scope"] == "optional"
    for binary in BINARIES:
        assert parts[binary]["hashes"][0]["content"] == hashlib.sha256(b"library").hexdigest()
    assert "bindless/a.py" not in parts
    assert {"cuda headers", "level_zero headers", "opencl headers"} <= set(parts)
