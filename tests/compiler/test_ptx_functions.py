"""OpenCL C on NVIDIA GPUs beyond libclc: the PTX of each function, checked with ``ptxas`` where it is installed.

The tests of ``tests/reference_kernels`` with ``--device cuda`` check the results on a GPU.
"""

from __future__ import annotations

import re

import pytest

import bindless as bl
from bindless.compiler.llvm.undefined_functions import undefined
from bindless.compiler.ptx import atomics, group_functions, half
from tests.support.error_checks import raises

pytestmark = pytest.mark.skipif(
    not bl.kernels_available(),
    reason="needs a kernel compiler: pip install 'bindless[kernels]'",
)


def _ptx(body: str, architecture: str = "sm_75") -> str:
    """Return the kernel with this body, for pointers of each type; ``build`` runs ``ptxas``."""
    text = f"""
kernel void test(global int *i, global uint *u, global long *l, global float *f, global double *d, global half *h,
                 global half4 *v, global uint4 *b, local int *piece, ulong address, uint n)
{{
    const int x = i[get_global_id(0)];
    {body}
}}
"""
    data = bl.build(text, targets="ptx", architecture=architecture).sections[0].data.decode()
    assert ".extern .func" not in data  # the PTX contains the called functions; libclc decides which are inlined
    return data


def _instructions(text: str, pattern: str) -> list[str]:
    return re.findall(rf"^\s*(?:@!?%p\d+ )?((?:{pattern})[\w.]*)", text, re.MULTILINE)


RELAXED = "memory_order_relaxed, memory_scope_device"
STRONG = "memory_order_acq_rel, memory_scope_work_group"
SYSTEM = "memory_order_relaxed, memory_scope_all_svm_devices"


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        (f"atomic_fetch_add_explicit(A, 3, {RELAXED});", ["atom.global.add.u32"]),
        (f"atomic_fetch_or_explicit(A, 3, {STRONG});",
         ["fence.acq_rel.cta", "atom.global.or.b32", "fence.acq_rel.cta"]),
        ("atomic_fetch_xor(A, 3);", ["fence.sc.gpu", "atom.global.xor.b32", "fence.acq_rel.gpu"]),
        (f"atomic_fetch_max_explicit((global atomic_uint *)u, n, {RELAXED});", ["atom.global.max.u32"]),
        (f"atomic_fetch_min_explicit(A, 3, {RELAXED});", ["atom.global.min.s32"]),
        (f"atomic_fetch_add_explicit((global atomic_long *)l, 3l, {RELAXED});", ["atom.global.add.u64"]),
        (f"atomic_fetch_add_explicit((global atomic_float *)f, 3.0f, {RELAXED});", ["atom.global.add.f32"]),
        (f"atomic_fetch_add_explicit((global atomic_double *)d, 3.0, {RELAXED});", ["atom.global.add.f64"]),
        (f"atomic_fetch_max_explicit((global atomic_float *)f, 3.0f, {RELAXED});", ["atom.relaxed.gpu.global.cas.b32"]),
        (f"atomic_fetch_add_explicit((local atomic_int *)piece, 3, {RELAXED});", ["atom.shared.add.u32"]),
        (f"atomic_fetch_sub_explicit(A, 3, {SYSTEM});", ["atom.sys.add.u32"]),
        (f"atomic_fetch_min_explicit((global atomic_uint *)u, n, {SYSTEM});", ["atom.sys.min.u32"]),
        (f"atomic_fetch_min_explicit((global atomic_float *)f, 3.0f, {SYSTEM});", ["atom.relaxed.sys.global.cas.b32"]),
        (f"i[1] = atomic_exchange_explicit(A, 3, {RELAXED});", ["atom.global.exch.b32"]),
        ("i[1] = atomic_load_explicit(A, memory_order_acquire, memory_scope_device);", ["ld.acquire.gpu.global.b32"]),
        ("atomic_store_explicit(A, 3, memory_order_release, memory_scope_work_group);", ["st.release.cta.global.b32"]),
        ("atomic_store(A, 3);", ["fence.sc.gpu", "st.release.gpu.global.b32"]),
        ("int e = x; i[1] = atomic_compare_exchange_strong(A, &e, 5); i[2] = e;",
         ["fence.sc.gpu", "atom.acquire.gpu.global.cas.b32"]),
        (f"int e = x; i[1] = atomic_compare_exchange_weak_explicit(A, &e, 5, memory_order_relaxed, {RELAXED}); *i = e;",
         ["atom.relaxed.gpu.global.cas.b32"]),
        ("i[1] = atomic_flag_test_and_set_explicit((global atomic_flag *)i, memory_order_acquire);",
         ["fence.acq_rel.gpu", "atom.global.exch.b32", "fence.acq_rel.gpu"]),
        ("atomic_flag_clear_explicit((global atomic_flag *)i, memory_order_release);", ["st.release.gpu.global.b32"]),
        ("atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_seq_cst, memory_scope_work_group);",
         ["fence.sc.cta"]),
        ("atomic_init(A, 3);", []),
        ("atom_min(l, 3l);", ["atom.global.min.s64"]),
        ("l[1] = atom_cmpxchg(l, 3l, 4l); atom_inc(l);", ["atom.relaxed.gpu.global.cas.b64", "atom.global.add.u64"]),
    ],
)  # fmt: skip
def test_atomics(statement: str, wanted: list[str]) -> None:
    text = _ptx(statement.replace("A,", "(global atomic_int *)i,"))
    pattern = r"atom\.|fence\.|ld\.acquire|ld\.relaxed|st\.re"
    assert _instructions(text, pattern) == wanted


