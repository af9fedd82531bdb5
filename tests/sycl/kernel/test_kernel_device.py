"""Kernel bundles on the device of ``--device``: states, queries, arguments, the log of a failed build."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import bindless as bl
from bindless import kernels
from tests.support.error_checks import raises

NAME = "bindless_four_arguments"


@pytest.fixture
def source(device: bl.Device) -> bytes:
    """The module of the launch benchmark: an empty kernel, and one with a pointer and three numbers."""
    return kernels.source("launch", "ptx" if device.backend == "cuda" else "spirv")


@pytest.fixture
def takes_kernels(device: bl.Device, queue: bl.Queue, source: bytes) -> None:
    """Check that a device without a compiler refuses to load kernels; such a device skips the other checks."""
    if not device.has("online_compiler"):
        with raises(bl.FeatureNotSupportedError, names="online_compiler"):
            bl.load_kernel_bundle(source, queue)
        pytest.skip("the device loads no kernels, and says so")


def total(queue: bl.Queue, kernel: bl.Kernel) -> int:
    """The kernel's result: the sum of its three numbers."""
    out = bl.usm_empty(1, np.uint64, queue).copy_from(0)
    queue.parallel_for(8, kernel, out, 5, np.uint32(7), 2.0).wait()
    return int(out.numpy(queue)[0])


@pytest.mark.usefixtures("takes_kernels")
def test_a_bundle_goes_through_its_states(queue, source):
    bundle = bl.load_kernel_bundle(source, queue, state="input")
    assert set(bundle.kernel_names) == {"bindless_empty", NAME}
    for built in (
        bundle.build(),
        bundle.compile().link(),
        bl.load_kernel_bundle(source, queue, state="object").link(),
        bl.load_kernel_bundle(source, queue.context),
    ):
        assert built.state is bl.BundleState.executable and set(built.kernel_names) == {"bindless_empty", NAME}
        assert total(queue, built.get_kernel(NAME)) == 14
        queue.single_task(built.get_kernel("bindless_empty")).wait()
        built.close()
    with raises(bl.InvalidError):
        built.get_kernel(NAME)


@pytest.mark.usefixtures("takes_kernels")
def test_a_kernel_answers(device, queue, source):
    kernel = bl.load_kernel_bundle(source, queue).get_kernel(NAME)
    assert kernel.get_info("num_args") == 4 and kernel.get_info("function_name") == NAME
    assert kernel.arguments[0].kind == "pointer" and [row.size for row in kernel.arguments] == [8, 8, 4, 4]
    ask = bl.info.kernel_device_specific
    assert 1 <= kernel.get_info(ask.work_group_size) <= device.get_info("max_work_group_size")
    assert kernel.get_info(ask.max_sub_group_size) in device.get_info("sub_group_sizes")
    assert kernel.get_info(ask.max_num_sub_groups) >= 1 and kernel.get_info(ask.private_mem_size) >= 0
    assert kernel.get_info(ask.compile_work_group_size) == (0, 0, 0)
    assert kernel.get_info(ask.preferred_work_group_size_multiple) >= 1


@pytest.mark.usefixtures("takes_kernels")
def test_wrong_arguments_are_refused_before_anything_runs(queue, source):
    kernel = bl.load_kernel_bundle(source, queue).get_kernel(NAME)
    out = bl.usm_empty(4, np.uint64, queue).copy_from(9)
    for arguments, message in (
        ((out, 1, 2), ("4", "3")),
        ((1, 1, 2, 3.0), ("argument 0 ", " takes a pointer of 8 bytes, 1 was given")),
        ((out, 1, 2, "x"), ("argument 3", "'x'")),
        ((out, 1, np.uint64(2), 3.0), ("argument 2", "8")),
        ((np.zeros(4), 1, 2, 3.0), "usm_empty"),
    ):
        with raises(bl.InvalidError, names=message):
            queue.parallel_for(4, kernel, *arguments)
    queue.wait()
    assert out.numpy(queue).tolist() == [9] * 4


@pytest.mark.usefixtures("takes_kernels")
def test_a_module_that_does_not_build_leaves_the_queue_of_use(queue, source):
    damaged = source.replace(b"ret;", b"what;") if b"ret;" in source else source[:-8]
    for state in ("executable", "object"):
        with pytest.raises(bl.BuildError) as caught:
            bl.load_kernel_bundle(damaged, queue, state=state)
        assert caught.value.code is bl.Errc.build and str(caught.value)
    assert total(queue, bl.load_kernel_bundle(source, queue).get_kernel(NAME)) == 14


def constant_module(text: str = "constants") -> bytes:
    """SPIR-V of a kernel that stores two specialization constants: 7, int, default 5; and 9, long, default -1."""
    name = [*struct.unpack("<3I", text.encode().ljust(12, b"\0"))]
    void, u32, u64, p32, p64, kind, main, first, second, a, b, label = range(1, 13)
    words = [0x07230203, 0x00010000, 0, 13, 0]
    for code, *operands in (
        [17, 6], [17, 4], [17, 11],  # capabilities Kernel, Addresses, Int64
        [14, 2, 2],  # addresses of 64 bits, OpenCL
        [15, 6, main, *name],
        [71, first, 1, 7], [71, second, 1, 9],
        [19, void], [21, u32, 32, 0], [21, u64, 64, 0], [32, p32, 5, u32], [32, p64, 5, u64],
        [33, kind, void, p32, p64],
        [50, u32, first, 5], [50, u64, second, 0xFFFFFFFF, 0xFFFFFFFF],
        [54, void, main, 0, kind], [55, p32, a], [55, p64, b], [248, label],
        [62, a, first, 2, 4], [62, b, second, 2, 8],
        [253], [56],
    ):  # fmt: skip
        words += [(len(operands) + 1) << 16 | code, *operands]
    return struct.pack(f"<{len(words)}I", *words)


def test_specialization_constants_reach_the_kernel():
    with bl.Queue("reference") as queue:
        small, large = bl.usm_empty(1, np.int32, queue), bl.usm_empty(1, np.int64, queue)

        def stored(bundle: bl.KernelBundle) -> tuple[int, int]:
            queue.single_task(bundle.get_kernel("constants"), small, large).wait()
            return int(small.numpy(queue)[0]), int(large.numpy(queue)[0])

        bundle = bl.load_kernel_bundle(constant_module(), queue, state="input")
        assert bundle.specialization_constants == {7: 5, 9: -1} and bundle.kernel_names == ("constants",)
        assert stored(bundle.build()) == (5, -1)
        bundle.set_specialization_constant(7, -8)
        assert stored(bundle.build()) == (-8, -1)
        bundle.set_specialization_constant(9, 1 << 40)
        assert stored(bundle.compile().link()) == (-8, 1 << 40)
        assert stored(bl.load_kernel_bundle(constant_module(), queue, specialization={9: 3})) == (5, 3)
        with raises(bl.InvalidError, names=("constant 1", "7, 9")):
            bl.load_kernel_bundle(constant_module(), queue, specialization={1: 3})
