"""Python functions of the package that one call of a device function runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.pixels import upload, usm
from tests.support.python_calls import python_calls

MOST_FIRST, MOST_PREPARED = 60, 1
MOST_FIRST_OF_MORE = 75  # with another array, or more streams of the driver
MOST_FIRST_IN_PYTHON = 110  # where Python finds the OpenCL driver's objects of image and arrays, and submits the call
MOST_BY_EVENT = 20  # in queues that hold the arrays of each command by its event
COUNT = 5


@pytest.fixture(params=[True, False], ids=["in order", "out of order"])
def own(device: bl.Device, request: pytest.FixtureRequest) -> Iterator[bl.Queue]:
    """A new queue: it has no prepared calls."""
    with bl.Queue(device, in_order=request.param) as made:
        yield made


def image(queue: bl.Queue, desc: bl.ImageDescriptor, sampler: bl.BindlessImageSampler | None) -> tuple[Any, Any]:
    pixels = np.zeros(desc.shape, desc.dtype)
    memory = upload(queue, desc, pixels)
    return memory, bl.create_image(memory, desc, queue, sampler=sampler)


SAMPLER = bl.BindlessImageSampler("clamp_to_edge")
PLAIN = bl.ImageDescriptor(8, 6)
LAYERED = bl.ImageDescriptor(8, 6, type="array", array_size=3)


def commands(queue: bl.Queue) -> dict[str, Callable[[], Any]]:
    """Calls of device functions with arrays in USM."""
    kept, sampled = image(queue, PLAIN, SAMPLER)
    other, unsampled = image(queue, PLAIN, None)
    third, layered = image(queue, LAYERED, None)
    points = usm(queue, np.ones((COUNT, 2), np.float32))
    places = usm(queue, np.ones((COUNT, 2), np.int32))
    layers = usm(queue, np.ones(COUNT, np.uint32))
    values = usm(queue, np.zeros((COUNT, 4), np.float32))
    kinds = {
        "sample": lambda: bl.sample_image(queue, sampled, points, out=values),
        "fetch": lambda: bl.fetch_image(queue, unsampled, places, out=values),
        "write": lambda: bl.write_image(queue, unsampled, places, values),
        "layers": lambda: bl.fetch_image_array(queue, layered, places, layers, out=values),
        "layer": lambda: bl.fetch_image_array(queue, layered, places, 2, out=values, num_channels=4, dtype=np.float32),
        "channels": lambda: bl.sample_image(queue, sampled, points, out=values, num_channels=4, dtype="float32"),
    }
    assert kept and other and third
    return kinds


@pytest.mark.parametrize("kind", ["sample", "fetch", "write", "layers", "layer", "channels"])
def test_calls_with_memory_of_the_device(own: bl.Queue, kind: str) -> None:
    with bl.Queue(own.device, own.context) as other:
        commands(other)[kind]()  # the back end may compile a kernel first
    command = commands(own)[kind]
    first = python_calls(command)
    more = kind.startswith("layer") or not own.is_in_order
    most = MOST_FIRST_OF_MORE if more else MOST_FIRST
    assert len(first) <= (MOST_FIRST_IN_PYTHON if own._stream.declined else most)
    for _ in range(3):
        assert len(python_calls(command)) <= (MOST_PREPARED if own._stream._in_batches else MOST_BY_EVENT)
    own.wait()


def test_a_wait_on_an_in_order_queue(device: bl.Device) -> None:
    """Its own function is C code, while the device is fast."""
    with bl.Queue(device, in_order=True) as queue:
        command = commands(queue)["sample"]
        command().wait()
        queue.wait()
        event = command()
        queue.wait()
        assert python_calls(event.wait) == []


def test_calls_with_host_arrays(own: bl.Queue) -> None:
    reaches = own.device.has(bl.Aspect.usm_system_allocations) or own._backend.host_calls is not None
    if not reaches and not own.device.has(bl.Aspect.usm_host_allocations):
        pytest.skip("the device reads no memory of the host: runs with --device reference")
    _memory, handle = image(own, PLAIN, SAMPLER)
    points = np.ones((COUNT, 2), np.float32)
    for _ in range(4):  # the back end may compile a kernel first, and allocate memory for repeated calls
        bl.sample_image(own, handle, points[:2])
    out = np.empty((COUNT, 4), np.float32)
    most = MOST_PREPARED if own._stream._in_batches else MOST_BY_EVENT
    for command in (
        lambda: bl.sample_image(own, handle, points),
        lambda: bl.sample_image(own, handle, points, out=out),
    ):
        first = python_calls(command)
        if reaches:
            assert len(first) <= (MOST_FIRST if own.is_in_order else MOST_FIRST_OF_MORE)
        repeated = min([python_calls(command) for _ in range(8)], key=len)
        assert len(repeated) <= most or not reaches  # a wait that takes long continues in Python
        assert [name for name in repeated if name.startswith("bindless_images")] == [repeated[0]]
