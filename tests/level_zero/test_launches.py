"""Queue groups, fences, range barriers, residency, peers, launch variants, and modules linked at load time."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from bindless import level_zero as ze
from tests.support.compile_kernels import assembled, compiled_text
from tests.support.error_checks import raises

pytestmark = [pytest.mark.level_zero, pytest.mark.on_level_zero]

SOURCE = """
kernel void scale(global float *data, float factor) { data[get_global_id(0)] *= factor; }
kernel void count(global uint *groups, uint x) { groups[0] = x; groups[1] = 2; groups[2] = 1; }
kernel void mark(global int *out) {
    atomic_add(&out[get_group_id(0) + get_num_groups(0) * get_group_id(1)], (int)get_local_size(0));
}
"""
EXPORTER = """
               OpCapability Addresses
               OpCapability Kernel
               OpCapability Linkage
               OpMemoryModel Physical64 OpenCL
               OpDecorate %triple LinkageAttributes "triple" Export
       %uint = OpTypeInt 32 0
      %three = OpConstant %uint 3
       %type = OpTypeFunction %uint %uint
     %triple = OpFunction %uint None %type
      %given = OpFunctionParameter %uint
      %label = OpLabel
    %product = OpIMul %uint %given %three
               OpReturnValue %product
               OpFunctionEnd
"""
IMPORTER = """
               OpCapability Addresses
               OpCapability Kernel
               OpCapability Linkage
               OpMemoryModel Physical64 OpenCL
               OpEntryPoint Kernel %main "tripled"
               OpDecorate %triple LinkageAttributes "triple" Import
       %void = OpTypeVoid
       %uint = OpTypeInt 32 0
    %pointer = OpTypePointer CrossWorkgroup %uint
   %function = OpTypeFunction %uint %uint
       %type = OpTypeFunction %void %pointer
     %triple = OpFunction %uint None %function
      %given = OpFunctionParameter %uint
               OpFunctionEnd
       %main = OpFunction %void None %type
        %out = OpFunctionParameter %pointer
      %label = OpLabel
        %old = OpLoad %uint %out Aligned 4
        %new = OpFunctionCall %uint %triple %old
               OpStore %out %new Aligned 4
               OpReturn
               OpFunctionEnd
