"""Order of command groups: the examples of ARCH's figures, and concurrent execution."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises

LARGE = 1 << 22
SECONDS = 20


class Held:
    """Host tasks that record their start and end, and block in between until released."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.gates: dict[str, threading.Event] = {}
        self.begun: dict[str, threading.Event] = {}

    def submit(self, queue: bl.Queue, name: str, *requirements: tuple[bl.Buffer, str]) -> bl.Event:
        gate = self.gates[name] = threading.Event()
        begun = self.begun[name] = threading.Event()

        def task() -> None:
            self.log.append(f"{name} starts")
            begun.set()
            gate.wait(SECONDS)
            self.log.append(f"{name} ends")

        def group(handler: bl.Handler) -> None:
            for buffer, mode in requirements:
                buffer.get_access(handler, mode)
            handler.host_task(task)

        return queue.submit(group)

    def starts(self, *names: str) -> bool:
        """Whether all these tasks run at the same time."""
        return all(self.begun[name].wait(SECONDS) for name in names)

    def waits(self, name: str) -> bool:
        """Whether a task stays blocked, after enough time to start."""
        return not self.begun[name].wait(0.05)

    def let_go(self, *names: str) -> None:
        for name in names:
            self.gates[name].set()


@pytest.fixture
def held():
    made = Held()
    yield made
    made.let_go(*made.gates)


@pytest.fixture
def queues(device, context):
    """Three queues: two in one context, one in another."""
    made = [bl.Queue(device, context), bl.Queue(device, context), bl.Queue(device, bl.Context(device))]
    yield made
    for queue in made:
        queue.close()


def a_buffer(size: int = 8) -> bl.Buffer:
    buffer = bl.Buffer(np.zeros(size, np.int32))
    buffer.set_final_data(None)
    return buffer


# ---------------------------------------------------------------------- the figures


@pytest.mark.parametrize("number", [1, 3], ids=["three-cg-one-queue", "three-cg-three-queue"])
def test_two_groups_run_at_once_and_the_one_that_needs_both_after_them(queues, held, number):
    first, second, third = queues if number == 3 else [queues[0]] * 3
    one, two = a_buffer(), a_buffer()
    held.submit(first, "a", (one, "read_write"))
    held.submit(second, "b", (two, "read_write"))
    last = held.submit(third, "c", (one, "read_write"), (two, "read_write"))
    assert held.starts("a", "b") and held.waits("c")
    held.let_go("a")
    assert held.waits("c")
    held.let_go("b", "c")
    last.wait()
    assert held.log[-2:] == ["c starts", "c ends"] and set(held.log[-4:-2]) == {"a ends", "b ends"}


def test_the_same_from_the_times_of_the_events(device):
    """Figure three-cg-one-queue, with device commands."""
    with bl.Queue(device, enable_profiling=True) as queue:
        one, two = bl.Buffer(LARGE, np.uint8), bl.Buffer(LARGE, np.uint8)

        def fill(buffer):
            return queue.submit(lambda handler: handler.fill(buffer.get_access(handler, "write", no_init=True), 3))

        def both(handler):
            handler.copy(one.get_access(handler, "read"), two.get_access(handler, "write", no_init=True))

        events = [fill(one), fill(two), queue.submit(both)]
        a, b, c = (
            tuple(event.get_profiling_info(f"command_{name}") for name in ("submit", "start", "end"))
            for event in events
        )
        assert all(times == tuple(sorted(times)) for times in (a, b, c))
        assert c[1] >= max(a[2], b[2])


def test_device_to_device(queues):
    """Two contexts: data written in the second context migrates to the first automatically."""
    first, _, second = queues
    one, two = bl.Buffer(np.full(8, 1, np.int32)), bl.Buffer(np.full(8, 2, np.int32))
    out = np.zeros(8, np.int32)

    def write(buffer, value):
        return lambda handler: handler.fill(buffer.get_access(handler, "read_write", range=4), value)

    first.submit(write(one, 10))
    second.submit(write(two, 20))

    def gather(handler):
        handler.copy(two.get_access(handler, "read_write"), one.get_access(handler, "read_write", range=8))

    first.submit(gather)
    first.submit(lambda handler: handler.copy(one.get_access(handler, "read"), out)).wait()
    assert out.tolist() == [20] * 4 + [2] * 4


