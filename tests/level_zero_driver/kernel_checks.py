"""Kernels: arguments, groups, every kind of launch, properties, faults, printf."""

from __future__ import annotations

import os
import tempfile

import numpy as np

from tests.level_zero_driver.formats import ze_format
from tests.level_zero_driver.rig import FOREVER, Rig, ffi, group_count, lib, strict

SOURCE = """
typedef struct { float a; int b; char c; } mixed;
kernel void ids(global uint *out, uint row)
{
    const size_t i = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
    out[i] = (uint)(get_group_id(0) + 10 * get_group_id(1) + 100 * get_local_id(0) + 1000 * get_local_id(1)) + row;
}
kernel void offsets(global ulong *out)
{
    out[0] = get_global_id(0); out[1] = get_global_id(1); out[2] = get_global_offset(2);
}
kernel void values(global float *out, mixed value, float4 four, char small)
{
    out[0] = value.a; out[1] = value.b; out[2] = value.c; out[3] = four.w; out[4] = small;
}
kernel void reduce(global const int *in, global int *out, local int *scratch)
{
    const size_t i = get_local_id(0);
    scratch[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t step = get_local_size(0) / 2; step > 0; step /= 2) {
        if (i < step) scratch[i] += scratch[i + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i == 0) out[get_group_id(0)] = scratch[0];
}
kernel __attribute__((reqd_work_group_size(4, 2, 1))) void shaped(global int *out)
{
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = (int)(get_local_size(0) * 10 + get_local_size(1));
}
kernel void add(global int *sum, int term) { sum[get_global_id(0)] += term; }
kernel void counts(global uint *groups, uint x) { groups[0] = x; groups[1] = 1; groups[2] = 1; }
kernel void outside(global int *data) { data[1 << 28] = 1; }
kernel void forever(global volatile int *data) { while (data[0] == 0) data[1] += 1; }
kernel void recite(global const char *text, global int *result) { *result = printf("%s\\n", text); }
kernel void speak(int number) { printf("kernel says %d and %s\\n", number + (int)get_global_id(0), "that"); }
kernel void chase(global ulong *first, global int *out)
{
    global const ulong *node = (global const ulong *)first[0];
    out[0] = (int)node[1];
}
"""

SAMPLE = """
kernel void s(read_only image2d_t i, sampler_t s, global float *o) { o[0] += read_imagef(i, s, (int2)(0, 0)).x; }
"""


def check_groups_and_ids(rig: Rig) -> None:
    kernel = rig.compiled(SOURCE, "ids")
    pointer, out = rig.array(np.zeros((2, 6, 8), np.uint32))
    rig.launch(kernel, (2, 3, 2), pointer, np.uint32(7), size=(4, 2, 1))
    y, x = np.meshgrid(np.arange(6), np.arange(8), indexing="ij")
    expected = x // 4 + 10 * (y // 2) + 100 * (x % 4) + 1000 * (y % 2) + 7
    assert np.array_equal(out, np.stack([expected, expected]))
    offsets = rig.compiled(SOURCE, "offsets")
    pointer, out = rig.array(np.zeros(3, np.uint64))
    rig.call("zeKernelSetGlobalOffsetExp", offsets, 5, 6, 7)
    rig.launch(offsets, (1,), pointer)
    assert list(out) == [5, 6, 7]


