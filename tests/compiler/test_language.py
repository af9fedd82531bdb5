"""Functions of OpenCL C that the tool defines because LLVM's translator to SPIR-V lacks or mistranslates them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises

pytestmark = [
    pytest.mark.skipif(not bl.kernels_available(), reason="needs a kernel compiler: pip install 'bindless[kernels]'"),
    pytest.mark.usefixtures("needs_spirv"),
]

_TYPES = {"int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64}
_PRAGMAS = "".join(f"#pragma OPENCL EXTENSION cl_khr_int64_{part}_atomics : enable\n" for part in ("base", "extended"))
ATOMICS = _PRAGMAS + "".join(
    f"""
kernel void old_{name}(global {name} *out, global const {name} *in)
{{
    const {name} v = in[get_global_id(0)];
    {prefix}_min(out, v); {prefix}_max(out + 1, v); {prefix}_add(out + 4, v);
    {prefix}_inc(out + 2); {prefix}_dec(out + 3);
    if (get_global_id(0) == 5) out[6] = {prefix}_xchg(out + 5, v);
}}
kernel void new_{name}(global atomic_{name} *out, global const {name} *in)
{{
    const {name} v = in[get_global_id(0)];
    atomic_fetch_min_explicit(out, v, memory_order_relaxed, memory_scope_device);
    atomic_fetch_max(out + 1, v);
    atomic_fetch_add(out + 2, ({name})1); atomic_fetch_sub(out + 3, ({name})1); atomic_fetch_add(out + 4, v);
    if (get_global_id(0) == 5) atomic_store(out + 6, atomic_exchange(out + 5, v));
}}
kernel void group_{name}(global {name} *out, global const {name} *in)
{{
    local {name} least[2];
    if (get_local_id(0) == 0) least[0] = least[1] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    {prefix}_min(least, in[get_global_id(0)]);
    {prefix}_max(least + 1, in[get_global_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < 2) out[2 * get_group_id(0) + get_local_id(0)] = least[get_local_id(0)];
}}
"""
    for name, prefix in (("int", "atomic"), ("uint", "atomic"), ("long", "atom"), ("ulong", "atom"))
)


@pytest.fixture(autouse=True)
def _spirv(device: bl.Device) -> None:
    if device.backend is bl.Backend.cuda:
        pytest.skip("PTX has libclc's functions")


@pytest.fixture(scope="module")
def atomics() -> bl.KernelFile:
    return bl.build(ATOMICS, targets="spirv")


def _usm(queue: bl.Queue, array: Any) -> bl.UsmArray:
    memory = bl.usm_empty(array.shape, array.dtype, queue)
    memory.copy_from(array)
    return memory


@pytest.mark.parametrize("name", _TYPES)
def test_atomics(name: str, atomics: bl.KernelFile, queue: bl.Queue) -> None:
    limits = np.iinfo(_TYPES[name])
    values = np.random.default_rng(1).integers(limits.min, limits.max, 512, _TYPES[name], endpoint=True)
    bundle = bl.load_kernel_bundle(atomics, queue)
    for form in ("old", "new"):
        out = _usm(queue, np.array([limits.max, limits.min, 0, 600, 0, 77, 0], _TYPES[name]))
        queue.parallel_for(512, bundle.get_kernel(f"{form}_{name}"), out, _usm(queue, values)).wait_and_throw()
        wanted = [values.min(), values.max(), 512, 88, values.sum(dtype=_TYPES[name]), values[5], 77]
        np.testing.assert_array_equal(out.numpy(queue), np.array(wanted, _TYPES[name]))
    out = bl.usm_empty((8, 2), _TYPES[name], queue)
    kernel = bundle.get_kernel(f"group_{name}")
    queue.parallel_for(bl.NdRange(512, 64), kernel, out, _usm(queue, values)).wait_and_throw()
    groups = values.reshape(8, 64)
    np.testing.assert_array_equal(out.numpy(queue), np.stack([groups.min(1), groups.max(1)], 1))


CHOSEN = """
kernel void chosen(global atomic_int *out, int shared)
{
    local atomic_int own;
    if (get_local_id(0) == 0) atomic_init(&own, 100);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_int *counter = shared ? (atomic_int *)&own : (atomic_int *)out;
    atomic_fetch_add(counter, 2);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) atomic_store(out + 1, atomic_load(&own));
}
"""


def test_atomics_where_the_memory_is_chosen(queue: bl.Queue) -> None:
    kernel = bl.load_kernel_bundle(bl.build(CHOSEN, targets="spirv"), queue).get_kernel("chosen")
    for shared, wanted in ((0, [133, 100]), (1, [5, 228])):
        out = _usm(queue, np.array([5, 0], np.int32))
        queue.parallel_for(bl.NdRange(64, 64), kernel, out, shared).wait_and_throw()
        assert out.numpy(queue).tolist() == wanted


def test_atomics_say_which_memory(atomics: bl.KernelFile) -> None:
    """Atomics use specific address spaces: some drivers have no atomic functions for generic pointers."""
    words = np.frombuffer(atomics.sections[0].data, "<u4").tolist()
    storage: dict[int, int] = {}  # pointer types
    types: dict[int, int] = {}
    found, at = set(), 5
    while at < len(words):
        code, length = words[at] & 0xFFFF, words[at] >> 16
        if code == 32:  # OpTypePointer
            storage[words[at + 1]] = words[at + 2]
        elif length > 2 and words[at + 1] in storage:
            types[words[at + 2]] = words[at + 1]
        elif 227 <= code <= 242:  # atomic instructions; the pointer follows the result
            found.add(storage[types[words[at + (1 if code == 228 else 3)]]])
        at += length
    assert found == {4, 5}  # address spaces of work-groups and of the device


def test_any_and_all(queue: bl.Queue) -> None:
    types = {"char": np.int8, "short": np.int16, "int": np.int32, "long": np.int64}
    text = "".join(
        f"kernel void k_{name}{count}(global int2 *out, global const {name} *in)\n"
        "{\n    const size_t i = get_global_id(0);\n"
        + (f"    const {name} v = in[i];\n" if not count else f"    const {name}{count} v = vload{count}(i, in);\n")
        + "    out[i] = (int2)(any(v), all(v));\n}\n"
        for name in types
        for count in ("", 2, 3, 4, 8, 16)
    )
    bundle = bl.load_kernel_bundle(bl.build(text, targets="spirv"), queue)
    for name, dtype in types.items():
        for count in (1, 2, 3, 4, 8, 16):
            values = np.random.default_rng(count).integers(-3, 3, (64, count)).astype(dtype)
            values[:20], values[20:30] = abs(values[:20]), -abs(values[20:30]) - 1
            out = bl.usm_empty((64, 2), np.int32, queue)
            kernel = bundle.get_kernel(f"k_{name}{count if count > 1 else ''}")
            queue.parallel_for(64, kernel, out, _usm(queue, values)).wait_and_throw()
            wanted = np.stack([(values < 0).any(1), (values < 0).all(1)], 1)
            np.testing.assert_array_equal(out.numpy(queue).astype(bool), wanted)
            assert set(np.unique(out.numpy(queue))) <= {0, 1}


def test_printf(queue: bl.Queue, capfd: pytest.CaptureFixture[str]) -> None:
    """The format is a pointer to characters, as SPIR-V requires; ``spirv-val`` checks it where it is installed."""
    text = """
