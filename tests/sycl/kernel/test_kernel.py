"""Kernel bundles, ranges and arguments, on an in-memory backend that records its calls."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import bindless as bl
from bindless.sycl.device.image_owner import ImageOwner
from tests.support.error_checks import raises
from tests.support.fake_backend import KERNELS


@pytest.fixture
def queue(fake):
    with bl.Queue() as made:
        yield made


@pytest.fixture
def bundle(queue):
    return bl.load_kernel_bundle(b"source", queue)


def launches(fake):
    return [details for method, details in fake.calls if method == "launch"]


# ---------------------------------------------------------------------- bundles


def test_a_bundle_is_loaded_from_bytes_or_a_file(fake, queue, tmp_path):
    path = tmp_path / "kernels.ptx"
    path.write_bytes(b"contents")
    bl.load_kernel_bundle(path, queue, options="-O3")
    bl.load_kernel_bundle(str(path), queue.device, queue.context)
    bl.load_kernel_bundle(
        b"bytes", queue, specialization={0: 5, 1: -1, 2: 2**40, 3: True, 4: 1.5, 5: np.uint16(7), 6: b"abc"}
    )
    sources = [details for method, details in fake.calls if method == "load_module"]
    assert sources[0] == (b"contents", None, "-O3")
    assert sources[1] == (b"contents", None, "")
    assert sources[2][1] == {
        0: struct.pack("<i", 5),
        1: struct.pack("<i", -1),
        2: struct.pack("<q", 2**40),
        3: b"\1",
        4: struct.pack("<f", 1.5),
        5: struct.pack("<H", 7),
        6: b"abc",
    }


@pytest.mark.parametrize(
    "load, message",
    [
        (lambda q: bl.load_kernel_bundle("/nowhere/at/all.ptx", q), "source='/nowhere/at/all.ptx'"),
        (lambda q: bl.load_kernel_bundle(b"", q), None),
        (lambda q: bl.load_kernel_bundle(3, q), "a int is neither a path, nor bytes, nor a KernelFile"),
        (lambda q: bl.load_kernel_bundle(b"x"), None),
        (lambda q: bl.load_kernel_bundle(b"x", q, options=3), "options=3"),
        (lambda q: bl.load_kernel_bundle(b"x", q, specialization={"a": 1}), "'a'"),
        (lambda q: bl.load_kernel_bundle(b"x", q, specialization={-1: 1}), "-1"),
        (lambda q: bl.load_kernel_bundle(b"x", q, specialization={0: "x"}), "specialization[0]='x'"),
        (lambda q: bl.load_kernel_bundle(b"x", q, specialization={0: 2**64}), "specialization[0]"),
    ],
)
def test_what_is_no_bundle(queue, load, message):
    with raises(bl.InvalidError, names=message):
        load(queue)


def test_kernels_are_found_by_name(bundle):
    assert bundle.kernel_names == tuple(KERNELS)
    assert bundle.has_kernel("scale") and not bundle.has_kernel("scales")
    kernel = bundle.get_kernel("scale")
    assert (kernel.name, kernel.bundle) == ("scale", bundle)
    assert kernel.get_info("num_args") == 3 and kernel.get_info("function_name") == "scale"
    assert bundle.get_kernel("shaped").get_info("attributes") == "reqd_work_group_size(4, 2, 1)"
    with raises(bl.InvalidError, names=("'scales'", "empty, scale")):
        bundle.get_kernel("scales")
    with raises(bl.FeatureNotSupportedError):
        bundle.get_kernel("opaque").get_info("num_args")


def test_a_closed_bundle_runs_no_kernels(queue, bundle):
    kernel = bundle.get_kernel("empty")
    bundle.close()
    bundle.close()
    for use in (lambda: queue.parallel_for(1, kernel), lambda: bundle.get_kernel("empty"), bundle.__enter__):
        with raises(bl.InvalidError):
            use()


def test_a_kernel_belongs_to_its_context(queue, bundle):
    kernel = bundle.get_kernel("empty")
    other = bl.Queue(context=bl.Context())
    with raises(bl.InvalidError, names="kernel 'empty'"):
        other.parallel_for(1, kernel)
    with raises(bl.InvalidError, names=("kernel='empty'", "Kernel")):
        queue.parallel_for(1, "empty")


# ---------------------------------------------------------------------- ranges


@pytest.mark.parametrize(
    "space, native",
    [
        (5, ((5,), None)),
        ((5,), ((5,), None)),
        ((2, 3), ((3, 2), None)),
        ([2, 3], ((3, 2), None)),
        ((2, 3, 4), ((4, 3, 2), None)),
        (np.int64(6), ((6,), None)),
        (bl.Range(2, 3, 4), ((4, 3, 2), None)),
        (bl.NdRange((4, 6), (2, 3)), ((6, 4), (3, 2))),
        (bl.NdRange(8, 4), ((8,), (4,))),
    ],
)
def test_the_last_dimension_of_a_range_is_the_first_of_the_kernel(fake, queue, bundle, space, native):
    queue.parallel_for(space, bundle.get_kernel("empty")).wait()
    assert launches(fake) == [("empty", *native, [])]


def test_a_required_work_group_size_is_used_and_checked(fake, queue, bundle):
    kernel = bundle.get_kernel("shaped")
    queue.parallel_for((8, 8), kernel)
    queue.parallel_for(bl.NdRange((4, 8), (2, 4)), kernel)
    assert launches(fake) == [("shaped", (8, 8), (4, 2, 1), []), ("shaped", (8, 4), (4, 2), [])]
    with raises(bl.NdRangeError, names=("(4, 2)", "kernel 'shaped'", "(1, 2, 4)")):
        queue.parallel_for(bl.NdRange((4, 8), (4, 2)), kernel)


@pytest.mark.parametrize(
    "space, error, message",
    [
        (bl.NdRange(4096, 2048), bl.NdRangeError, ("2048", "kernel 'empty'", "1024")),
        ((1, 2, 3, 4), bl.NdRangeError, None),
        ((), bl.NdRangeError, None),
        (-1, bl.InvalidError, "range"),
        ((2, -1), bl.InvalidError, "range[1]=-1"),
        (1.5, bl.InvalidError, "1.5"),
        ((2.0, 2), bl.InvalidError, "2.0"),
        ("4", bl.InvalidError, "'4'"),
        (None, bl.InvalidError, None),
    ],
)
def test_ranges_that_cannot_be(fake, queue, bundle, space, error, message):
    with raises(error, names=message):
        queue.parallel_for(space, bundle.get_kernel("empty"))
    assert launches(fake) == []


@pytest.mark.parametrize("in_order", [False, True])
def test_an_empty_range_runs_nothing_and_completes_in_its_place(fake, in_order):
    with bl.Queue(in_order=in_order) as queue:
        kernel = bl.load_kernel_bundle(b"x", queue).get_kernel("empty")
        before = queue.memset(bl.usm_empty(4, "u1", queue), 0)
        event = queue.parallel_for((0, 5), kernel, depends_on=before)
        event.wait()
        assert event.status is before.status is bl.EventStatus.complete
        assert launches(fake) == []


# ---------------------------------------------------------------------- arguments


def test_arguments_arrive_packed(fake, queue, bundle):
    array = bl.usm_empty((4, 4), np.float32, queue)
    kernel = bundle.get_kernel("scale")
    address = array.address.to_bytes(8, "little")
    queue.parallel_for(16, kernel, array, 2.0, 16)
    queue.parallel_for(16, kernel, array.pointer + 4, np.float32(2), np.uint64(16))
    queue.parallel_for(16, kernel, None, 7, -1)
    queue.parallel_for(16, kernel, array[1:], b"\1\2\3\4", 1.5)
    queue.submit(lambda handler: handler.parallel_for(16, kernel, array, np.array(3, np.int32), True))
    queue.submit(lambda handler: handler.single_task(kernel, array, 2.0, 1))
    queue.wait()
    assert [call[3] for call in launches(fake)] == [
        [address, struct.pack("<f", 2), struct.pack("<q", 16)],
        [(array.address + 4).to_bytes(8, "little"), struct.pack("<f", 2), struct.pack("<q", 16)],
        [bytes(8), struct.pack("<i", 7), b"\xff" * 8],
        [(array.address + 16).to_bytes(8, "little"), b"\1\2\3\4", struct.pack("<d", 1.5)],
        [address, struct.pack("<i", 3), struct.pack("<q", 1)],
        [address, struct.pack("<f", 2), struct.pack("<q", 1)],
    ]


def test_handles_local_memory_and_structures(fake, queue, bundle):
    pair = np.array((1, 2.5), [("n", "i8"), ("x", "f4")])[()]
    kernel = bundle.get_kernel("mixed")
    queue.parallel_for(bl.NdRange(1, 1), kernel, bl.SampledImageHandle(0x1122), bl.LocalAccessor(128), -1, pair)
    queue.parallel_for(bl.NdRange(1, 1), kernel, bl.UnsampledImageHandle(3), bl.LocalAccessor(1), np.uint8(9), pair)
    assert [call[3] for call in launches(fake)] == [
        [struct.pack("<Q", 0x1122), 128, b"\xff", struct.pack("<qf", 1, 2.5)],
        [struct.pack("<Q", 3), 1, b"\t", struct.pack("<qf", 1, 2.5)],
    ]


class Memory(ImageOwner):
    """Image memory, as the layer above defines it."""


PAIR = np.zeros((), [("n", "i8"), ("x", "f4")])[()]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((), ("kernel 'scale'", "3", "(data", "8", "0")),
        (("array", 1.0, 1, 1), ("3", "4")),
        ((5, 1.0, 1), ("argument 0 ('data') of kernel 'scale' takes a pointer of 8 bytes, 5 was given", "UsmPointer")),
        ((np.zeros(4), 1.0, 1), "kernels reach no numpy array: copy it into usm_empty"),
        (("array", "array", 1), ("argument 1 ('factor')", "takes a value of 4 bytes", "it is a pointer")),
        (("array", np.float64(1), 1), ("argument 1", "8", "(float64)")),
        (("array", 2**32, 1), ("4", "(-2147483648", "4294967295)")),
        (("array", -(2**31) - 1, 1), None),
        (("array", 1e39, 1), "too large for a float of 4 bytes"),
        (("array", 1j, 1), "arguments are numbers, numpy scalars"),
        (("array", "text", 1), "arguments are numbers"),
        (("array", bl.LocalAccessor(4), 1), "it is local memory of the work-group"),
        (("array", None, 1), "None is the null pointer"),
        (("array", b"123", 1), None),
        (("array", bl.SampledImageHandle(3), 1), "it is an image handle of 8 bytes"),
        ((bl.SampledImageHandle(3), 1.0, 1), ("argument 0 ", " it is an image handle")),
        (("array", 1.0, bl.ImageMemHandle(4)), ("argument 2 ('count')", "image memory is no kernel argument")),
        (("array", 1.0, Memory()), ("argument 2 ", "image memory is no kernel argument: pass the handle")),  # R23
        (("strided", 1.0, 1), "this view is not contiguous"),
        (("foreign", 1.0, 1), "it was allocated in another context than the queue's"),
        (("freed", 1.0, 1), ("bytes of device memory at ", " were freed")),
    ],
)
def test_arguments_that_do_not_fit_are_named(fake, queue, bundle, arguments, message):
    array = bl.usm_empty((4, 4), np.float32, queue)
    freed = bl.usm_empty(4, np.float32, queue)
    freed.close()
    named = {
        "array": array,
        "strided": array[:, ::2],
        "foreign": bl.usm_empty(4, np.float32, bl.Device(), bl.Context()),
        "freed": freed,
    }
    values = [named.get(value, value) if isinstance(value, str) else value for value in arguments]
    with raises(bl.InvalidError, names=message):
        queue.parallel_for(4, bundle.get_kernel("scale"), *values)
    assert launches(fake) == []


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((1.5, 8, 1, PAIR), ("argument 1 ('scratch')", "takes a local")),
        ((1, bl.LocalAccessor(8), 1.5, PAIR), ("argument 2 ('small')", "no float has 1 bytes")),
        ((1, bl.LocalAccessor(8), 300, PAIR), ("argument 2", "1", "(-128", "255)")),
        ((1, bl.LocalAccessor(8), 1, (1, 2)), "argument 3 ('pair')"),
        ((1, bl.LocalAccessor(8), 1, 1.5), "no float has 12 bytes; pass a numpy scalar"),
    ],
)
def test_more_arguments_that_do_not_fit(queue, bundle, arguments, message):
    with raises(bl.InvalidError, names=message):
        queue.parallel_for(4, bundle.get_kernel("mixed"), *arguments)


def test_where_the_driver_does_not_tell_values_say_their_size(fake, queue, bundle):
    kernel = bundle.get_kernel("opaque")
    array = bl.usm_empty(4, np.float32, queue)
    rest = np.int16(3), bl.LocalAccessor(5), bl.SampledImageHandle(9), b"ab", None
    queue.parallel_for(bl.NdRange(1, 1), kernel, array, *rest)
    queue.parallel_for(1, kernel)
    assert launches(fake)[0][3] == [
        array.address.to_bytes(8, "little"),
        b"\3\0",
        5,
        b"\t" + bytes(7),
        b"ab",
        bytes(8),
    ]
    with raises(bl.InvalidError, names=("argument 0", "kernel 'opaque'")):
        queue.parallel_for(1, kernel, 3)


@pytest.mark.parametrize("space", [8, (8,), (2, 4), bl.Range(8), 0])
def test_local_memory_is_for_kernels_over_work_groups(fake, queue, bundle, space):
    """SYCL 2020 section 4.7.6.11: local memory in single_task or over a plain range is refused."""
    kernel, local = bundle.get_kernel("mixed"), bl.LocalAccessor(8)
    pair = np.array((1, 2.5), [("n", "i8"), ("x", "f4")])[()]
    arguments = bl.SampledImageHandle(1), local, 1, pair
    for launch in (
        lambda: queue.parallel_for(space, kernel, *arguments),
        lambda: queue.single_task(kernel, *arguments),
        lambda: queue.submit(lambda handler: handler.parallel_for(space, kernel, *arguments)),
        lambda: kernel.bind(queue, space, *arguments),
        lambda: bl.CommandGraph(queue).parallel_for(space, kernel, *arguments),
    ):
        with pytest.raises(bl.KernelArgumentError) as refused:
            launch()
        assert refused.value.code is bl.Errc.kernel_argument
    bound = bundle.get_kernel("opaque").bind(queue, 8, np.int32(1))
    with pytest.raises(bl.KernelArgumentError):
        bound[0] = local
    assert launches(fake) == []
    queue.parallel_for(bl.NdRange(8, 4), kernel, *arguments)
    kernel.bind(queue, bl.NdRange(8, 4), *arguments)()
    assert len(launches(fake)) == 2


@pytest.mark.parametrize(
    "space", [bl.NdRange((0, 4), (3, 3)), bl.NdRange(0, 0), bl.NdRange((4, 0, 2), (0, 0, 0)), bl.NdRange(0, 4096)]
)
def test_without_items_local_sizes_are_ignored(fake, queue, bundle, space):
    """ARCH: the global size is zero, the kernel is not executed and the local size is ignored."""
    assert space.group_range.size() == 0 == space.global_range.size()
    kernel, before = bundle.get_kernel("shaped"), queue.memset(bl.usm_empty(4, "u1", queue), 1)
    queue.parallel_for(space, kernel).wait()
    queue.submit(lambda handler: (handler.depends_on(before), handler.parallel_for(space, kernel))).wait()
    kernel.bind(queue, space)().wait()
    assert launches(fake) == []
    for wrong in (((4, 4), (3, 3)), (4, 0), ((0, 4), (3,))):
        with pytest.raises(bl.NdRangeError) as refused:
            bl.NdRange(*wrong)
        assert refused.value.code is bl.Errc.nd_range


@pytest.mark.parametrize("nbytes", [0, -1, 1.5, None])
def test_local_memory_has_a_size(nbytes):
    with raises(bl.InvalidError, names="nbytes="):
        bl.LocalAccessor(nbytes)
