"""Atomic functions by all their OpenCL C names, fences, and pointers to any address space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

X = np.random.default_rng(24).integers(-50, 50, 500)
OLD = {"inc": None, "dec": None, "min": np.minimum, "max": np.maximum, "add": np.add, "xor": np.bitwise_xor}
TYPES = {"int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64}


@pytest.mark.parametrize("space", ["global", "local"])
@pytest.mark.parametrize(
    ("prefix", "name"), [("atomic", "int"), ("atomic", "uint"), ("atom", "long"), ("atom", "ulong")]
)
def test_names_of_opencl_1(run: Any, prefix: str, name: str, space: str) -> None:
    dtype = TYPES[name]
    calls = "\n".join(
        f"{prefix}_{verb}(places + {n}{', x' if function else ''});" for n, (verb, function) in enumerate(OLD.items())
    )
    begin = "global " + name + " *places = out;"
    if space == "local":
        begin = f"local {name} places[8]; if (get_local_id(0) < 8) places[get_local_id(0)] = out[get_local_id(0)];"
    text = f"""
    #pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
    #pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
    kernel void test(global const {name} *in, global {name} *out)
    {{
        {begin}
        barrier(CLK_LOCAL_MEM_FENCE);
        const {name} x = in[get_global_id(0)];
        {calls}
        if (get_local_id(0) == 3) {{ {prefix}_xchg(places + 6, x); {prefix}_cmpxchg(places + 7, ({name})7, x); }}
        barrier(CLK_LOCAL_MEM_FENCE);
        {"if (get_local_id(0) < 8) out[get_local_id(0)] = places[get_local_id(0)];" if space == "local" else ""}
    }}"""
    x = X.astype(dtype)
    start = np.array([3, 600, 40, 3, 3, 3, 3, 7], dtype)
    out = run(text, "test", 500, x, start, local=500)[-1]
    wanted = [start[0] + dtype(500), start[1] - dtype(500)]
    wanted += [f.reduce(np.append(x, s), dtype=dtype) for f, s in zip(list(OLD.values())[2:], start[2:6]) if f]
    np.testing.assert_array_equal(out, np.array([*wanted, x[3], x[3]], dtype))


def test_names_of_opencl_2(run: Any) -> None:
    """With and without order and scope, and by a pointer of any address space."""
    text = """
    void take(volatile atomic_int *p, int x)
    {
        atomic_fetch_add(p, x); atomic_fetch_min(p + 1, x);
        atomic_fetch_max_explicit(p + 2, x, memory_order_relaxed);
        atomic_fetch_min_explicit(p + 3, x, memory_order_acq_rel, memory_scope_work_group);
    }
    kernel void test(global const int *in, volatile global atomic_int *out, volatile global atomic_uint *u,
                     volatile global atomic_long *l)
    {
        local atomic_int places[4];
        const size_t i = get_local_id(0);
        const int x = in[get_global_id(0)];
        if (i < 4) atomic_init(&places[i], 5);
        barrier(CLK_LOCAL_MEM_FENCE);
        take(places, x);
        take(out, 2 * x);
        atomic_fetch_max(u, (uint)x); atomic_fetch_min(l, (long)x * 1000000007);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < 4) atomic_store(&out[4 + i], atomic_load(&places[i]));
    }"""
    x = X.astype(np.int32)
    out, u, wide = run(
        text, "test", 500, x, np.full(8, 7, np.int32), np.ones(1, np.uint32), np.full(1, 9, np.int64), local=500
    )[1:]
    sums = [7 + 2 * x.sum(), min(7, 2 * x.min()), max(7, 2 * x.max()), min(7, 2 * x.min())]
    assert list(out) == [*sums, 5 + x.sum(), min(5, x.min()), max(5, x.max()), min(5, x.min())]
    assert u[0] == x.astype(np.uint32).max() and wide[0] == int(x.min()) * 1000000007


def test_flags(run: Any) -> None:
    """One work-item alone finds a flag clear; after it is cleared again, another one does."""
    text = """kernel void test(volatile global atomic_flag *flags, global int *out)
    {
        const size_t i = get_local_id(0);
        out[3 * i] = atomic_flag_test_and_set(flags);
        out[3 * i + 1] = atomic_flag_test_and_set_explicit(flags + i, memory_order_acquire);
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (i == 150) atomic_flag_clear(flags);
        barrier(CLK_GLOBAL_MEM_FENCE);
        out[3 * i + 2] = atomic_flag_test_and_set(flags);
        barrier(CLK_GLOBAL_MEM_FENCE);
        atomic_flag_clear_explicit(flags + i, memory_order_release, memory_scope_device);
    }"""
    flags, out = run(text, "test", 200, np.zeros(200, np.int32), np.zeros((200, 3), np.int32), local=200)
    assert (out[:, 0] + out[:, 2]).sum() == 398 and not flags.any()
    np.testing.assert_array_equal(out[:, 1], np.arange(200) == 0)


def test_fences_and_address_spaces(run: Any) -> None:
    text = """
    int kind(int *p)
    {
        return (to_global(p) != 0) + 2 * (to_local(p) != 0) + 4 * (to_private(p) != 0) + 8 * get_fence(p)
               + 1000 * (to_local(p) ? *to_local(p) : to_global(p) ? *to_global(p) : 7);
    }
    kernel void test(global int *out)
    {
        local int shared[70];
        int own[4] = {9, 8, 7, 6};
        const size_t i = get_local_id(0);
        shared[i] = 5;
        mem_fence(CLK_LOCAL_MEM_FENCE); read_mem_fence(CLK_LOCAL_MEM_FENCE); write_mem_fence(CLK_GLOBAL_MEM_FENCE);
        atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_seq_cst, memory_scope_work_group);
        barrier(CLK_LOCAL_MEM_FENCE);
        own[i & 3] += i;
        int *any = own + (i & 3);
        if (i % 3 == 0) any = out + i;
        if (i % 3 == 1) any = shared + i;
        out[i] = kind(any);
    }"""
    out = run(text, "test", 70, np.full(70, 3, np.int32), local=70)[-1]
    # No fence applies to private memory: get_fence may return either value.
    assert list(out[0::3]) == [1 + 16 + 3000] * 24
    assert list(out[1::3]) == [2 + 8 + 5000] * 23
    assert all(value - 7000 - 4 in (0, 8, 16) for value in out[2::3])