def test_overlap(queue, held):
    """Sub-buffers: [0, 10) and [10, 20) run concurrently, [5, 15) after both."""
    buffer = a_buffer(20)
    parts = [buffer.sub_buffer(begin, 10) for begin in (0, 10, 5)]
    held.submit(queue, "a", (parts[0], "read_write"))
    held.submit(queue, "b", (parts[1], "read_write"))
    held.submit(queue, "c", (parts[2], "read_write"))
    assert held.starts("a", "b") and held.waits("c")
    held.let_go("b")
    assert held.waits("c")
    held.let_go("a", "c")
    queue.wait()
    assert held.log[-2:] == ["c starts", "c ends"]


def test_host_acc(queue, held):
    """H(b1) waits for a, not for b; c waits for the host accessor and for b."""
    one, two = a_buffer(), a_buffer()
    held.submit(queue, "a", (one, "read_write"))
    held.submit(queue, "b", (two, "read_write"))
    assert held.starts("a", "b")
    threading.Timer(0.05, held.let_go, ("a",)).start()
    with one.get_host_access() as array:
        held.log.append("host")
        array[:] = 5
        last = held.submit(queue, "c", (one, "read_write"), (two, "read_write"))
        assert last.status is bl.EventStatus.submitted
        held.let_go("b")
        assert held.waits("c")
    held.let_go("c")
    last.wait()
    assert held.log.index("a ends") < held.log.index("host") < held.log.index("c starts")
    assert held.log.index("b ends") < held.log.index("c starts")


# ---------------------------------------------------------------------- dependencies


def test_readers_run_at_once_and_a_writer_after_all_of_them(queue, held):
    buffer = a_buffer()
    held.submit(queue, "w", (buffer, "write"))
    for name in "rst":
        held.submit(queue, name, (buffer, "read"))
    held.submit(queue, "x", (buffer, "write"))
    held.submit(queue, "y", (buffer, "read"))
    assert held.starts("w") and held.waits("r")
    held.let_go("w")
    assert held.starts("r", "s", "t") and held.waits("x")
    held.let_go("r", "s")
    assert held.waits("x")
    held.let_go("t")
    assert held.starts("x") and held.waits("y")
    held.let_go("x", "y")
    queue.wait()


def test_accessors_with_ranges_of_one_buffer_overlap(queue, held):
    """ARCH: two accessors of one buffer always overlap, unless both are to sub-buffers."""
    buffer = a_buffer()

    def ranged(name, offset):
        gate = held.gates[name] = threading.Event()
        begun = held.begun[name] = threading.Event()

        def task():
            begun.set()
            gate.wait(SECONDS)

        def group(handler):
            buffer.get_access(handler, "write", range=4, offset=offset)
            handler.host_task(task)

        queue.submit(group)

    ranged("a", 0)
    ranged("b", 4)
    assert held.starts("a") and held.waits("b")
    held.let_go("a", "b")
    queue.wait()


def test_reinterpreted_buffers_and_nested_ranges_overlap_by_their_bytes(queue, held):
    buffer = a_buffer(8)
    halves = buffer.reinterpret((4, 4), np.int16)
    held.submit(queue, "a", (buffer.sub_buffer(0, 4), "write"))
    held.submit(queue, "b", (halves.sub_buffer((2, 0), (2, 4)), "write"))
    held.submit(queue, "c", (halves.sub_buffer((1, 0), (2, 4)), "read"))
    assert held.starts("a", "b") and held.waits("c")
    held.let_go("a", "b", "c")
    queue.wait()


