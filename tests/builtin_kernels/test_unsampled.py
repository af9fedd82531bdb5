"""Fetches and writes of unsampled images by the kernels' own code, compared with numpy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.builtin_kernels.host_kernels import CHANNEL_TYPES, STORAGE, HostKernels, format_word, surface_of

GEOMETRIES = {"1d": (1, False), "2d": (2, False), "3d": (3, False), "1d_array": (1, True), "2d_array": (2, True)}
LARGEST = {"snorm_int8": 127, "snorm_int16": 32767, "unorm_int8": 255, "unorm_int16": 65535}


def class_of(channel_type: str) -> str:
    return "i" if channel_type.startswith("signed") else "u" if channel_type.startswith("unsigned") else "f"


def extents(geometry: str) -> tuple[int, int, int]:
    """Return (slices, rows, width) of a small image."""
    dimensions, layered = GEOMETRIES[geometry]
    return (3 if layered or dimensions == 3 else 1), (5 if dimensions > 1 else 1), 13


def random_texels(generator: np.random.Generator, channel_type: str, shape: tuple[int, ...]) -> np.ndarray:
    dtype = np.dtype(STORAGE[CHANNEL_TYPES.index(channel_type)])
    if dtype.kind == "f":
        return np.asarray(generator.standard_normal(shape) * 100, dtype)
    info = np.iinfo(dtype)
    return generator.integers(info.min, info.max, shape, dtype, endpoint=True)


def every_place(generator: np.random.Generator, geometry: str) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
    """Return coordinates and layers that visit every pixel once, shuffled, and the index of those pixels."""
    dimensions, layered = GEOMETRIES[geometry]
    slices, rows, width = extents(geometry)
    z, y, x = (axis.ravel() for axis in np.meshgrid(range(slices), range(rows), range(width), indexing="ij"))
    order = generator.permutation(x.size)
    z, y, x = z[order], y[order], x[order]
    coords = np.stack([x, y, z][:dimensions], 1).astype(np.int32)
    return np.ascontiguousarray(coords), z.astype(np.uint32) if layered else np.zeros(0, np.uint32), (z, y, x)


def value_of(texels: np.ndarray, channel_type: str) -> np.ndarray:
    """Convert stored channels to numbers: normalized codes are divided in float64 and rounded once."""
    if channel_type not in LARGEST:
        return texels
    quotient = texels.astype(np.float64) / LARGEST[channel_type]  # both below 2^24: rounding twice changes nothing
    return np.asarray(np.maximum(quotient.astype(np.float32), np.float32(-1)))


def padded(values: np.ndarray, channels: int) -> np.ndarray:
    """Return the first `channels` of each item, with zeros where the image has fewer."""
    out = np.zeros((len(values), channels), values.dtype)
    kept = min(channels, values.shape[1])
    out[:, :kept] = values[:, :kept]
    return out


def layer_arguments(layers: np.ndarray) -> tuple[object, ...]:
    return (layers, ctypes.c_uint32(0)) if layers.size else ()


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("channel_type", CHANNEL_TYPES)
def test_fetch_gives_every_pixel(host_kernels: HostKernels, channel_type: str, geometry: str) -> None:
    generator = np.random.default_rng(7)
    coords, layers, where = every_place(generator, geometry)
    for image_channels in (1, 2, 4):
        texels = random_texels(generator, channel_type, (*extents(geometry), image_channels))
        surface = surface_of(texels)
        wanted = value_of(texels[where], channel_type)
        elements = ["f2", "f4"] if class_of(channel_type) == "f" else [texels.dtype.str[1:], "i4"]
        for element in elements:
            for channels in (1, 2, 3, 4):
                out = np.full((len(coords), channels), 99, element)
                word = ctypes.c_uint32(format_word(element, channels, channel_type, image_channels))
                host_kernels.launch(
                    f"bindless_fetch_{geometry}_{class_of(channel_type)}",
                    surface, coords, *layer_arguments(layers), out, ctypes.c_uint64(len(coords)), word,
                )  # fmt: skip
                expected = padded(wanted, channels).astype(element)
                np.testing.assert_array_equal(out, expected, err_msg=f"{image_channels} to {channels} {element}")


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("channel_type", CHANNEL_TYPES)
def test_write_of_stored_codes_is_verbatim(host_kernels: HostKernels, channel_type: str, geometry: str) -> None:
    generator = np.random.default_rng(8)
    coords, layers, where = every_place(generator, geometry)
    for image_channels in (1, 2, 4):
        texels = random_texels(generator, channel_type, (*extents(geometry), image_channels))
        for channels in sorted({image_channels, 3}):
            image = np.zeros_like(texels)
            surface = surface_of(image)
            values = padded(texels[where], channels)
            element = values.dtype.str[1:]
            host_kernels.launch(
                f"bindless_write_{geometry}_{class_of(channel_type)}",
                surface, coords, *layer_arguments(layers), values, ctypes.c_uint64(len(coords)),
                ctypes.c_uint32(format_word(element, channels, channel_type, image_channels)),
            )  # fmt: skip
            expected = texels.copy()
            expected[..., channels:] = 0
            np.testing.assert_array_equal(image, expected, err_msg=f"{channels} {element} into {image_channels}")


def exact_codes(values: np.ndarray, channel_type: str) -> np.ndarray:
    """Return nearest codes, ties to even: float64 holds the product of a float and a code exactly."""
    largest = LARGEST[channel_type]
    low = 0.0 if channel_type.startswith("unorm") else -1.0
    wide = np.clip(np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=2.0, neginf=-2.0), low, 1.0)
    return np.rint(wide * largest).astype(STORAGE[CHANNEL_TYPES.index(channel_type)])


def difficult_values(channel_type: str) -> np.ndarray:
    """Return halfway points of every code and their neighbours, values out of range, and not-a-number."""
    largest = LARGEST[channel_type]
    halves = ((np.arange(-largest - 1, largest + 1) + 0.5) / largest).astype(np.float32)
    around = [halves, np.nextafter(halves, np.float32(2)), np.nextafter(halves, np.float32(-2))]
    codes = (np.arange(-largest, largest + 1) / largest).astype(np.float32)
    special = np.array([0, -0.0, 1, -1, 1.5, -1.5, 1e30, -1e30, np.inf, -np.inf, np.nan, 1e-40, 0.5, -0.5], np.float32)
    return np.concatenate([*around, codes, special])


@pytest.mark.parametrize("element", ["f2", "f4"])
@pytest.mark.parametrize("channel_type", LARGEST)
def test_write_rounds_to_the_nearest_code(host_kernels: HostKernels, channel_type: str, element: str) -> None:
    with np.errstate(over="ignore"):
        values = difficult_values(channel_type).astype(element)
    values = values[: len(values) // 4 * 4].reshape(-1, 4)
    image = np.zeros((1, 1, len(values), 4), STORAGE[CHANNEL_TYPES.index(channel_type)])
    surface = surface_of(image)
    coords = np.arange(len(values), dtype=np.int32)
    host_kernels.launch(
        "bindless_write_1d_f", surface, coords, values, ctypes.c_uint64(len(values)),
        ctypes.c_uint32(format_word(element, 4, channel_type, 4)),
    )  # fmt: skip
    np.testing.assert_array_equal(image[0, 0], exact_codes(values.astype(np.float32), channel_type))


@pytest.mark.parametrize("channel_type", LARGEST)
def test_every_code_reads_as_the_rounded_quotient(host_kernels: HostKernels, channel_type: str) -> None:
    dtype = np.dtype(STORAGE[CHANNEL_TYPES.index(channel_type)])
    info = np.iinfo(dtype)
    texels = np.arange(info.min, info.max + 1).astype(dtype).reshape(1, 1, -1, 1)
    surface = surface_of(texels)
    coords = np.arange(texels.size, dtype=np.int32)
    out = np.zeros(texels.size, np.float32)
    host_kernels.launch(
        "bindless_fetch_1d_f", surface, coords, out, ctypes.c_uint64(texels.size),
        ctypes.c_uint32(format_word("f4", 1, channel_type, 1)),
    )  # fmt: skip
    np.testing.assert_array_equal(out, value_of(texels.ravel(), channel_type))
    assert out.min() == (-1 if dtype.kind == "i" else 0) and out.max() == 1


@pytest.mark.parametrize(("element", "channel_type"), [("f2", "fp32"), ("f4", "fp16")])
def test_write_converts_between_half_and_float(host_kernels: HostKernels, element: str, channel_type: str) -> None:
    values = np.array([0, -0.0, 1, 1 / 3, 65504, 65519.99, 65520, -1e9, 6e-8, 2.9802322e-08, np.inf], np.float32)
    with np.errstate(over="ignore"):
        values = values.astype(element)
    image = np.zeros((1, 1, len(values), 1), STORAGE[CHANNEL_TYPES.index(channel_type)])
    surface = surface_of(image)
    host_kernels.launch(
        "bindless_write_1d_f", surface, np.arange(len(values), dtype=np.int32), values, ctypes.c_uint64(len(values)),
        ctypes.c_uint32(format_word(element, 1, channel_type, 1)),
    )  # fmt: skip
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(image.ravel(), values.astype(image.dtype))


def test_integers_of_another_width_keep_their_value(host_kernels: HostKernels) -> None:
    values = np.array([[-128, -1, 0, 127]], np.int8)
    image = np.zeros((1, 1, 1, 4), np.int32)
    surface = surface_of(image)
    one = ctypes.c_uint64(1)
    coords = np.zeros(1, np.int32)
    word = ctypes.c_uint32(format_word("i1", 4, "signed_int32", 4))
    host_kernels.launch("bindless_write_1d_i", surface, coords, values, one, word)
    np.testing.assert_array_equal(image[0, 0], values)
    narrow = np.zeros((1, 4), np.int16)
    word = ctypes.c_uint32(format_word("i2", 4, "signed_int32", 4))
    host_kernels.launch("bindless_fetch_1d_i", surface, coords, narrow, one, word)
    np.testing.assert_array_equal(narrow, values)


def test_outside_reads_zero_and_writes_nothing(host_kernels: HostKernels) -> None:
    texels = np.full((1, 3, 4, 4), 7.0, np.float32)
    surface = surface_of(texels)
    coords = np.array([[-1, 0], [4, 0], [0, -1], [0, 3]], np.int32)
    count = ctypes.c_uint64(len(coords))
    word = ctypes.c_uint32(format_word("f4", 4, "fp32", 4))
    out = np.ones((len(coords), 4), np.float32)
    host_kernels.launch("bindless_fetch_2d_f", surface, coords, out, count, word)
    assert not out.any()
    host_kernels.launch("bindless_write_2d_f", surface, coords, np.zeros((4, 4), np.float32), count, word)
    assert (texels == 7).all()


@pytest.mark.parametrize("row", [0, 31, 32, 33, 40, 64])
@pytest.mark.parametrize(("work_items", "group"), [(7, 1), (32, 32), (96, 32)])
def test_every_pixel_is_written_and_fetched_whatever_the_row(
    host_kernels: HostKernels, work_items: int, group: int, row: int
) -> None:
    generator = np.random.default_rng(9)
    for rows in (7, 8, 9, 18):
        width = row or 33
        texels = random_texels(generator, "fp32", (1, rows, width, 4))
        y, x = np.mgrid[:rows, :width]
        coords = np.stack([x.ravel(), y.ravel()], 1).astype(np.int32)
        count, word = ctypes.c_uint64(len(coords)), ctypes.c_uint32(format_word("f4", 4, "fp32", 4))
        image = np.zeros_like(texels)
        surface = surface_of(image)
        host_kernels.launch(
            "bindless_write_2d_f", surface, coords, texels, count, word, work_items=work_items, group=group, row=row
        )
        np.testing.assert_array_equal(image, texels)
        out = np.zeros((len(coords), 4), np.float32)
        host_kernels.launch(
            "bindless_fetch_2d_f", surface, coords, out, count, word, work_items=work_items, group=group, row=row
        )
        np.testing.assert_array_equal(out.reshape(texels.shape), texels)