"""


@pytest.fixture
def bundle(context: bl.Context) -> bl.KernelBundle:
    return bl.load_kernel_bundle(compiled_text(SOURCE, "spirv"), context)


def test_a_queue_on_every_engine_of_every_group(
    device: bl.Device, context: bl.Context, bundle: bl.KernelBundle
) -> None:
    groups = ze.get_queue_groups(device)
    assert [group.ordinal for group in groups] == sorted({group.ordinal for group in groups})
    assert any(group.computes for group in groups) and all(group.engines > 0 for group in groups)
    data = np.arange(100, dtype=np.float32)
    for group in groups:
        for engine in range(group.engines):
            for immediate in (True, False):
                with ze.create_queue(device, group, engine, context=context, immediate=immediate) as queue:
                    assert queue.is_in_order and queue.device == device
                    array = bl.usm_empty(100, np.float32, queue)
                    queue.memcpy(array, data)
                    if group.computes:
                        queue.parallel_for(100, bundle.get_kernel("scale"), array, np.float32(2))
                    out = np.zeros_like(data)
                    queue.memcpy(out, array).wait()
                    assert np.array_equal(out, data * (2 if group.computes else 1))
        with raises(bl.InvalidError, names=("engines 0", group.engines - 1)):
            ze.create_queue(device, group, group.engines)
    with raises(bl.InvalidError, names="get_queue_groups"):
        ze.create_queue(device, 99)


def test_a_fence_is_signalled_after_what_was_submitted(
    device: bl.Device, context: bl.Context, bundle: bl.KernelBundle
) -> None:
    with bl.Queue(device, context, in_order=True, no_immediate_command_list=True) as queue:
        array = bl.usm_empty(1000, np.float32, queue)
        queue.fill(array, np.float32(1))
        with ze.Fence(queue) as fence:
            assert not fence.is_signalled and fence.wait(0.001) is False
            for _ in range(10):
                queue.parallel_for(1000, bundle.get_kernel("scale"), array, np.float32(2))
            fence.signal()
            assert fence.wait() and fence.is_signalled
            assert (array.numpy(queue) == 1024).all()
            fence.reset()
            assert not fence.is_signalled
            fence.signal()
            assert fence.wait(60)
            with raises(bl.InvalidError):
                fence.wait(-1)
        with raises(bl.InvalidError):
            fence.signal()
    with bl.Queue(device, context, in_order=True, no_immediate_command_list=True) as queue:
        queue.fill(array, np.float32(5))
        fence = ze.Fence(queue)
        fence.signal()
        fence.close()
        with raises(bl.InvalidError):
            fence.wait()
        assert (array.numpy(queue) == 5).all()
    immediate = bl.Queue(device, context, in_order=True, immediate_command_list=True)
    with immediate, raises(bl.FeatureNotSupportedError, names="no_immediate_command_list=True"):
        ze.Fence(immediate)


@pytest.mark.parametrize("end", ["close", "with", "del"])
@pytest.mark.parametrize("state", ["new", "signalled", "reset", "reset twice", "used again", "pending"])
def test_the_end_of_a_fence_waits_for_nothing(
    device: bl.Device, context: bl.Context, bundle: bl.KernelBundle, state: str, end: str
) -> None:
    """The specification's example ends with a reset fence; ``pending`` closes a fence whose work cannot start."""
    with bl.Queue(device, context, in_order=True, no_immediate_command_list=True) as queue:
        array = bl.usm_empty(64, np.float32, queue)
        gate = ze.EventPool(1, queue)[0] if state == "pending" else None
        fence = ze.Fence(queue)
        if gate is not None:
            gate.wait_on(queue)
        filled = queue.fill(array, np.float32(2))
        if state != "new":
            fence.signal()
        if state not in ("new", "pending"):
            assert fence.wait(60)
        if state.startswith("reset") or state == "used again":
            fence.reset()
            assert not fence.is_signalled
        if state == "reset twice":
            fence.reset()
        if state == "used again":
            fence.signal()
        if end == "with":
            with fence:
                pass
        elif end == "close":
            fence.close()
            fence.close()
        del fence
        if gate is not None:
            assert not queue.ext_oneapi_empty()
            gate.signal()
        for _ in range(3):  # these commands may reuse the fence's objects
            queue.parallel_for(64, bundle.get_kernel("scale"), array, np.float32(3))
        filled.wait()
        assert (array.numpy(queue) == 54).all()


def test_a_fence_that_work_is_to_signal_stays_so_when_it_is_reset(device: bl.Device, context: bl.Context) -> None:
    with bl.Queue(device, context, in_order=True, no_immediate_command_list=True) as queue:
        gate = ze.EventPool(1, queue)[0]
        gate.wait_on(queue)
        with ze.Fence(queue) as fence:
            fence.signal()
            fence.reset()  # reset of an unsignalled fence: no effect (L0, "Fences")
            assert not fence.is_signalled
            gate.signal()
            assert fence.wait(60)


def test_barriers_of_ranges_stand_between_commands(queue: bl.Queue, bundle: bl.KernelBundle) -> None:
    array = bl.usm_empty(64, np.float32, queue)
    written = queue.fill(array, np.float32(3))
    event = ze.memory_ranges_barrier(queue, array[:32], array.pointer, depends_on=written)
    queue.parallel_for(64, bundle.get_kernel("scale"), array, np.float32(5), depends_on=event).wait()
    assert (array.numpy(queue) == 15).all()
    with raises(bl.InvalidError):
        ze.memory_ranges_barrier(queue)
    with raises(bl.InvalidError):
        ze.memory_ranges_barrier(queue, array[::2])


