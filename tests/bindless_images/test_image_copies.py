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
    with raises(bl.InvalidError, names="descriptor"):
        queue.ext_oneapi_copy(good, good.copy())
    with raises(bl.InvalidError, names="ImageDescriptor"):
        queue.ext_oneapi_copy(good, memory, dst_desc="desc")
    with raises(bl.InvalidError):
        queue.ext_oneapi_copy(good, memory, copy_extent=(1.5, 1, 1))


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
        with raises(bl.InvalidError, names=f"scenario {scenario}"):
            queue.ext_oneapi_copy(pointer, memory, src_desc=one, src_pitch=pitch)
        with raises(bl.InvalidError, names=f"scenario {scenario}"):
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
        with raises(bl.InvalidError, names="scenario 2"):
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
    with raises(bl.MemoryAllocationError, names="unmap"):
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
    is_processor = device.type is bl.DeviceType.cpu or device.vendor == "bindless"
    own = image if is_processor else 0  # there image memory is the process's own
    assert up < own + image // 2
    assert down < image // 2
