"""The device of ``--device`` and the reference give the same bits, whatever is asked; an OpenCL device numbers within
OpenCL's bounds of the reference's exact mode (``tests/support/tolerances.py``), for coordinates that have one answer.

Every kind of image, channel type, filter and addressing mode meets random coordinates, integers and halves, the
borders, and numbers such as NaN, infinities and 1e30. On the reference itself nothing is collected.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.support.channel_kinds import PLAIN
from tests.support.tolerances import away_from_edges, equal, filter_error, is_bounded

pytestmark = pytest.mark.against_reference

Array = npt.NDArray[Any]
CHANNEL_TYPES = PLAIN
FLOATS = ("snorm_int8", "snorm_int16", "unorm_int8", "unorm_int16", "fp16", "fp32")
INTEGERS = tuple(t for t in CHANNEL_TYPES if t not in FLOATS)
MODES = ("repeat", "clamp_to_edge", "mirrored_repeat", "ext_oneapi_clamp_to_border")
ITEMS = 1500


@pytest.fixture
def queues(queue: bl.Queue) -> Iterator[tuple[bl.Queue, bl.Queue]]:
    with bl.Queue("reference:*:*") as reference:
        yield queue, reference


def _pixels(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int) -> Array:
    rng = np.random.default_rng(seed)
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    scale = np.exp2(rng.integers(-6, 6, shape))
    return ((rng.random(shape) * 2 - 1) * scale).astype(dtype)


def _coordinates(sizes: tuple[int, ...], normalized: bool, seed: int) -> Array:
    """Return (N, dims) float32, most of them in and around the image, some far away and some not finite."""
    rng = np.random.default_rng(seed)
    extent = np.array(sizes, np.float64)
    unit = (rng.random((ITEMS, len(sizes))) * 3 - 1) * extent
    unit[: ITEMS // 4] = np.round(unit[: ITEMS // 4] * 2) / 2
    unit[ITEMS // 4 : ITEMS // 2] = np.round(unit[ITEMS // 4 : ITEMS // 2] * 512) / 512
    coords = (unit / extent if normalized else unit).astype(np.float32)
    odd = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 1e9, -1e9, 3e-39, -3e-39, 0.0, -0.0, 1e-30], np.float32)
    rows = rng.integers(0, ITEMS, 4 * len(odd))
    coords[rows, rng.integers(0, len(sizes), len(rows))] = np.tile(odd, 4)
    return coords


def _same(got: Array, wanted: Array, where: Array) -> None:
    bits = np.dtype(f"u{got.dtype.itemsize}")
    equal = got.view(bits) == wanted.view(bits)
    if got.dtype.kind == "f":
        equal |= np.isnan(got) & np.isnan(wanted)
    bad = np.argwhere(~equal)
    assert not len(bad), (
        f"{len(bad)} of {equal.size} differ; first at item {bad[0][0]}, channel {bad[0][1]}, coordinates "
        f"{where[bad[0][0]]}: {got[tuple(bad[0])]!r}, the reference gives {wanted[tuple(bad[0])]!r}"
    )


def _bounded(images: _Images, got: Array, wanted: Array, where: Array, samples: bool) -> None:
    """``_same`` for a device with tolerances."""
    assert len(where)
    if samples and images.sampler is not None and images.sampler.filtering == "linear":
        worst = np.abs(got.astype("float64") - wanted.astype("float64"))
        bound = filter_error(images.values, images.sizes, got.dtype)
        assert worst.max() <= bound, f"{worst.max()} > {bound} at {where[worst.max(1).argmax()]}"
    else:
        assert equal(got, wanted, "opencl"), f"{got[(got != wanted).any(1)][:3]}, {wanted[(got != wanted).any(1)][:3]}"


class _Images:
    """One image on both devices, closed at the end."""

    def __init__(
        self, queues: tuple[bl.Queue, bl.Queue], desc: bl.ImageDescriptor, seed: int = 0, positive: bool = False
    ) -> None:
        self.queues, self.desc = queues, desc
        self.memories = [bl.ImageMem(desc, queue) for queue in queues]
        self.handles: list[tuple[bl.Queue, Any]] = []
        self.sampler: bl.BindlessImageSampler | None = None
        self.sizes = desc.extent[: desc.dimensions]
        for level in range(desc.num_levels):
            part = desc.get_mip_level_desc(level) if desc.type == "mipmap" else desc
            pixels = _pixels(part.shape, desc.dtype, seed + level)
            if positive:
                pixels = np.abs(pixels)
            scale = np.iinfo(pixels.dtype).max if desc.channel.normalized else 1
            self.values = pixels.astype("float64") / scale
            for queue, memory in zip(queues, self.memories):
                target = memory.get_mip_level_mem_handle(level) if desc.type == "mipmap" else memory
                queue.ext_oneapi_copy(pixels, target, dst_desc=part).wait()

    def __enter__(self) -> _Images:
        return self

    def create(self, sampler: bl.BindlessImageSampler | None = None) -> list[Any]:
        made = []
        self.sampler = sampler
        for queue, memory in zip(self.queues, self.memories):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", bl.SamplerWarning)
                handle = bl.create_image(memory, self.desc, queue, sampler=sampler)
            self.handles.append((queue, handle))
            made.append(handle)
        return made

    def both(self, function: Any, handles: list[Any], coords: Array, *rest: Any, **options: Any) -> list[Array]:
        return [function(queue, handle, coords, *rest, **options) for queue, handle in zip(self.queues, handles)]

    def compare(self, function: Any, handles: list[Any], coords: Array, *rest: Any, **options: Any) -> None:
        bounded, samples = is_bounded(self.queues[0].backend), function.__name__.startswith("sample")
        if bounded and samples:  # coordinates far outside crash Intel's runtime
            assert self.sampler is not None
            kept = away_from_edges(coords, self.sizes, self.sampler.is_normalized)
            coords, *rest = (part[kept] if isinstance(part, np.ndarray) else part for part in (coords, *rest))
        got, wanted = self.both(function, handles, coords, *rest, **options)
        if bounded:
            _bounded(self, got, wanted, coords, samples)
        else:
            _same(got, wanted, coords)

    def __exit__(self, *_: object) -> None:
        for queue, handle in self.handles:
            bl.destroy_image_handle(handle, queue)
        for memory in self.memories:
            memory.close()


def _desc(sizes: tuple[int, ...], **options: Any) -> bl.ImageDescriptor:
    return bl.ImageDescriptor(*sizes, **options)


SHAPES = {1: (61,), 2: (37, 29), 3: (17, 13, 11)}


def _blends(queue: bl.Queue, channel_type: str) -> bool:
    """Whether linear filtering supports this type: only NVIDIA's texture units blend integers."""
    if channel_type in FLOATS:
        return True
    return "int32" not in channel_type and queue.backend == "cuda"


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("channel_type", CHANNEL_TYPES)
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_fetch(queues: tuple[bl.Queue, bl.Queue], dims: int, channel_type: str, channels: int) -> None:
    desc = _desc(SHAPES[dims], num_channels=channels, channel_type=channel_type)
    coords = np.random.default_rng(1).integers(0, SHAPES[dims], (ITEMS, dims)).astype(np.int32)
    with _Images(queues, desc) as images:
        images.compare(bl.fetch_image, images.create(), coords)
        filtering = "linear" if _blends(queues[0], channel_type) else "nearest"
        sampler = bl.BindlessImageSampler("repeat", "normalized", filtering)
        images.compare(bl.fetch_image, images.create(sampler), coords)
        if channel_type in FLOATS:
            images.compare(bl.fetch_image, images.create(), coords, dtype=np.float16)
        images.compare(bl.fetch_image, images.create(), coords, num_channels=3)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("channel_type", CHANNEL_TYPES)
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_sample(queues: tuple[bl.Queue, bl.Queue], dims: int, channel_type: str, channels: int) -> None:
    desc = _desc(SHAPES[dims], num_channels=channels, channel_type=channel_type)
    with _Images(queues, desc) as images:
        for filtering, coordinate in itertools.product(("nearest", "linear"), ("normalized", "unnormalized")):
            if filtering == "linear" and not _blends(queues[0], channel_type):
                continue
            for turn, mode in enumerate(MODES):
                modes: Any = mode
                if queues[0].device.has("ext_oneapi_unique_addressing_per_dim"):
                    modes = (mode, MODES[(turn + 1) % 4], MODES[(turn + 2) % 4])
                sampler = bl.BindlessImageSampler(modes, coordinate, filtering)
                coords = _coordinates(SHAPES[dims], coordinate == "normalized", turn)
                images.compare(bl.sample_image, images.create(sampler), coords)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("channel_type", FLOATS)