def test_orders_that_are_not_constant() -> None:
    """Each order and scope has a branch: three of each, with a fence before and after all but relaxed ones."""
    text = _ptx("atomic_fetch_add_explicit((global atomic_int *)i, 3, (memory_order)n, (memory_scope)x);")
    assert sorted(set(_instructions(text, r"fence\."))) == [
        "fence.acq_rel.cta", "fence.acq_rel.gpu", "fence.acq_rel.sys", "fence.sc.cta", "fence.sc.gpu", "fence.sc.sys",
    ]  # fmt: skip
    assert len(_instructions(text, r"atom\.")) == 9


SUB_GROUPS = [
    ("i[1] = sub_group_reduce_add(x);", {"shfl.sync.idx.b32": 6, "activemask.b32": 0}),
    ("l[1] = sub_group_scan_inclusive_max(l[0]);", {"shfl.sync.idx.b32": 10}),
    ("f[1] = sub_group_scan_exclusive_min(f[0]);", {"shfl.sync.idx.b32": 6}),
    ("i[1] = sub_group_all(x); i[2] = sub_group_any(x);", {"vote.sync.all.pred": 1, "vote.sync.any.pred": 1}),
    ("b[1] = sub_group_ballot(x);", {"vote.sync.ballot.b32": 1, "activemask.b32": 1}),
    ("i[1] = sub_group_broadcast(x, 3); d[1] = sub_group_broadcast(d[0], n);", {"shfl.sync.idx.b32": 3}),
    ("i[1] = sub_group_non_uniform_broadcast(x, 3);", {"shfl.sync.idx.b32": 1, "activemask.b32": 1}),
    ("b[1] = sub_group_broadcast(b[0], 3);", {"shfl.sync.idx.b32": 4}),
    ("h[1] = sub_group_shuffle_xor(h[0], n);", {"shfl.sync.idx.b32": 1}),
    ("i[1] = sub_group_shuffle_up(x, n); i[2] = sub_group_shuffle_down(x, n);", {"shfl.sync.idx.b32": 2}),
    ("i[1] = sub_group_rotate(x, 3); i[2] = sub_group_clustered_rotate(x, 3, 8);", {"shfl.sync.idx.b32": 2}),
    ("sub_group_barrier(CLK_GLOBAL_MEM_FENCE);", {"bar.warp.sync": 1}),
    ("sub_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_sub_group);", {"bar.warp.sync": 1}),
    ("i[1] = sub_group_elect(); i[2] = sub_group_non_uniform_all_equal(x);", {"vote.sync.all.pred": 1}),
    ("if (x & 1) i[1] = sub_group_non_uniform_reduce_add(x);", {"activemask.b32": 1}),
    ("i[1] = sub_group_clustered_reduce_add(x, 8);", {"activemask.b32": 1}),
    ("i[1] = work_group_reduce_add(x);", {"bar.sync": 2, "shfl.sync.idx.b32": 5}),
    ("i[1] = work_group_scan_inclusive_add(x);", {"bar.sync": 2}),
    ("d[1] = work_group_scan_exclusive_max(d[0]);", {"bar.sync": 2}),
    ("i[1] = work_group_any(x); i[2] = work_group_all(x);", {"bar.red.popc.u32": 0}),
    ("i[1] = work_group_broadcast(x, 1); f[1] = work_group_broadcast(f[0], 1, 2);", {"bar.sync": 4}),
]


