"""Launches over ranges that only small work-groups divide, on the driver of ``fake_cuda.c``."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
import pytest

import bindless as bl
from tests.backends.cuda.fake_cuda import Fake

PTX = b"""
.version 6.3
.target sm_75
.address_size 64
.visible .entry plain(.param .u64 .ptr .global .align 4 a, .param .f32 factor) { ret; }
.visible .entry whole(.param .u64 .ptr .global .align 4 a, .param .f32 factor)
{ .reg .b32 %r<2>; mov.u32 %r1, %nctaid.x; ret; }
"""
PRIME = 16_777_213


@pytest.fixture
def bundle(queue: bl.Queue, fake: Fake) -> Iterator[bl.KernelBundle]:
    fake.parameters(8, 4)
    with bl.load_kernel_bundle(PTX, queue) as made:
        yield made
    fake.parameters()


def launches(fake: Fake) -> list[tuple[str, tuple[int, ...], list[bytes]]]:
    """Kernel, blocks and threads, and arguments of each launch since the last call."""
    found = []
    for line in fake.lines("cuLaunchKernel"):
        head, _, sent = line.partition(": ")
        words = head.split()
        found.append((words[1], tuple(map(int, words[2:8])), [bytes.fromhex(word) for word in sent.split()]))
    fake.clear()
    return found


@pytest.mark.parametrize(
    ("space", "shape"),
    [
        (PRIME, (65536, 1, 1, 256, 1, 1)),
        (2 * PRIME, (131072, 1, 1, 256, 1, 1)),
        ((1021, 1031), (33, 128, 1, 32, 8, 1)),
        ((3, 1021, 1031), (33, 128, 3, 32, 8, 1)),
    ],
)
def test_groups_have_their_usual_size(
    queue: bl.Queue, bundle: bl.KernelBundle, fake: Fake, space: tuple[int, ...], shape: tuple[int, ...]
) -> None:
    kernel, sizes = bundle.get_kernel("plain"), space if isinstance(space, tuple) else (space,)
    fake.parameters(8, 4, 24)
    with bl.usm_empty(64, np.float32, queue) as array:
        for factor in (1.0, 2.0, 3.0):  # the second is prepared, the third repeated in C
            queue.parallel_for(space, kernel, array, np.float32(factor)).wait()
        expected = struct.pack("<3Q", *(*sizes[::-1], 1, 1)[:3])
        assert launches(fake) == [
            ("plain", shape, [struct.pack("<Q", array.address), struct.pack("<f", factor), expected])
            for factor in (1.0, 2.0, 3.0)
        ]


@pytest.mark.parametrize("space", [1 << 24, 16_000_000, 16_777_215, 65_521, (1024, 1024)])
def test_other_ranges_run_the_kernel_itself(
    queue: bl.Queue, bundle: bl.KernelBundle, fake: Fake, space: int | tuple[int, int]
) -> None:
    kernel = bundle.get_kernel("plain")
    sizes = space[::-1] if isinstance(space, tuple) else (space,)
    with bl.usm_empty(64, np.float32, queue) as array:
        queue.parallel_for(space, kernel, array, np.float32(1)).wait()
        ((_, shape, arguments),) = launches(fake)
        assert len(arguments) == 2
        assert [shape[axis] * shape[3 + axis] for axis in range(len(sizes))] == list(sizes)


def test_more_groups_than_a_grid_has_are_refused(queue: bl.Queue, bundle: bl.KernelBundle) -> None:
    """The grid's second size has a limit of 65535."""
    with bl.usm_empty(64, np.float32, queue) as array, pytest.raises(bl.NdRangeError):
        queue.parallel_for((PRIME, 3), bundle.get_kernel("plain"), array, np.float32(1))


def test_a_kernel_that_sees_the_grid_runs_itself(queue: bl.Queue, bundle: bl.KernelBundle, fake: Fake) -> None:
    with bl.usm_empty(64, np.float32, queue) as array:
        queue.parallel_for(PRIME, bundle.get_kernel("whole"), array, np.float32(1)).wait()
        assert [shape for _, shape, _ in launches(fake)] == [(PRIME, 1, 1, 1, 1, 1)]


def test_the_second_module_ends_with_the_first(queue: bl.Queue, fake: Fake) -> None:
    fake.parameters(8, 4)
    bundle = bl.load_kernel_bundle(PTX, queue)
    fake.parameters(8, 4, 24)
    with bl.usm_empty(64, np.float32, queue) as array:
        queue.parallel_for(PRIME, bundle.get_kernel("plain"), array, np.float32(1)).wait()
    fake.clear()
    bundle.close()
    assert len(fake.lines("cuModuleUnload")) == 2
    fake.parameters()


def test_a_bound_launch_takes_other_values(queue: bl.Queue, bundle: bl.KernelBundle, fake: Fake) -> None:
    kernel = bundle.get_kernel("plain")
    fake.parameters(8, 4, 24)
    with bl.usm_empty(64, np.float32, queue) as array:
        bound = kernel.bind(queue, PRIME, array, np.float32(1))
        bound().wait()
        bound[1] = np.float32(5)
        bound().wait()
        assert [arguments[1] for _, _, arguments in launches(fake)] == [struct.pack("<f", 1), struct.pack("<f", 5)]
