"""Kernel bundles on the device of ``--device``: states, questions, arguments, the log of a failure."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from bindless import kernels

NAME = "bindless_four_arguments"


@pytest.fixture
def source(device: bl.Device) -> bytes:
    """The module of the launch benchmark: an empty kernel, and one with a pointer and three numbers."""
    return kernels.source("launch", "ptx" if device.backend == "cuda" else "spirv")


@pytest.fixture
def takes_kernels(device: bl.Device, queue: bl.Queue, source: bytes) -> None:
    """A device without a compiler says so when kernels are loaded, and has no more to show here."""
    if not device.has("online_compiler"):
        with pytest.raises(bl.FeatureNotSupportedError, match="online_compiler"):
            bl.load_kernel_bundle(source, queue)
        pytest.skip("the device loads no kernels, and says so")


def total(queue: bl.Queue, kernel: bl.Kernel) -> int:
    """What the kernel writes: the sum of its three numbers."""
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
    with pytest.raises(bl.InvalidError, match="was closed"):
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
        ((out, 1, 2), "takes 4 arguments .* 3 were given"),
        ((1, 1, 2, 3.0), "argument 0 .* takes a pointer of 8 bytes, 1 was given"),
        ((out, 1, 2, "x"), "argument 3 .* 'x' was given"),
        ((out, 1, np.uint64(2), 3.0), "argument 2 .* it has 8 bytes"),
        ((np.zeros(4), 1, 2, 3.0), r"copy it into usm_empty"),
    ):
        with pytest.raises(bl.InvalidError, match=message):
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