@pytest.mark.parametrize(("statement", "wanted"), SUB_GROUPS)
def test_groups(statement: str, wanted: dict[str, int]) -> None:
    text = _ptx(statement)
    found = _instructions(text, r"shfl|vote|activemask|bar\.")
    assert {name: found.count(name) for name in wanted} == wanted


def test_groups_for_a_newer_gpu() -> None:
    """All functions at once: the helpers of one do not conflict with those of another."""
    text = _ptx("\n    ".join(f"{{ {statement} }}" for statement, _ in SUB_GROUPS), "sm_90")
    assert ".target sm_90" in text and "shfl.sync.idx.b32" in text


def test_questions_about_sub_groups() -> None:
    """Warps are 32 work-items in the order of their local ids: the code reads no register but ``tid``."""
    text = _ptx(
        "u[1] = get_sub_group_size(); u[2] = get_sub_group_id(); u[3] = get_sub_group_local_id(); "
        "u[4] = get_num_sub_groups(); u[5] = get_max_sub_group_size(); u[6] = get_enqueued_num_sub_groups(); "
        "b[0] = get_sub_group_eq_mask(); b[1] = get_sub_group_ge_mask(); b[2] = get_sub_group_gt_mask(); "
        "b[3] = get_sub_group_le_mask(); b[4] = get_sub_group_lt_mask(); i[1] = sub_group_inverse_ballot(b[9]); "
        "u[7] = sub_group_ballot_bit_count(b[9]); u[8] = sub_group_ballot_find_lsb(b[9]); "
        "u[9] = sub_group_ballot_find_msb(b[9]); i[2] = sub_group_ballot_bit_extract(b[9], n); "
        "u[10] = sub_group_ballot_inclusive_scan(b[9]); u[11] = sub_group_ballot_exclusive_scan(b[9]);"
    )
    assert set(re.findall(r"%(\w+)\.[xyz]", text)) == {"tid", "ntid"}
    assert "%laneid" not in text and "popc.b32" in text and "clz.b32" in text


def test_halves() -> None:
    """Functions compute in float and round once; products and sums at once compute in half."""
    text = _ptx(
        "v[0] = sqrt(v[1]) + pow(v[1], v[2]) + sin(v[3]); h[0] = sqrt(h[1]); v[4] = mix(v[1], v[2], h[3]); "
        "v[5] = clamp(v[1], h[2], h[3]); i[1] = isnan(h[4]); v[6] = select(v[1], v[2], isless(v[1], v[2])); "
        "h[7] = dot(v[1], v[2]) + length(v[2]); v[8] = nextafter(v[1], v[2]); h[9] = nextafter(h[1], h[2]); "
        "half4 whole; int4 e; v[10] = fract(v[1], &whole) + whole + frexp(v[3], &e); i[2] = e.x; "
        "v[11] = sincos(v[2], &v[17]); "
        "v[12] = vload4(1, h); vstore4(v[1], 9, h); v[13] = shuffle(v[2], (ushort4)(3, 2, 1, 0)); "
        "h[14] = nan((ushort)3); "
        "v[15] = bitselect(v[1], v[2], v[3]); h[16] = ldexp(h[1], x) + pown(h[2], x);"
    )
    assert {"sqrt.rn.f32", "cvt.rn.f16.f32", "cvt.f32.f16"} <= set(_instructions(text, "sqrt|cvt"))
    assert _instructions(_ptx("h[0] = fma(h[1], h[2], h[3]);"), r"fma|cvt\.\w*\.f32|mul|add\.r?n?\.?f") == [
        "fma.rn.f16"
    ]


