"""Device functions over arrays of coordinates: fetch, sample, write (R58–R65, R70)."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.oracle.unit_weights import linear, nearest
from tests.support.error_checks import raises
from tests.support.pixels import (
    CHANNEL_TYPES,
    INTEGERS,
    NORMALIZED,
    STORAGE,
    every_coordinate,
    random_pixels,
    require,
    tolerance,
    upload,
    usm,
    values_of,
)
from tests.support.tolerances import assert_equal, is_bounded

PLAIN = bl.BindlessImageSampler("clamp_to_edge")
SMOOTH = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
SIZES = [(13,), (7, 5), (6, 5, 4)]
STRUCT = np.dtype([("r", "f4"), ("g", "f4"), ("b", "f4"), ("a", "f4")])


def formats(device: bl.Device) -> list[tuple[str, int]]:
    """Required formats and those that the device supports; OpenCL drivers support the formats that they list."""
    native, listed = device._record.native, device.backend == "opencl"
    return [
        (kind, count)
        for kind in CHANNEL_TYPES
        for count in (1, 2, 3, 4)
        if not (listed or count == 3) or device._backend.supports_format(native, bl.ImageChannelType(kind), count)
    ]


# ---------------------------------------------------------------------- fetch and write, all formats


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_fetch(queue: bl.Queue, sizes: tuple[int, ...]) -> None:  # R58 R59 R60
    every = every_coordinate(*sizes)
    rng = np.random.default_rng(1)
    for channel_type, count in formats(queue.device):
        desc = bl.ImageDescriptor(*sizes, num_channels=count, channel_type=channel_type)
        pixels = random_pixels(desc)
        memory = upload(queue, desc, pixels)
        wanted = values_of(pixels, channel_type).reshape(-1, count)
        order = rng.permutation(len(every))
        plain = bl.create_image(memory, desc, queue)
        got = bl.fetch_image(queue, plain, every[order])
        assert got.dtype == wanted.dtype
        assert_equal(got, wanted[order], queue.backend, f"{channel_type} x {count}")
        require(queue.device, bl.Aspect(f"ext_oneapi_bindless_sampled_image_fetch_{len(sizes)}d"))
        for sampler in (PLAIN, bl.BindlessImageSampler("ext_oneapi_clamp_to_border", "normalized")):
            sampled = bl.create_image(memory, desc, queue, sampler=sampler)
            assert_equal(bl.fetch_image(queue, sampled, every[order]), wanted[order], queue.backend)
            bl.destroy_image_handle(sampled, queue)
        bl.destroy_image_handle(plain, queue)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_write(queue: bl.Queue, sizes: tuple[int, ...]) -> None:  # R59 R64
    every = every_coordinate(*sizes)
    rng = np.random.default_rng(2)
    for channel_type, count in formats(queue.device):
        desc = bl.ImageDescriptor(*sizes, num_channels=count, channel_type=channel_type)
        before, after = random_pixels(desc, 1), random_pixels(desc, 2)
        memory = upload(queue, desc, before)
        handle = bl.create_image(memory, desc, queue)
        chosen = rng.permutation(len(every))[: len(every) // 2 + 1]
        colors = after.reshape(-1, count)[chosen]  # the stored codes, in the image's own dtype
        assert bl.write_image(queue, handle, every[chosen], colors) is None
        wanted = before.reshape(-1, count).copy()
        wanted[chosen] = colors
        out = np.empty_like(before)
        queue.ext_oneapi_copy(memory, out).wait()
        np.testing.assert_array_equal(out.reshape(-1, count), wanted, err_msg=f"{channel_type} x {count}")
        read = bl.fetch_image(queue, handle, every)  # visible to the next command
        assert_equal(read, values_of(wanted, channel_type), queue.backend)
        bl.destroy_image_handle(handle, queue)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("channel_type", [*NORMALIZED, "fp16", "fp32"])
def test_write_floats(queue: bl.Queue, channel_type: str, dtype: str) -> None:  # R60
    desc = bl.ImageDescriptor(64, num_channels=1, channel_type=channel_type)
    colors = np.linspace(-1.5, 1.5, 64).astype(dtype)
    colors[:3] = [np.nan, np.inf, -np.inf]
    memory = bl.ImageMem(desc, queue)
    handle = bl.create_image(memory, desc, queue)
    bl.write_image(queue, handle, np.arange(64, dtype=np.int32), colors)
    out = np.empty(desc.shape, desc.dtype)
    queue.ext_oneapi_copy(memory, out).wait()
    storage, one = STORAGE[channel_type]
    if one is None:
        wanted = colors.astype(storage)
    else:
        low = 0.0 if channel_type.startswith("u") else -1.0
        unit = np.clip(np.nan_to_num(colors.astype(np.float64), nan=0, posinf=1, neginf=low), low, 1)
        wanted = np.rint(unit * one).astype(storage)
    if is_bounded(queue.backend) and one is not None:
        codes = np.maximum(out[:, 0].astype(np.float64), low * one)  # the two lowest both stand for -1
        assert np.abs(codes - unit * one)[1:].max() <= 0.6  # the conversion of NaN is unspecified
        wanted = out[:, 0]
    if is_bounded(queue.backend) and channel_type == "fp16":  # the driver may round to nearest or towards zero
        assert_equal(out[:, 0], wanted, queue.backend)
        wanted = out[:, 0]
    np.testing.assert_array_equal(out[:, 0], wanted)
    bl.destroy_image_handle(handle, queue)


def test_normalized_values(queue: bl.Queue) -> None:  # R60
    extremes = {
        "unorm_int8": ([0, 1, 255], [0, 1 / 255, 1]),
        "unorm_int16": ([0, 1, 65535], [0, 1 / 65535, 1]),
        "snorm_int8": ([-128, -127, 127], [-1, -1, 1]),
        "snorm_int16": ([-32768, -32767, 32767], [-1, -1, 1]),
    }
    coords = np.arange(3, dtype=np.int32)
    for channel_type, (codes, values) in extremes.items():
        desc = bl.ImageDescriptor(3, num_channels=1, channel_type=channel_type)
        memory = upload(queue, desc, np.array(codes, desc.dtype))
        for sampler in (None, PLAIN):
            handle = bl.create_image(memory, desc, queue, sampler=sampler)
            got = bl.fetch_image(queue, handle, coords)
            assert got.dtype == np.float32
            np.testing.assert_array_equal(got[:, 0], np.array(values, np.float32))
            half = bl.fetch_image(queue, handle, coords, dtype=np.float16)
            assert half.dtype == np.float16
            np.testing.assert_array_equal(half[:, 0], np.array(values, np.float32).astype(np.float16))
            for refused in ("uint8", "int16", "float64", "int32"):
                with raises(bl.InvalidError, names="float32"):
                    bl.fetch_image(queue, handle, coords, dtype=refused)
            bl.destroy_image_handle(handle, queue)


@pytest.mark.parametrize("channel_type", [*INTEGERS, "fp16", "fp32"])
def test_result_dtypes(queue: bl.Queue, channel_type: str) -> None:  # R60 R61
    desc = bl.ImageDescriptor(4, num_channels=2, channel_type=channel_type)
    handle = bl.create_image(upload(queue, desc, random_pixels(desc)), desc, queue)
    coords = np.arange(4, dtype=np.int32)
    own = STORAGE[channel_type][0]
    allowed = {own} | ({"float16", "float32"} if own.startswith("float") else set())
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32"):
        if dtype in allowed:
            assert bl.fetch_image(queue, handle, coords, dtype=dtype).dtype == dtype
        else:
            with raises(bl.InvalidError, names=own):
                bl.fetch_image(queue, handle, coords, dtype=dtype)
    for dtype in ("float64", "int64", "complex64", "bool", ">f4", "U4", "no dtype"):
        with raises(bl.InvalidError, names="dtype"):
            bl.fetch_image(queue, handle, coords, dtype=dtype)
    bl.destroy_image_handle(handle, queue)


def test_double_is_refused(queue: bl.Queue) -> None:  # R61
    desc = bl.ImageDescriptor(4, num_channels=1)
    handle = bl.create_image(upload(queue, desc, random_pixels(desc)), desc, queue)
    coords = np.arange(4, dtype=np.int32)
    with raises(bl.InvalidError, names="hint"):
        bl.fetch_image(queue, handle, coords, dtype=np.float64)
    with raises(bl.InvalidError, names="double"):
        bl.fetch_image(queue, handle, coords, dtype=np.dtype([("v", "f8")]), hint=np.float64)
    with raises(bl.InvalidError, names="double"):
        bl.write_image(queue, handle, coords, np.zeros((4, 1)))


def test_user_types(queue: bl.Queue) -> None:  # R61
    desc = bl.ImageDescriptor(7, 5)
    pixels = random_pixels(desc)
    memory = upload(queue, desc, pixels)
    every = every_coordinate(7, 5)
    for sampler in (None, PLAIN):
        handle = bl.create_image(memory, desc, queue, sampler=sampler)
        got = bl.fetch_image(queue, handle, every, dtype=STRUCT, hint=np.dtype("4f4"))
        assert got.dtype == STRUCT and got.shape == (35,)
        np.testing.assert_array_equal(got.view(np.float32).reshape(35, 4), pixels.reshape(35, 4))
        with raises(bl.InvalidError, names="hint"):
            bl.fetch_image(queue, handle, every, dtype=STRUCT)
        for hint in ("2f4", "f4", "4f2", "8f2"):
            with raises(bl.InvalidError, match=r"hint|vector"):
                bl.fetch_image(queue, handle, every, dtype=STRUCT, hint=np.dtype(hint))
        with raises(bl.InvalidError, names="float32"):
            bl.fetch_image(queue, handle, every, dtype=STRUCT, hint=np.dtype("4i4"))
        standard = bl.fetch_image(queue, handle, every, dtype=np.float32, hint=np.float64)  # ignored
        np.testing.assert_array_equal(standard, pixels.reshape(35, 4))
        vector = bl.fetch_image(queue, handle, every, dtype=np.dtype("2f4"))
        np.testing.assert_array_equal(vector, pixels.reshape(35, 4)[:, :2])
        bl.destroy_image_handle(handle, queue)
    out = np.empty(35, STRUCT)
    handle = bl.create_image(memory, desc, queue, sampler=PLAIN)
    assert bl.sample_image(queue, handle, (every + 0.5).astype(np.float32), out=out, hint="4f4") is out
    np.testing.assert_array_equal(out.view(np.float32).reshape(35, 4), pixels.reshape(35, 4))


@pytest.mark.parametrize("dtype, hint", [("f8", "2f4"), ("i8", "2f4"), ("c8", "2f4"), ("V8", "2f4"), ("u8", "4f2")])
def test_numbers_that_are_no_standard_type_are_user_types(queue: bl.Queue, dtype: str, hint: str) -> None:  # R61 R62
    """All but the standard types are user types: a double or an int64 holds the bytes of its hint."""
    desc = bl.ImageDescriptor(6, num_channels=int(hint[0]), channel_type=f"fp{8 * int(hint[2])}")
    pixels = random_pixels(desc)
    handle = bl.create_image(upload(queue, desc, pixels), desc, queue)
    coords = np.arange(6, dtype=np.int32)
    wanted = pixels.view(dtype)[..., 0]
    device_out = bl.usm_empty(6, dtype, queue)
    for _ in range(3):
        got = bl.fetch_image(queue, handle, coords, dtype=dtype, hint=hint)
        assert got.dtype == dtype and got.shape == (6,) and got.tobytes() == wanted.tobytes()
        out = np.empty(6, dtype)
        assert bl.fetch_image(queue, handle, coords, out=out, hint=hint) is out and out.tobytes() == wanted.tobytes()
        bl.fetch_image(queue, handle, usm(queue, coords), out=device_out, hint=hint).wait()
        assert device_out.numpy(queue).tobytes() == wanted.tobytes()
    for _ in range(3):
        bl.write_image(queue, handle, coords, np.ascontiguousarray(wanted[::-1]))
    assert bl.fetch_image(queue, handle, coords).tobytes() == np.ascontiguousarray(pixels[::-1]).tobytes()
    for wrong in ("f4", "4f4", dtype):
        with raises(bl.InvalidError):
            bl.fetch_image(queue, handle, coords, dtype=dtype, hint=wrong)
    with raises(bl.InvalidError):
        bl.write_image(queue, handle, coords, np.zeros((6, 2), dtype))


def test_written_user_types(queue: bl.Queue) -> None:  # R62
    desc = bl.ImageDescriptor(6, num_channels=2, channel_type="unsigned_int16")
    memory = upload(queue, desc, np.zeros(desc.shape, np.uint16))
    handle = bl.create_image(memory, desc, queue)
    coords = np.arange(6, dtype=np.int32)
    items = np.zeros(6, [("low", "u2"), ("high", "u2")])
    items["low"], items["high"] = np.arange(6), np.arange(6) + 100
    bl.write_image(queue, handle, coords, items)
    np.testing.assert_array_equal(bl.fetch_image(queue, handle, coords), items.view(np.uint16).reshape(6, 2))
    opaque = np.arange(6, dtype=np.uint32).view([("word", "u4")])  # any type of four bytes
    bl.write_image(queue, handle, coords, opaque)
    np.testing.assert_array_equal(bl.fetch_image(queue, handle, coords).view(np.uint32)[:, 0], np.arange(6))
    for size in (5, 7, 9, 10, 20):
        with raises(bl.InvalidError):
            bl.write_image(queue, handle, coords, np.zeros(6, [("bytes", "u1", (size,))]))
    for size in (2, 8, 16):
        with raises(bl.InvalidError, names="pixels"):
            bl.write_image(queue, handle, coords, np.zeros(6, [("bytes", "u1", (size,))]))
    bl.destroy_image_handle(handle, queue)


@pytest.mark.parametrize("wanted", [1, 2, 3, 4])
@pytest.mark.parametrize("own", [1, 2, 4])
def test_number_of_channels(queue: bl.Queue, own: int, wanted: int) -> None:
    desc = bl.ImageDescriptor(9, num_channels=own)
    pixels = random_pixels(desc)
    handle = bl.create_image(upload(queue, desc, pixels), desc, queue)
    got = bl.fetch_image(queue, handle, np.arange(9, dtype=np.int32), num_channels=wanted)
    padded = np.concatenate([pixels, np.zeros((9, 4), np.float32)], axis=1)[:, :wanted]
    np.testing.assert_array_equal(got, padded)
    for bad in (0, 5, -1, 1.5):
        with raises(bl.InvalidError, names="num_channels"):
            bl.fetch_image(queue, handle, np.arange(9, dtype=np.int32), num_channels=bad)  # type: ignore[call-overload]
    bl.destroy_image_handle(handle, queue)


# ---------------------------------------------------------------------- sampling


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("channel_type", ["fp32", "fp16", "unorm_int8", "snorm_int16"])
def test_sample(queue: bl.Queue, channel_type: str, sizes: tuple[int, ...]) -> None:  # R59 R60
    desc = bl.ImageDescriptor(*sizes, num_channels=4, channel_type=channel_type)
    pixels = random_pixels(desc)
    memory = upload(queue, desc, pixels)
    values = values_of(pixels, channel_type)
    rng = np.random.default_rng(3)
    coords = (rng.random((400, len(sizes))) * (np.array(sizes) + 4) - 2).astype(np.float32)
    handle = bl.create_image(memory, desc, queue, sampler=PLAIN)
    assert_equal(bl.sample_image(queue, handle, coords), nearest(values, coords), queue.backend)
    bl.destroy_image_handle(handle, queue)
    handle = bl.create_image(memory, desc, queue, sampler=SMOOTH)
    step = {"fp32": 0.0, "fp16": 2**-10, "unorm_int8": 2**-15, "snorm_int16": 2**-14}[channel_type]
    got = bl.sample_image(queue, handle, coords)
    np.testing.assert_allclose(got, linear(values, coords), rtol=0, atol=tolerance(queue.device) + step)
    half = bl.sample_image(queue, handle, coords, dtype="float16")
    np.testing.assert_array_equal(half, got.astype(np.float16))
    bl.destroy_image_handle(handle, queue)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_coordinate_types(queue: bl.Queue, sizes: tuple[int, ...]) -> None:  # R59
    desc = bl.ImageDescriptor(*sizes, num_channels=1)
    memory = upload(queue, desc, random_pixels(desc))
    unsampled = bl.create_image(memory, desc, queue)
    sampled = bl.create_image(memory, desc, queue, sampler=PLAIN)
    dims = len(sizes)
    colors = np.zeros((4, 1), np.float32)
    for wrong in ("int64", "uint32", "int16", "float32", "float64", ">i4"):
        coords = np.zeros((4, dims), wrong)
        for call in (
            lambda c=coords: bl.fetch_image(queue, unsampled, c),
            lambda c=coords: bl.fetch_image(queue, sampled, c),
            lambda c=coords: bl.write_image(queue, unsampled, c, colors),
        ):
            with raises(bl.InvalidError, names="astype('int32')"):
                call()
    for wrong in ("int32", "float64", "float16"):
        with raises(bl.InvalidError, names="astype('float32')"):
            bl.sample_image(queue, sampled, np.zeros((4, dims), wrong))
    for shape in ((4, dims + 1), (4, 0), (dims,) if dims > 1 else (), (2, 2, dims), ()):
        with raises(bl.InvalidError):
            bl.fetch_image(queue, unsampled, np.zeros(shape, np.int32))
        with raises(bl.InvalidError):
            bl.sample_image(queue, sampled, np.zeros(shape, np.float32))
    for other in ([[0] * dims], 0, None, "x"):
        with raises(bl.InvalidError):
            bl.fetch_image(queue, unsampled, other)  # type: ignore[call-overload]
    if dims == 1:
        flat = bl.fetch_image(queue, unsampled, np.arange(4, dtype=np.int32))
        column = bl.fetch_image(queue, unsampled, np.arange(4, dtype=np.int32)[:, None])
        np.testing.assert_array_equal(flat, column)
        assert flat.shape == (4, 1)


def test_odd_arrays(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(7, 5, num_channels=2)
    pixels = random_pixels(desc)
    memory = upload(queue, desc, pixels)
    handle = bl.create_image(memory, desc, queue)
    every = every_coordinate(7, 5)
    wanted = pixels.reshape(-1, 2)
    for coords in (np.asfortranarray(every), np.repeat(every, 2, axis=0)[::2], np.ascontiguousarray(every[::-1])[::-1]):
        np.testing.assert_array_equal(bl.fetch_image(queue, handle, coords), wanted)
    readonly = every.copy()
    readonly.flags.writeable = False
    np.testing.assert_array_equal(bl.fetch_image(queue, handle, readonly), wanted)
    assert bl.fetch_image(queue, handle, every[:0]).shape == (0, 2)
    assert bl.write_image(queue, handle, every[:0], wanted[:0]) is None
    colors = np.asfortranarray(wanted * 2)
    bl.write_image(queue, handle, every, colors)
    np.testing.assert_array_equal(bl.fetch_image(queue, handle, every), wanted * 2)
    for shape in ((35, 1), (35, 3), (34, 2), (35,), (35, 2, 1)):
        with raises(bl.InvalidError, names="colors"):
            bl.write_image(queue, handle, every, np.zeros(shape, np.float32))
    with raises(bl.InvalidError):
        bl.write_image(queue, handle, every, [[0, 0]] * 35)  # type: ignore[arg-type]


def test_out(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(7, 5, num_channels=2)
    pixels = random_pixels(desc)
    handle = bl.create_image(upload(queue, desc, pixels), desc, queue)
    every = every_coordinate(7, 5)
    out = np.empty((35, 2), np.float32)
    assert bl.fetch_image(queue, handle, every, out=out) is out
    np.testing.assert_array_equal(out, pixels.reshape(-1, 2))
    half = bl.fetch_image(queue, handle, every, out=np.empty((35, 2), np.float16))
    np.testing.assert_array_equal(half, pixels.reshape(-1, 2).astype(np.float16))
    assert bl.fetch_image(queue, handle, every, out=np.empty((35, 4), np.float32)).shape == (35, 4)
    frozen = np.empty((35, 2), np.float32)
    frozen.flags.writeable = False
    for bad in (
        np.empty((34, 2), np.float32),
        np.empty(70, np.float32),
        np.empty((35, 2), np.int32),
        np.empty((35, 4), np.float32)[:, ::2],
        frozen,
        every.view(np.float32),
        [0],
    ):
        with raises(bl.InvalidError, match=r"out|float32"):
            bl.fetch_image(queue, handle, every, out=bad)  # type: ignore[call-overload]
    with raises(bl.InvalidError, names="UsmArray"):
        bl.fetch_image(queue, handle, every, out=bl.usm_empty((35, 2), np.float32, queue))  # type: ignore[call-overload]
    with raises(bl.InvalidError, names="UsmArray"):
        bl.fetch_image(queue, handle, usm(queue, every), out=out)  # type: ignore[call-overload]
    with raises(bl.InvalidError, names="out=usm_empty"):
        bl.fetch_image(queue, handle, usm(queue, every))  # type: ignore[call-overload]


def test_usm_arrays(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(200, 100, num_channels=2)
    pixels = random_pixels(desc)
    memory = upload(queue, desc, pixels)
    unsampled = bl.create_image(memory, desc, queue)
    sampled = bl.create_image(memory, desc, queue, sampler=PLAIN)
    every = every_coordinate(200, 100)
    coords, centres = usm(queue, every), usm(queue, (every + 0.5).astype(np.float32))
    out = bl.usm_empty((20000, 2), np.float32, queue)
    event = bl.fetch_image(queue, unsampled, coords, out=out)
    assert isinstance(event, bl.Event)
    event.wait()
    np.testing.assert_array_equal(out.numpy(queue), pixels.reshape(-1, 2))
    colors = usm(queue, pixels.reshape(-1, 2) * 3)
    written = bl.write_image(queue, unsampled, coords, colors)
    assert isinstance(written, bl.Event)
    event = bl.sample_image(queue, sampled, centres, out=out, depends_on=written)
    del coords, colors, centres, memory
    gc.collect()
    event.wait()
    np.testing.assert_array_equal(out.numpy(queue), pixels.reshape(-1, 2) * 3)
    empty = bl.fetch_image(
        queue, unsampled, bl.usm_empty((0, 2), np.int32, queue), out=bl.usm_empty((0, 2), np.float32, queue)
    )
    empty.wait()
    wide = bl.usm_empty((40000, 2), np.float32, queue)
    with raises(bl.InvalidError):
        bl.fetch_image(queue, unsampled, usm(queue, every), out=wide[::2])
    other = bl.Context(queue.device)
    foreign = bl.usm_empty((20000, 2), np.float32, queue.device, other)
    with raises(bl.InvalidError):
        bl.fetch_image(queue, unsampled, usm(queue, every), out=foreign)


def test_closing_memory_under_work(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(512, 512, num_channels=1)
    pixels = random_pixels(desc)
    coords = usm(queue, (every_coordinate(512, 512) + 0.5).astype(np.float32))
    out = bl.usm_empty((512 * 512, 1), np.float32, queue)
    memory = upload(queue, desc, pixels)
    handle = bl.create_image(memory, desc, queue, sampler=SMOOTH)
    events = [bl.sample_image(queue, handle, coords, out=out) for _ in range(3)]
    bl.destroy_image_handle(handle, queue)
    memory.close()
    for event in events:
        event.wait()
    np.testing.assert_array_equal(out.numpy(queue), pixels.reshape(-1, 1))


# ---------------------------------------------------------------------- which function for which image


def images(queue: bl.Queue) -> dict[str, tuple[Any, Any]]:
    """Type: (unsampled handle or None, sampled handle)."""
    descs = {
        "standard": bl.ImageDescriptor(4, 4),
        "mipmap": bl.ImageDescriptor(4, 4, type="mipmap", num_levels=2),
        "array": bl.ImageDescriptor(4, 4, type="array", array_size=3),
        "cubemap": bl.ImageDescriptor(4, 4, type="cubemap", array_size=6),
    }
    aspects = {"mipmap": "ext_oneapi_mipmap", "array": "ext_oneapi_image_array", "cubemap": "ext_oneapi_cubemap"}
    sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized", max_mipmap_level_clamp=1)
    found = {}
    for name, desc in descs.items():
        if name in aspects and not queue.device.has(aspects[name]):
            continue
        memory = bl.ImageMem(desc, queue)
        plain = None if name == "mipmap" else bl.create_image(memory, desc, queue)
        found[name] = (plain, bl.create_image(memory, desc, queue, sampler=sampler))
    return found


def calls(queue: bl.Queue, handle: Any) -> dict[tuple[str, str], Any]:
    """Every device function, keyed by image type and function name."""
    whole, real = np.zeros((1, 2), np.int32), np.zeros((1, 2), np.float32)
    colors, direction = np.zeros((1, 4), np.float32), np.ones((1, 3), np.float32)
    return {
        ("standard", "fetch"): lambda: bl.fetch_image(queue, handle, whole),
        ("standard", "sample"): lambda: bl.sample_image(queue, handle, real),
        ("standard", "write"): lambda: bl.write_image(queue, handle, whole, colors),
        ("mipmap", "sample"): lambda: bl.sample_mipmap(queue, handle, real, level=0),
        ("mipmap", "sample gradient"): lambda: bl.sample_mipmap(queue, handle, real, dx=real, dy=real),
        ("array", "fetch"): lambda: bl.fetch_image_array(queue, handle, whole, 0),
        ("array", "sample"): lambda: bl.sample_image_array(queue, handle, real, 0),
        ("array", "write"): lambda: bl.write_image_array(queue, handle, whole, 0, colors),
        ("cubemap", "fetch"): lambda: bl.fetch_cubemap(queue, handle, whole, 0),
        ("cubemap", "sample"): lambda: bl.sample_cubemap(queue, handle, direction),
        ("cubemap", "write"): lambda: bl.write_cubemap(queue, handle, whole, 0, colors),
    }


def test_wrong_functions(queue: bl.Queue) -> None:  # R63 R65
    for name, handles in images(queue).items():
        for handle in handles:
            if handle is None:
                continue
            sampled = isinstance(handle, bl.SampledImageHandle)
            for (wanted, operation), call in calls(queue, handle).items():
                if operation == "fetch":
                    fits = not (sampled and wanted == "cubemap")
                else:
                    fits = sampled == operation.startswith("sample")
                if fits and wanted == name:
                    call()
                else:
                    with raises(bl.InvalidError, match=r"sampled|images take"):
                        call()
    with raises(bl.InvalidError):
        calls(queue, images(queue)["standard"][1])[("standard", "write")]()


def test_no_handles(queue: bl.Queue) -> None:
    memory = bl.ImageMem(bl.ImageDescriptor(4, 4), queue)
    for handle in (None, 5, "handle", memory, memory.get_handle(), np.uint64(3)):
        for call in calls(queue, handle).values():
            with raises(bl.InvalidError):
                call()


# ---------------------------------------------------------------------- dependencies and aspects


def test_order_is_the_callers(queue: bl.Queue) -> None:  # R64 R70
    """Only events order two commands: with them, reads see the writes of earlier commands."""
    desc = bl.ImageDescriptor(256, 256, num_channels=1, channel_type="unsigned_int32")
    memory = upload(queue, desc, np.zeros(desc.shape, np.uint32))
    handle = bl.create_image(memory, desc, queue)
    coords = usm(queue, every_coordinate(256, 256))
    outs, event = [], bl.Event()
    for value in range(1, 9):
        colors = usm(queue, np.full((256 * 256, 1), value, np.uint32))
        event = bl.write_image(queue, handle, coords, colors, depends_on=event)
        outs.append(bl.usm_empty((256 * 256, 1), np.uint32, queue))
        event = bl.fetch_image(queue, handle, coords, out=outs[-1], depends_on=[event])
    event.wait()
    for value, out in enumerate(outs, 1):
        assert (out.numpy(queue) == value).all()
    with bl.Queue(queue.device, queue.context, in_order=True) as ordered:
        for value in range(1, 9):
            bl.write_image(ordered, handle, coords, usm(queue, np.full((256 * 256, 1), value + 50, np.uint32)))
            event = bl.fetch_image(ordered, handle, coords, out=outs[value - 1])
        event.wait()
    for value, out in enumerate(outs, 1):
        assert (out.numpy(queue) == value + 50).all()
    with raises(bl.InvalidError, names="depends_on"):
        bl.fetch_image(queue, handle, every_coordinate(4, 4), depends_on=["event"])  # type: ignore[list-item]


def test_fetch_aspects(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:  # R58
    aspects = queue.device.aspects
    for sizes in SIZES:
        desc = bl.ImageDescriptor(*sizes)
        memory = upload(queue, desc, random_pixels(desc))
        handle = bl.create_image(memory, desc, queue, sampler=PLAIN)
        missing = bl.Aspect(f"ext_oneapi_bindless_sampled_image_fetch_{len(sizes)}d")
        monkeypatch.setattr(queue.device, "_aspects", aspects - {missing})
        with raises(bl.FeatureNotSupportedError, names=missing.name):
            bl.fetch_image(queue, handle, np.zeros((1, len(sizes)), np.int32))
        monkeypatch.setattr(queue.device, "_aspects", aspects)
    for dims, sizes in ((1, (16,)), (2, (16, 2))):
        require(queue.device, bl.Aspect(f"ext_oneapi_bindless_images_{dims}d_usm"))
        desc = bl.ImageDescriptor(*sizes)
        pointer, pitch = bl.pitched_alloc_device(desc, queue)
        handle = bl.create_image(pointer, desc, queue, sampler=PLAIN, pitch=pitch)
        for missing, call in (
            (
                f"ext_oneapi_bindless_sampled_image_fetch_{dims}d_usm",
                lambda h=handle, d=dims: bl.fetch_image(queue, h, np.zeros((1, d), np.int32)),
            ),
            (
                f"ext_oneapi_bindless_images_sample_{dims}d_usm",
                lambda h=handle, d=dims: bl.sample_image(queue, h, np.zeros((1, d), np.float32)),
            ),
        ):
            monkeypatch.setattr(queue.device, "_aspects", aspects - {bl.Aspect(missing)})
            with raises(bl.FeatureNotSupportedError, names=missing):
                call()
            monkeypatch.setattr(queue.device, "_aspects", aspects)
