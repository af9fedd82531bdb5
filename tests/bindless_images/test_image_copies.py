"""``ext_oneapi_copy``: its fourteen forms, events, layers, levels, and refusals (R45–R57)."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises
from tests.support.pixels import Array, random_pixels, require, upload

DESC = bl.ImageDescriptor(20, 9, num_channels=2, channel_type="unsigned_int16")
REGION: dict[str, Any] = {"src_offset": (3, 2, 0), "dst_offset": (5, 1, 0), "copy_extent": (11, 6, 1)}
PAIRS = ["host image", "image host", "host usm", "usm host", "image image", "image usm", "usm image", "usm usm"]


@dataclass
class End:
    """One side of a copy: what is passed, its arguments, and how its pixels are read back."""

    value: Any
    arguments: dict[str, Any]
    read: Callable[[], Array]


def pitched(queue: bl.Queue, desc: bl.ImageDescriptor, pixels: Array, extra: int = 1) -> tuple[bl.UsmPointer, int]:
    """Device memory that holds the pixels, its pitch larger than it must be."""
    align = queue.device.get_info("image_row_pitch_align")
    pitch = (-(-desc.row_size // align) + extra) * align
    rows = pixels.reshape(-1, desc.row_size // pixels.itemsize)
    pointer = bl.malloc_device(pitch * len(rows), queue)
    queue.memset(pointer, 0xEE, pitch * len(rows)).wait()
    for index, row in enumerate(rows):
        queue.memcpy(pointer + index * pitch, np.ascontiguousarray(row), row.nbytes).wait()
    return pointer, pitch


def read_pitched(queue: bl.Queue, pointer: bl.UsmPointer, pitch: int, desc: bl.ImageDescriptor) -> Array:
    rows = math.prod(desc.extent[1:])
    raw = np.empty(pitch * rows, np.uint8)
    queue.memcpy(raw, pointer, raw.nbytes).wait()
    table = raw.reshape(rows, pitch)
    assert (table[:, desc.row_size :] == 0xEE).all(), "the copy wrote between the rows"
    return np.ascontiguousarray(table[:, : desc.row_size]).view(desc.dtype).reshape(desc.shape)


def make(queue: bl.Queue, kind: str, side: str, pixels: Array, desc: bl.ImageDescriptor = DESC) -> End:
    if kind == "host":
        array = pixels.copy()
        return End(array, {}, lambda: array)
    if kind == "image":
        memory = upload(queue, desc, pixels)
        out = np.empty_like(pixels)

        def read() -> Array:
            queue.ext_oneapi_copy(memory, out).wait()
            return out

        return End(memory.get_handle(), {f"{side}_desc": desc, "_owner": memory}, read)
    pointer, pitch = pitched(queue, desc, pixels)
    return End(
        pointer, {f"{side}_desc": desc, f"{side}_pitch": pitch}, lambda: read_pitched(queue, pointer, pitch, desc)
    )


def arguments(*ends: End) -> dict[str, Any]:
    return {name: value for end in ends for name, value in end.arguments.items() if name != "_owner"}


def expected(source: Array, target: Array, region: dict[str, Any]) -> Array:
    """The destination after a copy of a two-dimensional region."""
    wanted = target.copy()
    (sx, sy, _), (dx, dy, _), (w, h, _) = region["src_offset"], region["dst_offset"], region["copy_extent"]
    wanted[dy : dy + h, dx : dx + w] = source[sy : sy + h, sx : sx + w]
    return wanted


def submit(queue: bl.Queue, by: str, depends_on: Any, src: Any, dst: Any, **options: Any) -> bl.Event:
    if by == "queue":
        return queue.ext_oneapi_copy(src, dst, depends_on=depends_on, **options)

    def group(handler: bl.Handler) -> None:
        handler.depends_on(depends_on)
        handler.ext_oneapi_copy(src, dst, **options)

    return queue.submit(group)


@pytest.mark.parametrize("events", [0, 1, 3])
@pytest.mark.parametrize("by", ["queue", "handler"])
@pytest.mark.parametrize("part", [False, True], ids=["whole", "part"])
@pytest.mark.parametrize("pair", PAIRS)
def test_forms(queue: bl.Queue, pair: str, part: bool, by: str, events: int) -> None:  # R17 R46 R50 R56
    kinds = pair.split()
    source, target = random_pixels(DESC, 1), random_pixels(DESC, 2)
    src, dst = make(queue, kinds[0], "src", source), make(queue, kinds[1], "dst", target)
    gate, order = threading.Event(), []

    def before(index: int) -> Callable[[], None]:
        def run() -> None:
            gate.wait(10)
            order.append(index)

        return run

    waits = [queue.submit(lambda handler, index=index: handler.host_task(before(index))) for index in range(events)]
    threading.Timer(0.02, gate.set).start()
    depends_on: Any = waits[0] if events == 1 else waits
    options = arguments(src, dst) | (REGION if part else {})
    event = submit(queue, by, depends_on, src.value, dst.value, **options)
    assert isinstance(event, bl.Event)
    event.wait()
    assert sorted(order) == list(range(events))
    np.testing.assert_array_equal(dst.read(), expected(source, target, REGION) if part else source)


@pytest.mark.parametrize("by", ["queue", "handler"])
@pytest.mark.parametrize("part", [False, True], ids=["whole", "part"])
def test_host_to_host(queue: bl.Queue, part: bool, by: str) -> None:  # R46 R56
    source, target = random_pixels(DESC, 1), random_pixels(DESC, 2)
    rows, spare = np.zeros((9, 25, 2), np.uint16), np.full((9, 31, 2), 7, np.uint16)
    rows[:, :20] = source
    spare[:, :20] = target
    options: dict[str, Any] = {"src_desc": DESC, "dst_desc": DESC, "src_pitch": 100, "dst_pitch": 124}
    submit(queue, by, (), rows, spare, **options | (REGION if part else {})).wait()
    np.testing.assert_array_equal(spare[:, :20], expected(source, target, REGION) if part else source)
    assert (spare[:, 20:] == 7).all()
    packed = np.empty_like(source)
    queue.ext_oneapi_copy(source, packed, src_desc=DESC).wait()
    np.testing.assert_array_equal(packed, source)


def test_host_memory_is_packed(queue: bl.Queue) -> None:  # R45 R51
    pixels = random_pixels(DESC)
    pointer, pitch = pitched(queue, DESC, np.zeros_like(pixels), extra=3)
    queue.ext_oneapi_copy(pixels, pointer, dst_desc=DESC, dst_pitch=pitch).wait()
    np.testing.assert_array_equal(read_pitched(queue, pointer, pitch, DESC), pixels)
    out = np.empty_like(pixels)
    queue.ext_oneapi_copy(pointer, out, src_desc=DESC, src_pitch=pitch).wait()
    np.testing.assert_array_equal(out, pixels)
    memory = upload(queue, DESC, pixels)
    for options in ({"src": memory, "dst": out, "dst_pitch": 96}, {"src": out, "dst": memory, "src_pitch": 80}):
        with raises(bl.InvalidError):
            queue.ext_oneapi_copy(**options)
    with raises(bl.InvalidError):
        queue.ext_oneapi_copy(memory, out, src_pitch=96)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, np.ndarray, "flat", "structured"])
def test_host_buffers(queue: bl.Queue, kind: Any) -> None:
    pixels = random_pixels(DESC)
    item = np.dtype([("x", "u2"), ("y", "u2")])
    given: Any
    if kind == "flat":
        given = pixels.reshape(-1)
    elif kind == "structured":
        given = pixels.view(item)[..., 0]
    else:
        given = pixels if kind is np.ndarray else kind(pixels.tobytes())
    memory = bl.ImageMem(DESC, queue)
    queue.ext_oneapi_copy(given, memory).wait()
    out = np.empty_like(pixels)
    queue.ext_oneapi_copy(memory, out.view(item)[..., 0] if kind == "structured" else out).wait()
    np.testing.assert_array_equal(out, pixels)
    room = bytearray(pixels.nbytes)
    queue.ext_oneapi_copy(memory, room).wait()
    assert bytes(room) == pixels.tobytes()


def test_arrays_of_the_wrong_kind(queue: bl.Queue) -> None:  # R48
    memory = bl.ImageMem(DESC, queue)
    good = random_pixels(DESC)
    bad = {
        "astype": good.astype(np.int16),
        "float64": np.zeros(DESC.shape),
        "shape": np.zeros((20, 9, 2), np.uint16),
        "flat": np.zeros((9, 2, 20), np.uint16),
        "ascontiguousarray": np.zeros((9, 40, 2), np.uint16)[:, ::2],
        "bytes": np.zeros(9 * 20 * 2 - 1, np.uint16),
        "objects": np.zeros(DESC.shape, object),
        "takes": good.tobytes()[:-1],
        r"astype\(.uint16.\)$": good.astype(">u2"),  # its bits would be other numbers
    }
    for word, given in bad.items():
        with raises(bl.InvalidError, match=word):
            queue.ext_oneapi_copy(given, memory)
    frozen = good.copy()
    frozen.flags.writeable = False
    queue.ext_oneapi_copy(frozen, memory).wait()  # only read
    for target in (frozen, bytes(good.nbytes)):
        with raises(bl.InvalidError):
            queue.ext_oneapi_copy(memory, target)
    with raises(bl.InvalidError):
        queue.ext_oneapi_copy(memory, np.zeros((9, 40, 2), np.uint16)[:, ::2])
    for other in ("text", None, 1.5, [1, 2, 3], object()):
        with raises(bl.InvalidError):
            queue.ext_oneapi_copy(other, memory)
    with raises(bl.InvalidError, match="descriptor"):
        queue.ext_oneapi_copy(good, good.copy())
    with raises(bl.InvalidError, match="ImageDescriptor"):
        queue.ext_oneapi_copy(good, memory, dst_desc="desc")
    with raises(bl.InvalidError):
        queue.ext_oneapi_copy(good, memory, copy_extent=(1.5, 1, 1))


# ---------------------------------------------------------------------- the numbered scenarios


def test_scenarios_of_whole_copies(queue: bl.Queue) -> None:  # R47 R48 R54
    pixels = random_pixels(DESC)
    memory = upload(queue, DESC, pixels)
    small = bl.ImageMem(bl.ImageDescriptor(20, 8, num_channels=2, channel_type="unsigned_int16"), queue)
    other = bl.Context(queue.device)
    foreign = bl.ImageMem(DESC, queue.device, other)
    pointer, pitch = bl.pitched_alloc_device(DESC, queue.device, other)
    freed = bl.alloc_image_mem(DESC, queue)
    bl.free_image_mem(freed, "standard", queue)
    own, own_pitch = bl.pitched_alloc_device(DESC, queue)
    scenarios = [
        (1, foreign, pixels, {}),
        (1, pixels, foreign, {}),
        (1, foreign.get_handle(), pixels, {"src_desc": DESC}),
        (1, bl.ImageMemHandle(), pixels, {"src_desc": DESC}),
        (1, freed, pixels, {"src_desc": DESC}),
        (1, pixels, pointer, {"dst_desc": DESC, "dst_pitch": pitch}),
        (1, memory, pointer, {"dst_desc": DESC, "dst_pitch": pitch}),
        (1, pixels.ctypes.data, memory, {"src_desc": DESC}),
        (2, memory, small, {}),
        (2, memory, own, {"dst_desc": small.get_descriptor(), "dst_pitch": own_pitch}),
        (2, pixels[:-1], memory, {}),
        (2, memory, np.empty((9, 20, 2), np.uint16)[:8], {}),
        (2, pixels.tobytes() + b"x", memory, {}),
        (2, memory, np.empty(DESC.nbytes // 2 + 1, np.uint16), {}),
        (2, memory.get_handle(), pixels, {"src_desc": small.get_descriptor()}),
        (2, own, memory, {"src_desc": bl.ImageDescriptor(2000, 9, num_channels=1)}),
    ]
    for number, src, dst, options in scenarios:
        with raises(bl.InvalidError, match=f"scenario {number}") as caught:
            queue.ext_oneapi_copy(src, dst, **options)
        assert caught.value.code is bl.Errc.invalid
        with raises(bl.InvalidError, match=f"scenario {number}"):
            queue.submit(lambda handler: handler.ext_oneapi_copy(src, dst, **options))  # noqa: B023
    bl.free(pointer)
    foreign.close()
    other.close()


def test_scenarios_of_partial_copies(queue: bl.Queue) -> None:  # R47 R49 R50 R51 R54
    pixels = random_pixels(DESC)
    memory = upload(queue, DESC, pixels)
    wide = bl.ImageDescriptor(40, 9, num_channels=1, channel_type="unsigned_int16")
    other = bl.Context(queue.device)
    foreign = bl.ImageMem(DESC, queue.device, other)
    pointer, pitch = bl.pitched_alloc_device(DESC, queue)
    align = queue.device.get_info("image_row_pitch_align")
    one = {"copy_extent": (1, 1, 1)}
    flat = pixels.reshape(-1)
    usm = {"dst_desc": DESC, "dst_pitch": pitch}
    scenarios: list[tuple[int, Any, Any, dict[str, Any]]] = [
        (1, foreign, pixels, one),
        (2, memory.get_handle(), pixels, {"src_desc": wide} | one),
        (3, pixels, memory, {"copy_extent": (21, 1, 1)}),
        (3, memory, np.empty((30, 30, 2), np.uint16), {"copy_extent": (20, 10, 1)}),
        (3, memory, pointer, {"copy_extent": (20, 9, 2)} | usm),
        (4, flat, pointer, {"src_extent": (20, 10, 1)} | one | usm),
        (4, pointer, flat, {"dst_extent": (21, 9), "src_desc": DESC, "src_pitch": pitch} | one),
        (5, flat, memory, {"src_extent": (20, 10, 1)} | one),
        (5, memory, pixels, {"src_extent": (21, 9, 1)} | one),
        (6, memory, flat, {"dst_extent": (21, 9, 1)} | one),
        (6, pixels, memory, {"dst_extent": (20, 9, 2)} | one),
        (7, pixels, memory, {"src_offset": (20, 0, 0)} | one),
        (7, memory, pixels, {"src_offset": (0, 5, 0), "copy_extent": (1, 5, 1)}),
        (8, pixels, memory, {"dst_offset": (0, 0, 1)} | one),
        (8, memory, pixels, {"dst_offset": (10, 0, 0), "copy_extent": (11, 1, 1)}),
        (9, memory, pointer, {"dst_desc": DESC, "dst_pitch": pitch + 1} | one),
        (9, pixels, pointer, {"dst_desc": DESC, "dst_pitch": 20 * 4} | one),
        *([(10, memory, pointer, {"dst_desc": DESC, "dst_pitch": align} | one)] if align < 80 else []),
        (10, memory, pointer, {"dst_desc": DESC, "dst_pitch": 0} | one),
        (10, pointer, memory, {"src_desc": DESC, "src_pitch": 79} | one),
    ]
    assert {number for number, *_ in scenarios} == set(range(1, 11))
    for number, src, dst, options in scenarios:
        with raises(bl.InvalidError, match=rf"with offsets and extents, scenario {number}:.*\d") as caught:
            queue.ext_oneapi_copy(src, dst, **options)
        assert caught.value.code is bl.Errc.invalid
    foreign.close()
    other.close()


@pytest.mark.parametrize("huge", [2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_nothing_overflows(queue: bl.Queue, axis: int, huge: int) -> None:  # R49
    memory = bl.ImageMem(DESC, queue)
    pixels = random_pixels(DESC)
    pointer, pitch = bl.pitched_alloc_device(DESC, queue)
    far = tuple(huge if index == axis else 0 for index in range(3))
    large = tuple(huge if index == axis else 1 for index in range(3))
    for src, dst, options in (
        (pixels, memory, {}),
        (memory, pixels, {}),
        (memory, bl.ImageMem(DESC, queue), {}),
        (memory, pointer, {"dst_desc": DESC, "dst_pitch": pitch}),
        (pointer, pixels, {"src_desc": DESC, "src_pitch": pitch}),
    ):
        for wrong in (
            {"src_offset": far, "copy_extent": (1, 1, 1)},
            {"dst_offset": far, "copy_extent": (1, 1, 1)},
            {"copy_extent": large},
            {"src_offset": (1, 1, 0), "copy_extent": large},
            {"src_offset": far, "dst_offset": far, "copy_extent": large},
        ):
            with raises(bl.InvalidError, match=r"scenario [378]"):
                queue.ext_oneapi_copy(src, dst, **options, **wrong)
    with raises(bl.InvalidError, match="scenario 5"):
        queue.ext_oneapi_copy(pixels.reshape(-1), memory, src_extent=large, copy_extent=(1, 1, 1))


def test_offsets_are_numbers_in_range(queue: bl.Queue) -> None:  # R49
    memory = bl.ImageMem(DESC, queue)
    pixels = random_pixels(DESC)
    for name, value in (("src_offset", (-1, 0, 0)), ("dst_offset", (0, 2**64, 0)), ("copy_extent", (1, 1, 1, 1))):
        with raises(bl.InvalidError, match=name):
            queue.ext_oneapi_copy(pixels, memory, **{name: value})


@pytest.mark.parametrize("address", [0, -1, -(2**63), 2**64, 10**30])
def test_addresses_are_numbers_of_64_bits(queue: bl.Queue, address: int) -> None:
    pixels, memory = random_pixels(DESC), bl.ImageMem(DESC, queue)
    for src, dst in ((address, memory), (memory, address), (address, pixels)):
        with raises(bl.InvalidError, match=f"{address}"):
            queue.ext_oneapi_copy(src, dst, src_desc=DESC, dst_desc=DESC)


def test_unused_components(queue: bl.Queue) -> None:  # R53
    pixels = random_pixels(DESC)
    memory = upload(queue, DESC, pixels)
    results = []
    for extent in ((4, 3), (4, 3, 0), (4, 3, 1)):
        out = np.zeros_like(pixels)
        queue.ext_oneapi_copy(memory, out, copy_extent=extent).wait()
        results.append(out)
        assert out.any(axis=-1).sum() <= 12
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    line = bl.ImageDescriptor(20, num_channels=1)
    row = upload(queue, line, random_pixels(line))
    for extent in (5, (5,), (5, 0, 0), (5, 1, 1), (5, 0, 1)):
        out = np.zeros((20, 1), np.float32)
        queue.ext_oneapi_copy(row, out, copy_extent=extent).wait()
        assert (out[5:] == 0).all() and out[:5].all()
    out = np.zeros_like(pixels)
    for extent in ((0, 0, 0), (0, 9, 1), (20, 0, 1), (0,), 0, (4,)):
        with raises(bl.InvalidError):
            queue.ext_oneapi_copy(memory, out, copy_extent=extent)
    assert not out.any()
    with raises(bl.InvalidError, match="copy_extent"):
        queue.ext_oneapi_copy(memory, out, src_offset=(1, 0, 0))


def test_host_extents(queue: bl.Queue) -> None:  # R50
    desc = bl.ImageDescriptor(12, 8, 5, num_channels=1)
    pixels = random_pixels(desc)
    memory = upload(queue, desc, pixels)
    host = np.random.default_rng(5).random((6, 10, 17, 1)).astype(np.float32)
    for given, extent in ((host, None), (host.reshape(-1), (17, 10, 6)), (host.tobytes(), (17, 10, 6))):
        queue.ext_oneapi_copy(
            given,
            memory,
            src_offset=(2, 3, 1),
            dst_offset=(1, 0, 2),
            src_extent=extent,
            copy_extent=(9, 7, 3),
        ).wait()
        out = np.empty_like(pixels)
        queue.ext_oneapi_copy(memory, out).wait()
        wanted = pixels.copy()
        wanted[2:5, 0:7, 1:10] = host[1:4, 3:10, 2:11]
        np.testing.assert_array_equal(out, wanted)
    back = np.zeros(host.size, np.float32)
    queue.ext_oneapi_copy(memory, back, dst_offset=(4, 1, 2), dst_extent=(17, 10, 6), copy_extent=(12, 8, 4)).wait()
    wanted = np.zeros_like(host)
    wanted[2:6, 1:9, 4:16] = out[:4]
    np.testing.assert_array_equal(back.reshape(host.shape), wanted)
    region = random_pixels(bl.ImageDescriptor(3, 2, num_channels=1))
    queue.ext_oneapi_copy(region, memory, dst_offset=(0, 0, 4), copy_extent=(3, 2, 1)).wait()
    queue.ext_oneapi_copy(memory, out).wait()
    np.testing.assert_array_equal(out[4, :2, :3], region)
    with raises(bl.InvalidError, match="src_extent"):
        queue.ext_oneapi_copy(host.reshape(-1), memory, src_offset=(1, 0, 0), copy_extent=(3, 2, 1))


# ---------------------------------------------------------------------- capacity and bits


REGROUPED = [
    (bl.ImageDescriptor(8, 6, num_channels=4, channel_type="unorm_int8"), bl.ImageDescriptor(8, 6, num_channels=1)),
    (bl.ImageDescriptor(8, 6, num_channels=4), bl.ImageDescriptor(16, 6, num_channels=2)),
    (bl.ImageDescriptor(8, 6, num_channels=1), bl.ImageDescriptor(48, num_channels=2, channel_type="fp16")),
    (bl.ImageDescriptor(8, 6, num_channels=1), bl.ImageDescriptor(6, 8, num_channels=1)),
    (bl.ImageDescriptor(8, 6, 4, num_channels=1), bl.ImageDescriptor(24, 8, num_channels=1)),
]


@pytest.mark.parametrize("pair", ["image image", "image usm", "usm image", "usm usm", "host image", "image host"])
@pytest.mark.parametrize("descs", REGROUPED, ids=str)
def test_equal_capacity_copies_bits(
    queue: bl.Queue, descs: tuple[bl.ImageDescriptor, bl.ImageDescriptor], pair: str
) -> None:  # R48
    kinds = pair.split()
    for first, second in (descs, descs[::-1]):
        assert first.nbytes == second.nbytes
        source = random_pixels(first)
        src = make(queue, kinds[0], "src", source, first)
        dst = make(queue, kinds[1], "dst", np.zeros(second.shape, second.dtype), second)
        options = arguments(src, dst)
        if "host" in kinds:  # the host side's own descriptor says what it holds
            options |= {"src_desc": first, "dst_desc": second}
        queue.ext_oneapi_copy(src.value, dst.value, **options).wait()
        assert dst.read().tobytes() == source.tobytes()


def test_pitch_of_regrouped_pixels(queue: bl.Queue) -> None:  # R48 R51
    align = queue.device.get_info("image_row_pitch_align")
    one = bl.ImageDescriptor(align // 4 - 1, 4, num_channels=4, channel_type="unorm_int8")
    other = bl.ImageDescriptor(2 * align - 8, 2, num_channels=1, channel_type="unorm_int8")
    assert one.nbytes == other.nbytes and one.row_size % align
    memory, pointer = bl.ImageMem(other, queue), bl.malloc_device(one.nbytes, queue)
    queue.ext_oneapi_copy(pointer, memory, src_desc=one).wait()
    for pitch, scenario in ((one.row_size, 9), (one.row_size - 4, 10), (0, 10)):
        with raises(bl.InvalidError, match=f"scenario {scenario}"):
            queue.ext_oneapi_copy(pointer, memory, src_desc=one, src_pitch=pitch)
        with raises(bl.InvalidError, match=f"scenario {scenario}"):
            queue.ext_oneapi_copy(memory, pointer, dst_desc=one, dst_pitch=pitch)


# ---------------------------------------------------------------------- layers and levels


@pytest.mark.parametrize(
    ("desc", "aspect"),
    [
        (bl.ImageDescriptor(20, type="array", array_size=5, num_channels=2), bl.Aspect.ext_oneapi_image_array),
        (bl.ImageDescriptor(20, 9, type="array", array_size=5, num_channels=1), bl.Aspect.ext_oneapi_image_array),
        (bl.ImageDescriptor(9, 9, type="cubemap", array_size=6, num_channels=4), bl.Aspect.ext_oneapi_cubemap),
    ],
    ids=["1D array", "2D array", "cubemap"],
)
def test_layers(queue: bl.Queue, desc: bl.ImageDescriptor, aspect: bl.Aspect) -> None:  # R46 R52
    require(queue.device, aspect)
    pixels = random_pixels(desc)
    memory = upload(queue, desc, pixels)
    out = np.empty_like(pixels)
    queue.ext_oneapi_copy(memory, out).wait()
    np.testing.assert_array_equal(out, pixels)
    height = desc.height or 1
    for layer in range(desc.array_size):
        one = np.empty(pixels.shape[1:], pixels.dtype)
        queue.ext_oneapi_copy(memory, one, src_offset=(0, 0, layer), copy_extent=(desc.width, height, 1)).wait()
        np.testing.assert_array_equal(one, pixels[layer])
    twin = bl.ImageMem(desc, queue)
    queue.ext_oneapi_copy(np.zeros_like(pixels), twin).wait()
    queue.ext_oneapi_copy(memory, twin, src_offset=(3, 0, 1), dst_offset=(1, 0, 2), copy_extent=(5, height, 3)).wait()
    queue.ext_oneapi_copy(twin, out).wait()
    wanted = np.zeros_like(pixels)
    wanted[2:5, ..., 1:6, :] = pixels[1:4, ..., 3:8, :]
    np.testing.assert_array_equal(out, wanted)
    layers = desc.array_size
    for options in (
        {"src_offset": (0, 0, layers), "copy_extent": (1, 1, 1)},
        {"src_offset": (0, 0, 1), "copy_extent": (1, 1, layers)},
        {"copy_extent": (1, 1, layers + 1)},
        {"src_offset": (0, height, 0), "copy_extent": (1, 1, 1)},
    ):
        with raises(bl.InvalidError, match="scenario [37].*[yz]"):
            queue.ext_oneapi_copy(memory, out, **options)
    pointer, pitch = pitched(queue, desc, pixels)
    queue.ext_oneapi_copy(pointer, twin, src_desc=desc, src_pitch=pitch).wait()
    queue.ext_oneapi_copy(twin, out).wait()
    np.testing.assert_array_equal(out, pixels)


def test_levels(queue: bl.Queue) -> None:  # R55
    require(queue.device, bl.Aspect.ext_oneapi_mipmap)
    desc = bl.ImageDescriptor(21, 13, num_channels=1, channel_type="unsigned_int16", type="mipmap", num_levels=5)
    memory = bl.ImageMem(desc, queue)
    pixels = [random_pixels(desc.get_mip_level_desc(level), level) for level in range(5)]
    for level, array in enumerate(pixels):
        part = memory.get_mip_level_mem_handle(level)
        queue.ext_oneapi_copy(array, part, dst_desc=desc.get_mip_level_desc(level)).wait()
    for level, array in enumerate(pixels):
        part = memory.get_mip_level_mem_handle(level)
        level_desc = desc.get_mip_level_desc(level)
        out = np.empty_like(array)
        queue.ext_oneapi_copy(part, out, src_desc=level_desc).wait()
        np.testing.assert_array_equal(out, array)
        queue.ext_oneapi_copy(part, out[:1, :1], src_desc=level_desc, copy_extent=(1, 1, 1)).wait()
        wrong = desc.get_mip_level_desc((level + 1) % 5)
        with raises(bl.InvalidError, match="scenario 2"):
            queue.ext_oneapi_copy(part, np.empty(wrong.shape, wrong.dtype), src_desc=wrong)
        for given in (memory, memory.get_handle()):
            with raises(bl.InvalidError):
                queue.ext_oneapi_copy(given, out)
        with raises(bl.InvalidError):
            queue.ext_oneapi_copy(part, out, src_desc=desc)


# ---------------------------------------------------------------------- memory that is not ours


def test_external_memory(queue: bl.Queue) -> None:  # R57
    """What an import registers is copied as any other memory, and freed by nobody here."""
    from bindless.bindless_images.context_tables import MemoryRecord

    context, pixels = queue.context, random_pixels(DESC)
    backend, native = queue._backend, context._native
    raw = backend.allocate_image(native, queue.device._record.native, DESC)
    parent, free = context._resource, backend.free_image
    context._images[raw] = MemoryRecord(DESC, queue.device, "external", [], parent, free, native, raw, DESC)
    handle = bl.ImageMemHandle(raw)
    pointer = bl.malloc_device(DESC.nbytes, queue)
    mapped = bl.UsmPointer._adopt(
        pointer.address, DESC.nbytes, bl.UsmKind.device, queue.device, context, owned=False, lender=pointer
    )
    queue.ext_oneapi_copy(pixels, handle, dst_desc=DESC).wait()
    queue.ext_oneapi_copy(handle, mapped, src_desc=DESC, dst_desc=DESC).wait()
    out = np.empty_like(pixels)
    queue.ext_oneapi_copy(mapped, out, src_desc=DESC).wait()
    np.testing.assert_array_equal(out, pixels)
    with raises(bl.MemoryAllocationError, match="unmap"):
        bl.free_image_mem(handle, "standard", queue)
    with pytest.raises(bl.InvalidError):
        bl.free(mapped)
    del context._images[raw]


def test_arrays_live_until_the_copy_ends(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(1024, 512)
    pixels = random_pixels(desc)
    memory = bl.ImageMem(desc, queue)
    event = queue.ext_oneapi_copy(pixels.copy(), memory)
    pointer, pitch = bl.pitched_alloc_device(desc, queue)
    event = queue.ext_oneapi_copy(memory, pointer, dst_desc=desc, dst_pitch=pitch, depends_on=event)
    out = np.empty_like(pixels)
    event = queue.ext_oneapi_copy(pointer, out, src_desc=desc, src_pitch=pitch, depends_on=[event])
    del pointer
    event.wait()
    np.testing.assert_array_equal(out, pixels)


def test_usm_arrays_and_addresses(queue: bl.Queue) -> None:  # R56
    pixels = random_pixels(DESC)
    array = bl.usm_empty(DESC.shape, DESC.dtype, queue).copy_from(pixels, queue)
    memory = bl.ImageMem(DESC, queue)
    out = np.empty_like(pixels)
    for given in (array, array.pointer, int(array.pointer)):
        queue.ext_oneapi_copy(given, memory, src_desc=DESC).wait()
        queue.ext_oneapi_copy(memory, out).wait()
        np.testing.assert_array_equal(out, pixels)
    with raises(bl.InvalidError):
        queue.ext_oneapi_copy(array[:, ::2], memory, src_desc=DESC)
    bl.free(array)
    with raises(bl.InvalidError):
        queue.ext_oneapi_copy(array, memory, src_desc=DESC)


NO_HIDDEN_COPY = """
import re, sys
import numpy as np, bindless as bl
def peak():  # KiB
    return int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
