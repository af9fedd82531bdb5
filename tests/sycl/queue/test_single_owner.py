"""Owners of native objects are neither copied nor pickled; values and views are copied by value."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises

SOURCE = "kernel void one(global int *y) { *y = 1; }"


def bundle(queue: bl.Queue) -> bl.KernelBundle:
    return bl.load_kernel_bundle(bl.build(SOURCE), queue)


def used_buffer(queue: bl.Queue) -> bl.Buffer:
    made = bl.Buffer(np.zeros(4, np.int32))
    queue.submit(lambda h: h.fill(made.get_access(h, "write"), np.int32(5))).wait()
    return made


OWNERS: dict[str, Callable[[bl.Queue], Any]] = {
    "buffer": lambda queue: bl.Buffer(np.zeros(4, np.int32)),
    "used buffer": used_buffer,
    "sub-buffer": lambda queue: bl.Buffer(np.zeros(4, np.int32)).sub_buffer(1, 2),
    "host accessor": lambda queue: bl.Buffer(np.zeros(4, np.int32)).get_host_access("read"),
    "image of SYCL 2020": lambda queue: bl.UnsampledImage(np.zeros((4, 4, 4), np.float32)),
    "queue": lambda queue: bl.Queue(queue.device, queue.context),
    "context": lambda queue: bl.Context(queue.device),
    "event": lambda queue: queue.fill(bl.usm_empty(4, np.int32, queue), 1),
    "kernel bundle": bundle,
    "kernel": lambda queue: bundle(queue).get_kernel("one"),
    "graph": lambda queue: bl.CommandGraph(bl.Queue(queue.device, queue.context, in_order=True)),
}


@pytest.mark.parametrize("name", OWNERS)
def test_an_owner_is_neither_copied_nor_pickled(queue: bl.Queue, name: str) -> None:
    owner = OWNERS[name](queue)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps, lambda item: pickle.dumps(item, 0)):
        with pytest.raises(bl.CopyError) as caught:
            attempt(owner)
        assert isinstance(caught.value, (bl.InvalidError, TypeError)) and caught.value.code is bl.Errc.invalid
    gc.collect()
    assert not getattr(owner, "closed", False)
    if hasattr(owner, "close"):
        owner.close()


def test_a_buffer_goes_on_after_a_copy_was_refused(queue: bl.Queue) -> None:
    array = np.zeros(4, np.int32)
    with bl.Buffer(array) as buffer:
        with pytest.raises(bl.CopyError):
            copy.copy(buffer)
        gc.collect()
        queue.submit(lambda h: h.fill(buffer.get_access(h, "write"), np.int32(5)))
    assert array.tolist() == [5, 5, 5, 5]


def test_devices_and_platforms_are_their_own_copies(device: bl.Device) -> None:
    for item in (device, device.platform):
        assert copy.copy(item) is item and copy.deepcopy([item])[0] is item
        with pytest.raises(bl.CopyError):
            pickle.dumps(item)


def test_an_array_is_copied_by_value(queue: bl.Queue) -> None:
    array = bl.usm_empty(4, np.int32, queue).copy_from(np.arange(4, dtype=np.int32))
    for made in (copy.copy(array), copy.deepcopy(array)):
        made.copy_from(np.zeros(4, np.int32))
        made.close()
    assert array.numpy().tolist() == [0, 1, 2, 3]
    with pytest.raises(bl.CopyError):
        pickle.dumps(array)


def test_a_pointer_is_a_value_and_shares_its_memory(queue: bl.Queue) -> None:
    pointer = bl.malloc_device(16, queue)
    other = copy.copy(pointer + 4)
    assert other == pointer + 4 and hash(other) == hash(pointer + 4) and other.nbytes == 12
    for attempt in (copy.deepcopy, pickle.dumps, lambda item: pickle.dumps(item, 0)):
        with pytest.raises(bl.CopyError) as caught:
            attempt(pointer)
        assert caught.value.code is bl.Errc.invalid
    del pointer
    gc.collect()
    queue.memset(other, 7).wait()
    found = np.zeros(12, np.uint8)
    queue.memcpy(found, other).wait()
    assert (found == 7).all()
    again = copy.copy(other)
    other.close()
    assert again.closed


def test_handles_are_copied_and_not_pickled(queue: bl.Queue) -> None:
    with bl.ImageMem(bl.ImageDescriptor(4, 4), queue) as memory:
        desc = memory.get_descriptor()
        handles = [memory.get_handle(), bl.create_image(memory, desc, queue)]
        handles.append(bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler()))
        for handle in handles:
            for same in (copy.copy(handle), copy.deepcopy([handle])[0]):
                assert same == handle and same is not handle
                assert getattr(same, "descriptor", None) == getattr(handle, "descriptor", None)
            for protocol in (0, pickle.HIGHEST_PROTOCOL):
                with raises(bl.CopyError):
                    pickle.dumps(handle, protocol)
