"""The built-in kernels' SPIR-V, executed by instruction, gives the same bits as the driver's own device functions."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.ndimage import map_coordinates

import bindless as bl
from bindless import kernels
from bindless.model.channels import CHANNELS
from tests.oracle.area_means import area_means
from tests.oracle.splines import solved

Array = npt.NDArray[Any]

COUNT = 300
SIZES = {"1d": (19, 0, 0), "2d": (19, 11, 0), "3d": (9, 7, 5), "1d_array": (19, 0, 0), "2d_array": (19, 11, 0)}
LAYERS = 4
CLASSES = {
    "f": ("fp32", "fp16", "unorm_int8", "snorm_int16", "unorm_int16", "snorm_int8"),
    "i": ("signed_int32", "signed_int16", "signed_int8"),
    "u": ("unsigned_int32", "unsigned_int16", "unsigned_int8"),
}
CHANNEL_NUMBERS = {str(channel_type): number for number, channel_type in enumerate(CHANNELS)}
ELEMENTS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.float16, np.float32]
SAMPLER = bl.BindlessImageSampler("mirrored_repeat", "normalized", "linear")
MIPMAP_SAMPLER = bl.BindlessImageSampler("clamp_to_edge", "normalized", "linear", mipmap_filtering="linear")

MODULES = kernels.modules("spirv")


def _split(module: str) -> tuple[str, str, str]:
    """Return operation, geometry and value class."""
    rest, _, letter = module.rpartition("_")
    geometry = next(name for name in ("2d_array", "1d_array", "1d", "2d", "3d") if rest.endswith("_" + name))
    return rest[: -len(geometry) - 1], geometry, letter


def _desc(geometry: str, channel_type: str, channels: int, levels: int) -> bl.ImageDescriptor:
    width, height, depth = SIZES[geometry]
    arrayed = geometry.endswith("array")
    return bl.ImageDescriptor(
        width,
        height,
        depth,
        num_channels=channels,
        channel_type=channel_type,
        type="array" if arrayed else "mipmap" if levels > 1 else "standard",
        num_levels=levels,
        array_size=LAYERS if arrayed else 1,
    )


def _pixels(desc: bl.ImageDescriptor, generator: np.random.Generator) -> Array:
    shape = desc.shape
    if desc.dtype.kind == "f":
        return generator.standard_normal(shape).astype(desc.dtype)
    limits = np.iinfo(desc.dtype)
    return generator.integers(limits.min + 1, limits.max, shape, desc.dtype, endpoint=True)


def _fill(queue: bl.Queue, memory: bl.ImageMem, desc: bl.ImageDescriptor, generator: np.random.Generator) -> None:
    if desc.num_levels == 1:
        queue.ext_oneapi_copy(_pixels(desc, generator), memory).wait()
        return
    for level in range(desc.num_levels):
        own = desc.get_mip_level_desc(level)
        handle = memory.get_mip_level_mem_handle(level)
        queue.ext_oneapi_copy(_pixels(own, generator), handle, dst_desc=own).wait()


def _coordinates(geometry: str, whole: bool, generator: np.random.Generator) -> Array:
    sizes = [size for size in SIZES[geometry] if size]
    if whole:
        return np.stack([generator.integers(0, size, COUNT) for size in sizes], 1).astype(np.int32)
    return generator.uniform(-1.5, 2.5, (COUNT, len(sizes))).astype(np.float32)


def _value_dtype(desc: bl.ImageDescriptor) -> np.dtype[Any]:
    return np.dtype(np.float32) if "norm" in str(desc.channel_type) else desc.dtype


def _format(desc: bl.ImageDescriptor, dtype: np.dtype[Any], channels: int) -> int:
    number = CHANNEL_NUMBERS[str(desc.channel_type)]
    return ELEMENTS.index(dtype.type) | channels << 8 | number << 16 | desc.num_channels << 24 | 1 << 28


def _usm(queue: bl.Queue, array: Array) -> bl.UsmArray:
    memory = bl.usm_empty(array.shape, array.dtype, queue)
    memory.copy_from(array)
    return memory


def _native(
    queue: bl.Queue, operation: str, handle: Any, coords: Array, layers: Array | None, level: Array, channels: int
) -> Array:
    """Return the results of the driver's own function."""
    if operation.startswith("fetch"):
        if layers is None:
            return bl.fetch_image(queue, handle, coords, num_channels=channels)
        return bl.fetch_image_array(queue, handle, coords, layers, num_channels=channels)
    if layers is not None:
        return bl.sample_image_array(queue, handle, coords, layers, num_channels=channels)
    if operation == "sample_lod":
        return bl.sample_mipmap(queue, handle, coords, level=level, num_channels=channels)
    return bl.sample_image(queue, handle, coords, num_channels=channels)