kernel void say(global const int *in)
{
    const int i = (int)get_global_id(0);
    if (i < 2) printf("%d has %d of %s, %.1f and %v4hld\\n", i, in[i], "these", i * 1.5f, (int4)(i, 2, 3, 4));
}
"""
    kernel = bl.load_kernel_bundle(bl.build(text, targets="spirv"), queue).get_kernel("say")
    queue.parallel_for(4, kernel, _usm(queue, np.array([7, 8, 9, 10], np.int32))).wait_and_throw()
    said = sorted(capfd.readouterr().out.splitlines())
    assert said == ["0 has 7 of these, 0.0 and 0,2,3,4", "1 has 8 of these, 1.5 and 1,2,3,4"]
    with raises(bl.BuildError, names=("printf", "ptx")):
        bl.build(text, targets="ptx")


def test_sums_of_loop_counters(queue: bl.Queue) -> None:
    """LLVM would compute them in 65 bits, which SPIR-V does not have."""
    file = bl.build(
        "kernel void sum(global long *out, long n) { long s = 0; for (long i = 0; i < n; i++) s += i * i; out[0] = s; }"
    )
    out = bl.usm_empty(1, np.int64, queue)
    queue.parallel_for(1, bl.load_kernel_bundle(file, queue).get_kernel("sum"), out, 1000).wait()
    assert out.numpy(queue)[0] == sum(i * i for i in range(1000))


REVERSED = """
kernel void reversed_bits(global ulong *out, global const ulong *in)
{
    const ulong v = in[get_global_id(0)];
    ulong five = 0, twelve = 0, most = 0;
    for (int b = 0; b < 5; ++b) five |= ((v >> b) & 1) << (4 - b);
    for (int b = 0; b < 12; ++b) twelve |= ((v >> b) & 1) << (11 - b);
    for (int b = 0; b < 63; ++b) most |= ((v >> b) & 1) << (62 - b);
    const ulong bytes = (v & 0xff) << 40 | (v & 0xff00) << 24 | (v & 0xff0000) << 8
        | (v >> 8 & 0xff0000) | (v >> 24 & 0xff00) | (v >> 40 & 0xff);
    vstore4((ulong4)(five, twelve, most, bytes), get_global_id(0), out);
}
"""


def test_reversals_of_bits_and_bytes(queue: bl.Queue) -> None:
    """LLVM finds each loop and reverses integers of 5, 12, 63 and 48 bits, which its translator does not know."""
    kernel = bl.load_kernel_bundle(bl.build(REVERSED, targets="spirv"), queue).get_kernel("reversed_bits")
    values = np.random.default_rng(7).integers(0, 2**63, 64, dtype=np.uint64)
    out = bl.usm_empty((64, 4), np.uint64, queue)
    queue.parallel_for(64, kernel, out, _usm(queue, values)).wait_and_throw()
    expected = [
        [int(f"{value % 2**bits:0{bits}b}"[::-1], 2) for bits in (5, 12, 63)]
        + [int.from_bytes((value % 2**48).to_bytes(6, "little"), "big")]
        for value in values.tolist()
    ]
    assert out.numpy(queue).tolist() == expected
