"""Features of ``bindless.level_zero`` on the reference device, and errors for those that it lacks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import bindless as bl
from bindless import level_zero as ze
from tests.support.compile_kernels import compiled_text
from tests.support.error_checks import raises

SOURCE = "kernel void scale(global float *data, float factor) { data[get_global_id(0)] *= factor; }"


@pytest.fixture
def reference() -> Iterator[bl.Queue]:
    with bl.Queue("reference:*:*", in_order=True) as queue:
        yield queue


def test_one_group_of_engines_does_everything(reference: bl.Queue) -> None:
    (group,) = ze.get_queue_groups(reference.device)
    assert group.computes and group.copies
    array = bl.usm_empty(10, np.float32, reference)
    with ze.create_queue(reference.device, group, context=reference.context) as queue:
        queue.fill(array, np.float32(3))
        ze.memory_ranges_barrier(queue, array).wait()
    assert (array.numpy(reference) == 3).all()
    ze.make_resident(array)
    ze.evict(array)
    assert ze.get_peer_properties(reference.device, reference.device) == ze.PeerProperties(True, True)


def test_one_work_group_works_together(reference: bl.Queue) -> None:
    kernel = bl.load_kernel_bundle(compiled_text(SOURCE, "spirv"), reference.context).get_kernel("scale")
    array = bl.usm_empty(64, np.float32, reference)
    reference.fill(array, np.float32(3))
    assert ze.max_cooperative_groups(kernel, 64) == 1
    ze.prefer_cache(kernel, "data")
    ze.launch_cooperative(reference, bl.NdRange(64, 64), kernel, array, np.float32(2)).wait()
    assert (array.numpy(reference) == 6).all()
    with raises(bl.NdRangeError):
        ze.launch_cooperative(reference, bl.NdRange(64, 32), kernel, array, np.float32(2))


def test_what_the_reference_has_not_is_named(reference: bl.Queue) -> None:
    array = bl.usm_empty(3, np.uint32, reference)
    for call, what in (
        (lambda: ze.Fence(reference), "fences"),
        (lambda: ze.EventPool(1, reference), "event pools"),
        (lambda: ze.GrowableArray(np.uint8, reference, capacity=5), "virtual memory"),
        (lambda: ze.export_memory(array), "memory of two processes"),
    ):
        with raises(bl.FeatureNotSupportedError, names=what):
            call()
