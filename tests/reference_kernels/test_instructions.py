"""Instructions or forms that LLVM does not emit: kernels in SPIR-V assembly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

X = np.random.default_rng(22).integers(0, 2**32, 256, dtype=np.uint64).astype(np.uint32)

_HEAD = """
OpCapability Addresses
OpCapability Linkage
OpCapability Kernel
OpCapability Int64
OpCapability Int16
OpCapability Int8
OpCapability Float16
OpCapability GenericPointer
OpCapability Groups
{capabilities}
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %test "test" %gid %lid
{decorations}
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %lid BuiltIn LocalInvocationId
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%ushort = OpTypeInt 16 0
%uchar = OpTypeInt 8 0
%half = OpTypeFloat 16
%float = OpTypeFloat 32
%v2uint = OpTypeVector %uint 2
%v4uint = OpTypeVector %uint 4
%v4uchar = OpTypeVector %uchar 4
%v3ulong = OpTypeVector %ulong 3
%input = OpTypePointer Input %v3ulong
%pointer = OpTypePointer CrossWorkgroup %uint
%function = OpTypeFunction %void %pointer %pointer
%own = OpTypePointer Function %uint
%true = OpConstantTrue %bool
{constants}
{types}
%gid = OpVariable %input Input
%lid = OpVariable %input Input
%test = OpFunction %void None %function
%in = OpFunctionParameter %pointer
%out = OpFunctionParameter %pointer
%start = OpLabel
{variables}
%gid_3 = OpLoad %v3ulong %gid
%i = OpCompositeExtract %ulong %gid_3 0
%lid_3 = OpLoad %v3ulong %lid
%local = OpCompositeExtract %ulong %lid_3 0
%from = OpInBoundsPtrAccessChain %pointer %in %i
%to = OpInBoundsPtrAccessChain %pointer %out %i
%x = OpLoad %uint %from
{body}
OpReturn
OpFunctionEnd
"""


def _assembly(body: str, capabilities: str = "", decorations: str = "", types: str = "", variables: str = "") -> str:
    constants = "\n".join(f"%c{n} = OpConstant %uint {n}" for n in (*range(10), 16, 24, 32, 255, 1000))
    listed = "\n".join(f"OpCapability {name}" for name in capabilities.split())
    return _HEAD.format(
        body=body, capabilities=listed, decorations=decorations, types=types, variables=variables, constants=constants
    )


def test_lanes_that_go_on_early_wait_for_the_others(run: Any) -> None:
    """A loop with three continue edges: all lanes are in the same iteration when they add."""
    body = """
    OpStore %own_x %x
    OpStore %sum %c0
    OpStore %round %c0
    OpBranch %again
    %again = OpLabel
    %v = OpLoad %uint %own_x
    %r = OpLoad %uint %round
    %s = OpLoad %uint %sum
    %term = OpIAdd %uint %v %r
    %all = OpGroupNonUniformIAdd %uint %c3 Reduce %term
    %s1 = OpIAdd %uint %s %all
    OpStore %sum %s1
    %r1 = OpIAdd %uint %r %c1
    OpStore %round %r1
    %last = OpIEqual %bool %r1 %c6
    OpBranchConditional %last %end %second
    %second = OpLabel
    %t1 = OpIAdd %uint %v %r1
    %odd = OpBitwiseAnd %uint %t1 %c1
    %is_odd = OpINotEqual %bool %odd %c0
    OpBranchConditional %is_odd %again %third
    %third = OpLabel
    %s2 = OpBitwiseXor %uint %s1 %c3
    OpStore %sum %s2
    %two = OpBitwiseAnd %uint %t1 %c2
    %is_two = OpINotEqual %bool %two %c0
    OpBranchConditional %is_two %again %fourth
    %fourth = OpLabel
    %v1 = OpIAdd %uint %v %c1
    OpStore %own_x %v1
    OpBranch %again
    %end = OpLabel
    %result = OpLoad %uint %sum
    OpStore %to %result"""
    variables = "".join(f"%{name} = OpVariable %own Function\n" for name in ("own_x", "sum", "round"))
    text = _assembly(body, "GroupNonUniform GroupNonUniformArithmetic", variables=variables)
    out = run(text, "test", 256, X, np.zeros(256, np.uint32), local=128)[-1]
    for n in range(4):
        x, sums = X[64 * n :][:64].copy(), np.zeros(64, np.uint32)
        for number in range(6):
            sums += (x + np.uint32(number)).sum(dtype=np.uint32)
            if number < 5:
                term = x + np.uint32(number + 1)
                stays = (term & 1) == 0
                sums = np.where(stays, sums ^ 3, sums).astype(np.uint32)
                x = np.where(stays & ((term & 2) == 0), x + np.uint32(1), x).astype(np.uint32)
        np.testing.assert_array_equal(out[64 * n :][:64], sums)


LANES = np.arange(64)


@pytest.mark.parametrize(
    ("instruction", "capabilities", "wanted"),
    [
        ("%r = OpGroupNonUniformQuadBroadcast %uint %c3 %x %c2", "GroupNonUniform GroupNonUniformQuad", LANES & ~3 | 2),
        ("%r = OpGroupNonUniformQuadSwap %uint %c3 %x %c0", "GroupNonUniform GroupNonUniformQuad", LANES ^ 1),
        ("%r = OpGroupNonUniformQuadSwap %uint %c3 %x %c1", "GroupNonUniform GroupNonUniformQuad", LANES ^ 2),
        ("%r = OpGroupNonUniformQuadSwap %uint %c3 %x %c2", "GroupNonUniform GroupNonUniformQuad", LANES ^ 3),
        ("%r = OpSubgroupFirstInvocationKHR %uint %x", "SubgroupBallotKHR", LANES * 0),
        ("%r = OpSubgroupReadInvocationKHR %uint %x %c7", "SubgroupBallotKHR", LANES * 0 + 7),
        ("%r = OpGroupBroadcast %uint %c3 %x %c9", "", LANES * 0 + 9),
    ],
)
def test_values_of_other_lanes(run: Any, instruction: str, capabilities: str, wanted: Any) -> None:
    text = _assembly(f"{instruction}\nOpStore %to %r", capabilities)
    out = run(text, "test", 256, X, np.zeros(256, np.uint32), local=64)[-1]
    np.testing.assert_array_equal(out, X.reshape(4, 64)[:, wanted].ravel())


def test_votes_and_ballots_of_extensions(run: Any) -> None:
    body = """
    %high = OpUGreaterThan %bool %x %c1000
    %low = OpULessThan %bool %x %c1000
    %set = OpUGreaterThan %bool %x %half_way
    %ballot = OpSubgroupBallotKHR %v4uint %set
    %word = OpCompositeExtract %uint %ballot 1
    %a = OpSubgroupAllKHR %bool %high
    %b = OpSubgroupAnyKHR %bool %low
    %c = OpSubgroupAllEqualKHR %bool %set
    %d = OpGroupLogicalOrKHR %bool %c2 Reduce %low
    %e = OpGroupLogicalXorKHR %bool %c3 InclusiveScan %set
    %f = OpGroupLogicalAndKHR %bool %c2 ExclusiveScan %high
    %bits = OpCompositeConstruct %v4uint %c0 %c0 %c0 %c0
    """
    for number, name in enumerate("abcdef"):
        body += f"%w{name} = OpSelect %uint %{name} %c1 %c0\n%p{name} = OpIMul %uint %w{name} %d{number}\n"
    body += "%s0 = OpBitwiseXor %uint %word %pa\n"
    for number, name in enumerate("bcdef"):
        body += f"%s{number + 1} = OpBitwiseXor %uint %s{number} %p{name}\n"
    types = "%half_way = OpConstant %uint 2147483648\n"
    types += "\n".join(f"%d{n} = OpConstant %uint {0x01010101 << n & 0xFFFFFFFF}" for n in range(6))
    text = _assembly(
        body + "OpStore %to %s5", "SubgroupBallotKHR SubgroupVoteKHR GroupUniformArithmeticKHR", types=types
    ).replace("OpMemoryModel", 'OpExtension "SPV_KHR_uniform_group_instructions"\nOpMemoryModel')
    x = X.copy()
    x[70], x[200:] = 5, 2**31 + 7
    out = run(text, "test", 256, x, np.zeros(256, np.uint32), local=128)[-1]
    weights = [0x01010101 << n & 0xFFFFFFFF for n in range(6)]
    for n in range(4):
        mine, group = x[64 * n :][:64], x[n // 2 * 128 :][:128]
        is_set, high = mine > 2**31, group > 1000
        word = sum(1 << lane for lane in range(32) if is_set[lane + 32])
        before = np.logical_and.accumulate(np.concatenate([[True], high[:-1]]))[n % 2 * 64 :][:64]
        votes: list[Any] = [
            (mine > 1000).all(), (mine < 1000).any(), len(set(is_set)) == 1, (group < 1000).any(),
            np.logical_xor.accumulate(is_set), before,
        ]  # fmt: skip
        wanted = np.full(64, word, np.uint32)
        for weight, vote in zip(weights, votes):
            wanted ^= np.where(np.broadcast_to(vote, 64), np.uint32(weight), np.uint32(0))
        np.testing.assert_array_equal(out[64 * n :][:64], wanted)


def _sign(values: Any, bits: int) -> Any:
    return np.where(values >> (bits - 1) & 1, values.astype(np.int64) - (1 << bits), values.astype(np.int64))


@pytest.mark.parametrize(("first", "count"), [(0, 0), (3, 5), (0, 32), (24, 8), (31, 1)])
def test_fields_of_bits(run: Any, first: int, count: int) -> None:
    """Offset and count of a bit field have other sizes than 32 bits; vectors of fields."""
    body = """
    %wide = OpCompositeConstruct %v2uint %x %c1000
    %y = OpNot %uint %x
    %other = OpCompositeConstruct %v2uint %y %y
    %set = OpBitFieldInsert %v2uint %wide %other %first %count
    %part = OpBitFieldUExtract %v2uint %wide %first %count
    %signed = OpBitFieldSExtract %v2uint %wide %first %count
    %one = OpIMul %v2uint %part %three
    %two = OpIAdd %v2uint %one %set
    %all = OpBitwiseXor %v2uint %two %signed
    %a = OpCompositeExtract %uint %all 0
    %b = OpCompositeExtract %uint %all 1
    %sum = OpIAdd %uint %a %b
    OpStore %to %sum"""
    types = f"""%three = OpConstantComposite %v2uint %c3 %c3
    %first = OpConstant %uchar {first}
    %count = OpConstant %ulong {count}"""
    text = _assembly(body, "BitInstructions", types=types)
    text = text.replace("OpMemoryModel", 'OpExtension "SPV_KHR_bit_instructions"\nOpMemoryModel')
    out = run(text, "test", 256, X, np.zeros(256, np.uint32))[-1]
    mask = ((1 << count) - 1) << first
    total: Any = 0
    for value in (X.astype(np.int64), np.full(256, 1000)):
        inserted = (value & ~mask) | ((~X).astype(np.int64) << first & mask)
        part = (value & mask) >> first
        signed = _sign(part, count) if count else part
        total = total + ((part * 3 + inserted) ^ signed)
    np.testing.assert_array_equal(out, (total & 0xFFFFFFFF).astype(np.uint32))


@pytest.mark.parametrize("name", ["SDot", "UDot", "SUDot", "SDotAccSat", "UDotAccSat", "SUDotAccSat"])
def test_scalar_products_of_integers(run: Any, name: str) -> None:
    accumulates = name.endswith("AccSat")
    tail = "%limit " if accumulates else ""
    body = f"""
    %turned = OpBitwiseXor %uint %x %pattern
    %v = OpBitcast %v4uchar %x
    %w = OpBitcast %v4uchar %turned
    %a = Op{name}KHR %uint %v %w {tail}
    %b = Op{name}KHR %uint %x %turned {tail}PackedVectorFormat4x8BitKHR
    %c = OpBitwiseXor %uint %a %b
    %zero = OpIEqual %bool %c %c0
    %r = OpSelect %uint %zero %a %c1
    OpStore %to %r"""
    limit = 0x7FFFA000 if name.startswith("S") else 0xFFFFA000
    types = f"%pattern = OpConstant %uint 2863289685\n%limit = OpConstant %uint {limit}"
    caps = "DotProduct DotProductInput4x8Bit DotProductInput4x8BitPacked"
    out = run(_assembly(body, caps, types=types), "test", 256, X, np.zeros(256, np.uint32))[-1]
    bytes_x = X.view(np.uint8).reshape(-1, 4).astype(np.int64)
    bytes_y = (X ^ np.uint32(2863289685)).view(np.uint8).reshape(-1, 4).astype(np.int64)
    if not name.startswith("U"):
        bytes_x = _sign(bytes_x, 8)
    if name.startswith("SDot"):
        bytes_y = _sign(bytes_y, 8)
    sums = (bytes_x * bytes_y).sum(1)
    if accumulates:
        sums = np.clip(sums + limit, None, 2**32 - 1 if name.startswith("U") else 2**31 - 1)
    np.testing.assert_array_equal(out, (sums & 0xFFFFFFFF).astype(np.uint32))


def test_constants_from_constants(run: Any) -> None:
    """OpSpecConstantComposite, and OpSpecConstantOp with composites, numbers and addresses."""
    types = """
    %spec = OpSpecConstant %uint 77
    %pair = OpSpecConstantComposite %v2uint %spec %c5
    %turned = OpSpecConstantOp %v2uint VectorShuffle %pair %pair 3 0
    %first = OpSpecConstantOp %uint CompositeExtract %turned 0
    %second = OpSpecConstantOp %uint CompositeExtract %turned 1
    %changed = OpSpecConstantOp %v2uint CompositeInsert %c9 %turned 1
    %ninth = OpSpecConstantOp %uint CompositeExtract %changed 1
    %size = OpConstant %uint 4
    %array = OpTypeArray %uint %size
    %table_type = OpTypePointer CrossWorkgroup %array
    %filled = OpSpecConstantComposite %array %first %second %ninth %c1000
    %fourth = OpSpecConstantOp %uint CompositeExtract %filled 3
    %wide = OpSpecConstantOp %ulong UConvert %second
    %more = OpSpecConstantOp %ulong IMul %wide %wide
    %half_of = OpSpecConstantOp %uint UDiv %second %c2
    %large = OpSpecConstantOp %bool UGreaterThan %second %c32
    %chosen = OpSpecConstantOp %uint Select %large %second %c0
    %shifted = OpSpecConstantOp %uint ShiftLeftLogical %chosen %c3
    %float_size = OpConstant %float 2.5
    %bits = OpSpecConstantOp %uint Bitcast %float_size
    %table = OpVariable %table_type CrossWorkgroup %filled
    %third = OpSpecConstantOp %pointer InBoundsAccessChain %table %c2
    %minus = OpConstant %uint 4294967295
    %place = OpSpecConstantOp %pointer InBoundsPtrAccessChain %third %minus
    """
    body = """
    %from_table = OpLoad %uint %place
    %narrow = OpUConvert %uint %more
    %s0 = OpIAdd %uint %from_table %narrow
    %s1 = OpIAdd %uint %s0 %fourth
    %s2 = OpIAdd %uint %s1 %half_of
    %s3 = OpIAdd %uint %s2 %shifted
    %s4 = OpIAdd %uint %s3 %bits
    %s5 = OpIAdd %uint %s4 %ninth
    OpStore %to %s5"""
    text = _assembly(body, types=types, decorations="OpDecorate %spec SpecId 4")
    out = run(text, "test", 3, X, np.zeros(3, np.uint32))[-1]
    bits = int(np.float32(2.5).view(np.uint32))
    assert list(out) == [(77 + 77 * 77 + 1000 + 38 + (77 << 3) + bits + 9) % 2**32] * 3


def test_constant_addresses_in_local_memory(run: Any) -> None:
    """Addresses of Workgroup variables as constants, and in a global table that has each work-group's own ones."""
    types = """
    %size = OpConstant %uint 64
    %array = OpTypeArray %uint %size
    %local_array = OpTypePointer Workgroup %array
    %local_one = OpTypePointer Workgroup %uint
    %any_array = OpTypePointer Generic %array
    %any_one = OpTypePointer Generic %uint
    %pad = OpVariable %local_one Workgroup
    %values = OpVariable %local_array Workgroup
    %any_values = OpSpecConstantOp %any_array PtrCastToGeneric %values
    %any_first = OpSpecConstantOp %any_one Bitcast %any_values
    %third = OpSpecConstantOp %any_one InBoundsAccessChain %any_values %c3
    %fifth = OpSpecConstantOp %any_one InBoundsPtrAccessChain %third %c2
    %two = OpConstant %uint 2
    %addresses = OpTypeArray %any_one %two
    %to_addresses = OpTypePointer CrossWorkgroup %addresses
    %to_address = OpTypePointer CrossWorkgroup %any_one
    %both = OpSpecConstantComposite %addresses %any_first %fifth
    %table = OpVariable %to_addresses CrossWorkgroup %both
    """
    body = """
    %own_place = OpInBoundsPtrAccessChain %any_one %any_first %local
    OpStore %own_place %x
    OpControlBarrier %c2 %c2 %c0
    %place_0 = OpInBoundsAccessChain %to_address %table %c0
    %place_1 = OpInBoundsAccessChain %to_address %table %c1
    %address_0 = OpLoad %any_one %place_0
    %address_1 = OpLoad %any_one %place_1
    %value_0 = OpLoad %uint %address_0
    %value_1 = OpLoad %uint %address_1
    %value_2 = OpLoad %uint %third
    %double = OpIMul %uint %value_1 %c16
    %triple = OpIMul %uint %value_2 %c255
    %sum = OpIAdd %uint %value_0 %double
    %total = OpIAdd %uint %sum %triple
    OpStore %to %total"""
    text = _assembly(body, capabilities="GenericPointer", types=types)
    x = np.random.default_rng(4).integers(0, 1000, 40 * 20).astype(np.uint32)
    out = run(text, "test", x.size, x, np.zeros(x.size, np.uint32), local=20)[-1]
    groups = x.reshape(40, 20)
    np.testing.assert_array_equal(out, np.repeat(groups[:, 0] + 16 * groups[:, 5] + 255 * groups[:, 3], 20))


