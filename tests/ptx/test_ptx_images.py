"""Textures and surfaces by handles, and the built-in kernels from PTX."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import kernels
from tests.ptx.compiler import Compiler
from tests.ptx.conftest import Load
from tests.reference_kernels.test_built_in_kernels import (  # noqa: F401  executed with the kernels of PTX
    test_coefficients_of_splines,
    test_means_along_lines,
    test_means_of_areas,
    test_reads,
    test_writes,
)

GENERATOR = np.random.default_rng(4)


@pytest.fixture(autouse=True)
def _from_ptx(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules of SPIR-V are made of the PTX of the same kernels."""
    source = kernels.source

    def translated(name: str, target: str) -> bytes:
        compiled = compiler.compile(source(name, "ptx"))
        return ctypes.string_at(compiled.words, compiled.word_count * 4)

    monkeypatch.setattr(kernels, "source", translated)


@pytest.mark.parametrize("module", kernels.modules("ptx"))
def test_every_built_in_module_compiles(compiler: Compiler, module: str) -> None:
    words = np.frombuffer(kernels.source(module, "spirv"), np.uint32)
    assert words[0] == 0x07230203


def test_textures(load: Load, queue: bl.Queue) -> None:
    pixels = GENERATOR.standard_normal((8, 16, 4)).astype(np.float32)
    desc = bl.ImageDescriptor(16, 8, num_channels=4)
    sampler = bl.BindlessImageSampler("repeat", "normalized", "linear")
    with bl.ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(pixels, memory).wait()
        handle = bl.create_image(memory, desc, queue, sampler=sampler)
        out = np.zeros((3, 128, 4), np.float32)
        found = load("images").launch("textures", 1, 128, np.uint64(int(handle)), out, np.int32(128))[0]
        i = np.arange(128)
        x = (i % 16).astype(np.float32) / np.float32(16) + np.float32(0.01)
        y = (i // 16).astype(np.float32) / np.float32(8) + np.float32(0.02)
        wanted: Any = bl.sample_image(queue, handle, np.stack([x, y], 1), num_channels=4)
        np.testing.assert_array_equal(found[0], wanted)
        np.testing.assert_array_equal(found[1], wanted)
        column, row = np.floor(x * 16 - 0.5).astype(int), np.floor(y * 8 - 0.5).astype(int)
        corners = [(0, 1), (1, 1), (1, 0), (0, 0)]
        gathered = np.stack([pixels[(row + dy) % 8, (column + dx) % 16, 1] for dx, dy in corners], 1)
        np.testing.assert_array_equal(found[2], gathered)
        bl.destroy_image_handle(handle, queue)


def test_surfaces_move_bits(load: Load, queue: bl.Queue) -> None:
    pixels = GENERATOR.integers(0, 256, (8, 16, 4), np.uint8)
    desc = bl.ImageDescriptor(16, 8, num_channels=4, channel_type="unorm_int8")
    with bl.ImageMem(desc, queue) as one, bl.ImageMem(desc, queue) as two:
        queue.ext_oneapi_copy(pixels, one).wait()
        handles = [bl.create_image(memory, desc, queue) for memory in (one, two)]
        out = np.zeros((8, 16), np.uint32)
        numbers = [np.uint64(int(handle)) for handle in handles]
        found = load("images").launch("surfaces", 8, 16, *numbers, out)[0]
        np.testing.assert_array_equal(found, pixels.view(np.uint32)[..., 0])
        swapped = np.zeros_like(pixels)
        queue.ext_oneapi_copy(two, swapped).wait()
        np.testing.assert_array_equal(swapped, pixels[..., ::-1])
        for handle in handles:
            bl.destroy_image_handle(handle, queue)