@pytest.fixture(autouse=True)
def _only_the_reference(device: bl.Device) -> None:
    if device.backend is not bl.Backend.reference:
        pytest.skip("SPIR-V is executed by the reference device")


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith(("fetch", "sample"))])
def test_reads(queue: bl.Queue, module: str) -> None:
    operation, geometry, letter = _split(module)
    generator = np.random.default_rng(len(module))
    kernel = bl.load_kernel_bundle(kernels.source(module, "spirv"), queue).get_kernel(f"bindless_{module}")
    for number, channel_type in enumerate(CLASSES[letter]):
        image_channels, channels = [(4, 4), (1, 1), (2, 4), (4, 2)][number % 4]
        levels = 3 if operation == "sample_lod" and not geometry.endswith("array") else 1
        desc = _desc(geometry, channel_type, image_channels, levels)
        sampler = None
        if operation != "fetch":
            filtering = "linear" if letter == "f" else "nearest"
            sampler = bl.BindlessImageSampler(
                "mirrored_repeat",
                "normalized",
                filtering,
                mipmap_filtering=filtering if levels > 1 else "nearest",
                max_mipmap_level_clamp=levels - 1,
            )
        if operation == "fetch_sampled":
            sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "nearest")
        with bl.ImageMem(desc, queue) as memory:
            _fill(queue, memory, desc, generator)
            handle = bl.create_image(memory, desc, queue, sampler=sampler)
            coords = _coordinates(geometry, operation.startswith("fetch"), generator)
            layers = generator.integers(0, LAYERS, COUNT).astype(np.uint32) if geometry.endswith("array") else None
            level = generator.uniform(-0.5, 2.5, COUNT).astype(np.float32)
            wanted = _native(queue, operation, handle, coords, layers, level, channels)
            out = bl.usm_empty((COUNT, channels), wanted.dtype, queue)
            arguments: list[Any] = [handle, _usm(queue, coords)]
            arguments += [] if layers is None else [_usm(queue, layers), np.uint32(0)]
            arguments += [_usm(queue, level), np.float32(0)] if operation == "sample_lod" else []
            arguments += [out, np.uint64(COUNT), np.uint32(_format(desc, wanted.dtype, channels)), np.uint32(0)]
            queue.parallel_for(128, kernel, *arguments).wait_and_throw()
            np.testing.assert_array_equal(out.numpy(queue).view(np.uint8), wanted.view(np.uint8), err_msg=channel_type)
            bl.destroy_image_handle(handle, queue)


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("write")])
def test_writes(queue: bl.Queue, module: str) -> None:
    _, geometry, letter = _split(module)
    generator = np.random.default_rng(len(module))
    kernel = bl.load_kernel_bundle(kernels.source(module, "spirv"), queue).get_kernel(f"bindless_{module}")
    for number, channel_type in enumerate(CLASSES[letter]):
        channels = (4, 1, 2)[number % 3]
        desc = _desc(geometry, channel_type, channels, 1)
        dtype = _value_dtype(desc)
        results = []
        sizes = [size for size in SIZES[geometry] if size]
        every = np.stack(np.meshgrid(*(np.arange(size) for size in sizes), indexing="ij"), -1).reshape(-1, len(sizes))
        coords = generator.permutation(every)[:COUNT].astype(np.int32)
        count = len(coords)
        layers = generator.integers(0, LAYERS, count).astype(np.uint32) if geometry.endswith("array") else None
        if dtype.kind == "f":
            values = generator.uniform(-1.5, 1.5, (count, channels)).astype(dtype)
        else:
            limits = np.iinfo(dtype)
            values = generator.integers(limits.min, limits.max, (count, channels), dtype, endpoint=True)
        for native in (True, False):
            with bl.ImageMem(desc, queue) as memory:
                queue.ext_oneapi_copy(np.zeros(desc.shape, desc.dtype), memory).wait()  # new memory has any contents
                handle = bl.create_image(memory, desc, queue)
                if native and layers is None:
                    bl.write_image(queue, handle, coords, values)
                elif native:
                    bl.write_image_array(queue, handle, coords, layers, values)
                else:
                    arguments: list[Any] = [handle, _usm(queue, coords)]
                    arguments += [] if layers is None else [_usm(queue, layers), np.uint32(0)]
                    arguments += [_usm(queue, values), np.uint64(count), np.uint32(_format(desc, dtype, channels))]
                    queue.parallel_for(64, kernel, *arguments, np.uint32(0)).wait_and_throw()
                pixels = np.empty(desc.shape, desc.dtype)
                queue.ext_oneapi_copy(memory, pixels).wait()
                results.append(pixels)
                bl.destroy_image_handle(handle, queue)
        assert results[0].any()
        np.testing.assert_array_equal(results[1].view(np.uint8), results[0].view(np.uint8), err_msg=channel_type)