def test_decorations_of_groups(run: Any) -> None:
    """A packed struct and a built-in variable, decorated through a decoration group."""
    decorations = """OpDecorate %packed CPacked
    %packed = OpDecorationGroup
    OpGroupDecorate %packed %pair
    OpDecorate %numbers BuiltIn GlobalSize
    %numbers = OpDecorationGroup
    OpGroupDecorate %numbers %sizes"""
    types = """%pair = OpTypeStruct %uchar %uint
    %pairs = OpTypePointer CrossWorkgroup %pair
    %sizes = OpVariable %input Input"""
    body = """
    %base = OpBitcast %pairs %in
    %member = OpInBoundsPtrAccessChain %pointer %base %i %c1
    %value = OpLoad %uint %member Aligned 1
    %all = OpLoad %v3ulong %sizes
    %count = OpCompositeExtract %ulong %all 0
    %small = OpUConvert %uint %count
    %r = OpIAdd %uint %value %small
    OpStore %to %r"""
    out = run(_assembly(body, types=types, decorations=decorations), "test", 50, X, np.zeros(50, np.uint32))[-1]
    packed = np.frombuffer(X.tobytes()[: 50 * 5], np.dtype([("a", "u1"), ("b", "<u4")]))["b"]
    np.testing.assert_array_equal(out, packed + np.uint32(50))