def test_groups_without_common_requirements_do_not_wait(queue, held):
    held.submit(queue, "a", (a_buffer(), "write"))
    held.submit(queue, "b", (a_buffer(), "write"))
    assert held.starts("a", "b")


@pytest.mark.parametrize("first", ["host_task", "device"])
def test_an_in_order_queue_keeps_its_order_with_requirements_and_without(device, context, held, first):
    buffer, other = a_buffer(), a_buffer()
    with bl.Queue(device, context, in_order=True) as queue:
        held.submit(queue, "a", (buffer, "write"))
        done = queue.submit(lambda handler: handler.fill(other.get_access(handler, "write"), 1))
        held.submit(queue, "b")
        assert held.starts("a") and held.waits("b")
        assert done.status is bl.EventStatus.submitted
        held.let_go("a")
        assert held.starts("b") and done.status is bl.EventStatus.complete
        held.let_go("b")


def test_explicit_dependencies_join_those_of_accessors(queue, held):
    buffer = a_buffer()
    alone = held.submit(queue, "a")
    out = np.zeros(8, np.int32)

    def group(handler):
        handler.depends_on(alone)
        handler.copy(buffer.get_access(handler, "read"), out)

    event = queue.submit(group)
    assert held.starts("a")
    assert event.status is bl.EventStatus.submitted
    held.let_go("a")
    event.wait()


def test_a_group_without_items_still_satisfies_its_requirements(queue, held):
    buffer = a_buffer()
    held.submit(queue, "a", (buffer, "write"))

    def nothing(handler):
        handler.fill(buffer.get_access(handler, "write"), 3, 0)

    empty = queue.submit(nothing)
    held.submit(queue, "b", (buffer, "read"))
    assert held.starts("a") and held.waits("b")
    assert empty.status is not bl.EventStatus.complete
    held.let_go("a", "b")
    empty.wait()


def test_a_barrier_comes_after_groups_that_have_not_started(queue, held):
    buffer = a_buffer()
    held.submit(queue, "a", (buffer, "write"))
    later = queue.submit(lambda handler: handler.fill(buffer.get_access(handler, "write"), 3))
    barrier = queue.submit(lambda handler: handler.ext_oneapi_barrier())
    assert barrier.status is bl.EventStatus.submitted and not queue.ext_oneapi_empty()
    held.let_go("a")
    barrier.wait()
    assert later.status is bl.EventStatus.complete


def test_submitting_does_not_wait(queue, held):
    """Submission and accessor creation return at once, whatever the group depends on."""
    buffer = a_buffer()
    held.submit(queue, "a", (buffer, "write"))
    events = [
        queue.submit(lambda handler, value=value: handler.fill(buffer.get_access(handler, "write"), value))
        for value in range(200)
    ]
    assert {event.status for event in events} == {bl.EventStatus.submitted}
    held.let_go("a")
    with buffer.get_host_access("read") as array:
        assert array.tolist() == [199] * 8


def test_a_chain_of_ten_thousand_groups_behind_a_host_accessor(queue):
    buffer = a_buffer(4)
    with buffer.get_host_access():
        for value in range(10_000):
            event = queue.submit(lambda handler, value=value: handler.fill(buffer.get_access(handler, "write"), value))
        assert event.status is bl.EventStatus.submitted
    event.wait()
    with buffer.get_host_access("read") as array:
        assert array.tolist() == [9999] * 4


# ---------------------------------------------------------------------- commands on accessors


def out_of(buffer):
    with buffer.get_host_access("read") as array:
        return array.copy()


