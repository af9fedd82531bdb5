"""Instructions that the reference device does not execute: each is a build error with its name and position.

``docs/guide/kernels.md`` has the same list, by groups; these tests check that it is complete.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

import bindless as bl
from tests.support.error_checks import raises

ROOT = Path(__file__).resolve().parent.parent.parent

_LISTS = """
pipes:
    TypePipe ReadPipe WritePipe ReservedReadPipe ReservedWritePipe ReserveReadPipePackets ReserveWritePipePackets
    CommitReadPipe CommitWritePipe IsValidReserveId GetNumPipePackets GetMaxPipePackets GroupReserveReadPipePackets
    GroupReserveWritePipePackets GroupCommitReadPipe GroupCommitWritePipe TypeReserveId TypePipeStorage
    ConstantPipeStorage CreatePipeFromPipeStorage
device queues:
    TypeDeviceEvent TypeQueue EnqueueMarker EnqueueKernel GetKernelNDrangeSubGroupCount
    GetKernelNDrangeMaxSubGroupSize GetKernelWorkGroupSize GetKernelPreferredWorkGroupSizeMultiple RetainEvent
    ReleaseEvent CreateUserEvent IsValidEvent SetUserEventStatus CaptureEventProfilingInfo GetDefaultQueue
    BuildNDRange GetKernelLocalSizeForSubgroupCount GetKernelMaxNumSubgroups
named barriers:
    TypeNamedBarrier NamedBarrierInitialize MemoryNamedBarrier
a vendor's assembly:
    AsmTargetINTEL AsmINTEL AsmCallINTEL
image block reads and writes:
    SubgroupImageBlockReadINTEL SubgroupImageBlockWriteINTEL SubgroupImageMediaBlockReadINTEL
    SubgroupImageMediaBlockWriteINTEL
arrays of variable length:
    VariableLengthArrayINTEL SaveMemoryINTEL RestoreMemoryINTEL
shader features:
    TypeMatrix TypeRuntimeArray Transpose ImageTexelPointer ImageSampleImplicitLod ImageQueryLod
    ImageQuerySamples ArrayLength Kill
"""
# Instructions outside of functions, or parts of their structure.
_ELSEWHERE = """
SourceContinued Source SourceExtension Name MemberName String Extension ExtInstImport MemoryModel EntryPoint
ExecutionMode Capability TypeVoid TypeBool TypeInt TypeFloat TypeVector TypeImage TypeSampler TypeSampledImage
TypeArray TypeStruct TypeOpaque TypePointer TypeFunction TypeEvent TypeForwardPointer ConstantTrue ConstantFalse
Constant ConstantComposite ConstantSampler ConstantNull SpecConstantTrue SpecConstantFalse SpecConstant
SpecConstantComposite SpecConstantOp ConstantFunctionPointerINTEL
Function FunctionParameter FunctionEnd Decorate MemberDecorate DecorationGroup
GroupDecorate GroupMemberDecorate Label ModuleProcessed ExecutionModeId DecorateId DecorateString MemberDecorateString
AliasDomainDeclINTEL AliasScopeDeclINTEL AliasScopeListDeclINTEL Phi
"""
REFUSED = {group: names.split() for group, names in re.findall(r"^(\w[^:\n]*):\n((?: +.*\n)+)", _LISTS, re.MULTILINE)}
ELSEWHERE = _ELSEWHERE.split()


def _table() -> dict[str, tuple[int, str]]:
    """Return every instruction known to the driver: its number, and its result."""
    text = (ROOT / "csrc" / "reference" / "spirv/opcodes.h").read_text()
    return {name: (int(number), makes) for name, number, makes in re.findall(r"X\((\w+), (\d+), ([NIV])\)", text)}


TABLE = _table()
NAMES = [name for group in REFUSED.values() for name in group]
UINT, VOID, FUNCTION, KERNEL, LABEL, RESULT, SEVEN, BOUND = range(1, 9)


def _instruction(opcode: int, *operands: int) -> list[int]:
    return [(len(operands) + 1) << 16 | opcode, *operands]


def _module(name: str, count: int = 6) -> tuple[bytes, int]:
    """Return a kernel with one instruction of this many operands, and the instruction's word offset."""
    opcode, makes = TABLE[name]
    outside = name.startswith(("Type", "Constant", "AsmTarget", "AsmINTEL"))
    operands = {"N": [], "I": [RESULT], "V": [UINT, RESULT]}[makes] + [SEVEN] * count
    tested = _instruction(opcode, *operands)
    words = [0x07230203, 0x00010600, 0, BOUND, 0]
    words += _instruction(17, 6) + _instruction(14, 2, 2) + _instruction(15, 6, KERNEL, 0x006B)
    words += _instruction(21, UINT, 32, 0) + _instruction(19, VOID) + _instruction(33, FUNCTION, VOID)
    words += _instruction(43, UINT, SEVEN, 7)
    if outside:
        at = len(words)
        words += tested
    words += _instruction(54, VOID, KERNEL, 0, FUNCTION) + _instruction(248, LABEL)
    if not outside:
        at = len(words)
        words += tested
    words += _instruction(253) + _instruction(56)
    return struct.pack(f"<{len(words)}I", *words), at


@pytest.fixture(autouse=True)
def _only_the_reference(device: bl.Device) -> None:
    if device.backend is not bl.Backend.reference:
        pytest.skip("the modules are SPIR-V")


def test_each_is_refused_by_name_and_place(queue: bl.Queue) -> None:
    for name in NAMES:
        module, at = _module(name)
        with raises(bl.BuildError, names=f"SPIR-V word {at} (Op{name})"):
            bl.load_kernel_bundle(module, queue)


def test_no_others_are(queue: bl.Queue) -> None:
    """An instruction outside the lists is executed: only its operands may be refused, never as not supported."""
    assert len(set(NAMES)) == len(NAMES) and not set(NAMES) & set(ELSEWHERE)
    for name in sorted(set(TABLE) - set(NAMES) - set(ELSEWHERE)):
        said = []
        for count in range(7):
            try:
                bl.load_kernel_bundle(_module(name, count)[0], queue)
                said.append("")
            except bl.BuildError as error:
                said.append(str(error))
        assert not all("not supported by the reference driver (in" in text for text in said), name


def test_one_that_is_not_known_at_all(queue: bl.Queue) -> None:
    module, at = _module("Kill")
    words = list(struct.unpack(f"<{len(module) // 4}I", module))
    words[at] = words[at] & 0xFFFF0000 | 9999
    with raises(bl.BuildError, names=f"SPIR-V word {at} (instruction 9999)"):
        bl.load_kernel_bundle(struct.pack(f"<{len(words)}I", *words), queue)


def test_the_documentation_has_the_same_list() -> None:
    text = (ROOT / "docs" / "guide" / "kernels.md").read_text()
    for group in REFUSED:
        assert f"| {group} |" in text, group
