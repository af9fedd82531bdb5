"""Contract of every backend for copies of image regions, compared with numpy slicing."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bindless.model.copy_region import CopyRegion, Endpoint, ImageMemory, UsmMemory
from bindless.model.enums import UsmKind
from bindless.model.errors import Error
from bindless.model.image_descriptor import ImageDescriptor
from tests.backends.contract.contract_rig import Array, Rig, pixels_of
from tests.backends.contract.test_contract_images import SHAPES, formatted

Extent = tuple[int, int, int]


def block(array: Array, desc: ImageDescriptor, offset: Extent, extent: Extent) -> Array:
    """The view of a region, shape (z, y, x, channels)."""
    x, y, z = desc.extent
    whole = array.reshape(z, y, x, desc.num_channels)
    (x0, y0, z0), (w, h, d) = offset, extent
    return whole[z0 : z0 + d, y0 : y0 + h, x0 : x0 + w]


class Side:
    """One side of a copy: storage for an image, which the test reads and writes as a whole."""

    def __init__(self, rig: Rig, kind: str, desc: ImageDescriptor, pixels: Array) -> None:
        self.rig, self.kind, self.desc = rig, kind, desc
        self.array = pixels.copy()
        self.pitch = 0
        if kind == "image":
            self.handle = rig.image(desc, pixels)
        elif kind == "pitched":
            self.handle, self.pitch = rig.pitched(desc)
            self._rows(True)
        elif kind != "array":
            self.handle = rig.upload(pixels, UsmKind(kind))

    def _rows(self, write: bool) -> None:
        """Copy row by row with plain copies, independent of the code under test."""
        rows = self.array.reshape(-1, self.desc.width * self.desc.num_channels)
        for index, row in enumerate(rows):
            device, host = self.handle + index * self.pitch, row.ctypes.data
            dst, src = (device, host) if write else (host, device)
            self.rig.wait(self.rig.backend.copy(self.rig.queue, dst, src, row.nbytes))

    def end(self, offset: Extent) -> Endpoint:
        if self.kind == "array":
            return self.rig.host(self.array, self.desc, offset)
        if self.kind == "image":
            return ImageMemory(self.handle, self.desc, offset)
        return UsmMemory(self.handle, self.pitch, self.desc, offset)

    def pixels(self) -> Array:
        if self.kind == "array":
            return self.array
        if self.kind == "image":
            return self.rig.read(self.handle, self.desc)
        if self.kind == "pitched":
            self._rows(False)
            return self.array
        return self.rig.download(self.handle, self.array)


def regions(
    source: ImageDescriptor, target: ImageDescriptor, count: int, seed: int
) -> list[tuple[Extent, Extent, Extent]]:
    """Random (source offset, target offset, extent); the whole image and single corner pixels come first."""
    random = np.random.default_rng(seed)
    most = tuple(min(a, b) for a, b in zip(source.extent, target.extent))

    def corner(desc: ImageDescriptor) -> Extent:
        x, y, z = desc.extent
        return (x - 1, y - 1, z - 1)

    found: list[tuple[Extent, Extent, Extent]] = [
        ((0, 0, 0), (0, 0, 0), most),  # type: ignore[list-item]
        (corner(source), (0, 0, 0), (1, 1, 1)),
        ((0, 0, 0), corner(target), (1, 1, 1)),
    ]
    for _ in range(count):
        extent = tuple(int(random.integers(1, n + 1)) for n in most)
        offsets = [
            tuple(int(random.integers(0, n - e + 1)) for n, e in zip(desc.extent, extent)) for desc in (source, target)
        ]
        found.append((offsets[0], offsets[1], extent))  # type: ignore[arg-type]
    return found


def check_copies(rig: Rig, make: Callable[[int], tuple[Side, Side]], count: int, seed: int, waits: Any = ()) -> None:
    """Copy random regions from one side to the other and compare the whole target with slicing."""
    source, target = make(seed)
    expected = target.pixels().copy()
    before = source.pixels().copy()
    for src, dst, extent in regions(source.desc, target.desc, count, seed):
        rig.wait(
            rig.backend.copy_image(rig.queue, CopyRegion(source.end(src), target.end(dst), extent, part=True), waits)
        )
        part = np.ascontiguousarray(block(before, source.desc, src, extent))
        view = block(expected, target.desc, dst, extent)
        view[...] = part.view(view.dtype).reshape(view.shape)
    assert np.array_equal(target.pixels(), expected)
    assert np.array_equal(source.pixels(), before)


PLACES = ("array", "image", "device", "host", "shared", "pitched")


def has(shape: str, place: str) -> bool:
    """Linear memory holds images of one and two dimensions; pitched memory those of two."""
    return place in ("array", "image") or shape == "2d" or (shape == "1d" and place != "pitched")


@pytest.mark.parametrize(
    ("shape", "source", "target"),
    [
        (shape, source, target)
        for shape, source, target in itertools.product(SHAPES, PLACES, PLACES)
        if has(shape, source) and has(shape, target)
    ],
)
def test_regions(rig: Rig, shape: str, source: str, target: str) -> None:  # R45, R49, R50, R52, R56
    desc = formatted(SHAPES[shape], "unorm_int8", 4)

    def make(seed: int) -> tuple[Side, Side]:
        return Side(rig, source, desc, pixels_of(desc, seed)), Side(rig, target, desc, pixels_of(desc, seed + 50))

    check_copies(rig, make, 12, seed=3)


@pytest.mark.parametrize(
    ("channel_type", "channels"), [("unorm_int8", 1), ("fp16", 2), ("fp32", 4), ("signed_int16", 4)]
)
@pytest.mark.parametrize(
    ("source", "target"), [("array", "image"), ("image", "array"), ("image", "image"), ("image", "pitched")]
)
def test_regions_of_other_formats(rig: Rig, channel_type: str, channels: int, source: str, target: str) -> None:
    desc = formatted(SHAPES["2d"], channel_type, channels)

    def make(seed: int) -> tuple[Side, Side]:
        return Side(rig, source, desc, pixels_of(desc, seed)), Side(rig, target, desc, pixels_of(desc, seed + 50))

    check_copies(rig, make, 8, seed=5)


@pytest.mark.parametrize(("source", "target"), list(itertools.product(("array", "image", "device"), repeat=2)))
def test_between_images_of_other_sizes(rig: Rig, source: str, target: str) -> None:
    one, other = ImageDescriptor(31, 17, channel_type="unorm_int8"), ImageDescriptor(11, 29, channel_type="unorm_int8")

    def make(seed: int) -> tuple[Side, Side]:
        return Side(rig, source, one, pixels_of(one, seed)), Side(rig, target, other, pixels_of(other, seed))

    check_copies(rig, make, 12, seed=7)


@pytest.mark.parametrize(("source", "target"), list(itertools.product(("array", "image", "device"), repeat=2)))
def test_bits_between_formats_of_equal_size(rig: Rig, source: str, target: str) -> None:  # R48
    one = ImageDescriptor(9, 5, num_channels=4, channel_type="unorm_int8")
    other = ImageDescriptor(9, 5, num_channels=1, channel_type="signed_int32")

    def make(seed: int) -> tuple[Side, Side]:
        return Side(rig, source, one, pixels_of(one, seed)), Side(rig, target, other, pixels_of(other, seed))

    check_copies(rig, make, 6, seed=9)


@pytest.mark.parametrize("source", ["2d array", "cubemap", "3d"])
def test_slices_of_an_image_as_flat_images(rig: Rig, source: str) -> None:  # R52
    desc = formatted(SHAPES[source], "fp32", 2)
    flat = ImageDescriptor(desc.width, desc.height, num_channels=2, channel_type="fp32")
    pixels = pixels_of(desc)
    whole = Side(rig, "image", desc, pixels)
    for place in ("array", "image", "device", "pitched"):
        part = Side(rig, place, flat, pixels_of(flat, 3))
        for z in range(desc.extent[2]):
            rig.wait(
                rig.backend.copy_image(rig.queue, CopyRegion(whole.end((0, 0, z)), part.end((0, 0, 0)), flat.extent))
            )
            assert np.array_equal(part.pixels().reshape(pixels[z].shape), pixels[z])
        rig.wait(rig.backend.copy_image(rig.queue, CopyRegion(part.end((0, 0, 0)), whole.end((0, 0, 1)), flat.extent)))
        pixels[1] = pixels[-1]
        assert np.array_equal(whole.pixels(), pixels)


def test_copies_wait_for_events(rig: Rig) -> None:
    queue = rig.make_queue(in_order=False)
    desc = ImageDescriptor(2048, 1024, num_channels=4, channel_type="fp32")
    first, second = rig.image(desc), rig.image(desc)
    pixels = pixels_of(desc)
    staging = rig.allocate(desc.nbytes)
    out = np.zeros_like(pixels)
    copy = rig.backend.copy_image
    event = rig.backend.copy(queue, staging, pixels.ctypes.data, pixels.nbytes)
    event = copy(queue, CopyRegion(rig.usm(staging, desc), ImageMemory(first, desc), desc.extent), [event])
    event = copy(queue, CopyRegion(ImageMemory(first, desc), ImageMemory(second, desc), desc.extent), [event])
    rig.wait(copy(queue, CopyRegion(ImageMemory(second, desc), rig.host(out, desc), desc.extent), [event]))
    assert np.array_equal(out, pixels)


def test_a_whole_mipmap_is_not_copied(rig: Rig) -> None:
    desc = ImageDescriptor(16, 16, type="mipmap", num_levels=3)
    level = desc.get_mip_level_desc(0)
    out = np.zeros(level.shape, level.dtype)
    with pytest.raises(Error):
        rig.backend.copy_image(
            rig.queue, CopyRegion(ImageMemory(rig.image(desc), level), rig.host(out, level), level.extent)
        )
