"""Copies by kernels (``cuda.surface_copy``): launch parameters, assembly by ``ptxas``, and on a GPU every bit."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.backends.cuda import copy, surface_copy

SIDES = ("linear", "1d", "a1d", "2d", "a2d", "3d")


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="needs ptxas: apt install nvidia-cuda-toolkit")
@pytest.mark.parametrize("source", SIDES)
def test_ptxas_takes_every_kernel(source: str, tmp_path: Path) -> None:
    files = []
    for number, target in enumerate(SIDES):
        blob = (1, 2, 4, 8, 16, 16)[number]
        files.append(tmp_path / f"{target}.ptx")
        files[-1].write_bytes(surface_copy.source_of(source, target, blob, 1 if "1" in source + target else 4))
    for file in files:
        command = ["ptxas", "-arch=sm_75", "-O1", str(file), "-o", str(file.with_suffix(".cubin"))]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr


def test_a_shape_has_a_work_item_for_every_blob() -> None:
    for width, height, depth in itertools.product((1, 3, 31, 32, 33, 1000), (1, 2, 7, 500), (1, 6)):
        rows = 1 if height == 1 else 4
        gx, gy, gz, bx, by, bz = surface_copy._shape(width, height, depth, rows)
        assert bx * by == 256 and (gz, bz) == (depth, 1)
        assert 0 <= gx * bx - width < bx and gy * by * rows >= height


# ---------------------------------------------------------------------- on a GPU

KINDS: dict[str, dict[str, Any]] = {
    "1D": {"sizes": (700,)},
    "2D": {"sizes": (150, 41)},
    "3D": {"sizes": (40, 21, 9)},
    "1D layers": {"sizes": (300,), "type": "array", "array_size": 7},
    "2D layers": {"sizes": (60, 33), "type": "array", "array_size": 5},
    "cube": {"sizes": (48, 48), "type": "cubemap", "array_size": 6},
    "level": {"sizes": (160, 96), "type": "mipmap", "num_levels": 3},
    "rows": {"sizes": (150, 41)},
    "slices": {"sizes": (40, 21, 9)},
}
LINEAR = ("rows", "slices")
FORMATS = [
    ("unorm_int8", 1), ("unorm_int8", 4), ("snorm_int16", 1), ("fp16", 2), ("fp16", 4), ("fp32", 1), ("fp32", 2),
    ("signed_int32", 4), ("unsigned_int8", 2), ("unsigned_int16", 4),
]  # fmt: skip


class Place:
    """Memory for an image, filled with numbers; ``pixels`` has numpy's axis order, three dimensions and channels."""

    def __init__(self, kind: str, channel_type: str, channels: int, queue: bl.Queue, rng: Any) -> None:
        form = dict(KINDS[kind])
        sizes = form.pop("sizes")
        whole = bl.ImageDescriptor(*sizes, num_channels=channels, channel_type=channel_type, **form)
        self.kind, self.queue, self.pitch = kind, queue, 0
        self.desc = whole.get_mip_level_desc(1) if kind == "level" else whole
        self.memory: Any
        if kind in LINEAR:
            align = queue.device.get_info("image_row_pitch_align") or 512
            self.pitch = -(-self.desc.row_size // align) * align
            rows = int(np.prod(self.desc.shape[: self.desc.dimensions - 1]))
            self.memory = bl.usm_empty((rows * self.pitch,), "u1", queue)
        else:
            self.memory = bl.ImageMem(whole, queue)
        self.handle = self.memory.get_mip_level_mem_handle(1) if kind == "level" else self.memory
        bits = rng.integers(0, 256, self.desc.nbytes, dtype=np.uint8)
        self.pixels = bits.reshape(self._shape())
        if kind in LINEAR:
            padded = np.zeros((int(np.prod(self._shape()[:2])), self.pitch), np.uint8)
            padded[:, : self.desc.row_size] = bits.reshape(-1, self.desc.row_size)
            self.memory.copy_from(padded.reshape(-1))
        else:
            queue.ext_oneapi_copy(
                bits.view(self.desc.dtype).reshape(self.desc.shape), self.handle, **self._side("dst")
            ).wait()

    def _shape(self) -> tuple[int, ...]:
        x, y, z = (size or 1 for size in self.desc.extent)
        return z, y, x, self.desc.pixel_size

    def _side(self, side: str) -> dict[str, Any]:
        return {f"{side}_desc": self.desc} if self.kind == "level" else {}

    def read(self) -> npt.NDArray[np.uint8]:
        if self.kind in LINEAR:
            rows = self.memory.numpy(self.queue).reshape(-1, self.pitch)[:, : self.desc.row_size]
            return np.ascontiguousarray(rows).reshape(self._shape())
        found = np.empty(self.desc.shape, self.desc.dtype)
        self.queue.ext_oneapi_copy(self.handle, found, **self._side("src")).wait()
        return found.view(np.uint8).reshape(self._shape())


def region(rng: Any, source: Place, target: Place) -> tuple[Any, Any, Any]:
    """Offsets and an extent within both places; often the whole, often multiples of 16 bytes."""
    extent, first, second = [], [], []
    for axis in range(3):
        a, b = source.pixels.shape[2 - axis], target.pixels.shape[2 - axis]
        size = int(rng.integers(1, min(a, b) + 1))
        if rng.random() < 0.3:
            size = min(a, b)
        step = max(1, 16 // source.desc.pixel_size) if axis == 0 and rng.random() < 0.6 else 1
        size = max(step, size // step * step) if min(a, b) >= step else size
        extent.append(size)
        first.append(int(rng.integers(0, a - size + 1)) // step * step)
        second.append(int(rng.integers(0, b - size + 1)) // step * step)
    return tuple(extent), tuple(first), tuple(second)


PAIRS = [pair for pair in itertools.product(KINDS, KINDS) if not set(LINEAR).issuperset(pair)]


@pytest.mark.cuda
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_bit(source: str, target: str, queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regions between all kinds of memory equal numpy's result and the driver's own copy. No kernel copies from linear
    memory to linear memory."""
    rng = np.random.default_rng([list(KINDS).index(source), list(KINDS).index(target)])
    launched: list[object] = []
    original = copy.kernel_of_copy

    def counted(*given: Any) -> Any:
        launch = original(*given)
        launched.extend([] if launch is None else [launch])
        return launch

    monkeypatch.setattr(copy, "kernel_of_copy", counted)
    for channel_type, channels in FORMATS:
        first = Place(source, channel_type, channels, queue, rng)
        second = Place(target, channel_type, channels, queue, rng)
        for _ in range(4):
            extent, at, to = region(rng, first, second)
            wanted = second.pixels.copy()
            inside = tuple(slice(begin, begin + size) for begin, size in zip(to, extent))[::-1]
            taken = tuple(slice(begin, begin + size) for begin, size in zip(at, extent))[::-1]
            wanted[inside] = first.pixels[taken]
            for smallest in (1 << 40, 1):
                monkeypatch.setattr(surface_copy, "SMALLEST", smallest)
                if queue._stream.copies is not None:
                    queue._stream.copies.forget()  # prepared with another limit
                queue.ext_oneapi_copy(
                    first.handle,
                    second.handle,
                    src_desc=first.desc,
                    dst_desc=second.desc,
                    src_offset=at,
                    dst_offset=to,
                    copy_extent=extent,
                    src_pitch=first.pitch or None,
                    dst_pitch=second.pitch or None,
                ).wait()
                np.testing.assert_array_equal(second.read(), wanted)
                if smallest == 1:
                    second.pixels = wanted
        first.memory.close()
        second.memory.close()
    assert launched