def check_arguments(rig: Rig) -> None:
    """Values of every size, structs, local memory; appending a launch copies the arguments."""
    kernel = rig.compiled(SOURCE, "values")
    pointer, out = rig.array(np.zeros(5, np.float32))
    mixed = np.frombuffer(np.float32(1.5).tobytes() + np.int32(-3).tobytes() + b"\x05\0\0\0", np.uint8)
    rig.launch(kernel, (1,), pointer, mixed, np.arange(4, dtype=np.float32), np.int8(-9))
    assert list(out) == [1.5, -3, 5, 3, -9]
    for index, size in enumerate((12, 16, 1), start=1):  # a NULL value sets zeros
        out[:] = 99
        rig.call("zeKernelSetArgumentValue", kernel, index, size, ffi.NULL)
        rig.append("zeCommandListAppendLaunchKernel", kernel, group_count(1))
    assert list(out) == [0, 0, 0, 0, 0]
    reduce = rig.compiled(SOURCE, "reduce")
    data = np.random.default_rng(9).integers(-1000, 1000, 256).astype(np.int32)
    source, _ = rig.array(data)
    pointer, sums = rig.array(np.zeros(4, np.int32))
    rig.set(reduce, source, pointer)
    rig.call("zeKernelSetArgumentValue", reduce, 2, 256, ffi.NULL)
    rig.call("zeKernelSetGroupSize", reduce, 64, 1, 1)
    rig.append("zeCommandListAppendLaunchKernel", reduce, group_count(4))
    assert np.array_equal(sums, data.reshape(4, 64).sum(1))
    add = rig.compiled(SOURCE, "add")
    pointer, sums = rig.array(np.zeros(8, np.int32))
    rig.call("zeKernelSetGroupSize", add, 8, 1, 1)
    for term in (1, 10, 100):
        rig.set(add, pointer, np.int32(term))
        rig.call("zeCommandListAppendLaunchKernel", rig.list, add, group_count(1), ffi.NULL, 0, ffi.NULL)
    rig.call("zeCommandListHostSynchronize", rig.list, FOREVER)
    assert (sums == 111).all()


def check_objects_of_several_contexts(rig: Rig) -> None:
    """A list of one context launches a kernel of a second context, with memory and an image of a third."""
    contexts = []
    for _ in range(2):
        desc = rig.struct("ze_context_desc_t")
        contexts.append(rig.make("ze_context_handle_t", "zeContextCreate", "zeContextDestroy", rig.driver.handle, desc))
    rig.context, own = contexts[0], rig.context
    add, sample = rig.compiled(SOURCE, "add"), rig.compiled(SAMPLE, "s")
    rig.context = contexts[1]
    pointer, sums = rig.array(np.full(8, 5, np.int32))
    image = rig.image(rig.image_desc(ze_format("32", "FLOAT"), 1, 1))
    sampler = rig.sampler("CLAMP", "NEAREST")
    where, texel = rig.array(np.zeros(1, np.float32))
    rig.context = own
    rig.launch(add, (1,), pointer, np.int32(3), size=(8, 1, 1))
    assert list(sums) == [8] * 8
    one = ffi.new("int32_t *", 1)
    rig.append("zeCommandListAppendMemoryFill", pointer, one, 4, 16)
    assert list(sums) == [1] * 4 + [8] * 4
    rig.context = contexts[1]
    other_list = rig.make(
        "ze_command_list_handle_t",
        "zeCommandListCreateImmediate",
        "zeCommandListDestroy",
        rig.context,
        rig.device,
        rig.struct("ze_command_queue_desc_t", mode=lib.ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS),
    )
    pixels = np.full((1, 1), 2.5, np.float32)
    rig.call(
        "zeCommandListAppendImageCopyFromMemory",
        other_list,
        image,
        ffi.from_buffer(pixels),
        ffi.NULL,
        ffi.NULL,
        0,
        ffi.NULL,
    )
    rig.context = own
    rig.launch(sample, (1,), image, sampler, where)
    assert list(texel) == [2.5]


def check_arguments_of_other_sizes(rig: Rig) -> None:
    """Of more bytes the first are taken; behind fewer are zeros. Intel's driver takes both."""
    kernel = rig.compiled("kernel void k(global uint *out, uint4 v, uint w) { vstore4(v, 0, out); out[4] = w; }", "k")
    where, out = rig.array(np.full(5, 9, np.uint32))
    rig.set(kernel, where)
    words = ffi.new("uint32_t[]", [1, 2, 3, 4, 5, 6])
    rig.call("zeKernelSetArgumentValue", kernel, 1, 24, words)
    rig.call("zeKernelSetArgumentValue", kernel, 2, 8, words + 4)
    rig.launch(kernel, (1,))
    assert list(out) == [1, 2, 3, 4, 5]
    rig.call("zeKernelSetArgumentValue", kernel, 1, 8, words + 1)
    rig.call("zeKernelSetArgumentValue", kernel, 2, 2, words + 5)
    rig.launch(kernel, (1,))
    assert list(out) == [2, 3, 0, 0, 6]