def test_floats_kept_as_halves() -> None:
    """Pointers to any address space work too: libclc has these functions."""
    text = _ptx(
        "half *p = h[0] > 0 ? (half *)(h + x) : (half *)address; const half *q = p; f[1] = vload_half(1, q); "
        "vstore4(vload_half4(2, q), 1, f); vstore3(vloada_half3(3, q), 3, f); vstore_half(f[0], 1, p); "
        "vstorea_half3((float3)(f[1], f[2], f[3]), 1, p); vstore_half_rtz(f[2], 2, h);"
    )
    assert {"cvt.f32.f16", "cvt.rn.f16.f32"} <= set(_instructions(text, "cvt"))
    assert len(re.findall(r"cvt\.f32\.f16", text)) >= 1 + 4 + 3


def test_conversions_of_halves() -> None:
    text = _ptx(
        "v[0] = convert_half4(b[0]); v[1] = convert_half4_rtz(b[1]); h[8] = convert_half_rtp(d[0]); "
        "h[9] = convert_half_rtn(f[0]); b[2] = convert_uint4_sat_rte(v[2]); d[1] = convert_double(h[1]); "
        "i[1] = convert_int_rtn(h[2]);"
    )
    assert {"cvt.rn.f16.u32", "cvt.rn.f16.f64", "cvt.rmi.f32.f32"} & set(_instructions(text, "cvt"))


def test_spaces_copies_and_barriers() -> None:
    text = _ptx(
        "void *p = (void *)address; i[1] = to_global((int *)p) != 0; i[2] = to_local((int *)p) != 0; "
        "i[3] = to_private((int *)p) != 0; u[1] = get_fence(p) + get_fence((const int *)p); "
        "event_t e = async_work_group_copy(piece, i, 10, 0); e = async_work_group_strided_copy(piece, i, 10, 2, e); "
        "wait_group_events(1, &e); prefetch(i, 4); work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_device); "
        "f[1] = nextafter(f[2], f[3]); d[1] = nextafter(d[2], d[3]);"
    )
    assert sorted(set(_instructions(text, "isspacep"))) == ["isspacep.global", "isspacep.local", "isspacep.shared"]
    assert "bar.sync" in text


@pytest.mark.parametrize(
    ("statement", "match"),
    [
        (
            "i[0] = get_work_dim();",
            ("uses get_work_dim: ", " three dimensions", "pass the number", "leave the target ptx out"),
        ),
        ('printf("%d", x);', ("uses printf: ", "leave the target ptx out")),
        ("h[0] = convert_half_rtz(l[0]);", "convert_half_rtz"),
    ],
)
def test_what_there_cannot_be(statement: str, match: object) -> None:
    with raises(bl.BuildError, names=match):
        _ptx(statement)


@pytest.mark.parametrize("level", [0, 1, 3])
def test_every_level_of_optimisation(level: int) -> None:
    text = "kernel void k(global atomic_int *o, global half *h)\n"
    text += "{ atomic_fetch_add(o, work_group_reduce_add(3)); *h = exp(*h); }"
    assert b"atom." in bl.build(text, targets="ptx", optimization=level).sections[0].data


def test_functions_of_users_are_their_own() -> None:
    """A definition in the source takes precedence over the generated function of the same name."""
    text = "half twice(half x)\n{ return x + x; }\nint sub_group_twice(int x) { return 2 * x; }\n"
    text += "kernel void k(global half *h, global int *i)\n{ *h = twice(*h); *i = sub_group_twice(*i); }"
    assert "shfl" not in bl.build(text, targets="ptx").sections[0].data.decode()
    with raises(bl.BuildError):
        bl.build("half outside(half x);\nkernel void k(global half *h) { *h = outside(*h); }", targets="ptx")


def test_declarations_are_read() -> None:
    """The parser reads types with spaces and attributes, C functions, and definitions."""
    found = undefined(
        "declare dso_local zeroext i1 @_Z5threePU3AS1iDv4_h(ptr addrspace(1) noundef captures(none), "
        "<4 x i8> noundef) #2\n"
        "declare i32 @plain(...)\ndeclare float @llvm.sqrt.f32(float)\ndeclare void @here()\ndefine void @here() {\n}\n"
    )
    assert [(f.function, f.letters, f.result, f.parameters) for f in found] == [
        ("three", "PU3AS1iDv4_h", "i1", ("ptr addrspace(1)", "<4 x i8>")), ("plain", "", "i32", ("...",)),
    ]  # fmt: skip
    for make in (atomics.definition, group_functions.definition, half.definition):
        assert all(make(function) is None for function in found)
