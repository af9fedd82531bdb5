"""Arguments of image copies: the scenarios of failures by their number, offsets, addresses and extents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises
from tests.support.pixels import random_pixels, upload

DESC = bl.ImageDescriptor(20, 9, num_channels=2, channel_type="unsigned_int16")


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
        with raises(bl.InvalidError, names=f"scenario {number}") as caught:
            queue.ext_oneapi_copy(src, dst, **options)
        assert caught.value.code is bl.Errc.invalid
        with raises(bl.InvalidError, names=f"scenario {number}"):
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
        with raises(bl.InvalidError, names=f"scenario {number}") as caught:
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
    with raises(bl.InvalidError, names="scenario 5"):
        queue.ext_oneapi_copy(pixels.reshape(-1), memory, src_extent=large, copy_extent=(1, 1, 1))


def test_offsets_are_numbers_in_range(queue: bl.Queue) -> None:  # R49
    memory = bl.ImageMem(DESC, queue)
    pixels = random_pixels(DESC)
    for name, value in (("src_offset", (-1, 0, 0)), ("dst_offset", (0, 2**64, 0)), ("copy_extent", (1, 1, 1, 1))):
        with raises(bl.InvalidError, names=name):
            queue.ext_oneapi_copy(pixels, memory, **{name: value})


@pytest.mark.parametrize("address", [0, -1, -(2**63), 2**64, 10**30])
def test_addresses_are_numbers_of_64_bits(queue: bl.Queue, address: int) -> None:
    pixels, memory = random_pixels(DESC), bl.ImageMem(DESC, queue)
    for src, dst in ((address, memory), (memory, address), (address, pixels)):
        with raises(bl.InvalidError, names=address):
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
    with raises(bl.InvalidError, names="copy_extent"):
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
    with raises(bl.InvalidError, names="src_extent"):
        queue.ext_oneapi_copy(host.reshape(-1), memory, src_offset=(1, 0, 0), copy_extent=(3, 2, 1))
