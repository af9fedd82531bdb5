"""Contract of every backend with kernels: reflection, arguments, ranges, local memory, build errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bindless as bl
from bindless import kernels
from bindless.model.aspects import Aspect
from bindless.model.errors import FeatureNotSupportedError, InvalidError, NdRangeError
from tests.backends.contract.contract_rig import Rig
from tests.support.compile_kernels import compiled, compiled_text
from tests.support.error_checks import raises

SOURCE = Path(__file__).parents[2] / "support" / "kernel_sources" / "contract.cl"

PTX = b"""
.version 6.3
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 .ptr .global .align 4 scale_data, .param .f32 scale_factor, .param .u32 scale_count)
{
    .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [scale_data]; ld.param.f32 %f1, [scale_factor]; ld.param.u32 %r1, [scale_count];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p, %r5, %r1; @%p bra done;
    mul.wide.u32 %d2, %r5, 4; add.s64 %d3, %d1, %d2;
    ld.global.f32 %f2, [%d3]; mul.f32 %f3, %f2, %f1; st.global.f32 [%d3], %f3;
done: ret;
}
.extern .shared .align 16 .b8 pieces[];
.visible .entry reverse(
    .param .u64 .ptr .global .align 4 reverse_data, .param .u32 reverse_unused, .param .u32 reverse_piece)
{
    .reg .b32 %r<10>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [reverse_data]; ld.param.u32 %r9, [reverse_piece];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, pieces; add.u32 %r3, %r3, %r9;
    mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; ld.global.u32 %r4, [%d3];
    shl.b32 %r5, %r1, 2; add.u32 %r5, %r3, %r5; st.shared.u32 [%r5], %r4;
    bar.sync 0;
    sub.u32 %r6, %r2, %r1; sub.u32 %r6, %r6, 1; shl.b32 %r6, %r6, 2; add.u32 %r6, %r3, %r6; ld.shared.u32 %r7, [%r6];
    st.global.u32 [%d3], %r7; ret;
}
.visible .entry where(.param .u64 .ptr .global .align 4 where_data)
{
    .reg .b32 %r<16>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [where_data];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;
    mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ntid.y; mov.u32 %r7, %tid.y; mad.lo.s32 %r8, %r5, %r6, %r7;
    mov.u32 %r9, %nctaid.x; mul.lo.s32 %r10, %r9, %r2; mad.lo.s32 %r11, %r8, %r10, %r4;
    mul.wide.u32 %d2, %r11, 4; add.s64 %d3, %d1, %d2; st.global.u32 [%d3], %r11; ret;
}
"""


def _source(rig: Rig) -> bytes:
    """The kernels in a language that the device accepts."""
    if _takes_text_alone(rig):
        (section,) = bl.build(SOURCE, targets=["opencl_c"]).sections
        return section.data
    return PTX if rig.backend.backend == "cuda" else compiled("contract", "spirv")


def _takes_text_alone(rig: Rig) -> bool:
    """Whether the device is an OpenCL driver without SPIR-V."""
    return rig.backend.backend == "opencl" and not rig.device.takes_il


def _require_kernels(rig: Rig) -> None:
    """Skip the test on a device without kernels, after a check that it refuses every module and names the aspect."""
    if Aspect.online_compiler in rig.backend.aspects(rig.device):
        return
    with raises(FeatureNotSupportedError, names="online_compiler"):
        rig.backend.load_module(rig.context, rig.device, PTX)
    pytest.skip("the device lacks Aspect.online_compiler")


def test_kernel_with_arguments(rig: Rig) -> None:
    _require_kernels(rig)
    module = rig.backend.load_module(rig.context, rig.device, _source(rig))
    assert rig.backend.kernel_names(module) == ("reverse", "scale", "where")
    kernel = rig.backend.get_kernel(module, "scale")
    record = rig.backend.kernel_info(kernel)
    assert record.name == "scale" and record.max_work_group_size >= 256
    assert record.arguments is not None
    assert [(argument.kind, argument.size) for argument in record.arguments] == [
        ("pointer", 8),
        ("value", 4),
        ("value", 4),
    ]
    data = np.arange(10_007, dtype="float32")
    for local in (None, (1,), (10_007 // 10_007,)):
        address = rig.upload(data)
        arguments = [np.uint64(address).tobytes(), np.float32(1.5).tobytes(), np.uint32(10_000).tobytes()]
        event = rig.backend.launch(rig.queue, kernel, (10_007,), local, arguments)
        rig.wait(event)
        expected = np.where(np.arange(10_007) < 10_000, data * np.float32(1.5), data)
        assert np.array_equal(rig.download(address, data), expected)
    with raises(InvalidError, names="scale"):
        rig.backend.launch(rig.queue, kernel, (4,), None, [b"12345678"])
    with raises(NdRangeError, names="divide"):
        rig.backend.launch(rig.queue, kernel, (100,), (33,), arguments)
    with raises(NdRangeError):
        rig.backend.launch(rig.queue, kernel, (1 << 20,), (1 << 16,), arguments)
    with raises(InvalidError, names="reverse, scale, where"):
        rig.backend.get_kernel(module, "scael")
    rig.backend.release_module(module)


def test_kernel_with_local_memory(rig: Rig) -> None:
    _require_kernels(rig)
    module = rig.backend.load_module(rig.context, rig.device, _source(rig))
    kernel = rig.backend.get_kernel(module, "reverse")
    data = np.arange(256, dtype="uint32")
    opencl = rig.backend.backend == "opencl"  # CUDA reports the properties of a kernel that requests none, too
    most = rig.backend.device_info(rig.device, "local_mem_size") if opencl else 1 << 20
    for unused in (100, 20_000, min(100_000, most - 2048)):
        address = rig.upload(data)
        rig.wait(rig.backend.launch(rig.queue, kernel, (256,), (256,), [np.uint64(address).tobytes(), unused, 1024]))
        assert np.array_equal(rig.download(address, data), data[::-1])
    with raises(InvalidError):
        rig.backend.launch(rig.queue, kernel, (256,), (256,), [np.uint64(address).tobytes(), 1 << 30, 1024])
    rig.backend.release_module(module)


CALLER = b"""
.version 6.3
.target sm_75
.address_size 64
.extern .func (.param .b32 result) twice(.param .b32 value);
.visible .entry doubled(.param .u64 .ptr .global .align 4 data)
{
    .reg .b32 %r<6>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;
    ld.global.u32 %r2, [%d3];
    { .param .b32 given; .param .b32 taken; st.param.b32 [given], %r2;
      call.uni (taken), twice, (given); ld.param.b32 %r3, [taken]; }
    st.global.u32 [%d3], %r3; ret;
}
"""
CALLEE = b"""
.version 6.3
.target sm_75
.address_size 64
.visible .func (.param .b32 result) twice(.param .b32 value)
{
    .reg .b32 %r<4>;
    ld.param.b32 %r1, [value]; add.u32 %r2, %r1, %r1; st.param.b32 [result], %r2; ret;
}
"""


CALLER_TEXT = """
uint twice(uint value);
kernel void doubled(global uint *data) { data[get_global_id(0)] = twice(data[get_global_id(0)]); }
"""
CALLEE_TEXT = "uint twice(uint value) { return value + value; }"


def _linked_sources(rig: Rig) -> tuple[bytes, bytes, bytes]:
    """Sources of a kernel, of the function that it calls, and one that does not compile."""
    if rig.backend.backend == "cuda":
        return CALLER, CALLEE, CALLEE.replace(b"add.u32", b"syntax error")
    if _takes_text_alone(rig):
        return CALLER_TEXT.encode(), CALLEE_TEXT.encode(), CALLEE_TEXT.encode()[:-4]
    callee = compiled_text(CALLEE_TEXT, "spirv", "twice")
    return compiled_text(CALLER_TEXT, "spirv", "doubled"), callee, callee[:-4]


def test_kernel_of_linked_modules(rig: Rig) -> None:
    if Aspect.online_linker not in rig.backend.aspects(rig.device):
        assert rig.backend.linking is None
        return
    *whole, broken = _linked_sources(rig)
    objects = [rig.backend.linking.compile_module(rig.context, rig.device, source)[0] for source in whole]
    module = rig.backend.linking.link_modules(rig.context, rig.device, objects)
    assert rig.backend.kernel_names(module) == ("doubled",)
    data = np.arange(64, dtype="uint32")
    address = rig.upload(data)
    kernel = rig.backend.get_kernel(module, "doubled")
    rig.wait(rig.backend.launch(rig.queue, kernel, (64,), (64,), [np.uint64(address).tobytes()]))
    assert np.array_equal(rig.download(address, data), data * 2)
    rig.backend.release_module(module)
    silent = rig.platform.startswith("Portable")  # PoCL's log does not name the missing function
    with raises(bl.BuildError, match="LINK" if silent or _takes_text_alone(rig) else "twice"):
        rig.backend.linking.link_modules(rig.context, rig.device, objects[:1])
    with pytest.raises(bl.BuildError) as caught:
        rig.backend.linking.compile_module(rig.context, rig.device, broken)
    assert caught.value.log


def test_what_a_source_tells_before_it_is_built(rig: Rig) -> None:
    if rig.backend.backend == "cuda":
        description = rig.backend.describe_module(PTX)
        assert description.kernel_names == ("reverse", "scale", "where") and description.constants is None
    else:
        description = rig.backend.describe_module(kernels.source("fetch_2d_f", "spirv"))
        assert description.kernel_names == ("bindless_fetch_2d_f",) and description.constants == {}
    if rig.backend.backend == "opencl":  # NVIDIA's OpenCL driver accepts PTX as a binary
        assert rig.backend.describe_module(PTX).kernel_names is None
        return
    with raises(bl.BuildError, names="SPIR-V"):
        rig.backend.describe_module(b"\x03\x02\x23\x07rest" if rig.backend.backend == "cuda" else PTX)


def test_kernel_ranges_in_two_dimensions(rig: Rig) -> None:
    _require_kernels(rig)
    module = rig.backend.load_module(rig.context, rig.device, _source(rig))
    kernel = rig.backend.get_kernel(module, "where")
    for size, local in (((64, 48), None), ((64, 48), (8, 16)), ((37, 11), None), ((1, 5), None)):
        address = rig.upload(np.zeros(size, "uint32"))
        rig.wait(rig.backend.launch(rig.queue, kernel, size, local, [np.uint64(address).tobytes()]))
        found = rig.download(address, np.zeros(size[0] * size[1], "uint32"))
        assert np.array_equal(found, np.arange(found.size))
    rig.backend.release_module(module)


def test_kernel_that_does_not_build(rig: Rig) -> None:
    _require_kernels(rig)
    broken = PTX.replace(b"mul.f32", b"syntax error") if rig.backend.backend == "cuda" else _source(rig)[:-8]
    with pytest.raises(bl.BuildError) as caught:
        rig.backend.load_module(rig.context, rig.device, broken)
    assert caught.value.log and caught.value.log in str(caught.value)
    if rig.backend.backend != "cuda":
        with raises(bl.BuildError, names="specialization"):
            rig.backend.load_module(rig.context, rig.device, _source(rig), specialization={1: b"1234"})
        return
    with raises(FeatureNotSupportedError, names="specialization"):
        rig.backend.load_module(rig.context, rig.device, PTX, specialization={1: b"1234"})
    with raises(InvalidError, names="-fast"):
        rig.backend.load_module(rig.context, rig.device, PTX, options="-fast")
    rig.backend.release_module(rig.backend.load_module(rig.context, rig.device, PTX, options="-O2 -maxrregcount=32"))