def test_every_copy_with_accessors(queue):
    source = np.arange(12, dtype=np.int32).reshape(3, 4)
    buffer, other = bl.Buffer(source.copy()), bl.Buffer((4, 3), np.int32)
    out, usm = np.zeros(12, np.int32), bl.usm_empty(12, np.int32, queue)

    def submit(command):
        return queue.submit(command)

    submit(lambda h: h.copy(buffer.get_access(h, "read"), other.get_access(h, "write", no_init=True)))
    np.testing.assert_array_equal(out_of(other), source.reshape(4, 3))
    submit(lambda h: h.copy(other.get_access(h, "read", range=(2, 2), offset=(1, 1)), out)).wait()
    assert out.tolist() == [4, 5, 7, 8] + [0] * 8
    submit(lambda h: h.copy(np.array([50, 51], np.int32), buffer.get_access(h, "write", range=(2, 1), offset=(1, 3))))
    assert out_of(buffer).tolist() == [[0, 1, 2, 3], [4, 5, 6, 50], [8, 9, 10, 51]]
    submit(lambda h: h.copy(buffer.get_access(h, "read", range=(3, 2)), usm)).wait()
    assert usm.numpy(queue)[:6].tolist() == [0, 1, 4, 5, 8, 9]
    submit(lambda h: h.copy(usm, other.get_access(h, "write", range=(1, 3)))).wait()
    assert out_of(other).tolist()[0] == [0, 1, 4]
    submit(lambda h: h.copy(buffer.get_access(h, "read"), out, 3)).wait()
    assert out.tolist()[:4] == [0, 1, 2, 8]
    submit(lambda h: h.memcpy(other.get_access(h, "write"), buffer.get_access(h, "read"), 4)).wait()
    submit(lambda h: h.memset(other.get_access(h, "write", range=(2, 1), offset=(2, 2)), 1)).wait()
    assert out_of(other).tolist()[2:] == [[6, 7, 0x01010101], [9, 10, 0x01010101]]
    submit(lambda h: h.fill(other.get_access(h, "write", range=(4, 1), offset=(0, 1)), -1)).wait()
    assert out_of(other)[:, 1].tolist() == [-1] * 4
    submit(lambda h: h.fill(other.get_access(h, "write"), b"\1\2\3", 2)).wait()
    assert out_of(other).tobytes()[:7] == b"\1\2\3\1\2\3\xff"


def test_a_region_of_three_dimensions(queue):
    expected = np.arange(60, dtype=np.int16).reshape(3, 4, 5)
    buffer = bl.Buffer(expected.copy())
    small = np.arange(100, 108, dtype=np.int16).reshape(2, 2, 2)
    where = {"range": (2, 2, 2), "offset": (1, 1, 3)}
    queue.submit(lambda h: h.copy(small, buffer.get_access(h, "write", **where)))
    expected[1:3, 1:3, 3:5] = small
    np.testing.assert_array_equal(out_of(buffer), expected)
    with buffer.get_host_access(**where) as array:
        np.testing.assert_array_equal(array, small)
        array += 1
    expected[1:3, 1:3, 3:5] += 1
    back = np.zeros_like(small)
    queue.submit(lambda h: h.copy(buffer.get_access(h, "read", **where), back)).wait()
    np.testing.assert_array_equal(back, small + 1)
    queue.submit(lambda h: h.fill(buffer.get_access(h, "write", no_init=True, **where), 0))
    expected[1:3, 1:3, 3:5] = 0
    np.testing.assert_array_equal(out_of(buffer), expected)