def test_launches(queue: bl.Queue) -> None:
    bundle = bl.load_kernel_bundle(kernels.source("launch", "spirv"), queue)
    queue.parallel_for(100, bundle.get_kernel("bindless_empty")).wait_and_throw()
    out = bl.usm_empty((1,), np.uint64, queue)
    four = bundle.get_kernel("bindless_four_arguments")
    queue.parallel_for(100, four, out, np.uint64(1 << 40), np.uint32(7), np.float32(2.5)).wait_and_throw()
    assert out.numpy(queue)[0] == (1 << 40) + 9
    queue.parallel_for(100, four, None, np.uint64(1), np.uint32(7), np.float32(2.5)).wait_and_throw()


@pytest.mark.parametrize(("module", "dtype"), [("pack", "<u2"), ("pack", "<f2"), ("pack_f64", "<f8")])
def test_pixels_of_any_layout_become_packed(queue: bl.Queue, module: str, dtype: str) -> None:
    """Strides of all axes, a channel more, and floats that are scaled and moved."""
    generator = np.random.default_rng(11)
    source = generator.integers(0, 1000, (4, 5, 7, 3)).astype(dtype)
    view = source[1:, ::2, ::-1]
    scale, bias = (4.0, 0.5, 2.0), (1.0, 0.0, -3.0)
    expected = np.zeros((*view.shape[:-1], 4), np.float32)
    expected[..., :3] = view.astype(np.float64) / scale + bias
    memory, out = _usm(queue, source), bl.usm_empty(expected.shape, np.float32, queue)
    kernel = bl.load_kernel_bundle(kernels.source(module, "spirv"), queue).get_kernel(f"bindless_{module}")
    first = view.__array_interface__["data"][0] - source.__array_interface__["data"][0]
    plane, row, pixel, channel = view.strides
    number = 8 if module == "pack_f64" else ELEMENTS.index(np.dtype(dtype).type)
    queue.parallel_for(
        64, kernel, memory.pointer + first, np.uint32(number), plane, row, pixel, channel,
        *map(np.uint32, view.shape[1:]),
        out, np.uint32(ELEMENTS.index(np.float32)), np.uint32(4), expected.size // 4, *scale, *bias,
    ).wait_and_throw()  # fmt: skip
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize(("module", "dtype"), [("area_codes", "u1"), ("area_codes", "i2"), ("area_reals", "f4")])
def test_means_of_areas(queue: bl.Queue, module: str, dtype: str) -> None:
    generator = np.random.default_rng(12)
    pixels = (generator.standard_normal((6, 9, 14, 3)) * (1 if dtype == "f4" else 90)).astype(dtype)
    size = (2, 4, 5)
    expected = area_means(pixels, size, normalized=True)
    made = bl.usm_empty(expected.shape, dtype, queue)
    steps = [(new // math.gcd(old, new), old // math.gcd(old, new)) for old, new in zip((14, 9, 6), size[::-1])]
    element = np.uint32(ELEMENTS.index(np.dtype(dtype).type))
    numbers = (*size[::-1], *(part for step in steps for part in step), int(dtype == "i2"))
    kernel = bl.load_kernel_bundle(kernels.source(module, "spirv"), queue).get_kernel(f"bindless_{module}")
    queue.parallel_for(
        64, kernel, _usm(queue, pixels), element, *map(np.uint32, (3, 14, 9)), made, element,
        *map(np.uint32, (3, *numbers)), np.uint64(math.prod(total for _, total in steps)),
    ).wait_and_throw()  # fmt: skip
    np.testing.assert_array_equal(made.numpy(), expected)


def test_coefficients_of_splines(queue: bl.Queue) -> None:
    """Rows and then columns, the columns in segments: from one array to the other."""
    samples = np.random.default_rng(13).standard_normal((150, 19, 2)).astype(np.float32)
    source, rows, columns = _usm(queue, samples), *(bl.usm_empty(samples.shape, np.float32, queue) for _ in range(2))
    kernel = bl.load_kernel_bundle(kernels.source("spline_rows", "spirv"), queue).get_kernel("bindless_spline_rows")
    numbers = map(np.uint32, (19, 150, 1, 0, 0, 0, 2, 0, 0))
    pole = 3**0.5 - 2
    gain = (1 - pole) ** 2
    filters = map(np.float32, (0, pole, gain))
    queue.parallel_for(bl.NdRange(384, 128), kernel, source, rows, *numbers, *filters, np.uint64(150)).wait()
    bundle = bl.load_kernel_bundle(kernels.source("spline_columns", "spirv"), queue)
    kernel = bundle.get_kernel("bindless_spline_columns")
    numbers = map(np.uint32, (150, 64, 2))
    filters = map(np.float32, (pole, gain, 0))
    queue.parallel_for(64, kernel, rows, columns, np.uint64(38), *numbers, *filters, np.uint64(3 * 38)).wait_and_throw()
    along_x = solved(samples, (1,), ("mirror",))
    np.testing.assert_allclose(rows.numpy(), along_x, atol=2e-6)
    np.testing.assert_allclose(columns.numpy(), solved(along_x, (0,), ("repeat",)), atol=4e-6)


def test_means_along_lines(queue: bl.Queue) -> None:
    """Means and their derivatives with respect to both ends; lines that miss the volume, and lines of one point."""
    rng = np.random.default_rng(1)
    volume = rng.normal(size=(6, 7, 9)).astype(np.float32)
    starts, ends = rng.uniform(-4, 12, (2, 70, 3)).astype(np.float32)
    ends[3], ends[4, 0], starts[5], ends[5] = starts[3], starts[4, 0], 100, 120
    means, derivatives = bl.usm_empty(70, np.float32, queue), bl.usm_empty((70, 6), np.float32, queue)
    bundle = bl.load_kernel_bundle(kernels.source("line_integrals", "spirv"), queue)
    queue.parallel_for(
        bl.NdRange(3 * 256, 256), bundle.get_kernel("bindless_line_integrals"),
        _usm(queue, volume), *map(np.uint32, (9, 7, 6)), _usm(queue, starts), np.uint32(3), _usm(queue, ends),
        np.uint32(3), means, derivatives, np.uint32(25), np.uint64(70),
    ).wait_and_throw()  # fmt: skip

    def mean(start: Array, end: Array) -> Array:
        along = ((np.arange(25) + 0.5) / 25)[:, None]
        places = start[:, None] + (end - start)[:, None] * along - 0.5
        indices = np.moveaxis(places[..., ::-1], -1, 0)
        found: Array = map_coordinates(volume.astype(float), indices, order=1, mode="grid-constant").mean(-1)
        return found

    exact = starts.astype(float), ends.astype(float)
    np.testing.assert_allclose(means.numpy(), mean(*exact), atol=5e-7)
    for number in range(6):
        step = np.zeros((2, 3))
        step[number // 3, number % 3] = 1e-6
        quotient = (mean(exact[0] + step[0], exact[1] + step[1]) - mean(exact[0] - step[0], exact[1] - step[1])) / 2e-6
        np.testing.assert_allclose(derivatives.numpy()[:, number], quotient, atol=5e-7)


def test_every_module_is_run() -> None:
    """The tests above, those of resampling, projection and level kernels next to them, and other folders cover all."""
    known = ("fetch", "sample", "write", "launch", "pack", "area", "spline", "resample", "texture", "line", "lanes")
    known += ("projections", "gradients", "pyramid", "footprint", "mapping", "lut3d", "projector")
    assert [name for name in MODULES if not name.startswith(known)] == []
    for name in MODULES:
        assert struct.unpack_from("<I", kernels.source(name, "spirv")) == (0x07230203,)
