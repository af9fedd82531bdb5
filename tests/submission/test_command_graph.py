"""``CommandGraph``: each replay gives the results of the single commands, on every backend."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import bindless as bl
from tests.support.compile_kernels import load
from tests.support.error_checks import raises

DESC = bl.ImageDescriptor(40, 30, num_channels=4, channel_type="fp32")


@pytest.fixture(params=[True, False], ids=["in order", "out of order"])
def run(queue: bl.Queue, request: pytest.FixtureRequest) -> bl.Queue:
    with bl.Queue(queue.device, queue.context, in_order=request.param) as made:
        yield made


def test_copies_and_fills(run: bl.Queue) -> None:
    """Each replay reads the current contents of memory."""
    rng = np.random.default_rng(1)
    pixels, back = rng.random(DESC.shape, np.float32), np.zeros(DESC.shape, np.float32)
    array, other = (bl.usm_empty(DESC.shape, np.float32, run) for _ in range(2))
    with bl.ImageMem(DESC, run) as memory, bl.CommandGraph(run) as graph:
        graph.ext_oneapi_copy(pixels, memory)
        graph.ext_oneapi_copy(memory, array, dst_desc=DESC)
        graph.memcpy(other, array)
        graph.fill(array, np.float32(7))
        graph.memcpy(back, other)
        assert len(graph) == 5 and not back.any()
        for _ in range(3):
            graph().wait()
            assert np.array_equal(back, pixels) and (array.numpy(run) == 7).all()
            pixels += 1
        events: list[bl.Event] = []
        for _ in range(5):
            events = [graph(depends_on=events)]
        events[0].wait()
        assert np.array_equal(back, pixels)


def test_kernels(run: bl.Queue) -> None:
    kernels = load(run, "simple")
    array = bl.usm_empty((64,), np.int32, run)
    graph = bl.CommandGraph(run)
    graph.parallel_for(64, kernels.get_kernel("fill"), array, 5)
    for _ in range(10):
        graph.parallel_for(64, kernels.get_kernel("increment"), array)
    graph.parallel_for(0, kernels.get_kernel("increment"), array)
    assert len(graph.finalize()) == 11
    event = run.fill(array, 1)
    for _ in range(4):
        event = graph(depends_on=event)
    event.wait()
    assert set(array.numpy(run)) == {15}
    graph.close()


def test_what_cannot_be(run: bl.Queue) -> None:
    kernels = load(run, "simple")
    array = bl.usm_empty((64,), np.int32, run)
    graph = bl.CommandGraph(run)
    with raises(bl.InvalidError):
        bl.CommandGraph(run)()
    with raises(bl.InvalidError):
        graph.parallel_for(64, kernels.get_kernel("fill"), array)
    graph.parallel_for(64, kernels.get_kernel("fill"), array, 5)
    graph().wait()
    with raises(bl.InvalidError):
        graph.fill(array, 0)
    array.close()
    with raises(bl.InvalidError):
        graph()
    kernels.close()
    graph.close()
    for call in (graph, graph.finalize, lambda: graph.fill(array, 0)):
        with pytest.raises(bl.InvalidError):
            call()


def test_it_keeps_and_lets_go(run: bl.Queue) -> None:
    array = bl.usm_empty((64,), np.int32, run)
    alive = weakref.ref(array)
    graph = bl.CommandGraph(run)
    graph.fill(array, 3)
    del array
    gc.collect()
    graph().wait()
    assert alive() is not None and set(alive().numpy(run)) == {3}
    graph.close()
    run.wait()
    del graph
    gc.collect()
    assert alive() is None