def test_mipmap_settings_on_standard_images(queues: tuple[bl.Queue, bl.Queue], dims: int, channel_type: str) -> None:
    """Anisotropy makes the filter run even on a single texel, visible with 8-bit snorm; mip filtering does not."""
    desc = _desc(SHAPES[dims], num_channels=2, channel_type=channel_type)
    ratios = (0.0, 1.0, 2.0, 16.0) if queues[0].device.has("ext_oneapi_mipmap_anisotropy") else (0.0,)
    with _Images(queues, desc) as images:
        for filtering, between, anisotropy in itertools.product(("nearest", "linear"), ("nearest", "linear"), ratios):
            sampler = bl.BindlessImageSampler(
                "clamp_to_edge", "normalized", filtering, mipmap_filtering=between, max_anisotropy=anisotropy
            )
            images.compare(bl.sample_image, images.create(sampler), _coordinates(SHAPES[dims], True, 3))


@pytest.mark.parametrize("sizes", [(8192, 3), (8193, 5), (70000, 2), (3, 9000), (131072,), (2, 2, 2), (1, 1), (1,)])
@pytest.mark.parametrize("coordinate", ["normalized", "unnormalized"])
def test_sizes(queues: tuple[bl.Queue, bl.Queue], sizes: tuple[int, ...], coordinate: str) -> None:
    desc = _desc(sizes, num_channels=1, channel_type="fp32")
    widest = queues[0].device.get_info(f"image{len(sizes)}d_max_width")
    if max(sizes) > widest:
        pytest.skip(f"images of {queues[0].device.name} are at most {widest} wide")
    with _Images(queues, desc) as images:
        for mode, filtering in itertools.product(MODES, ("nearest", "linear")):
            handles = images.create(bl.BindlessImageSampler(mode, coordinate, filtering))
            images.compare(bl.sample_image, handles, _coordinates(sizes, coordinate == "normalized", 5))


