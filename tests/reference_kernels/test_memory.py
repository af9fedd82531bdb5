"""Structs, arrays, address spaces, work-groups, atomics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.compile_kernels import assembled, load


def _dtype(size: int, **fields: Any) -> np.dtype[Any]:
    """Return the dtype of a kernel's struct: the format and offset of each member."""
    formats, offsets = zip(*fields.values())
    return np.dtype({"names": list(fields), "formats": list(formats), "offsets": list(offsets), "itemsize": size})


def test_arrays_of_the_work_item(run: Any) -> None:
    """Private arrays with indices known only at run time."""
    text = """kernel void test(global const int *in, global int *out)
    {
        int own[16];
        const size_t i = get_global_id(0);
        for (int k = 0; k < 16; k++) own[(k * 5 + in[i]) & 15] = in[i] * k;
        int sum = 0;
        for (int k = 0; k < in[i] % 16; k++) sum = sum * 3 + own[k];
        out[i] = sum;
    }"""
    x = np.random.default_rng(2).integers(0, 100, 150).astype(np.int32)

    def model(n: int) -> int:
        own = [0] * 16
        for k in range(16):
            own[(k * 5 + n) & 15] = n * k
        total = 0
        for k in range(n % 16):
            total = (total * 3 + own[k]) & 0xFFFFFFFF
        return total

    out = run(text, "test", 150, x, np.zeros_like(x))[-1]
    np.testing.assert_array_equal(out.view(np.uint32), [model(int(n)) for n in x])


