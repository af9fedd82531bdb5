"""Images are released in any order, in any thread, and at interpreter exit (R14, R18, R34)."""

from __future__ import annotations

import gc
import itertools
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.core import ownership
from bindless.submission.command_stream import wait_for_all
from tests.support.error_checks import raises
from tests.support.pixels import every_coordinate, random_pixels, upload

DESC = bl.ImageDescriptor(64, 32, num_channels=2)
SMOOTH = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
EVERY = every_coordinate(64, 32)


def alive(device: bl.Device) -> int | None:
    """Number of the driver's native objects, on drivers that count them."""
    if device.backend is not bl.Backend.reference:
        return None
    from bindless.drivers import reference as driver

    found = driver.ffi.new("uint64_t *")
    driver.check(driver.lib.blrGetObjectCount(found), "blrGetObjectCount")
    return int(found[0])


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))), ids=str)
def test_any_order_of_dropping(device: bl.Device, order: tuple[int, ...]) -> None:  # R14 R34
    wait_for_all()
    gc.collect()
    before = alive(device)
    context = bl.Context(device)
    queue = bl.Queue(device, context)
    memory = upload(queue, DESC, random_pixels(DESC))
    handle = bl.create_image(memory, DESC, queue, sampler=SMOOTH)
    out = bl.usm_empty((len(EVERY), 2), np.float32, queue)
    coords = bl.usm_empty(EVERY.shape, np.int32, queue).copy_from(EVERY, queue)
    event: Any = bl.fetch_image(queue, handle, coords, out=out)
    owned: list[Any] = [context, queue, memory, event]
    del context, queue, memory, event, coords, out
    for index in order:
        owned[index] = None
        if index % 2:
            gc.collect()
    del handle
    wait_for_all()  # pending commands keep the objects that they use
    gc.collect()
    assert alive(device) == before


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_any_order_of_closing(device: bl.Device, order: tuple[int, ...]) -> None:
    wait_for_all()
    gc.collect()
    before = alive(device)
    context = bl.Context(device)
    queue = bl.Queue(device, context)
    memory = upload(queue, DESC, random_pixels(DESC))
    bl.create_image(memory, DESC, queue, sampler=SMOOTH)
    mipmap = bl.ImageMem(bl.ImageDescriptor(8, 8, type="mipmap", num_levels=3), queue)
    level = mipmap.get_mip_level_mem_handle(1)
    closing: list[Any] = [context, queue, memory]
    for index in order:
        closing[index].close()
        closing[index].close()
    mipmap.close()
    with raises(bl.InvalidError):
        bl.ImageMem(DESC, queue)
    with raises(bl.InvalidError):
        bl.get_image_range(level, device, context)
    del context, queue, memory, mipmap, closing
    gc.collect()
    assert alive(device) == before


@pytest.mark.parametrize("held", [False, True], ids=["unused", "used"])
@pytest.mark.parametrize("usm", [False, True], ids=["image memory", "shared memory"])
def test_a_context_that_is_dropped_takes_its_images_with_it(device: bl.Device, usm: bool, held: bool) -> None:
    """Nothing is destroyed or freed one by one: the context is destroyed with all that it owns."""
    wait_for_all()
    gc.collect()
    before, resources = alive(device), len(ownership._live)
    queue = bl.Queue(device, bl.Context(device))
    if usm:
        pointer, pitch = bl.pitched_alloc_device(DESC, queue)
        handle = bl.create_image(pointer, DESC, queue, sampler=SMOOTH, pitch=pitch)
        del pointer
    else:
        handle = bl.create_image(bl.alloc_image_mem(DESC, queue), DESC, queue, sampler=SMOOTH)
    bl.alloc_image_mem(DESC, queue)
    if held:
        assert bl.sample_image(queue, handle, EVERY.astype(np.float32)).shape == (len(EVERY), 2)
    del queue, handle
    wait_for_all()
    gc.collect()
    gc.collect()
    assert len(ownership._live) == resources
    assert alive(device) == before


def test_closed_queues_do_nothing(queue: bl.Queue) -> None:
    memory = upload(queue, DESC, random_pixels(DESC))
    handle = bl.create_image(memory, DESC, queue)
    closed = bl.Queue(queue.device, queue.context)
    closed.close()
    out = np.empty(DESC.shape, np.float32)
    for call in (
        lambda: bl.fetch_image(closed, handle, EVERY),
        lambda: bl.write_image(closed, handle, EVERY, np.zeros((len(EVERY), 2), np.float32)),
        lambda: closed.ext_oneapi_copy(memory, out),
        lambda: bl.create_image(memory, DESC, closed),
        lambda: bl.destroy_image_handle(handle, closed),
        lambda: bl.pitched_alloc_device(DESC, closed),
    ):
        with raises(bl.InvalidError):
            call()
    memory.close()
    with raises(bl.InvalidError):
        queue.ext_oneapi_copy(memory, out)
    bl.destroy_image_handle(handle, queue)


def test_many_threads(device: bl.Device, context: bl.Context) -> None:
    """Each thread makes, fills, reads and releases its own images, on its own queue and on one shared queue."""
    shared = bl.Queue(device, context)
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            own = bl.Queue(device, context, in_order=bool(seed % 2))
            for turn in range(10):
                queue = (own, shared)[turn % 2]
                pixels = random_pixels(DESC, seed * 100 + turn)
                memory = upload(queue, DESC, pixels)
                handle = bl.create_image(memory, DESC, queue)
                np.testing.assert_array_equal(bl.fetch_image(queue, handle, EVERY), pixels.reshape(-1, 2))
                bl.destroy_image_handle(handle, queue)
                if turn % 3:
                    memory.close()
            own.close()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shared.close()
    for failure in failures:
        raise failure


PROGRAM = """
import sys
import numpy as np, bindless as bl
queue = bl.Queue(sys.argv[1])
desc = bl.ImageDescriptor(512, 512)
kept = bl.alloc_image_mem(desc, queue)
memory = bl.ImageMem(desc, queue)
host = np.ones(desc.shape, np.float32)
coords = bl.usm_empty((512 * 512, 2), np.float32, queue)
out = bl.usm_empty((512 * 512, 4), np.float32, queue)
first = queue.memset(coords, 0, coords.nbytes)
event = queue.ext_oneapi_copy(host, memory)
handle = bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler("clamp_to_edge"))
for _ in range(8):
    event = bl.sample_image(queue, handle, coords, out=out, depends_on=[event, first])
cycle = [memory, queue]
cycle.append(cycle)
print("submitted")
"""


def test_the_interpreter_may_end_at_any_time(device: bl.Device) -> None:
    name = f"{device.backend}:*:{device.index}"
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", PROGRAM, name], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "submitted\n", "")