def test_what_a_generic_pointer_points_to(run: Any) -> None:
    types = """%generic = OpTypePointer Generic %uint
    %shared = OpTypePointer Workgroup %uint
    %common = OpVariable %shared Workgroup"""
    body = """
    %a = OpPtrCastToGeneric %generic %to
    %b = OpPtrCastToGeneric %generic %common
    %c = OpPtrCastToGeneric %generic %mine
    %fa = OpGenericPtrMemSemantics %uint %a
    %fb = OpGenericPtrMemSemantics %uint %b
    %fc = OpGenericPtrMemSemantics %uint %c
    %size = OpSizeOf %uint %common
    %s0 = OpIAdd %uint %fa %fb
    %s1 = OpIAdd %uint %s0 %fc
    %s2 = OpIMul %uint %s1 %c1000
    %s3 = OpIAdd %uint %s2 %size
    OpStore %to %s3"""
    text = _assembly(body, types=types, variables="%mine = OpVariable %own Function")
    out = run(text, "test", 8, X, np.zeros(8, np.uint32), local=8)[-1]
    assert list(out) == [(0x200 + 0x100) * 1000 + 4] * 8


def test_barriers_in_two_parts(run: Any) -> None:
    types = """%size = OpConstant %uint 128
    %array = OpTypeArray %uint %size
    %shared = OpTypePointer Workgroup %array
    %shared_uint = OpTypePointer Workgroup %uint
    %pool = OpVariable %shared Workgroup
    %seven = OpConstant %ulong 7
    %last = OpConstant %ulong 127
    %semantics = OpConstant %uint 264"""
    body = """
    %mine = OpInBoundsAccessChain %shared_uint %pool %local
    OpStore %mine %x
    OpControlBarrierArriveINTEL %c2 %c2 %semantics
    %moved = OpIAdd %ulong %local %seven
    %other = OpBitwiseAnd %ulong %moved %last
    OpControlBarrierWaitINTEL %c2 %c2 %semantics
    %theirs = OpInBoundsAccessChain %shared_uint %pool %other
    %y = OpLoad %uint %theirs
    OpStore %to %y"""
    text = _assembly(body, "SplitBarrierINTEL", types=types)
    text = text.replace("OpMemoryModel", 'OpExtension "SPV_INTEL_split_barrier"\nOpMemoryModel')
    out = run(text, "test", 256, X, np.zeros(256, np.uint32), local=128)[-1]
    np.testing.assert_array_equal(out, np.roll(X.reshape(2, 128), -7, 1).ravel())