@pytest.mark.parametrize(
    ("element", "lanes"),
    [("char", 1), ("short", 1), ("int", 1), ("long", 1), ("float", 2), ("short", 4), ("double", 4)],
)
@pytest.mark.parametrize("stride", [16, 17, 40, 3])
def test_rows_and_runs_of_sixteen(run: Any, element: str, lanes: int, stride: int) -> None:
    """Accesses of square work-groups: sixteen neighbours each, or one address for sixteen work-items."""
    kind = f"{element}{lanes}" if lanes > 1 else element
    text = f"""
    kernel void read(global const {kind} *in, global {kind} *rows, global {kind} *runs, uint stride)
    {{
        const size_t i = get_global_id(0), part = i / 16 * stride;
        rows[i] = in[part + i % 16];
        runs[i] = in[part];
    }}
    kernel void write(global const {kind} *in, global {kind} *rows, global {kind} *runs, uint stride)
    {{
        const size_t i = get_global_id(0), part = i / 16 * stride;
        if (stride >= 16) rows[part + i % 16] = in[i];
        runs[part] = in[i];
    }}"""
    dtype = np.dtype({"char": "i1", "short": "i2", "int": "i4", "long": "i8", "float": "f4", "double": "f8"}[element])
    items = np.arange(150)
    row, run_ = items // 16 * stride + items % 16, items // 16 * stride
    source = (
        np.random.default_rng(stride).integers(0, 100, (int(row.max()) + 1, lanes)).astype(dtype)
    )  # up to its last element
    _, rows, runs = run(
        text, "read", 150, source, *(np.zeros((150, lanes), dtype) for _ in range(2)), np.uint32(stride)
    )
    np.testing.assert_array_equal(rows, source[row])
    np.testing.assert_array_equal(runs, source[run_])
    _, rows, runs = run(text, "write", 150, rows, *(np.zeros_like(source) for _ in range(2)), np.uint32(stride))
    expected = np.zeros_like(source)
    if stride >= 16:
        expected[row] = source[row]
    np.testing.assert_array_equal(rows, expected)
    of_sixteen = {int(place): source[row[items // 16 * stride == place]] for place in np.unique(run_)}
    for place, values in of_sixteen.items():  # one of the written values
        assert (values == runs[place]).all(1).any()


def test_structs(run: Any) -> None:
    text = """
    struct inner { char tag; double weight; short pair[3]; };
    struct item { int id; struct inner inner[2]; float4 color; };
    kernel void test(global const struct item *in, global struct item *out, int shift)
    {
        const size_t i = get_global_id(0);
        struct item copy = in[i];
        copy.id += shift;
        copy.inner[copy.id & 1].weight *= 2.0;
        copy.inner[0].pair[2] = (short)(copy.inner[1].pair[0] + copy.inner[0].tag);
        copy.color = copy.color.wzyx;
        out[i] = copy;
    }"""
    inner = _dtype(24, tag=("i1", 0), weight=("f8", 8), pair=("(3,)i2", 16))
    item = _dtype(80, id=("i4", 0), inner=((inner, 2), 8), color=("(4,)f4", 64))
    generator = np.random.default_rng(3)
    data = np.zeros(90, item)
    data["id"] = generator.integers(0, 100, 90)
    data["inner"]["tag"] = generator.integers(-100, 100, (90, 2))
    data["inner"]["weight"] = generator.standard_normal((90, 2))
    data["inner"]["pair"] = generator.integers(-1000, 1000, (90, 2, 3))
    data["color"] = generator.standard_normal((90, 4))
    wanted = data.copy()
    wanted["id"] += 5
    which = wanted["id"] & 1
    wanted["inner"]["weight"][np.arange(90), which] *= 2
    wanted["inner"]["pair"][:, 0, 2] = data["inner"]["pair"][:, 1, 0] + data["inner"]["tag"][:, 0]
    wanted["color"] = data["color"][:, ::-1]
    raw = data.view(np.uint8).copy()
    out = run(text, "test", 90, raw, np.zeros_like(raw), 5)[-1].view(item)
    for field in ("id", "color"):
        np.testing.assert_array_equal(out[field], wanted[field])
    for field in ("tag", "weight", "pair"):
        np.testing.assert_array_equal(out["inner"][field], wanted["inner"][field])


def test_structs_by_value(run: Any) -> None:
    text = """
    struct setup { float scale; int4 shift; uchar flag; };
    kernel void test(struct setup setup, global float *out)
    {
        const size_t i = get_global_id(0);
        out[i] = setup.scale * (float)i + (float)setup.shift.z + (float)setup.flag;
    }"""
    setup = _dtype(48, scale=("f4", 0), shift=("(4,)i4", 16), flag=("u1", 32))
    value = np.zeros((), setup)
    value["scale"], value["shift"], value["flag"] = 1.5, [1, 2, 3, 4], 200
    out = run(text, "test", 100, value, np.zeros(100, np.float32))[-1]
    np.testing.assert_array_equal(out, 1.5 * np.arange(100, dtype=np.float32) + 203)


def test_constant_tables(run: Any) -> None:
    text = """
    constant int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    constant float4 colors[2] = {(float4)(1, 2, 3, 4), (float4)(5, 6, 7, 8)};
    kernel void test(global int *out, global float4 *color)
    {
        const size_t i = get_global_id(0);
        out[i] = table[i & 7] * 10 + table[(i * 3) & 7];
        color[i] = colors[i & 1];
    }"""
    table = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    i = np.arange(70)
    out, color = run(text, "test", 70, np.zeros(70, np.int32), np.zeros((70, 4), np.float32))
    np.testing.assert_array_equal(out, table[i & 7] * 10 + table[i * 3 & 7])
    np.testing.assert_array_equal(color, np.array([[1, 2, 3, 4], [5, 6, 7, 8]])[i & 1])


def test_pointers_in_memory(queue: bl.Queue, run: Any) -> None:
    """A kernel loads pointers to three address spaces."""
    text = """kernel void test(global const ulong *table, global int *out)
    {
        const size_t i = get_global_id(0);
        global const int *p = (global const int *)table[i % 3];
        out[i] = p[i];
    }"""
    rows = [bl.usm_empty((60,), np.int32, queue, kind=kind) for kind in ("device", "host", "shared")]
    for number, row in enumerate(rows):
        row.copy_from(np.arange(60, dtype=np.int32) + 1000 * number)
    table = np.array([int(row.pointer) for row in rows], np.uint64)
    out = run(text, "test", 60, table, np.zeros(60, np.int32))[-1]
    np.testing.assert_array_equal(out, np.arange(60) + 1000 * (np.arange(60) % 3))


@pytest.mark.parametrize("size", [1, 7, 64, 200, 256])
def test_sums_of_work_groups(run: Any, size: int) -> None:
    """Tree reduction in local memory, with a barrier at every step."""
    text = """kernel void test(global const int *in, global int *out)
    {
        local int part[256];
        const uint i = (uint)get_local_id(0), n = (uint)get_local_size(0);
        part[i] = in[get_global_id(0)];
        for (uint have = n; have > 1;) {
            barrier(CLK_LOCAL_MEM_FENCE);
            const uint rest = (have + 1) / 2;
            const int other = i + rest < have ? part[i + rest] : 0;
            if (i < rest) part[i] += other;
            have = rest;
        }
        if (i == 0) out[get_group_id(0)] = part[0];
    }"""
    x = np.random.default_rng(size).integers(-100, 100, (9, size)).astype(np.int32)
    out = run(text, "test", 9 * size, x, np.zeros(9, np.int32), local=size)[-1]
    np.testing.assert_array_equal(out, x.sum(axis=1))


def test_local_arguments_and_sizes(run: Any) -> None:
    text = """kernel void test(global uint *out, local uint *one, local ulong *two)
    {
        const size_t x = get_local_id(0), y = get_local_id(1), w = get_local_size(0), h = get_local_size(1);
        one[y * w + x] = (uint)(y * w + x);
        two[x * h + y] = x * 100 + y;
        barrier(CLK_LOCAL_MEM_FENCE);
        const size_t other = w * h - 1 - (y * w + x);
        out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = one[other] + (uint)two[other] * 1000;
    }"""
    out = run(
        text,
        "test",
        (6, 16),
        np.zeros((6, 16), np.uint32),
        bl.LocalAccessor(4 * 24),
        bl.LocalAccessor(8 * 24),
        local=(3, 8),
    )[-1]
    y, x = np.mgrid[0:3, 0:8]
    other = 23 - (y * 8 + x)
    block = other + (other // 3 * 100 + other % 3) * 1000
    np.testing.assert_array_equal(out, np.tile(block, (2, 2)))


def test_built_in_variables(run: Any) -> None:
    text = """kernel void test(global ulong *out)
    {
        const size_t i = get_global_linear_id();
        const ulong values[12] = {get_global_id(0), get_global_id(1), get_global_id(2),
            get_local_id(0), get_local_id(1), get_local_id(2), get_group_id(0), get_group_id(1), get_group_id(2),
            get_local_linear_id(),
            get_num_groups(0) * 10000 + get_num_groups(1) * 100 + get_num_groups(2),
            get_work_dim() * 1000000 + get_global_size(0) * 10000 + get_local_size(1) * 100 + get_local_size(2)};
        for (int k = 0; k < 12; k++) out[i * 12 + k] = values[k];
    }"""
    out = run(text, "test", (4, 6, 10), np.zeros((240, 12), np.uint64), local=(2, 3, 5))[-1].astype(np.int64)
    z, y, x = (n.ravel() for n in np.mgrid[0:4, 0:6, 0:10])
    linear = (z % 2 * 3 + y % 3) * 5 + x % 5
    wanted = [x, y, z, x % 5, y % 3, z % 2, x // 5, y // 3, z // 2, linear, 0 * x + 20202, 0 * x + 3100302]
    np.testing.assert_array_equal(out, np.stack(wanted, 1))


def test_atomic_counters(run: Any) -> None:
    text = """
    #pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
    #define RELAXED memory_order_relaxed, memory_scope_device
    #define CHANGE(what, place, value) __opencl_atomic_fetch_##what(place, value, RELAXED)
    kernel void test(global const int *in, global atomic_int *out, global atomic_long *wide)
    {
        const int n = in[get_global_id(0)];
        CHANGE(add, &out[0], n);
        CHANGE(max, &out[1], n);
        CHANGE(min, &out[2], n);
        CHANGE(add, &out[3], 1);
        CHANGE(xor, &out[4], n);
        if (n & 1) CHANGE(or, &out[5], n);
        CHANGE(sub, &out[6], n);
        CHANGE(and, &out[7], ~(n & 7));
        CHANGE(add, &wide[0], (long)n << 20);
        int old = __opencl_atomic_load(&out[8], RELAXED);
        while (!__opencl_atomic_compare_exchange_weak(&out[8], &old, old + n, memory_order_relaxed, RELAXED)) {}
    }"""
    x = np.random.default_rng(9).integers(-1000, 1000, 5000).astype(np.int32)
    start = np.array([0, -5000, 5000, 0, 0, 0, 0, -1, 0], np.int32)
    _, out, wide = run(text, "test", 5000, x, start, np.zeros(1, np.int64))
    wanted = [x.sum(), x.max(), x.min(), 5000, np.bitwise_xor.reduce(x), np.bitwise_or.reduce(x[x & 1 == 1]), -x.sum()]
    np.testing.assert_array_equal(out, [*wanted, np.bitwise_and.reduce(~(x & 7)), x.sum()])
    assert wide[0] == x.sum(dtype=np.int64) * 2**20


def test_copies_of_bytes(run: Any) -> None:
    """Copies emitted by the compiler for one instruction, and parts of words."""
    text = """
    struct block { uchar bytes[37]; };
    kernel void test(global const struct block *in, global struct block *out, global const uchar *b, global ushort *s)
    {
        const size_t i = get_global_id(0);
        out[i] = in[i];
        s[i] = (ushort)(b[3 * i] | b[3 * i + 1] << 8);
    }"""
    data = np.random.default_rng(4).integers(0, 256, (80, 37)).astype(np.uint8)
    b = np.random.default_rng(5).integers(0, 256, 240).astype(np.uint8)
    _, out, _, s = run(text, "test", 80, data, np.zeros_like(data), b, np.zeros(80, np.uint16))
    np.testing.assert_array_equal(out, data)
    np.testing.assert_array_equal(s, b[0::3] + 256 * b[1::3].astype(np.uint16))


def test_simple_kernels(queue: bl.Queue) -> None:
    """The kernels that the runtime tests use."""
    bundle = load(queue, "simple")
    assert set(bundle.kernel_names) == {"axpy", "busy", "copy", "fill", "increment"}
    a, b = (bl.usm_empty((500,), np.int32, queue) for _ in range(2))
    queue.parallel_for(500, bundle.get_kernel("fill"), a, 7).wait()
    queue.parallel_for(500, bundle.get_kernel("increment"), a).wait()
    queue.parallel_for(500, bundle.get_kernel("copy"), a, b).wait()
    np.testing.assert_array_equal(b.numpy(queue), np.full(500, 8))
    queue.parallel_for(500, bundle.get_kernel("busy"), b, 1000).wait()
    np.testing.assert_array_equal(b.numpy(queue), np.full(500, 1000))


def test_generic_pointers(run: Any) -> None:
    """A generic pointer that belongs to one address space, or to none of the candidates."""
    text = """
    global int *__spirv_GenericCastToPtrExplicit_ToGlobal(generic int *, int);
    local int *__spirv_GenericCastToPtrExplicit_ToLocal(generic int *, int);
    private int *__spirv_GenericCastToPtrExplicit_ToPrivate(generic int *, int);
    kernel void test(global int *out, global int *data, local int *piece)
    {
        const size_t i = get_global_id(0);
        int own[2] = {(int)i, 5};
        piece[get_local_id(0)] = 7;
        generic int *p = i % 3 == 0 ? (generic int *)&data[i] : i % 3 == 1 ? (generic int *)&piece[get_local_id(0)]
            : (generic int *)&own[i & 1];
        global int *g = __spirv_GenericCastToPtrExplicit_ToGlobal(p, 5);
        local int *l = __spirv_GenericCastToPtrExplicit_ToLocal(p, 4);
        private int *q = __spirv_GenericCastToPtrExplicit_ToPrivate(p, 7);
        out[i] = *p * 10 + (g != 0) + 2 * (l != 0) + 4 * (q != 0);
        if (g) *g = -1;
    }"""
    data = np.arange(100, 190, dtype=np.int32)
    out, after = run(text, "test", 90, np.zeros(90, np.int32), data, bl.LocalAccessor(4 * 30), local=30)
    i = np.arange(90)
    own = np.where(i & 1, 5, i)
    np.testing.assert_array_equal(out, np.select([i % 3 == 0, i % 3 == 1], [data * 10 + 1, i * 0 + 72], own * 10 + 4))
    np.testing.assert_array_equal(after, np.where(i % 3 == 0, -1, data))


_LIST = """
OpCapability Addresses
OpCapability Kernel
OpCapability Int64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %test "test"
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
OpTypeForwardPointer %link {storage}
%node = OpTypeStruct %link %uint
{definition}
%out_t = OpTypePointer CrossWorkgroup %uint
%own = OpTypePointer Function %link
%next_t = OpTypePointer CrossWorkgroup %link
%f = OpTypeFunction %void %link %out_t
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%three = OpConstant %uint 3
%none = OpConstant %ulong 0
%bool = OpTypeBool
%test = OpFunction %void None %f
%head = OpFunctionParameter %link
%out = OpFunctionParameter %out_t
%start = OpLabel
OpBranch %round
%round = OpLabel
%at = OpPhi %link %head %start %next %round
%sum = OpPhi %uint %zero %start %more %round
%value_at = OpInBoundsAccessChain %out_t %at %one
%value = OpLoad %uint %value_at
%tripled = OpIMul %uint %sum %three
%more = OpIAdd %uint %tripled %value
%next_at = OpInBoundsAccessChain %next_t %at %zero
%next = OpLoad %link %next_at
%number = OpConvertPtrToU %ulong %next
%end = OpIEqual %bool %number %none
OpBranchConditional %end %done %round
%done = OpLabel
OpStore %out %more
OpReturn
OpFunctionEnd
"""


def _linked_list(storage: str = "CrossWorkgroup", definition: str = "") -> str:
    return _LIST.format(storage=storage, definition=definition or f"%link = OpTypePointer {storage} %node")


def test_a_linked_list_is_followed(queue: bl.Queue) -> None:
    """A struct contains a pointer to its own type, declared before the struct and defined after it."""
    if queue.device.backend not in (bl.Backend.reference, bl.Backend.level_zero):
        pytest.skip("the module is SPIR-V")
    kernel = bl.load_kernel_bundle(assembled(_linked_list()), queue).get_kernel("test")
    nodes = bl.usm_empty((5, 2), np.uint64, queue, kind="shared")
    order = [3, 0, 4, 1, 2]
    filled = np.zeros((5, 2), np.uint64)
    for place, following in zip(order, [*order[1:], None], strict=True):
        filled[place] = [0 if following is None else nodes.pointer + 16 * following, place + 1]
    nodes.copy_from(filled)
    out = bl.usm_empty((1,), np.uint32, queue)
    queue.parallel_for(1, kernel, nodes[order[0] :], out).wait_and_throw()
    expected = 0
    for place in order:
        expected = 3 * expected + place + 1
    assert out.numpy(queue).tolist() == [expected]


@pytest.mark.parametrize(
    "definition",
    [
        "%link = OpTypePointer Function %node",
        "%link = OpTypeInt 16 0",
        "%link = OpTypeFloat 64",
        "%other = OpTypeInt 16 0",
    ],
)
def test_forward_pointers_are_defined_as_declared(queue: bl.Queue, definition: str) -> None:
    if queue.device.backend not in (bl.Backend.reference, bl.Backend.level_zero):
        pytest.skip("the module is SPIR-V")
    with pytest.raises(bl.BuildError):
        bl.load_kernel_bundle(assembled(_linked_list(definition=definition)), queue)
