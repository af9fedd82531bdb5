"""Random programs of command groups, compared with the same operations in numpy, in sequence."""

from __future__ import annotations

import gc
import random
import threading
import time

import numpy as np
import pytest

import bindless as bl
from bindless.backends.contract import Traits
from bindless.core import ownership
from bindless.submission import command_stream
from bindless.sycl.buffer import storage

SIZE = 24


class Program:
    """Buffers with their expected contents, and random groups on random parts of them."""

    def __init__(self, seed: int, queues: list[bl.Queue], buffers: int = 3) -> None:
        self.random = random.Random(seed)
        self.queues = queues
        shapes = [(SIZE,), (4, 6), (2, 3, 4)]
        self.arrays = [
            np.arange(number * 100, number * 100 + SIZE, dtype=np.int32).reshape(shapes[number % 3])
            for number in range(buffers)
        ]
        self.expected = [array.copy() for array in self.arrays]
        self.buffers = [bl.Buffer(array) for array in self.arrays]
        self.taken: list[tuple[np.ndarray, np.ndarray]] = []

    def box(self, shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Offset and sizes of a random region, possibly empty."""
        offset = tuple(self.random.randint(0, size - 1) for size in shape)
        return offset, tuple(self.random.randint(0, size - begin) for size, begin in zip(shape, offset))

    def part(self) -> tuple[bl.Buffer, np.ndarray]:
        """A buffer, a contiguous sub-buffer or a reinterpreted buffer, with the matching numpy view."""
        number = self.random.randrange(len(self.buffers))
        buffer, expected = self.buffers[number], self.expected[number]
        kind = self.random.randrange(4)
        if kind == 0:
            begin = self.random.randrange(SIZE)
            count = self.random.randint(1, SIZE - begin)
            flat = buffer.reinterpret(SIZE)
            return flat.sub_buffer(begin, count), expected.reshape(SIZE)[begin : begin + count]
        if kind == 1:
            return buffer.reinterpret((SIZE, 2), np.int16), expected.view(np.int16).reshape(SIZE, 2)
        return buffer, expected

    def step(self) -> None:
        queue = self.random.choice(self.queues)
        buffer, expected = self.part()
        offset, sizes = self.box(buffer.shape)
        where = {"range": sizes, "offset": offset}
        seen = expected[tuple(slice(begin, begin + size) for begin, size in zip(offset, sizes))]
        value = self.random.randrange(1000)
        action = self.random.choice(["fill", "fill", "discard", "task", "read", "write", "copy", "host", "update"])
        if action in ("fill", "discard"):
            no_init = action == "discard"
            queue.submit(lambda h: h.fill(buffer.get_access(h, "write", no_init=no_init, **where), value))
            seen[...] = value
        elif action == "task":

            def task_group(handler):
                accessor = buffer.get_access(handler, "read_write", target="host_task", **where)

                def task():
                    accessor.array[...] = accessor.array * 2 + 1

                handler.host_task(task)

            queue.submit(task_group)
            seen[...] = seen * 2 + 1
        elif action == "read":
            out = np.zeros(seen.shape, seen.dtype)
            queue.submit(lambda h: h.copy(buffer.get_access(h, "read", **where), out))
            self.taken.append((out, seen.copy()))
        elif action == "write":
            source = np.full(seen.shape, value, seen.dtype)
            queue.submit(lambda h: h.copy(source, buffer.get_access(h, "write", **where)))
            seen[...] = value
        elif action == "copy":
            other = (self.buffers.index(buffer) + 1) % len(self.buffers) if buffer in self.buffers else 0
            if expected.dtype == np.int32 and not np.shares_memory(self.expected[other], expected):
                queue.submit(
                    lambda h: h.copy(
                        self.buffers[other].get_access(h, "read"), buffer.get_access(h, "write"), buffer.size
                    )
                )
                expected.reshape(-1)[...] = self.expected[other].reshape(-1)[: buffer.size]
        elif action == "host":
            mode = self.random.choice(["read", "write", "read_write"])
            with buffer.get_host_access(mode, **where) as array:
                if mode != "write":
                    np.testing.assert_array_equal(array, seen)
                if mode != "read":
                    array[...] = value
                    seen[...] = value
        else:
            queue.submit(lambda h: h.update_host(buffer.get_access(h, "read", **where)))

    def check(self) -> None:
        for buffer in self.buffers:
            buffer.close()
        for array, expected in zip(self.arrays, self.expected):
            np.testing.assert_array_equal(array, expected)
        for queue in self.queues:
            queue.wait()
        for out, expected in self.taken:
            np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("seed", range(12))
def test_random_groups_on_queues_of_one_device(device, context, seed):
    queues = [
        bl.Queue(device, context),
        bl.Queue(device, context, in_order=True),
        bl.Queue(device, bl.Context(device)),
    ]
    program = Program(seed, queues)
    for _ in range(80):
        program.step()
    program.check()
    for queue in queues:
        queue.close()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("crosses", [False, True])
def test_random_groups_on_queues_of_four_backends(fakes, seed, crosses):
    for fake in fakes.values():
        fake.traits = Traits(events_cross_contexts=crosses, memory_crosses_contexts=crosses)
    names = ["cuda:*:0", "cuda:*:1", "level_zero", "opencl:cpu:*", "reference"]
    queues = [bl.Queue(name, in_order=number % 2 == seed % 2) for number, name in enumerate(names)]
    queues.append(bl.Queue(context=bl.Context(bl.Device("cuda"))))
    program = Program(seed + 100, queues)
    for _ in range(60):
        program.step()
    program.check()
    program.buffers.clear()
    for queue in queues:
        queue.close()
    command_stream.sweep()


@pytest.mark.against_reference
@pytest.mark.parametrize("seed", range(8))
def test_random_groups_on_this_device_and_the_reference(device, context, seed):
    queues = [bl.Queue(device, context), bl.Queue("reference"), bl.Queue(device, context, in_order=True)]
    program = Program(seed + 200, queues)
    for _ in range(80):
        program.step()
    program.check()


def test_sixteen_threads_on_shared_buffers(device, context):
    """Every group adds 1 to its elements; no addition is lost, and no two threads deadlock."""
    queues = [bl.Queue(device, context), bl.Queue(device, context, in_order=True), bl.Queue(device)]
    arrays = [np.zeros(64, np.int64) for _ in range(3)]
    buffers = [bl.Buffer(array) for array in arrays]
    expected = [np.zeros(64, np.int64) for _ in range(3)]
    counted = threading.Lock()
    raised: list[BaseException] = []

    def work(index: int) -> None:
        chosen = random.Random(index)
        try:
            for _ in range(25):
                first, second = chosen.sample(range(3), 2)
                begin = chosen.randrange(60)
                with counted:
                    expected[first][begin:] += 1
                    expected[second][:begin] += 1

                def group(handler, first=first, second=second, begin=begin):
                    one = buffers[first].get_access(handler, "read_write", offset=begin, target="host_task")
                    other = buffers[second].get_access(handler, "read_write", range=begin, target="host_task")

                    def task():
                        one.array[...] += 1
                        other.array[...] += 1

                    handler.host_task(task)

                event = chosen.choice(queues).submit(group)
                if chosen.random() < 0.1:
                    event.wait()
                if chosen.random() < 0.1:
                    with buffers[second].get_host_access() as array:
                        array += 0
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    assert raised == []
    for buffer in buffers:
        buffer.close()
    for array, wanted in zip(arrays, expected):
        np.testing.assert_array_equal(array, wanted)
    for queue in queues:
        queue.close()


def test_nothing_of_buffers_is_left_on_the_device(device):
    """The native object count returns to its start after buffers migrate, write back, are dropped and closed."""
    gc.collect()
    before, waiting = len(ownership._live), len(storage.unfinished)
    for seed in range(4):
        context = bl.Context(device)
        reference = bl.Device("reference")
        queues = [
            bl.Queue(device, context),
            bl.Queue(reference, bl.Context(reference), in_order=True),
            bl.Queue(device, bl.Context(device)),
        ]
        program = Program(seed + 300, queues)
        for _ in range(40):
            program.step()
        if seed % 2:
            program.check()
        del program, queues, context
    for _ in range(500):  # another thread writes back
        command_stream.wait_for_all()
        command_stream.sweep()
        gc.collect()
        if len(ownership._live) <= before and len(storage.unfinished) <= waiting:
            break
        time.sleep(0.01)
    assert len(ownership._live) <= before
    assert len(storage.unfinished) <= waiting