@pytest.mark.parametrize("name", ["FAdd", "FMin", "FMax", "IAdd", "UMax", "SMin"])
def test_atomics_of_16_bits(run: Any, name: str) -> None:
    """Operations on neighbours in memory do not disturb each other."""
    floats = name.startswith("F")
    kind, dtype = ("half", np.float16) if floats else ("ushort", np.uint16)
    values = (X % 64).astype(dtype)
    x = values.view(np.uint16).astype(np.uint32)
    bits = "%v = OpBitcast %half %narrow" if floats else "%v = OpCopyObject %ushort %narrow"
    operation = f"OpAtomic{name}{'EXT' if floats else ''}"
    body = f"""
    %narrow = OpUConvert %ushort %x
    {bits}
    %base = OpBitcast %places %out
    %which = OpBitwiseAnd %ulong %i %one
    %place = OpInBoundsPtrAccessChain %places %base %which
    %before = {operation} %{kind} %place %c1 %c0 %v"""
    caps = "AtomicFloat16AddEXT AtomicFloat16MinMaxEXT"
    text = _assembly(body, caps, types=f"%places = OpTypePointer CrossWorkgroup %{kind}\n%one = OpConstant %ulong 1")
    extensions = ("SPV_EXT_shader_atomic_float16_add", "SPV_EXT_shader_atomic_float_min_max")
    listed = "".join(f'OpExtension "{extension}"\n' for extension in extensions)
    start = np.array([40, 1], dtype)
    out = run(text.replace("OpMemoryModel", listed + "OpMemoryModel"), "test", 64, x, start.view(np.uint32))[-1]
    function: Any = {
        "FAdd": np.add, "IAdd": np.add, "FMin": np.minimum, "SMin": np.minimum, "FMax": np.maximum, "UMax": np.maximum,
    }[name]  # fmt: skip
    wanted = [function.reduce(np.concatenate([start[n : n + 1], values[n:64:2]]), dtype=dtype) for n in range(2)]
    assert list(out.view(dtype)) == wanted
