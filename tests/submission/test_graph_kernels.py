"""Kernels in command groups with accessors: arguments, and order and overlap from event timestamps."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from tests.support.buffer_kernels import load

BUSY = np.uint32(1_000_000)


@pytest.fixture
def bundle(queue):
    return load(queue)


def test_accessors_are_kernel_arguments(queue, bundle):
    array, term = np.arange(12, dtype=np.int32), np.full(12, 100, np.int32)
    expected = array.copy()
    add = bundle.get_kernel("add")
    with bl.Buffer(array) as sums, bl.Buffer(term) as terms:

        def whole(handler):
            handler.parallel_for(12, add, sums.get_access(handler), terms.get_access(handler, "read"))

        def part(handler):
            """An accessor points to its first element: of the sub-buffer, or of its range."""
            one = sums.sub_buffer(4, 8).get_access(handler)
            handler.parallel_for(4, add, one, terms.get_access(handler, "read", offset=2))

        def items(handler):
            handler.parallel_for(bl.NdRange(6, 3), add, sums.get_access(handler), terms.get_access(handler, "read"))

        def single(handler):
            handler.single_task(add, sums.get_access(handler), terms.get_access(handler, "read"))

        for group in (whole, part, items, single):
            queue.submit(group)
        expected += 100
        expected[4:8] += 100
        expected[:6] += 100
        expected[0] += 100
    assert array.tolist() == expected.tolist()
    assert term.tolist() == [100] * 12


def test_a_ranged_accessor_points_to_its_first_element(queue, bundle):
    """SYCL's operator[] counts from the accessor's offset: a kernel, as the host, writes the elements of the range."""
    total, term = np.zeros(12, np.int32), np.arange(12, dtype=np.int32)
    with bl.Buffer(total) as into, bl.Buffer(term) as source:
        queue.submit(
            lambda h: h.parallel_for(
                4,
                bundle.get_kernel("add"),
                into.get_access(h, "read_write", range=4, offset=4),
                source.get_access(h, "read", range=4, offset=8),
            )
        )
        part = into.sub_buffer(6, 6)
        queue.submit(
            lambda h: h.parallel_for(
                2,
                bundle.get_kernel("add"),
                part.get_access(h, "read_write", offset=4),
                source.get_access(h, "read", offset=10),
            )
        )
        with into.get_host_access("read", range=1, offset=4) as first:
            assert first[0] == 8
    assert total.tolist() == [0, 0, 0, 0, 8, 9, 10, 11, 0, 0, 10, 11]


def test_no_items_run_and_the_requirements_are_satisfied(queue, bundle):
    array = np.arange(4, dtype=np.int32)
    with bl.Buffer(array) as sums:

        def group(handler):
            handler.parallel_for(0, bundle.get_kernel("add"), sums.get_access(handler), sums.get_access(handler))

        queue.submit(group).wait()
    assert array.tolist() == [0, 1, 2, 3]


def test_one_buffer_twice_in_a_group(queue, bundle):
    array = np.arange(4, dtype=np.int32)
    with bl.Buffer(array) as sums:

        def group(handler):
            one, other = sums.get_access(handler, "write"), sums.get_access(handler, "read")
            handler.parallel_for(4, bundle.get_kernel("add"), one, other)

        queue.submit(group)
    assert array.tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (lambda h, b: (b.get_access(h),), "takes 2 arguments"),
        (lambda h, b: (b.get_access(h), b), "argument 1"),
        (lambda h, b: (b.get_access(h), b.get_access(None)), "pass it to handler.require first"),
    ],
)
def test_arguments_that_do_not_fit(queue, bundle, arguments, message):
    buffer = bl.Buffer(4, np.int32)
    with pytest.raises(bl.Error, match=message):
        queue.submit(lambda h: h.parallel_for(4, bundle.get_kernel("add"), *arguments(h, buffer)))


def times(event):
    return tuple(event.get_profiling_info(f"command_{name}") for name in ("start", "end"))


def test_independent_groups_overlap_and_dependent_ones_do_not(device, context):
    with bl.Queue(device, context, enable_profiling=True) as queue:
        busy = load(queue).get_kernel("busy")
        one, two = bl.Buffer(np.zeros(1, np.int32)), bl.Buffer(np.zeros(1, np.int32))

        def run(buffer):
            return queue.submit(lambda h: h.single_task(busy, buffer.get_access(h, "read_write"), BUSY))

        for _ in range(20):  # other programs may occupy the processors: one success is enough
            left, right, after = run(one), run(two), run(one)
            a, b, c = times(left), times(right), times(after)
            assert c[0] >= a[1]
            if a[0] < b[1] and b[0] < a[1]:
                break
        else:
            pytest.fail("no two of twenty pairs of independent groups overlapped")


def test_a_buffer_goes_through_kernels_of_this_device_and_the_reference(queue, bundle):
    """The backends add in turn; the buffer migrates automatically."""
    other = bl.Queue("reference")
    array, ones = np.zeros(64, np.int32), np.ones(64, np.int32)
    with bl.Buffer(array) as sums, bl.Buffer(ones) as terms:
        for _ in range(5):
            queue.submit(
                lambda h: h.parallel_for(64, bundle.get_kernel("add"), sums.get_access(h), terms.get_access(h, "read"))
            )

            def on_the_host(handler):
                accessor = sums.get_access(handler, target="host_task")

                def double():
                    accessor.array[...] *= 2

                handler.host_task(double)

            other.submit(on_the_host)
    assert array.tolist() == [62] * 64