def check_arguments_refused(rig: Rig) -> None:
    kernel, reduce = rig.compiled(SOURCE, "values"), rig.compiled(SOURCE, "reduce")
    sample = rig.compiled(SAMPLE, "s")
    four = ffi.new("char[16]")
    name = "zeKernelSetArgumentValue"
    launch = "zeCommandListAppendLaunchKernel"
    end = (ffi.NULL, 0, ffi.NULL)
    rig.fails("INVALID_ARGUMENT", "is not set", launch, rig.list, kernel, group_count(1), *end)
    rig.fails("INVALID_KERNEL_ARGUMENT_INDEX", "has 4", name, kernel, 4, 4, four)
    rig.fails("INVALID_KERNEL_ARGUMENT_INDEX", "has 4", name, kernel, 2**32 - 1, 4, four)
    rig.fails("INVALID_KERNEL_ARGUMENT_SIZE", "8 bytes, 4", name, kernel, 0, 4, four)
    rig.fails("INVALID_KERNEL_ARGUMENT_SIZE", "16 bytes, 0", name, kernel, 2, 0, four)
    with strict():
        rig.fails("INVALID_KERNEL_ARGUMENT_SIZE", "16 bytes, 4", name, kernel, 2, 4, four)
        rig.fails("INVALID_KERNEL_ARGUMENT_SIZE", "16 bytes", name, kernel, 2, 2**63, four)
    rig.call(name, kernel, 2, 24, ffi.new("char[24]"))  # the first 16 bytes
    assert "16 bytes, 24" in rig.driver.last_error()
    rig.call(name, kernel, 0, 8, ffi.NULL)  # the null pointer
    rig.fails("INVALID_ARGUMENT", "local memory", name, reduce, 2, 64, four)
    rig.fails("INVALID_KERNEL_ARGUMENT_SIZE", "0 bytes", name, reduce, 2, 0, ffi.NULL)
    rig.fails("INVALID_NULL_HANDLE", "", name, sample, 0, 8, ffi.new("void **"))
    image = rig.image(rig.image_desc(ze_format("32", "FLOAT"), 4, 4))
    slot = ffi.new("ze_image_handle_t *", image)
    rig.fails("INVALID_KERNEL_ARGUMENT_SIZE", "", name, sample, 0, 4, slot)
    rig.fails("INVALID_ARGUMENT", "sampler is needed", name, sample, 1, 8, slot)
    rig.call(name, sample, 0, 8, slot)
    rig.fails("INVALID_GROUP_SIZE_DIMENSION", "1 to 1024", "zeKernelSetGroupSize", kernel, 1025, 1, 1)
    rig.fails("INVALID_GROUP_SIZE_DIMENSION", "1 to 1024", "zeKernelSetGroupSize", kernel, 2**31, 2**31, 4)
    rig.fails("INVALID_GROUP_SIZE_DIMENSION", "0 x 1 x 1", "zeKernelSetGroupSize", kernel, 0, 1, 1)
    shaped = rig.compiled(SOURCE, "shaped")
    rig.fails("INVALID_GROUP_SIZE_DIMENSION", "4 x 2 x 1 only", "zeKernelSetGroupSize", shaped, 2, 4, 1)
    rig.fails("INVALID_ENUMERATION", "", "zeKernelSetIndirectAccess", kernel, 8)
    rig.fails("INVALID_ENUMERATION", "", "zeKernelSetCacheConfig", kernel, 4)
    rig.call("zeKernelSetCacheConfig", kernel, lib.ZE_CACHE_CONFIG_FLAG_LARGE_SLM)


def check_suggestions(rig: Rig) -> None:
    kernel, shaped = rig.compiled(SOURCE, "ids"), rig.compiled(SOURCE, "shaped")
    x, y, z = (ffi.new("uint32_t *") for _ in range(3))
    for size in ((640, 480, 1), (7, 7, 7), (1, 1, 1), (4096, 1, 1), (17, 2, 3), (2**32 - 1, 3, 1)):
        rig.call("zeKernelSuggestGroupSize", kernel, *size, x, y, z)
        assert all(total % part[0] == 0 for total, part in zip(size, (x, y, z), strict=True))
        assert 1 <= x[0] * y[0] * z[0] <= 64
        rig.call("zeKernelSetGroupSize", kernel, x[0], y[0], z[0])
    rig.call("zeKernelSuggestGroupSize", shaped, 64, 64, 1, x, y, z)
    assert (x[0], y[0], z[0]) == (4, 2, 1)
    rig.fails("INVALID_GLOBAL_WIDTH_DIMENSION", "0", "zeKernelSuggestGroupSize", kernel, 4, 0, 1, x, y, z)
    rig.call("zeKernelSuggestMaxCooperativeGroupCount", kernel, x)
    assert x[0] == 1


