"""Kernels in Python for NVIDIA GPUs, without one: the PTX passes NVIDIA's assembler."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device
from bindless.compiler.ptx.range_guard import with_range
from bindless.device.declaration import LaunchFacts
from bindless.python_kernels.argument_type import ArgumentType
from bindless.python_kernels.compilation import compiled_kernel
from bindless.python_kernels.function_digest import digest_of
from bindless.python_kernels.function_source import source_of
from tests.compiler.ptxas import assemble

FLOATS = ArgumentType("array", dtype=np.dtype(np.float32), dimensions=2)
NUMBER = ArgumentType("number", "int64")


def compiled(function: Any, *arguments: ArgumentType, dimensions: int = 2) -> str:
    """Return the PTX of a kernel."""
    source = source_of(function)
    made = compiled_kernel(source, digest_of(source), LaunchFacts(dimensions, "ptx"), arguments)
    (section,) = made.file.sections
    assert section.language == "ptx"
    return section.data.decode()


def test_textures_and_stores_are_direct(tmp_path: Path) -> None:
    def blur(image, out, radius):
        y, x = device.item_id(0), device.item_id(1)
        total = 0.0
        for i in range(-radius, radius + 1):
            total += device.sample_image(image, x + 0.5 + i, y + 0.5)[0]
        out[y, x] = total

    text = compiled(blur, ArgumentType("image"), FLOATS, NUMBER)
    assert "tex.2d.v4.f32.f32" in text
    assert "st.global" in text
    assert "f64" not in text
    assert "call" not in text.replace("callprototype", "")
    assemble(text, tmp_path)


def test_handles_from_memory_differ_between_lanes(tmp_path: Path) -> None:
    def run(handles, out):
        y, x = device.item_id(0), device.item_id(1)
        out[y, x] = device.sample_image(handles[x], x + 0.5, y + 0.5)[0]

    handles = ArgumentType("array", dtype=np.dtype(np.uint64), dimensions=1)
    text = compiled(run, handles, FLOATS)
    assert "tex.2d.v4.f32.f32" in text
    assemble(text, tmp_path)


def test_math_is_in_the_module(tmp_path: Path) -> None:
    def run(a, out):
        i = device.item_id(0)
        out[i, 0] = math.sin(a[i, 0]) + a[i, 0] ** 1.5 + math.sqrt(a[i, 1])

    if not bl.kernels_available():
        pytest.skip("functions of OpenCL C need clang")
    text = compiled(run, FLOATS, FLOATS, dimensions=1)
    assert "sqrt.rn.f32" in text
    assemble(text, tmp_path)


def test_printf_is_the_drivers(tmp_path: Path) -> None:
    def run(values):
        device.printf("%d %f\n", device.item_id(0), values[0, 0])

    text = compiled(run, FLOATS, dimensions=1)
    assert "vprintf" in text
    assemble(text, tmp_path)


@pytest.mark.parametrize("packed", [False, True])
def test_accesses_of_structures_are_aligned(packed: bool, tmp_path: Path) -> None:
    """Structures with aligned fields are read by field; others byte by byte, arrays in them too."""
    fields = [("place", np.float32, (3,)), ("mass", np.float64 if packed else np.float32), ("number", np.int16)]
    pad = [] if packed else [("pad", np.int16)]
    body = np.dtype([*fields, *pad, ("last", np.float32, 2)])

    def run(bodies, other, out):
        i = device.item_id(0)
        out[i, 0] = bodies[i].place[1] * bodies[i].mass + bodies[i].last[1]
        bodies[i].number = other.number + bodies[i].number
        bodies[i].last[0] = other.place[2]

    record = ArgumentType("record", dtype=body)
    text = compiled(run, ArgumentType("array", dtype=body, dimensions=1), record, FLOATS, dimensions=1)
    loads = re.findall(r"(?:ld|st)\.global(?:\.\w+)?\.[bfsu](\d+)", text)
    if packed:  # but a row of out is not
        assert sorted(set(loads)) == ["32", "8"]
        assert loads.count("32") == 1
    else:
        assert "8" not in loads
    assemble(text, tmp_path)


def test_functions_in_opencl_c_need_its_compiler(tmp_path: Path) -> None:
    """Reductions for NVIDIA GPUs are written in OpenCL C. Without its compiler, other kernels still compile."""
    program = """
import bindless as bl
from bindless import device
from tests.python_kernels.test_kernel_ptx import FLOATS, compiled

def plain(out):
    out[device.item_id(0), 0] = 2

def reduced(out):
    out[0, 0] = device.work_group_reduce(out[0, 1])

assert ".visible .entry plain" in compiled(plain, FLOATS)
try:
    compiled(reduced, FLOATS)
except bl.FeatureNotSupportedError as error:
    print(error.code, error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "BINDLESS_LLVM": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{bl.Errc.feature_not_supported} ") and "clang" in done.stdout


def test_reductions_keep_their_values_in_registers(tmp_path: Path) -> None:
    def run(values, total, largest, product, counts):
        i = device.item_id(0)
        for k in range(values.shape[1]):
            total += values[i, k]
            largest.combine(values[i, k])
        product *= values[i, 0]
        counts[i % 7] += 1

    if not bl.kernels_available():
        pytest.skip("functions of OpenCL C need clang")
    float_, whole = np.dtype(np.float32), np.dtype(np.int32)
    text = compiled(
        run,
        FLOATS,
        ArgumentType("reduction", "add", float_),
        ArgumentType("reduction", "max", float_),
        ArgumentType("reduction", "mul", float_),
        ArgumentType("reduction", "add", whole, count=7),
        dimensions=1,
    )
    assert ".local" not in text
    assert re.search(r"(red|atom)\.(?:\w+\.)*add\.f32", text)  # the group's sum
    assert re.search(r"(red|atom)\.(?:\w+\.)*shared(?:\.\w+)*\.add\.[su]32", text)
    assert re.search(r"atom\.(?:\w+\.)*cas\.b32", text)
    assemble(text, tmp_path)


def test_items_beyond_a_range_can_return_at_once(tmp_path: Path) -> None:
    """A range that groups do not divide is launched in whole groups."""

    def scale(values, factor):
        i = device.item_id(0)
        values[i, 0] *= factor

    text = with_range(compiled(scale, FLOATS, ArgumentType("number", "float32"), dimensions=1), "scale")
    assert text is not None
    assert text.count("@bl_beyond ret;") == 3
    assemble(text, tmp_path)


def test_a_kernel_that_reads_the_size_of_its_range_cannot() -> None:
    def total(values):
        values[device.item_id(0), 0] = device.item_range(0)

    assert with_range(compiled(total, FLOATS, dimensions=1), "total") is None
