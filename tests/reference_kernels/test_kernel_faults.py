"""Invalid kernels and modules: a clear error, and a queue that continues."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.compile_kernels import compiled, compiled_text, load
from tests.support.error_checks import raises


@pytest.fixture(autouse=True)
def _only_the_reference(device: bl.Device) -> None:
    if device.backend is not bl.Backend.reference:
        pytest.skip("what a GPU does about wild addresses is its own affair")


def _still_works(queue: bl.Queue) -> None:
    out = bl.usm_empty((100,), np.int32, queue)
    queue.parallel_for(100, load(queue, "simple").get_kernel("fill"), out, 5).wait_and_throw()
    np.testing.assert_array_equal(out.numpy(queue), np.full(100, 5))


def test_writes_beyond_the_end(queue: bl.Queue) -> None:
    out = bl.usm_empty((100,), np.int32, queue)
    event = queue.parallel_for(130, load(queue, "simple").get_kernel("fill"), out, 5)
    address = int(out.pointer) + 400
    with raises(bl.KernelError, names=("kernel 'fill'", "item_id (100)", "writes 4 bytes", hex(address))):
        event.wait_and_throw()
    _still_works(queue)


def test_rows_of_sixteen_beyond_the_end(queue: bl.Queue, run: Any) -> None:
    """The last of four rows ends one number late: the error names the lane, and the memory before it is read."""
    text = """kernel void peek(global const int *in, global int *out)
        { const size_t i = get_global_id(0); out[i] = in[i / 16 * 100 + i % 16]; }"""
    for count in (316, 315):
        source = np.arange(count, dtype=np.int32)
        if count == 316:
            _, out = run(text, "peek", 64, source, np.zeros(64, np.int32))
            np.testing.assert_array_equal(out, (np.arange(4)[:, None] * 100 + np.arange(16)).reshape(-1))
        else:
            with raises(bl.KernelError, names=("'peek'", "item_id (63)", "reads 4 bytes")):
                run(text, "peek", 64, source, np.zeros(64, np.int32))
    _still_works(queue)


@pytest.mark.parametrize("in_order", [True, False])
def test_a_fault_in_a_graph_ends_its_run(queue: bl.Queue, in_order: bool) -> None:
    """Commands before the fault complete, later ones do not; later runs and the queue's remaining commands continue."""
    kernels = load(queue, "simple")
    with bl.Queue(queue.device, queue.context, in_order=in_order) as own, bl.CommandGraph(own) as graph:
        first, short, last = (bl.usm_empty((100,), np.int32, own) for _ in range(3))
        graph.fill(first, np.int32(1))
        graph.parallel_for(130, kernels.get_kernel("fill"), short, 5)
        graph.fill(last, np.int32(1))
        for _ in range(2):
            own.fill(first, 0).wait()
            own.fill(last, 0).wait()
            event = graph()
            with raises(bl.KernelError, names=("kernel 'fill'", "item_id (100)", "writes 4 bytes")):
                event.wait_and_throw()
            assert set(first.numpy(own)) == {1} and set(last.numpy(own)) == {0}
        own.wait_and_throw()
    _still_works(queue)


@pytest.mark.parametrize("address", [0, 8, 1 << 40, 2**64 - 4, 2**64 - 1])
def test_reads_from_nowhere(queue: bl.Queue, run: Any, address: int) -> None:
    text = """kernel void peek(ulong where, global int *out)
        { const size_t i = get_global_id(0); if (i == 70) out[i] = *(global const int *)where; }"""
    with raises(bl.KernelError, names=("'peek'", "item_id (70)", "reads 4 bytes", hex(address))):
        run(text, "peek", 90, np.uint64(address), np.zeros(90, np.int32))
    _still_works(queue)


def test_memory_of_another_context(device: bl.Device, queue: bl.Queue, run: Any) -> None:
    other = bl.usm_empty((4,), np.int32, bl.Queue(device, bl.Context(device)))
    text = "kernel void peek(ulong where, global int *out) { *out = *(global const int *)where; }"
    with raises(bl.KernelError, names="malloc_device"):
        run(text, "peek", 1, np.uint64(int(other.pointer)), np.zeros(1, np.int32))


def test_constants_are_not_written(run: Any) -> None:
    text = """constant int table[4] = {1, 2, 3, 4};
    kernel void poke(global int *out, int index)
    {
        volatile global int *p = (volatile global int *)(ulong)&table[index];
        *p = 5;
        out[0] = table[index & 1];
    }"""
    with raises(bl.KernelError, names="constant"):
        run(text, "poke", 1, np.zeros(1, np.int32), 2)


def test_beyond_local_memory(run: Any) -> None:
    text = """kernel void test(global int *out, local int *piece, int far)
        { piece[far] = 1; barrier(CLK_LOCAL_MEM_FENCE); out[get_global_id(0)] = piece[0]; }"""
    with raises(bl.KernelError, names="writes 4 bytes"):
        run(text, "test", 8, np.zeros(8, np.int32), bl.LocalAccessor(64), 1 << 20, local=8)