def test_memory_and_images_are_made_resident_and_evicted(queue: bl.Queue) -> None:
    array = bl.usm_empty(64, np.float32, queue)
    memory = bl.ImageMem(bl.ImageDescriptor(8, 8, num_channels=4, channel_type="fp32"), queue)
    pixels = np.arange(256, dtype=np.float32).reshape(8, 8, 4)
    queue.ext_oneapi_copy(pixels, memory).wait()
    queue.fill(array, np.float32(2)).wait()
    for item in (array, array.pointer, memory):
        ze.make_resident(item)
        ze.evict(item)
        ze.make_resident(item, queue.device)
    assert (array.numpy(queue) == 2).all()
    out = np.zeros_like(pixels)
    queue.ext_oneapi_copy(memory, out).wait()
    assert np.array_equal(out, pixels)
    array.close()
    with raises(bl.InvalidError):
        ze.make_resident(array)


def test_a_device_is_its_own_peer(device: bl.Device) -> None:
    assert ze.can_access_peer(device, device)
    assert ze.get_peer_properties(device, device) == ze.PeerProperties(access=True, atomics=True)
    other = bl.Device("reference:*:*")
    assert not ze.can_access_peer(device, other)
    assert ze.get_peer_properties(device, other) == ze.PeerProperties(access=False, atomics=False)
    assert not ze.can_access_peer(other, device)
    with raises(bl.InvalidError, names="Device"):
        ze.can_access_peer(device, "gpu")


def test_cooperative_launches(queue: bl.Queue, bundle: bl.KernelBundle) -> None:
    kernel = bundle.get_kernel("mark")
    most = ze.max_cooperative_groups(kernel, 16)
    assert most >= 1
    out = bl.usm_empty(most, np.int32, queue, kind="shared")
    cleared = queue.fill(out, 0)
    ze.launch_cooperative(queue, bl.NdRange(16 * most, 16), kernel, out, depends_on=cleared).wait()
    assert (out.numpy() == 16 * 16).all()
    with raises(bl.NdRangeError, names=most):
        ze.launch_cooperative(queue, bl.NdRange(16 * (most + 1), 16), kernel, out)


def test_indirect_launches_read_what_a_kernel_wrote(queue: bl.Queue, bundle: bl.KernelBundle) -> None:
    groups, out = bl.usm_empty(3, np.uint32, queue), bl.usm_empty(16, np.int32, queue, kind="shared")
    cleared = queue.fill(out, 0)
    counted = queue.single_task(bundle.get_kernel("count"), groups, np.uint32(3))
    ze.launch_indirect(queue, groups, 4, bundle.get_kernel("mark"), out, depends_on=[cleared, counted]).wait()
    assert list(out.numpy()) == [16] * 6 + [0] * 10
    with raises(bl.InvalidError, names="uint32"):
        ze.launch_indirect(queue, out, 4, bundle.get_kernel("mark"), out)


def test_cache_preferences_change_no_numbers(queue: bl.Queue, bundle: bl.KernelBundle) -> None:
    kernel, array = bundle.get_kernel("scale"), bl.usm_empty(8, np.float32, queue)
    queue.fill(array, np.float32(1)).wait()
    for preference in ("local_memory", "data", "default"):
        ze.prefer_cache(kernel, preference)
        queue.parallel_for(8, kernel, array, np.float32(2)).wait()
    assert (array.numpy(queue) == 8).all()
    with raises(bl.InvalidError, names="local_memory"):
        ze.prefer_cache(kernel, "all")


def test_modules_are_linked_when_loaded(queue: bl.Queue) -> None:
    importer = bl.load_kernel_bundle(assembled(IMPORTER), queue.context)
    exporter = bl.load_kernel_bundle(assembled(EXPORTER), queue.context)
    with raises(bl.BuildError, names="triple"):
        ze.dynamic_link(importer, bl.load_kernel_bundle(compiled_text(SOURCE, "spirv"), queue.context))
    ze.dynamic_link(importer, exporter)
    out = bl.usm_empty(1, np.uint32, queue, kind="shared")
    queue.fill(out, np.uint32(14)).wait()
    del exporter  # the linked module keeps it alive
    queue.single_task(importer.get_kernel("tripled"), out).wait()
    assert out.numpy()[0] == 42
    with raises(bl.InvalidError):
        ze.dynamic_link(importer)