def check_properties(rig: Rig) -> None:
    shaped, reduce = rig.compiled(SOURCE, "shaped"), rig.compiled(SOURCE, "reduce")
    largest = rig.struct("ze_kernel_max_group_size_properties_ext_t")
    preferred = rig.struct("ze_kernel_preferred_group_size_properties_t", largest)
    properties = rig.struct("ze_kernel_properties_t", preferred)
    rig.call("zeKernelGetProperties", shaped, properties)
    assert properties.numKernelArgs == 1 and properties.maxSubgroupSize == 64
    assert (properties.requiredGroupSizeX, properties.requiredGroupSizeY, properties.requiredGroupSizeZ) == (4, 2, 1)
    assert preferred.preferredMultiple == 64 and largest.maxGroupSize == 1024
    other = rig.struct("ze_kernel_properties_t")
    rig.call("zeKernelGetProperties", reduce, other)
    assert other.numKernelArgs == 3 and other.requiredGroupSizeX == 0
    assert bytes(ffi.buffer(properties.uuid.kid)) != bytes(ffi.buffer(other.uuid.kid))
    size = ffi.new("size_t *")
    rig.call("zeKernelGetName", shaped, size, ffi.NULL)
    assert size[0] == 7
    text = ffi.new("char[]", 7)
    rig.call("zeKernelGetName", shaped, size, text)
    assert ffi.string(text) == b"shaped"
    length = ffi.new("uint32_t *")
    rig.call("zeKernelGetSourceAttributes", shaped, length, ffi.new("char **"))
    attributes = ffi.new("char[]", length[0])
    rig.call("zeKernelGetSourceAttributes", shaped, length, ffi.new("char **", attributes))
    assert ffi.string(attributes) == b"reqd_work_group_size(4,2,1)"
    flags = ffi.new("uint32_t *")
    rig.call("zeKernelSetIndirectAccess", shaped, 5)
    rig.call("zeKernelGetIndirectAccess", shaped, flags)
    assert flags[0] == 5


def check_indirect_launches(rig: Rig) -> None:
    """The group counts are read when the command runs: an earlier kernel writes them."""
    counts, add = rig.compiled(SOURCE, "counts"), rig.compiled(SOURCE, "add")
    groups, _ = rig.array(np.zeros(6, np.uint32))
    pointer, sums = rig.array(np.zeros(16, np.int32))
    rig.set(counts, groups, np.uint32(5))
    rig.set(add, pointer, np.int32(1))
    end = (ffi.NULL, 0, ffi.NULL)
    args = ffi.cast("ze_group_count_t *", groups)
    rig.call("zeCommandListAppendLaunchKernel", rig.list, counts, group_count(1), *end)
    rig.append("zeCommandListAppendLaunchKernelIndirect", add, args)
    assert list(sums) == [1] * 5 + [0] * 11
    (both, _), (number, two) = rig.array(np.array([7, 1, 1, 2, 1, 1], np.uint32)), rig.array(np.array([2], np.uint32))
    many = (ffi.cast("uint32_t *", number), ffi.cast("ze_group_count_t *", both))
    kernels = ffi.new("ze_kernel_handle_t[]", [add, add])
    multiple = "zeCommandListAppendLaunchMultipleKernelsIndirect"
    rig.append(multiple, 2, kernels, *many)
    assert list(sums) == [3] * 2 + [2] * 3 + [1] * 2 + [0] * 9
    two[0] = 1
    rig.append(multiple, 2, kernels, *many)
    assert list(sums) == [4] * 2 + [3] * 3 + [2] * 2 + [0] * 9
    rig.fails("INVALID_SIZE", "numKernels", multiple, rig.list, 0, kernels, *many, *end)
    odd = ffi.cast("ze_group_count_t *", ffi.cast("char *", groups) + 2)
    rig.fails(
        "UNSUPPORTED_ALIGNMENT", "multiple of 4", "zeCommandListAppendLaunchKernelIndirect", rig.list, add, odd, *end
    )
    short = ffi.cast("ze_group_count_t *", ffi.cast("char *", groups) + 20)
    rig.fails(
        "INVALID_SIZE", "leaves its allocation", "zeCommandListAppendLaunchKernelIndirect", rig.list, add, short, *end
    )