def test_image_that_was_destroyed(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(7, 5, num_channels=2)
    memory = bl.ImageMem(desc, queue)
    handle = bl.create_image(memory, desc, queue)
    number = handle.raw_handle
    table, pointers = (bl.usm_empty((1,), np.uint64, queue) for _ in range(2))
    table.copy_from(np.array([number], np.uint64))
    pointers.copy_from(np.array([int(table.pointer)], np.uint64))
    bl.destroy_image_handle(handle, queue)
    kernel = load(queue, "images", "twice").get_kernel("twice")
    with raises(bl.KernelError, names=hex(number)):
        queue.parallel_for((5, 7), kernel, pointers, np.uint32(0)).wait_and_throw()
    _still_works(queue)


def test_image_of_another_kind(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(7, 5, 3, num_channels=2)
    handle = bl.create_image(bl.ImageMem(desc, queue), desc, queue)
    table, pointers = (bl.usm_empty((1,), np.uint64, queue) for _ in range(2))
    table.copy_from(np.array([handle.raw_handle], np.uint64))
    pointers.copy_from(np.array([int(table.pointer)], np.uint64))
    kernel = load(queue, "images", "twice").get_kernel("twice")
    with raises(bl.KernelError, names=("3D image", "2D image")):
        queue.parallel_for((5, 7), kernel, pointers, np.uint32(0)).wait_and_throw()
    bl.destroy_image_handle(handle, queue)


def test_endless_loops_end(queue: bl.Queue, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "kernel void spin(volatile global int *out) { while (out[1] == 0) out[0] += 1; }"
    monkeypatch.setenv("BINDLESS_REFERENCE_TIMEOUT", "0.2")
    with raises(bl.KernelError, names=("'spin'", "0.2 seconds")):
        run(text, "spin", 4, np.zeros(2, np.int32))
    _still_works(queue)
    monkeypatch.setenv("BINDLESS_REFERENCE_TIMEOUT", "soon")
    with raises(bl.InvalidError, names="'soon'"):
        run(text, "spin", 4, np.zeros(2, np.int32))


def test_barriers_that_not_all_come_to(queue: bl.Queue, run: Any) -> None:
    text = """kernel void test(global int *out, local int *piece)
    {
        const size_t i = get_local_id(0);
        if (out[i] < 5) { piece[i] = 1; barrier(CLK_LOCAL_MEM_FENCE); out[i] = piece[0]; }
        else { piece[i] = 2; barrier(CLK_LOCAL_MEM_FENCE); out[i] = piece[1] * 7; }
    }"""
    with raises(bl.KernelError, match="wait at different barriers"):
        run(text, "test", 100, np.arange(100, dtype=np.int32), bl.LocalAccessor(400), local=100)
    _still_works(queue)


def test_recursion_is_refused(queue: bl.Queue) -> None:
    text = """static int down(int n) { return n < 2 ? n : down(n - 1) * n + down(n - 2); }
    kernel void test(global int *out) { out[0] = down(out[1]); }"""
    with raises(bl.BuildError, names="'down'"):
        bl.load_kernel_bundle(compiled_text(text, "spirv", passes="globalopt"), queue)


def test_functions_that_are_missing(queue: bl.Queue) -> None:
    text = "int elsewhere(int);\nkernel void test(global int *out) { out[0] = elsewhere(out[1]); }"
    with raises(bl.BuildError, names="'elsewhere'"):
        bl.load_kernel_bundle(compiled_text(text, "spirv"), queue)


def _words(module: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(module) // 4}I", module))


def _bytes(words: list[int]) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def _find(words: list[int], opcode: int) -> int:
    at = 5
    while words[at] & 0xFFFF != opcode:
        at += words[at] >> 16
    return at


def test_unknown_instructions_are_named(queue: bl.Queue) -> None:
    words = _words(compiled("simple", "spirv"))
    add = _find(words, 128)  # OpIAdd
    words[add] = words[add] & 0xFFFF0000 | 0x1234
    with raises(bl.BuildError, names=f"SPIR-V word {add} (instruction 4660)"):
        bl.load_kernel_bundle(_bytes(words), queue)
    words[add] = words[add] & 0xFFFF0000 | 97  # OpImageDrefGather
    with raises(bl.BuildError, match=rf"SPIR-V word {add} \((OpImageDrefGather|instruction 97)\)") as caught:
        bl.load_kernel_bundle(_bytes(words), queue)
    assert caught.value.log in str(caught.value)


def test_other_byte_order(queue: bl.Queue) -> None:
    module = compiled("simple", "spirv")
    swapped = struct.pack(f">{len(module) // 4}I", *_words(module))
    bl.load_kernel_bundle(module, queue)
    with bl.load_kernel_bundle(swapped, queue) as bundle:
        assert "axpy" in bundle.kernel_names


def test_truncated_modules(queue: bl.Queue) -> None:
    """A module cut after any word: an error, or a valid module."""
    words, refused = _words(compiled("simple", "spirv")), 0
    for end in range(len(words)):
        try:
            bl.load_kernel_bundle(_bytes(words[:end]) or b"\0\0\0\0", queue).close()
        except bl.BuildError:
            refused += 1
    assert refused > 0.9 * len(words)  # a module may end after any function
    with bl.load_kernel_bundle(_bytes(words), queue) as bundle:
        assert "fill" in bundle.kernel_names


def test_changed_words(queue: bl.Queue) -> None:
    """Any one word changed: an error, or another module, never a crash; its kernels run or fail."""
    words = _words(compiled("simple", "spirv"))
    generator, outcomes = np.random.default_rng(11), {"taken": 0, "refused": 0}
    out = bl.usm_empty((64,), np.int32, queue)
    for _ in range(1500):
        changed = list(words)
        place = int(generator.integers(0, len(words)))
        changed[place] = int(
            generator.choice([0, 1, 2**32 - 1, changed[place] ^ 1 << int(generator.integers(0, 32)), 63])
        )
        try:
            with bl.load_kernel_bundle(_bytes(changed), queue) as bundle:
                if "fill" in bundle.kernel_names:
                    queue.parallel_for(64, bundle.get_kernel("fill"), out, 3).wait_and_throw()
            outcomes["taken"] += 1
        except bl.Error:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 100, outcomes
    _still_works(queue)
