"""Built-in variables in each form that compilers write them: inputs, and imported variables of global or
constant memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.compile_kernels import assembled

_HEAD = """
OpCapability Addresses
OpCapability Linkage
OpCapability Kernel
OpCapability Int64
OpCapability Int8
OpCapability GenericPointer
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %test "test" %gid
{entry}
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %gid Constant
{linkage}
%void = OpTypeVoid
%uchar = OpTypeInt 8 0
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%v3 = OpTypeVector %ulong 3
%input = OpTypePointer {storage} %v3
%component = OpTypePointer {storage} %ulong
%byte = OpTypePointer {storage} %uchar
%generic = OpTypePointer Generic %v3
%generic_component = OpTypePointer Generic %ulong
%pointer = OpTypePointer CrossWorkgroup %ulong
%function = OpTypeFunction %void %pointer
%helper = OpTypeFunction %ulong %input
%zero = OpConstant %ulong 0
%one = OpConstant %ulong 1
%three = OpConstant %ulong 3
%eight = OpConstant %ulong 8
%wide = OpConstant %ulong 1000
%zero32 = OpConstant %uint 0
%one32 = OpConstant %uint 1
%gid = OpVariable %input {storage}
{helper}
%test = OpFunction %void None %function
%out = OpFunctionParameter %pointer
%start = OpLabel
%all = OpLoad %v3 %gid
%x = OpCompositeExtract %ulong %all 0
%y = OpCompositeExtract %ulong %all 1
%row = OpIMul %ulong %y %three
%at = OpIAdd %ulong %row %x
%to = OpInBoundsPtrAccessChain %pointer %out %at
{body}
OpStore %to %value Aligned 8
OpReturn
OpFunctionEnd
{tail}
"""
_IMPORT = 'OpDecorate %gid LinkageAttributes "__spirv_BuiltInGlobalInvocationId" Import'
_VECTOR = "%value = OpIAdd %ulong %row %x"
# Values that each form reads for the item at (x, y) in a range of 2 rows of 3.
_READ: dict[str, tuple[str, Any]] = {
    "vector": (_VECTOR, lambda y, x: 3 * y + x),
    "component": ("%c = OpInBoundsAccessChain %component %gid %one32\n%value = OpLoad %ulong %c", lambda y, x: y),
    "element and component": (
        "%c = OpInBoundsPtrAccessChain %component %gid %zero %one32\n%value = OpLoad %ulong %c",
        lambda y, x: y,
    ),
    "component and element": (
        "%a = OpInBoundsPtrAccessChain %component %gid %zero %zero32\n"
        "%c = OpInBoundsPtrAccessChain %component %a %one\n%value = OpLoad %ulong %c",
        lambda y, x: y,
    ),
    "component that is computed": (
        "%k = OpUMod %ulong %x %three\n%which = OpBitwiseAnd %ulong %k %one\n"
        "%c = OpInBoundsPtrAccessChain %component %gid %zero %which\n%value = OpLoad %ulong %c",
        lambda y, x: (x, y)[x % 3 & 1],
    ),
    "bytes": (
        "%b = OpBitcast %byte %gid\n%s = OpInBoundsPtrAccessChain %byte %b %eight\n"
        "%c = OpBitcast %component %s\n%value = OpLoad %ulong %c",
        lambda y, x: y,
    ),
    "generic pointer": (
        "%g = OpPtrCastToGeneric %generic %gid\n%c = OpInBoundsPtrAccessChain %generic_component %g %zero %zero32\n"
        "%value = OpLoad %ulong %c",
        lambda y, x: x,
    ),
    "parameter": ("%value = OpFunctionCall %ulong %help %gid", lambda y, x: x + y),
}
_HELPER = """
%help = OpFunction %ulong None %helper
%v = OpFunctionParameter %input
%first = OpLabel
%g3 = OpLoad %v3 %v
%g0 = OpCompositeExtract %ulong %g3 0
%g1 = OpCompositeExtract %ulong %g3 1
%sum = OpIAdd %ulong %g0 %g1
OpReturnValue %sum
OpFunctionEnd
"""


def _text(storage: str, linkage: str, body: str, entry: str = "", helper: str = _HELPER, tail: str = "") -> str:
    return _HEAD.format(storage=storage, linkage=linkage, body=body, entry=entry, helper=helper, tail=tail)


@pytest.fixture
def spirv(device: bl.Device) -> None:
    if device.backend not in (bl.Backend.reference, bl.Backend.level_zero):
        pytest.skip("the form of a built-in variable is the compiler's own there")


@pytest.mark.usefixtures("spirv")
@pytest.mark.parametrize("form", _READ)
@pytest.mark.parametrize("linkage", [_IMPORT, ""], ids=["imported", "own"])
@pytest.mark.parametrize("storage", ["Input", "UniformConstant", "CrossWorkgroup"])
def test_built_in_variables_are_read_in_every_form(run: Any, storage: str, linkage: str, form: str) -> None:
    body, value = _READ[form]
    if form == "generic pointer" and storage == "UniformConstant":
        pytest.skip("no cast leads from UniformConstant to Generic")
    (found,) = run(_text(storage, linkage, body), "test", (2, 3), np.full(6, 99, np.uint64))
    assert found.tolist() == [value(y, x) for y in range(2) for x in range(3)]


@pytest.mark.usefixtures("spirv")
@pytest.mark.parametrize(
    "body",
    [
        f"OpStore %gid %all\n{_VECTOR}",
        "%c = OpInBoundsPtrAccessChain %component %gid %one %zero32\n%value = OpLoad %ulong %c",
        "%c = OpInBoundsPtrAccessChain %component %gid %wide %zero32\n%value = OpLoad %ulong %c",
    ],
    ids=["written", "the next vector", "far behind it"],
)
def test_built_in_variables_are_neither_written_nor_left(run: Any, body: str) -> None:
    with pytest.raises(bl.BuildError):
        run(_text("CrossWorkgroup", _IMPORT, body), "test", (2, 3), np.full(6, 99, np.uint64))


_TWO = """
%other = OpFunction %void None %function
%out2 = OpFunctionParameter %pointer
%start2 = OpLabel
%got = OpFunctionCall %ulong %missing %gid
OpStore %out2 %got Aligned 8
OpReturn
OpFunctionEnd
"""
_OUTER = """
%absent = OpFunction %ulong None %helper
%absent_v = OpFunctionParameter %input
OpFunctionEnd
%missing = OpFunction %ulong None %helper
%m = OpFunctionParameter %input
%mfirst = OpLabel
%number = OpFunctionCall %ulong %CALLEE %m
OpReturnValue %number
OpFunctionEnd
"""


@pytest.mark.usefixtures("spirv")
def test_kernels_that_share_a_refused_helper_are_refused_for_its_own_reason(queue: bl.Queue) -> None:
    """Two kernels call a helper that calls an undefined function: the build reports no recursion, and linking gives
    both.
    """
    kernels = 'OpEntryPoint Kernel %other "other" %gid\nOpEntryPoint Kernel %third "third" %gid'
    linkage = _IMPORT + '\nOpDecorate %absent LinkageAttributes "absent" Import'
    third = _TWO.replace("%other", "%third").replace("2", "4").replace("%got", "%got4")
    text = _text(
        "CrossWorkgroup", linkage, _VECTOR, kernels, _HELPER + _OUTER.replace("CALLEE", "absent"), _TWO + third
    )
    library = _text(
        "CrossWorkgroup",
        _IMPORT + '\nOpDecorate %help LinkageAttributes "absent" Export',
        _VECTOR,
    ).replace('"test"', '"unused"')
    parts = [bl.load_kernel_bundle(assembled(part), queue, state="object") for part in (text, library)]
    linked = parts[0].link(parts[1])
    for name in ("other", "third"):
        memory = bl.usm_empty((1,), np.uint64, queue)
        queue.parallel_for((1, 1), linked.get_kernel(name), memory).wait_and_throw()
        assert memory.numpy(queue).tolist() == [0]