def _odd_pixels(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int) -> Array:
    """Return random pixels, with NaN, infinities, zeros of both signs and denormals among them."""
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 6e-8, -6e-8, 65504, 3e38], np.float32)
    pixels = _pixels(shape, dtype, seed)
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore"):
        some = max(pixels.size // 3, 1)
        pixels.reshape(-1)[rng.permutation(pixels.size)[:some]] = np.resize(odd, some).astype(dtype)
    return pixels


@pytest.mark.parametrize("channel_type", ["fp32", "fp16"])
@pytest.mark.parametrize("cubemap_filtering", ["disjointed", "seamless"])
def test_numbers_that_are_none_in_cubemaps(
    queues: tuple[bl.Queue, bl.Queue], channel_type: str, cubemap_filtering: str
) -> None:
    desc = _desc((6, 6), num_channels=2, channel_type=channel_type, type="cubemap", array_size=6)
    rng = np.random.default_rng(5)
    directions = np.sign(rng.random((ITEMS, 3)) - 0.5) + rng.random((ITEMS, 3)) * 0.6 - 0.3
    directions[::3] *= np.exp2(rng.integers(-130, 90, (len(directions[::3]), 3)))
    directions[1::9, 1] = np.inf
    with _Images(queues, desc) as images:
        for queue, memory in zip(queues, images.memories):
            queue.ext_oneapi_copy(_odd_pixels(desc.shape, desc.dtype, 4), memory).wait()
        sampler = bl.BindlessImageSampler(
            "mirrored_repeat", "normalized", "linear", cubemap_filtering=cubemap_filtering
        )
        images.compare(bl.sample_cubemap, images.create(sampler), directions.astype(np.float32))


@pytest.mark.parametrize("channel_type", ["fp32", "fp16"])
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_numbers_that_are_none_in_volumes(queues: tuple[bl.Queue, bl.Queue], channel_type: str, channels: int) -> None:
    desc = _desc((9, 8, 7), num_channels=channels, channel_type=channel_type, type="mipmap", num_levels=3)
    levels = (np.random.default_rng(5).random(ITEMS) * 2.2).astype(np.float32)
    with _Images(queues, desc) as images:
        for level in range(desc.num_levels):
            part = desc.get_mip_level_desc(level)
            pixels = _odd_pixels(part.shape, desc.dtype, level)
            for queue, memory in zip(queues, images.memories):
                queue.ext_oneapi_copy(pixels, memory.get_mip_level_mem_handle(level), dst_desc=part).wait()
        sampler = bl.BindlessImageSampler(
            "repeat", "normalized", "linear", mipmap_filtering="linear", max_mipmap_level_clamp=2.0
        )
        images.compare(bl.sample_mipmap, images.create(sampler), _coordinates((9, 8, 7), True, 2), level=levels)


@pytest.mark.parametrize("sizes", [(16384, 2), (17000, 2), (2, 20000), (30000,)])
def test_wide_layers_and_levels(queues: tuple[bl.Queue, bl.Queue], sizes: tuple[int, ...]) -> None:
    widest = queues[0].device.get_info(f"image{len(sizes)}d_max_width")
    if max(sizes) > widest:
        pytest.skip(f"images of {queues[0].device.name} are at most {widest} wide")
    coords = _coordinates(sizes, True, 3)
    sampler = bl.BindlessImageSampler("repeat", "normalized", "linear", max_mipmap_level_clamp=1.0)
    with _Images(queues, _desc(sizes, num_channels=1, channel_type="unorm_int8", type="array", array_size=2)) as images:
        images.compare(bl.sample_image_array, images.create(sampler), coords, 1)
    with _Images(
        queues, _desc(sizes, num_channels=1, channel_type="unorm_int8", type="mipmap", num_levels=2)
    ) as images:
        for level in (0.0, 1.0):
            images.compare(bl.sample_mipmap, images.create(sampler), coords, level=level)


@pytest.mark.parametrize("channel_type", ["fp32", "fp16"])
def test_numbers_that_are_none(queues: tuple[bl.Queue, bl.Queue], channel_type: str) -> None:
    """NaN, infinities, zeros of both signs and denormals among the texels."""
    desc = _desc((16, 16), num_channels=1, channel_type=channel_type)
    pixels = _odd_pixels(desc.shape, desc.dtype, 3)
    with _Images(queues, desc) as images:
        for queue, memory in zip(queues, images.memories):
            queue.ext_oneapi_copy(pixels, memory).wait()
        for filtering in ("nearest", "linear"):
            if filtering == "linear" and is_bounded(queues[0].backend):
                continue  # OpenCL leaves a zero weight times NaN undefined
            handles = images.create(bl.BindlessImageSampler("clamp_to_edge", "unnormalized", filtering))
            images.compare(bl.sample_image, handles, _coordinates((16, 16), False, 6))
        images.compare(bl.fetch_image, images.create(), np.argwhere(np.ones((16, 16))).astype(np.int32))


@pytest.mark.parametrize("dims", [1, 2])
@pytest.mark.parametrize("channel_type", CHANNEL_TYPES)
def test_layers(queues: tuple[bl.Queue, bl.Queue], dims: int, channel_type: str) -> None:
    sizes, layers = SHAPES[dims], 5
    desc = _desc(sizes, num_channels=2, channel_type=channel_type, type="array", array_size=layers)
    rng = np.random.default_rng(2)
    which = rng.integers(0, layers, ITEMS).astype(np.uint32)
    integers = rng.integers(0, sizes, (ITEMS, dims)).astype(np.int32)
    with _Images(queues, desc) as images:
        images.compare(bl.fetch_image_array, images.create(), integers, which)
        images.compare(bl.fetch_image_array, images.create(), integers, 3)
        for filtering, mode in itertools.product(("nearest", "linear"), MODES):
            if filtering == "linear" and not _blends(queues[0], channel_type):
                continue
            for coordinate in ("normalized", "unnormalized"):
                handles = images.create(bl.BindlessImageSampler(mode, coordinate, filtering))
                coords = _coordinates(sizes, coordinate == "normalized", 8)
                images.compare(bl.sample_image_array, handles, coords, which)
        images.compare(bl.fetch_image_array, handles, integers, which)


@pytest.mark.parametrize("channel_type", CHANNEL_TYPES)
@pytest.mark.parametrize("cubemap_filtering", ["disjointed", "seamless"])
def test_cubemap(queues: tuple[bl.Queue, bl.Queue], channel_type: str, cubemap_filtering: str) -> None:
    size = 24
    desc = _desc((size, size), num_channels=2, channel_type=channel_type, type="cubemap", array_size=6)
    rng = np.random.default_rng(4)
    directions = rng.normal(size=(ITEMS, 3)).astype(np.float32)
    directions[:200] = np.sign(directions[:200]) + rng.normal(size=(200, 3)) * 0.02  # the corners
    directions[200:400] *= np.exp2(rng.integers(-60, 60, (200, 1))).astype(np.float32)
    directions[400:420] = np.tile(
        np.float32([[1, 1, 1], [0, 0, 0], [-1, 1, 0], [np.nan, 1, 0], [np.inf, 1, 0]]), (4, 1)
    )
    with _Images(queues, desc) as images:
        integers = rng.integers(0, size, (ITEMS, 2)).astype(np.int32)
        images.compare(bl.fetch_cubemap, images.create(), integers, rng.integers(0, 6, ITEMS).astype(np.uint32))
        for filtering, mode in itertools.product(("nearest", "linear"), MODES):
            if filtering == "linear" and not _blends(queues[0], channel_type):
                continue
            sampler = bl.BindlessImageSampler(mode, "normalized", filtering, cubemap_filtering=cubemap_filtering)
            images.compare(bl.sample_cubemap, images.create(sampler), directions)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("channel_type", CHANNEL_TYPES)
def test_mipmap(queues: tuple[bl.Queue, bl.Queue], dims: int, channel_type: str) -> None:
    sizes = {1: (77,), 2: (53, 41), 3: (21, 17, 13)}[dims]
    desc = _desc(sizes, num_channels=2, channel_type=channel_type, type="mipmap", num_levels=4)
    rng = np.random.default_rng(6)
    levels = (rng.random(ITEMS) * 7 - 1.5).astype(np.float32)
    levels[:5] = (np.nan, np.inf, -np.inf, 1e30, 2.0)
    coords = _coordinates(sizes, True, 7)
    scale = np.exp2(rng.random((ITEMS, 1)) * 9 - 10)
    dx, dy = ((rng.normal(size=(ITEMS, dims)) * scale).astype(np.float32) for _ in range(2))
    for gradient in (dx, dy):
        odd = np.array([np.nan, np.inf, -np.inf, 3e38, -1e30, 1e29, 1e9, -4e5, 7e4, 1e-30, 1e-40, 0.0], np.float32)
        rows = rng.integers(0, ITEMS, 8 * len(odd))
        gradient[rows, rng.integers(0, dims, len(rows))] = np.tile(odd, 8)
    with _Images(queues, desc) as images:
        for filtering, between, mode in itertools.product(("nearest", "linear"), ("nearest", "linear"), MODES):
            if "linear" in (filtering, between) and not _blends(queues[0], channel_type):
                continue
            for low, high, anisotropy in (
                (0.0, 3.0, 0.0),
                (0.7, 2.3, 0.0),
                (1.3, 0.5, 0.0),
                (0.0, 3.0, 8.0),
                (0.0, 3.0, 16.0),
            ):
                sampler = bl.BindlessImageSampler(
                    mode,
                    "normalized",
                    filtering,
                    mipmap_filtering=between,
                    min_mipmap_level_clamp=low,
                    max_mipmap_level_clamp=high,
                    max_anisotropy=anisotropy,
                )
                handles = images.create(sampler)
                images.compare(bl.sample_mipmap, handles, coords, level=levels)
                images.compare(bl.sample_mipmap, handles, coords, dx=dx, dy=dy)


@pytest.mark.parametrize("dims", [1, 2])
@pytest.mark.parametrize("texels", ["positive", "of both signs"])
@pytest.mark.parametrize("channel_type", ["fp16", "fp32"])
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_anisotropy_of_floats(
    queues: tuple[bl.Queue, bl.Queue], dims: int, texels: str, channel_type: str, channels: int
) -> None:
    """The number of taps that are aligned together depends on the size of a pixel."""
    sizes = {1: (77,), 2: (53, 41)}[dims]
    desc = _desc(sizes, num_channels=channels, channel_type=channel_type, type="mipmap", num_levels=4)
    rng = np.random.default_rng(6)
    coords = _coordinates(sizes, True, 7)
    scale = np.exp2(rng.random((ITEMS, 1)) * 9 - 10)
    dx, dy = ((rng.normal(size=(ITEMS, dims)) * scale).astype(np.float32) for _ in range(2))
    with _Images(queues, desc, positive=texels == "positive") as images:
        for filtering, between, mode, anisotropy in itertools.product(
            ("nearest", "linear"), ("nearest", "linear"), MODES, (2.0, 4.0, 8.0, 16.0)
        ):
            sampler = bl.BindlessImageSampler(
                mode,
                "normalized",
                filtering,
                mipmap_filtering=between,
                max_mipmap_level_clamp=3.0,
                max_anisotropy=anisotropy,
            )
            images.compare(bl.sample_mipmap, images.create(sampler), coords, dx=dx, dy=dy)


@pytest.mark.parametrize("channel_type", CHANNEL_TYPES)
@pytest.mark.parametrize("filtering", ["nearest", "linear"])
def test_usm(queues: tuple[bl.Queue, bl.Queue], channel_type: str, filtering: str) -> None:
    if filtering == "linear" and "int" in channel_type and channel_type not in FLOATS:
        filtering = "linear" if _blends(queues[0], channel_type) else "nearest"
    desc = _desc((37, 29), num_channels=4, channel_type=channel_type)
    pixels = _pixels(desc.shape, desc.dtype, 1)
    coords, results = _coordinates((37, 29), False, 3), []
    if is_bounded(queues[0].backend):
        coords = coords[away_from_edges(coords, (37, 29), False)]
    for queue in queues:
        pointer, pitch = bl.pitched_alloc_device(desc, queue)
        queue.ext_oneapi_copy(pixels, pointer, dst_desc=desc, dst_pitch=pitch).wait()
        sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", filtering)
        handle = bl.create_image(pointer, desc, queue, sampler=sampler, pitch=pitch)
        results.append(bl.sample_image(queue, handle, coords))
        bl.destroy_image_handle(handle, queue)
        bl.free(pointer, queue)
    got, wanted = results
    if not is_bounded(queues[0].backend):
        _same(got, wanted, coords)
    elif filtering == "nearest":
        assert equal(got, wanted, queues[0].backend)
    else:
        one = np.iinfo(desc.dtype).max if desc.channel.normalized else 1
        worst = np.abs(got.astype("float64") - wanted.astype("float64")).max()
        assert worst <= filter_error(pixels.astype("float64") / one, (37, 29), got.dtype)


@pytest.mark.parametrize("channel_type", CHANNEL_TYPES)
@pytest.mark.parametrize("kind", ["1d", "2d", "3d", "1d_array", "2d_array", "cubemap"])
def test_write(queues: tuple[bl.Queue, bl.Queue], channel_type: str, kind: str) -> None:
    """Colours of every size, halfway points between codes included, give the same bytes."""
    if kind == "cubemap":
        sizes, options = (24, 24), {"type": "cubemap", "array_size": 6}
    else:
        sizes = SHAPES[int(kind[0])]
        options = {"type": "array", "array_size": 4} if "array" in kind else {}
    desc = _desc(sizes, num_channels=4, channel_type=channel_type, **options)
    rng = np.random.default_rng(8)
    grid = np.indices(tuple(reversed(desc.extent))).reshape(3, -1)[::-1].T
    coords = np.ascontiguousarray(grid[:, : len(sizes)].astype(np.int32))
    layers = np.ascontiguousarray(grid[:, 2].astype(np.uint32))
    if channel_type in FLOATS:
        one = {"int8": 127.0, "int16": 32767.0}.get(channel_type[-4:].lstrip("m_"), 1.0)
        colors = (rng.random((len(coords), 4)) * 2.4 - 1.2).astype(np.float32)
        colors[::3] = (np.round(colors[::3] * one * 2) / (one * 2)).astype(np.float32)
        colors[:6] = np.float32([[np.nan], [np.inf], [-np.inf], [0.0], [-0.0], [1e-40]])
    else:
        colors = _pixels((len(coords), 4), desc.dtype, 4)
    results = []
    with _Images(queues, desc) as images:
        for queue, handle, memory in zip(queues, images.create(), images.memories):
            if kind == "cubemap":
                bl.write_cubemap(queue, handle, coords, layers, colors)
            elif "array" in kind:
                bl.write_image_array(queue, handle, coords, layers, colors)
            else:
                bl.write_image(queue, handle, coords, colors)
            back = np.empty(desc.shape, desc.dtype)
            queue.ext_oneapi_copy(memory, back).wait()
            results.append(back.reshape(len(coords), 4))
    if not is_bounded(queues[0].backend):
        _same(*results, coords)
    elif desc.channel.normalized:  # a code is within 0.6 of the number, so that one between two codes may be either
        scaled = np.clip(colors.astype("float64"), -1 if desc.dtype.kind == "i" else 0, 1) * np.iinfo(desc.dtype).max
        codes = np.maximum(results[0].astype("float64"), np.nanmin(scaled))  # the two lowest both stand for -1
        assert np.abs(codes - scaled)[1:].max() <= 0.6  # the result of NaN is undefined
    else:
        assert equal(*results, queues[0].backend)