queue = bl.Queue(sys.argv[1])
host, out = np.ones((2048, 2048, 4), np.float32), np.zeros((2048, 2048, 4), np.float32)
out[:] = 2
small = bl.ImageDescriptor(64, 64)
desc = bl.ImageDescriptor.from_array(host)
memory = bl.ImageMem(desc, queue)
queue.ext_oneapi_copy(host[:64, :64].copy(), bl.ImageMem(small, queue)).wait()
before = peak()
queue.ext_oneapi_copy(host, memory).wait()
up = peak()
queue.ext_oneapi_copy(memory, out).wait()
assert (out == 1).all()
print(up - before, peak() - up, host.nbytes // 1024)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_no_hidden_copy(device: bl.Device) -> None:
    """Peak memory grows by the image's own pages at most, and not at all on the way back."""
    name = f"{device.backend}:*:{device.index}"
    environment = {**os.environ, "BINDLESS_STAGING": "8"}  # MiB of buffers that CUDA may have
    done = subprocess.run(
        [sys.executable, "-c", NO_HIDDEN_COPY, name],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        timeout=120,
    )
    up, down, image = map(int, done.stdout.split())
    own = image if device.type is bl.DeviceType.cpu else 0  # there image memory is the process's own
    assert up < own + image // 2
    assert down < image // 2
