"""Operations of a whole work-group, whose work-items arrive in batches and by different branches, and group copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises

X = np.random.default_rng(21).integers(-1000, 1000, 600).astype(np.int32)
TYPES = {
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
    "float": np.float32,
    "double": np.float64,
}


def _checked(device: bl.Device) -> None:
    if device.backend is bl.Backend.cuda:
        pytest.skip("what a GPU does about such mistakes is its own affair")


def _scan(rows: Any, what: str, dtype: Any) -> tuple[Any, Any, Any]:
    """Return of each row: the total, the inclusive scan and the exclusive scan."""
    function: Any = {"add": np.add, "min": np.minimum, "max": np.maximum}[what]
    limits: Any = np.finfo(dtype) if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
    least, most = (-np.inf, np.inf) if np.dtype(dtype).kind == "f" else (limits.min, limits.max)
    start = {"add": 0, "min": most, "max": least}[what]
    inclusive = function.accumulate(rows, axis=1, dtype=dtype)
    exclusive = np.concatenate([np.full((len(rows), 1), start, dtype), inclusive[:, :-1]], 1)
    return np.broadcast_to(inclusive[:, -1:], rows.shape), inclusive, exclusive


@pytest.mark.parametrize("what", ["add", "min", "max"])
@pytest.mark.parametrize("name", list(TYPES))
def test_sums_and_scans(run: Any, name: str, what: str) -> None:
    text = f"""kernel void test(global const {name} *in, global {name} *out)
    {{
        const size_t i = get_global_id(0);
        out[3 * i] = work_group_reduce_{what}(in[i]);
        out[3 * i + 1] = work_group_scan_inclusive_{what}(in[i]);
        out[3 * i + 2] = work_group_scan_exclusive_{what}(in[i]);
    }}"""
    dtype = TYPES[name]
    x = X.astype(dtype)
    for size in (600, 150, 50):
        out = run(text, "test", 600, x, np.zeros((600, 3), dtype), local=size)[-1]
        wanted = np.stack(_scan(x.reshape(-1, size), what, dtype), -1)
        np.testing.assert_array_equal(out, wanted.reshape(600, 3))


def test_votes_and_broadcasts(run: Any) -> None:
    text = """kernel void test(global const int *in, global int *out, int least, int most)
    {
        const size_t i = get_global_linear_id();
        out[5 * i] = work_group_any(in[i] > most);
        out[5 * i + 1] = work_group_all(in[i] > least);
        out[5 * i + 2] = work_group_broadcast(in[i], 5, 3);
        out[5 * i + 3] = work_group_broadcast((float)in[i], get_group_id(0) + 1, get_group_id(1));
        out[5 * i + 4] = (int)get_local_linear_id();
    }"""
    out = run(text, "test", (30, 20), X, np.zeros((30, 20, 5), np.int32), -990, 990, local=(10, 10))[-1]
    for row in range(3):
        for column in range(2):
            part = np.s_[10 * row : 10 * row + 10, 10 * column : 10 * column + 10]
            mine = X.reshape(30, 20)[part]
            wanted = [(mine > 990).any(), (mine > -990).all(), mine[3, 5], mine[row, column + 1]]
            for number, value in enumerate(wanted):
                np.testing.assert_array_equal(out[part][..., number], np.full((10, 10), value))
            np.testing.assert_array_equal(out[part][..., 4], np.arange(100).reshape(10, 10))


def test_arrival_by_different_ways(run: Any) -> None:
    """Late work-items see the state of waiting ones, which keep their values."""
    text = """kernel void test(global const int *in, global int *out)
    {
        const size_t i = get_global_id(0);
        int x = in[i], kept = x * 3, sum = 0;
        if (x > 500) { for (int k = 0; k < x; k++) sum += k & x; }
        else if (x < 0) { sum = x * 7; if (x & 1) sum ^= 5; }
        for (int round = 0; round < 3; round++) {
            if (((x + round) & 3) == 1) sum += 11;
            sum += work_group_reduce_add(sum + round);
            if ((sum & 7) == 3) sum -= kept;
            sum ^= work_group_scan_inclusive_max(0) + round;
        }
        out[i] = sum + kept;
    }"""
    out = run(text, "test", 600, X, np.zeros(600, np.int32), local=200)[-1]
    wanted = []
    for group in X.reshape(3, 200).astype(np.int64):
        sums = np.zeros(200, np.int64)
        for n, x in enumerate(group):
            if x > 500:
                sums[n] = (np.arange(x) & x).sum()
            elif x < 0:
                sums[n] = (int(x) * 7) ^ (5 if x & 1 else 0)
        for number in range(3):
            sums[((group + number) & 3) == 1] += 11
            sums += (sums + number).sum()
            sums[(sums & 7) == 3] -= group[(sums & 7) == 3] * 3
            sums ^= number
        wanted.append(sums + group * 3)
    np.testing.assert_array_equal(out, np.concatenate(wanted).astype(np.int32))


def test_in_a_function_that_is_not_inlined(run: Any) -> None:
    text = """int __attribute__((noinline)) total(int x) { return work_group_reduce_add(x) - x; }
    kernel void test(global const int *in, global int *out)
    { const size_t i = get_global_id(0); out[i] = total(in[i]) + total(2 * in[i]); }"""
    out = run(text, "test", 600, X, np.zeros(600, np.int32), local=120, passes="mem2reg")[-1]
    rows = X.reshape(-1, 120)
    np.testing.assert_array_equal(out, (3 * (rows.sum(1, keepdims=True) - rows)).ravel())


def test_products_of_an_extension(run: Any) -> None:
    text = """int __attribute__((overloadable)) __spirv_GroupIMulKHR(int, int, int);
    int __attribute__((overloadable)) __spirv_GroupBitwiseAndKHR(int, int, int);
    int __attribute__((overloadable)) __spirv_GroupBitwiseXorKHR(int, int, int);
    kernel void test(global const int *in, global int *out)
    {
        const size_t i = get_global_id(0);
        out[3 * i] = __spirv_GroupIMulKHR(2, 0, in[i] | 1);
        out[3 * i + 1] = __spirv_GroupBitwiseAndKHR(2, 1, in[i] | 0x55);
        out[3 * i + 2] = __spirv_GroupBitwiseXorKHR(2, 2, in[i]);
    }"""
    out = run(
        text, "test", 600, X, np.zeros((600, 3), np.int32), local=150, extensions="SPV_KHR_uniform_group_instructions"
    )[-1]
    rows = X.reshape(-1, 150)
    products = np.multiply.reduce(rows | 1, axis=1, dtype=np.int32, keepdims=True)
    scan = np.bitwise_xor.accumulate(rows, axis=1)
    wanted = [np.broadcast_to(products, rows.shape), np.bitwise_and.accumulate(rows | 0x55, axis=1), scan ^ rows]
    np.testing.assert_array_equal(out, np.stack(wanted, -1).reshape(600, 3))


def test_a_local_id_that_there_is_not(run: Any, device: bl.Device) -> None:
    _checked(device)
    text = (
        """kernel void test(global int *out, int which) { out[get_global_id(0)] = work_group_broadcast(7, which); }"""
    )
    with raises(bl.KernelError, names=("(70, 0, 0)", "(70, 1, 1)")):
        run(text, "test", 70, np.zeros(70, np.int32), 70, local=70)


# ---------------------------------------------------------------- copies


COPIES = """kernel void test(global const TYPE *in, global TYPE *out, local TYPE *piece, local TYPE *spread)
{
    const size_t n = get_local_size(0), first = get_group_id(0) * n, i = get_local_id(0);
    event_t event = async_work_group_copy(piece, in + first, n, 0);
    event = async_work_group_strided_copy(spread, in + get_group_id(0), n / 4, 4, event);
    wait_group_events(1, &event);
    piece[i] += spread[i / 4];
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t events[2];
    events[0] = async_work_group_copy(out + first, (const local TYPE *)piece, n, 0);
    events[1] = async_work_group_strided_copy(out + 512 + get_group_id(0), (const local TYPE *)piece, n / 4, 4, 0);
    prefetch(in, 4);
    wait_group_events(2, events);
}"""


@pytest.mark.parametrize(
    ("name", "dtype", "lanes"), [("int", np.int32, 1), ("uchar", np.uint8, 1), ("float4", np.float32, 4)]
)
def test_copies_by_a_group(run: Any, name: str, dtype: Any, lanes: int) -> None:
    x = X[:512].astype(dtype)[:, None] + np.arange(lanes).astype(dtype)
    local = bl.LocalAccessor(128 * lanes * np.dtype(dtype).itemsize)
    text = COPIES.replace("TYPE", name)
    out = run(text, "test", 512, x, np.zeros((1024, lanes), dtype), local, local, local=128)[-1]
    wanted = np.zeros((1024, lanes), dtype)
    for group in range(4):
        spread = x[group : group + 128 : 4]
        mine = x[128 * group :][:128] + np.repeat(spread, 4, 0)
        wanted[128 * group :][:128] = mine
        wanted[512 + group :: 4][:32] = mine[:32]
    np.testing.assert_array_equal(out, wanted)


def test_copies_built_by_the_tool(queue: bl.Queue, device: bl.Device) -> None:
    """SPIRV-Tools validate the module of `bindless build`, including its null event."""
    if device.backend is not bl.Backend.reference:
        pytest.skip("SPIRV-Tools judge SPIR-V")
    built = bl.build(COPIES.replace("TYPE", "int"), targets="spirv")
    kernel = bl.load_kernel_bundle(built, queue).get_kernel("test")
    source, target = bl.usm_empty((128,), np.int32, queue), bl.usm_empty((640,), np.int32, queue)
    source.copy_from(X[:128])
    local = bl.LocalAccessor(512)
    queue.parallel_for(bl.NdRange(128, 128), kernel, source, target, local, local).wait_and_throw()
    np.testing.assert_array_equal(target.numpy(queue)[:128], X[:128] + np.repeat(X[:128:4], 4))


def test_copies_that_cannot_be(run: Any, device: bl.Device) -> None:
    _checked(device)
    text = """kernel void test(global const int *in, local int *piece, ulong count, int differ)
    {
        event_t event = async_work_group_copy(piece + (differ ? get_local_id(0) : 0), in, count, 0);
        wait_group_events(1, &event);
    }"""
    with raises(bl.KernelError, names="element 256 of 300"):
        run(text, "test", 64, X, bl.LocalAccessor(256), np.uint64(300), 0, local=64)
    with raises(bl.KernelError, names="element 600 of 700"):
        run(text, "test", 64, X, bl.LocalAccessor(8192), np.uint64(700), 0, local=64)
    with raises(bl.KernelError, match="give different arguments to a copy"):
        run(text, "test", 64, X, bl.LocalAccessor(256), np.uint64(2), 1, local=64)


def test_an_element_behind_local_memory_is_read(run: Any, device: bl.Device) -> None:
    """The reference driver allocates local memory in units: an unused read just behind the request is no fault."""
    if device.backend is bl.Backend.cuda:
        pytest.skip("a GPU's local memory ends at the requested size")
    text = """kernel void test(global int *out, local int *piece, int last)
    {
        const size_t i = get_local_id(0);
        piece[i] = (int)i;
        barrier(CLK_LOCAL_MEM_FENCE);
        const int behind = piece[i + 1];
        out[get_global_id(0)] = i + 1 < 32 ? behind : last;
    }"""
    (out,) = run(text, "test", 64, np.zeros(64, np.int32), bl.LocalAccessor(128), np.int32(-5), local=32)
    assert out.tolist() == [*range(1, 32), -5] * 2