def check_cooperative_and_newer_launches(rig: Rig) -> None:
    add, reduce = rig.compiled(SOURCE, "add"), rig.compiled(SOURCE, "reduce")
    pointer, sums = rig.array(np.zeros(64, np.int32))
    rig.set(add, pointer, np.int32(3))
    rig.call("zeKernelSetGroupSize", add, 64, 1, 1)
    rig.append("zeCommandListAppendLaunchCooperativeKernel", add, group_count(1))
    end = (ffi.NULL, 0, ffi.NULL)
    rig.fails(
        "INVALID_ARGUMENT", "says 1", "zeCommandListAppendLaunchCooperativeKernel", rig.list, add, group_count(2), *end
    )
    chain = rig.struct("ze_command_list_append_launch_kernel_param_cooperative_desc_t", isCooperative=1)
    rig.append("zeCommandListAppendLaunchKernelWithParameters", add, group_count(1), chain)
    with_parameters = "zeCommandListAppendLaunchKernelWithParameters"
    rig.fails(
        "UNSUPPORTED_ENUMERATION",
        "stype",
        with_parameters,
        rig.list,
        add,
        group_count(1),
        rig.struct("ze_fence_desc_t"),
        *end,
    )
    assert (sums == 6).all()
    data, _ = rig.array(np.arange(64, dtype=np.int32))
    values = [ffi.new("void **", data), ffi.new("void **", pointer), ffi.new("size_t *", 256)]
    arguments = ffi.new("void *[]", [ffi.cast("void *", value) for value in values])
    size = ffi.new("ze_group_size_t *", [64, 1, 1])[0]
    rig.append("zeCommandListAppendLaunchKernelWithArguments", reduce, group_count(1)[0], size, arguments, ffi.NULL)
    assert sums[0] == 2016


def check_pointers_in_memory(rig: Rig) -> None:
    """Memory whose address is stored in memory only."""
    kernel = rig.compiled(SOURCE, "chase")
    node, _ = rig.array(np.array([0, 42], np.uint64))
    first, _ = rig.array(np.array([int(ffi.cast("uintptr_t", node))], np.uint64))
    pointer, out = rig.array(np.zeros(1, np.int32))
    rig.call("zeKernelSetIndirectAccess", kernel, lib.ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED)
    rig.launch(kernel, (1,), first, pointer)
    assert out[0] == 42


def check_faults(rig: Rig) -> None:
    """The wait reports a fault with a description, and the list stays usable."""
    outside, add = rig.compiled(SOURCE, "outside"), rig.compiled(SOURCE, "add")
    pointer, sums = rig.array(np.zeros(4, np.int32))
    rig.set(outside, pointer)
    end = (ffi.NULL, 0, ffi.NULL)
    rig.call("zeCommandListAppendLaunchKernel", rig.list, outside, group_count(1), *end)
    rig.fails("UNKNOWN", "outside", "zeCommandListHostSynchronize", rig.list, FOREVER)
    rig.call("zeCommandListHostSynchronize", rig.list, FOREVER)
    rig.launch(add, (4,), pointer, np.int32(2))
    assert (sums == 2).all()
    os.environ["BINDLESS_REFERENCE_TIMEOUT"] = "0.2"
    try:
        endless = rig.compiled(SOURCE, "forever")
        rig.set(endless, pointer)
        sums[:] = 0
        rig.call("zeCommandListAppendLaunchKernel", rig.list, endless, group_count(1), *end)
        rig.fails("UNKNOWN", "forever", "zeCommandListHostSynchronize", rig.list, FOREVER)
    finally:
        del os.environ["BINDLESS_REFERENCE_TIMEOUT"]
    rig.call("zeContextGetStatus", rig.context)
    huge = group_count(2**32 - 1, 2**32 - 1, 2**32 - 1)
    rig.call("zeCommandListAppendLaunchKernel", rig.list, add, huge, *end)
    rig.fails("INVALID_SIZE", "work-items", "zeCommandListHostSynchronize", rig.list, FOREVER)