@pytest.mark.parametrize(
    "command, error, message",
    [
        (
            lambda h, a: h.copy(a.get_access(h, "write"), np.zeros(8, "i4")),
            bl.AccessorError,
            ("src: ", " only written"),
        ),
        (lambda h, a: h.copy(np.zeros(8, "i4"), a.get_access(h, "read")), bl.AccessorError, ("dst: ", " is only read")),
        (lambda h, a: h.fill(a.get_access(h, "read"), 1), bl.AccessorError, None),
        (lambda h, a: h.copy(a.get_access(h, "read"), np.zeros(7, "i4")), bl.InvalidError, "32 bytes leave the dst"),
        (lambda h, a: h.copy(np.zeros(7, "i4"), a.get_access(h)), bl.InvalidError, "32 bytes leave the src"),
        (lambda h, a: h.fill(a.get_access(h), 1, 9), bl.InvalidError, "4 bytes more than the accessor has"),
        (lambda h, a: h.fill(a.get_access(h), 1.5), bl.InvalidError, "int32"),
        (lambda h, a: h.fill(a.get_access(None), 1), bl.AccessorError, "pass it to handler.require first"),
        (lambda h, a: h.update_host(a.get_access(None)), bl.AccessorError, None),
        (lambda h, a: h.require(a), bl.InvalidError, "buffer.get_access"),
        (lambda h, a: a.get_access(3), bl.InvalidError, "handler=3"),
        (lambda h, a: a.get_access(h, range=9), bl.InvalidError, None),
        (lambda h, a: a.get_access(h, offset=(0, 0)), bl.InvalidError, None),
        (lambda h, a: a.get_access(h, range=-1), bl.InvalidError, None),
    ],
)
def test_commands_on_accessors_that_cannot_be(queue, command, error, message):
    buffer = a_buffer()
    with raises(error, names=message):
        queue.submit(lambda handler: command(handler, buffer))
    queue.submit(lambda handler: handler.fill(buffer.get_access(handler, "write"), 1))
    assert out_of(buffer).tolist() == [1] * 8


def test_an_accessor_serves_one_group(queue):
    buffer = a_buffer()
    kept = []
    queue.submit(lambda h: (kept.append(buffer.get_access(h)), h.fill(kept[0], 1)))
    with raises(bl.AccessorError, match="does not belong to this command group: make one with this handler"):
        queue.submit(lambda h: h.fill(kept[0], 2))
    with raises(bl.AccessorError):
        queue.submit(lambda h: h.require(kept[0]))
    with raises(bl.AccessorError):
        queue.fill(kept[0], 2)
    with raises(bl.AccessorError):
        kept[0][0]


def test_a_placeholder_serves_any_number_of_groups(queues):
    buffer = a_buffer()
    accessor = buffer.get_access(None, "read_write", range=4)
    assert accessor.is_placeholder
    for value, queue in enumerate(queues):

        def group(handler, value=value):
            handler.require(accessor)
            handler.fill(accessor, value)

        queue.submit(group)
    assert out_of(buffer).tolist() == [2] * 4 + [0] * 4


def test_queues_take_placeholders_without_a_group(queue):
    buffer, out = a_buffer(), np.zeros(8, np.int32)
    whole, part = buffer.get_access(None), buffer.get_access(None, "write", range=2, offset=3)
    first = queue.fill(whole, 4)
    queue.memset(part, 0)
    queue.copy(np.array([7, 8], np.int32), part, depends_on=first)
    queue.memcpy(out, whole).wait()
    assert out.tolist() == [4, 4, 4, 7, 8, 4, 4, 4]
    array = np.zeros(4, np.int32)
    with bl.Buffer(array) as other:
        queue.copy(whole, other.get_access(None, "write"), 4)
        queue.update_host(other.get_access(None, "read"), depends_on=[first]).wait()
        assert array.tolist() == [4, 4, 4, 7]
        with raises(bl.AccessorError):
            queue.fill(other.get_access(None, "read"), 1)
        with raises(bl.AccessorError):
            queue.update_host(other)


def test_update_host_brings_the_elements_to_the_array(queue):
    array = np.zeros(8, np.int32)
    with bl.Buffer(array) as buffer:
        queue.submit(lambda h: h.fill(buffer.get_access(h, "write"), 6))
        queue.submit(lambda h: h.update_host(buffer.get_access(h, "read"))).wait()
        assert array.tolist() == [6] * 8
        queue.submit(lambda h: h.fill(buffer.get_access(h, "write", range=2), 7))
        queue.submit(lambda h: h.update_host(buffer.get_access(h, "read", range=1))).wait()
        assert array.tolist()[0] == 7
        queue.submit(lambda h: h.update_host(buffer.get_access(h, "read"))).wait()
        assert array.tolist() == [7] * 2 + [6] * 6