def check_what_kernels_print(rig: Rig) -> None:
    """Each call prints up to the size of the buffer that the device reports; a longer text is an error."""
    kernel, recite = rig.compiled(SOURCE, "speak"), rig.compiled(SOURCE, "recite")
    properties = rig.struct("ze_device_module_properties_t")
    rig.call("zeDeviceGetModuleProperties", rig.device, properties)
    size = properties.printfBufferSize
    letters = np.resize(np.frombuffer(b"abcdefg", np.uint8), size + 1)
    letters[size] = 0
    long, _ = rig.array(letters)
    letters[size - 1] = 0
    fitting, _ = rig.array(letters)
    place, result = rig.array(np.full(1, 7, np.int32))
    with tempfile.TemporaryFile() as file:
        before = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            rig.launch(kernel, (2,), np.int32(40))
            rig.launch(recite, (1,), long, place)
            assert result[0] == -1
            rig.launch(recite, (1,), fitting, place)
            assert result[0] == 0
        finally:
            os.dup2(before, 1)
            os.close(before)
        file.seek(0)
        lines = [letters[: size - 1].tobytes(), b"", b"kernel says 40 and that", b"kernel says 41 and that"]
        assert sorted(file.read().split(b"\n")) == sorted(lines)


def check_timestamps(rig: Rig) -> None:
    """A kernel timestamp event has start and end times on the device's clock."""
    flags = lib.ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | lib.ZE_EVENT_POOL_FLAG_HOST_VISIBLE
    desc = rig.struct("ze_event_pool_desc_t", flags=flags, count=1)
    devices = ffi.new("ze_device_handle_t[]", [rig.device])
    pool = rig.make("ze_event_pool_handle_t", "zeEventPoolCreate", "zeEventPoolDestroy", rig.context, desc, 1, devices)
    event = rig.make(
        "ze_event_handle_t", "zeEventCreate", "zeEventDestroy", pool, rig.struct("ze_event_desc_t", index=0)
    )
    add = rig.compiled(SOURCE, "add")
    pointer, _ = rig.array(np.zeros(64, np.int32))
    rig.set(add, pointer, np.int32(1))
    host, device = ffi.new("uint64_t *"), ffi.new("uint64_t *")
    rig.call("zeDeviceGetGlobalTimestamps", rig.device, host, device)
    begun = device[0]
    rig.call("zeCommandListAppendLaunchKernel", rig.list, add, group_count(64), event, 0, ffi.NULL)
    rig.call("zeEventHostSynchronize", event, FOREVER)
    rig.call("zeDeviceGetGlobalTimestamps", rig.device, host, device)
    times = ffi.new("ze_kernel_timestamp_result_t *")
    rig.call("zeEventQueryKernelTimestamp", event, times)
    assert begun <= getattr(times, "global").kernelStart <= getattr(times, "global").kernelEnd <= device[0]


def check_regular_lists_keep_images_and_samplers(rig: Rig) -> None:
    """A closed list runs repeatedly, after the objects that it uses were destroyed."""
    kernel = rig.compiled(SAMPLE, "s")
    image = rig.image(rig.image_desc(ze_format("32", "FLOAT"), 1, 1))
    rig.forget()
    rig.upload(image, np.array([[2.5]], np.float32))
    sampler = rig.sampler()
    rig.forget()
    pointer, out = rig.array(np.zeros(1, np.float32))
    where = (rig.context, rig.device)
    desc = rig.struct("ze_command_list_desc_t")
    commands = rig.make("ze_command_list_handle_t", "zeCommandListCreate", "zeCommandListDestroy", *where, desc)
    desc = rig.struct("ze_command_queue_desc_t")
    queue = rig.make("ze_command_queue_handle_t", "zeCommandQueueCreate", "zeCommandQueueDestroy", *where, desc)
    rig.set(kernel, image, sampler, pointer)
    rig.call("zeCommandListAppendLaunchKernel", commands, kernel, group_count(1), ffi.NULL, 0, ffi.NULL)
    rig.call("zeCommandListClose", commands)
    rig.call("zeImageDestroy", image)
    rig.call("zeSamplerDestroy", sampler)
    lists = ffi.new("ze_command_list_handle_t[]", [commands])
    for _ in range(3):
        rig.call("zeCommandQueueExecuteCommandLists", queue, 1, lists, ffi.NULL)
    rig.call("zeCommandQueueSynchronize", queue, FOREVER)
    assert out[0] == 7.5