def test_times_of_groups_whose_data_is_moved(device):
    with bl.Queue(device, enable_profiling=True) as queue:
        array = np.arange(1 << 16, dtype=np.int32)
        with bl.Buffer(array) as buffer:
            event = queue.submit(lambda h: h.fill(buffer.get_access(h, "read_write", range=5), 1))
            submitted, start, end = (event.get_profiling_info(f"command_{name}") for name in ("submit", "start", "end"))
            assert submitted <= start <= end
            update = queue.submit(lambda h: h.update_host(buffer.get_access(h, "read")))
            assert update.get_profiling_info("command_start") >= end
        with raises(bl.ProfilingError):
            queue.submit(lambda h: h.host_task(lambda: None)).get_profiling_info("command_end")


# ---------------------------------------------------------------------- host tasks


def test_host_tasks_see_the_elements(queue):
    array = np.arange(12, dtype=np.int32).reshape(3, 4)
    seen = []
    with bl.Buffer(array) as buffer:
        queue.submit(lambda h: h.fill(buffer.get_access(h, "write", range=(1, 4)), 9))

        def group(handler):
            whole = buffer.get_access(handler, "read_write", range=(2, 2), offset=(1, 1), target="host_task")
            other = buffer.get_access(handler, "read", target="host_task")

            def task():
                seen.append(np.asarray(other).tolist())
                seen.append(other.array.flags.writeable)
                whole[:, 0] += 100

            handler.host_task(task)

        queue.submit(group)
    assert seen == [[[9] * 4, [4, 5, 6, 7], [8, 9, 10, 11]], False]
    assert array.tolist() == [[9] * 4, [4, 105, 6, 7], [8, 109, 10, 11]]


def test_a_buffer_that_only_a_host_task_holds_is_written_back_after_it(queue):
    array = np.zeros(4, np.int32)

    def scope():
        buffer = bl.Buffer(array)

        def group(handler):
            accessor = buffer.get_access(handler, "write", target="host_task")

            def task():
                accessor[:] = 3

            handler.host_task(task)

        return queue.submit(group)

    scope().wait()
    for _ in range(1000):
        if array.any():
            break
        time.sleep(0.01)
    assert array.tolist() == [3] * 4


def test_the_interop_handle(queue):
    # OpenCL's alignment of kernel memory, for drivers with buffers but without addresses.
    first = queue.device.get_info("mem_base_addr_align") // 32 if queue.backend is bl.Backend.opencl else 1
    buffer = bl.Buffer(np.arange(first + 3, dtype=np.int32))
    seen = {}

    def group(handler):
        accessor = buffer.sub_buffer(first, 2).get_access(handler, "read_write")
        host = bl.Buffer(4, np.int32).get_access(handler, "write", target="host_task")

        def task(interop):
            seen["handles"] = (
                interop.get_native_queue(),
                interop.get_native_device(),
                interop.get_native_context(),
                interop.get_native_mem(accessor),
            )
            seen["backend"] = interop.get_backend()
            with raises(bl.AccessorError, names="'device'"):
                interop.get_native_mem(buffer.get_access(None))
            host[:] = 1

        handler.host_task(task)

    queue.submit(group).wait()
    assert seen["backend"] is queue.backend
    assert all(isinstance(handle, int) for handle in seen["handles"])
    address = seen["handles"][3]
    native = queue.device._record.native
    if queue.backend is not bl.Backend.opencl or native.has_usm or native.svm:  # else it is a cl_mem
        assert queue._backend.pointer_info(queue.context._native, address).kind is not bl.UsmKind.unknown
        assert address % 16 == 4 * first % 16


def test_functions_that_tell_no_signature_are_called_without_arguments(queue):
    called = []
    queue.submit(lambda h: h.host_task(threading.Event().set)).wait()
    queue.submit(lambda h: h.host_task(lambda value=3: called.append(value))).wait()
    assert called == [3]
