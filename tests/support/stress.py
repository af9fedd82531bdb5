"""Threads, garbage collection, closing, forks, signals and exits in random order.

``python stress.py SELECTOR CASE SECONDS SEED`` runs one case, which ends with a line of JSON: the amount of work, and
the native object counts before and after. A process without progress prints the stack of every thread and ends with an
error.
"""

from __future__ import annotations

import atexit
import ctypes
import faulthandler
import gc
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

import bindless as bl
from bindless import kernels
from bindless.core import ownership
from bindless.submission import command_stream

THREADS = 16
PATIENCE = 60.0  # seconds without the expected end

Work = Callable[["Worker"], None]


# ---------------------------------------------------------------------- counting


def native_objects(device: bl.Device) -> dict[str, int]:
    """Live objects of the driver and of the package; equal counts before and after mean no leak."""
    gc.collect()
    command_stream.wait_for_all()
    gc.collect()
    command_stream.sweep()
    counts = {"resources": len(ownership._live)}
    if device.backend == "reference":
        from bindless.drivers import reference as driver

        number = driver.ffi.new("uint64_t *")
        driver.check(driver.lib.blrGetObjectCount(number), "blrGetObjectCount")
        counts["driver"] = number[0]
    elif device.backend == "level_zero":
        count = level_zero_objects(device)
        if count is not None:
            counts["driver"] = count
    elif device.backend == "opencl":
        pass  # tests/backends/opencl queries the drivers' reference counts of single objects
    elif device.vendor == "bindless":  # the CUDA driver for processors, which nobody else uses
        from bindless.backends.cuda.object_cache import end_rest

        end_rest(device._record.native.context())  # the cache of freed arrays
        library = ctypes.CDLL(os.environ["BINDLESS_LIBCUDA"])
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        assert library.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)) == 0  # arrays are not of it
        counts["bytes"] = total.value - free.value
    return counts


def level_zero_objects(device: bl.Device) -> int | None:
    """The object count of the package's own driver; None for other drivers, which have no counter."""
    from bindless.drivers import level_zero as driver

    address, number = driver.ffi.new("void **"), driver.ffi.new("uint64_t *")
    handle = device._record.native.driver.handle
    if driver.lib.zeDriverGetExtensionFunctionAddress(handle, b"bindlessGetObjectCount", address):
        return None
    driver.check(driver.ffi.cast("int(*)(uint64_t *)", address[0])(number), "bindlessGetObjectCount")
    return int(number[0])


# ---------------------------------------------------------------------- operations of a thread


class Worker:
    """One thread's random numbers, its own queue, and the shared queues."""

    def __init__(self, seed: int, device: bl.Device, context: bl.Context, shared: list[bl.Queue]) -> None:
        self.random = random.Random(seed)
        self.device, self.context, self.shared = device, context, shared
        self.kinds = [kind for kind in ("device", "host", "shared") if device.has(f"usm_{kind}_allocations")]
        self.own = self.queue_of_its_own()
        self.kernel: bl.Kernel | None = None
        self.done = 0

    def queue_of_its_own(self) -> bl.Queue:
        return bl.Queue(self.device, self.context, in_order=self.random.random() < 0.5)

    @property
    def queue(self) -> bl.Queue:
        return self.own if self.random.random() < 0.4 else self.random.choice(self.shared)


def fill_and_read(worker: Worker) -> None:
    queue, value = worker.queue, worker.random.randrange(1 << 30)
    array = bl.usm_empty(worker.random.choice((1, 64, 5000)), np.int32, queue)
    out = np.empty(array.shape, np.int32)
    event = queue.memcpy(out, array, depends_on=queue.fill(array, value))
    if worker.random.random() < 0.3:
        array.close()
    event.wait()
    assert (out == value).all()


def drop_everything(worker: Worker) -> None:
    """Drop a queue, memory and an event in a cycle that only the garbage collector frees, while the work runs."""
    queue = worker.queue_of_its_own() if worker.random.random() < 0.3 else worker.queue
    array = bl.usm_empty(256, np.uint8, queue, kind=worker.random.choice(worker.kinds))
    ring: list[object] = [queue, array, queue.memset(array, 7)]
    ring.append(ring)


def across_queues(worker: Worker) -> None:
    first, second = worker.queue, worker.queue
    array = bl.usm_empty(64, np.int32, first)
    out = np.zeros(64, np.int32)
    event = second.fill(array, 2, depends_on=first.fill(array, 1))
    first.memcpy(out, array, depends_on=[event, second.ext_oneapi_submit_barrier(event)]).wait()
    assert (out == 2).all()


def image(worker: Worker) -> None:
    queue = worker.queue
    desc = bl.ImageDescriptor(8, 8, num_channels=4, channel_type="unsigned_int8")
    pixels = np.full(desc.shape, worker.random.randrange(256), desc.dtype)
    memory = bl.ImageMem(desc, queue)
    copied = queue.ext_oneapi_copy(pixels, memory)
    handle = bl.create_image(memory, desc, queue)
    out = np.empty_like(pixels)
    queue.ext_oneapi_copy(memory, out, depends_on=copied).wait()
    assert (out == pixels).all()
    bl.destroy_image_handle(handle, queue)
    if worker.random.random() < 0.5:
        memory.close()


def device_function(worker: Worker) -> None:
    """Device functions with host arrays, through the scratch memory that all threads share."""
    queue = worker.queue
    desc = bl.ImageDescriptor(8, 8, num_channels=4, channel_type="fp32")
    pixels = np.arange(256, dtype=np.float32).reshape(desc.shape)
    memory = bl.ImageMem(desc, queue)
    queue.ext_oneapi_copy(pixels, memory).wait()
    handle = bl.create_image(memory, desc, queue)
    coords = np.array([[worker.random.randrange(8), worker.random.randrange(8)] for _ in range(9)], np.int32)
    found = bl.fetch_image(queue, handle, coords)
    assert (found == pixels[coords[:, 1], coords[:, 0]]).all()
    bl.destroy_image_handle(handle, queue)


def host_task(worker: Worker) -> None:
    queue, ran = worker.queue, []
    array = bl.usm_empty(16, np.uint8, queue)
    before = queue.memset(array, 1)

    def group(handler: bl.Handler) -> None:
        handler.depends_on(before)
        handler.host_task(lambda: ran.append(1))

    event = queue.submit(group)
    if worker.random.random() < 0.5:
        event.wait()
        assert ran == [1]


def failing_task(worker: Worker) -> None:
    queue = worker.queue_of_its_own()

    def task() -> None:
        raise ValueError("on purpose")

    event = queue.submit(lambda handler: handler.host_task(task))
    try:
        event.wait()
    except bl.SyclRuntimeError as error:
        assert "on purpose" in str(error)
    else:
        raise AssertionError("the error was lost")


def run_kernel(worker: Worker) -> None:
    queue = worker.queue
    if worker.kernel is None or worker.random.random() < 0.02:
        target: Any = {"cuda": "ptx", "opencl": "opencl_c"}.get(str(worker.device.backend), "spirv")
        source = kernels.source("launch", target)
        worker.kernel = bl.load_kernel_bundle(source, queue).get_kernel("bindless_empty")
    for _ in range(worker.random.randrange(10)):
        queue.parallel_for(64, worker.kernel)


def close_queue(worker: Worker) -> None:
    queue = worker.queue_of_its_own()
    array = bl.usm_empty(64, np.uint8, queue)
    queue.memset(array, 1)
    queue.close()
    try:
        queue.memset(array, 2)
    except bl.InvalidError as error:
        assert "was closed" in str(error) or "ended with the interpreter" in str(error)
    else:
        raise AssertionError("a closed queue took a command")


def replace_own(worker: Worker) -> None:
    if worker.random.random() < 0.5:
        worker.own.close()
    worker.own = worker.queue_of_its_own()


def short_context(worker: Worker) -> None:
    with bl.Context(worker.device) as context:
        queue = bl.Queue(context=context)
        queue.memset(bl.usm_empty(32, np.uint8, queue), 5)
    assert queue.closed


def buffers(worker: Worker) -> None:
    """A buffer that commands of two queues modify; closing writes it back."""
    data = np.zeros(128, np.int32)
    with bl.Buffer(data) as buffer:
        for value in (1, 2):

            def group(handler: bl.Handler, value: int = value) -> None:
                handler.fill(buffer.get_access(handler, "write"), np.int32(value))

            worker.queue.submit(group)
        if worker.random.random() < 0.3:
            with buffer.get_host_access("read") as view:
                assert (np.asarray(view) == 2).all()
    assert (data == 2).all()


def works(device: bl.Device) -> list[Work]:
    chosen = [
        fill_and_read, fill_and_read, drop_everything, across_queues, image, host_task, failing_task, close_queue,
        replace_own, short_context, buffers, device_function, run_kernel,
    ]  # fmt: skip
    return chosen


def submit_until(worker: Worker, end: Callable[[], bool], without: tuple[Work, ...] = ()) -> None:
    chosen = [work for work in works(worker.device) if work not in without]
    while not end():
        worker.random.choice(chosen)(worker)
        worker.done += 1
        if worker.random.random() < 0.01:
            gc.collect()


def together(workers: list[Worker], end: Callable[[Worker], bool]) -> None:
    """Run each function on its own thread, to its end or to the first failure, which is raised."""
    failures: list[BaseException] = []

    def run(worker: Worker) -> None:
        try:
            submit_until(worker, lambda: end(worker) or bool(failures))
        except BaseException as error:
            failures.append(error)

    running = [threading.Thread(target=run, args=(worker,)) for worker in workers]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    for failure in failures:
        raise failure


# ---------------------------------------------------------------------- cases


def threads(device: bl.Device, seconds: float, seed: int) -> int:
    """Sixteen threads on shared and private queues."""
    context = bl.Context(device)
    shared = [bl.Queue(device, context, in_order=index % 2 == 0) for index in range(4)]
    stop = time.monotonic() + seconds
    workers = [Worker(seed * 1000 + index, device, context, shared) for index in range(THREADS)]
    together(workers, lambda worker: worker.done > 0 and time.monotonic() > stop)
    for queue in shared:
        queue.wait()
        assert queue.ext_oneapi_empty()
    done = sum(worker.done for worker in workers)
    assert min(worker.done for worker in workers) > 0, "a thread got no turn"
    return done


def interrupts(device: bl.Device, seconds: float, seed: int) -> int:
    """Ctrl-C during waits: the wait ends at once, and a second wait completes."""
    # A separate context: its event pool grows with the number of concurrent commands, however many interrupts arrive.
    context = bl.Context(device)
    queue = bl.Queue(device, context, in_order=seed % 2 == 0)
    big = bl.usm_empty(32 << 20, np.uint8, queue)
    waiting, stop = False, time.monotonic() + seconds

    def on_signal(_: int, frame: FrameType | None) -> None:
        if waiting and (frame is None or frame.f_code is not _ignore_interrupts.__code__):
            raise KeyboardInterrupt

    # The interpreter swallows an interrupt inside a destructor and passes it to this hook.
    hook, sys.unraisablehook = sys.unraisablehook, _ignore_interrupts
    before = signal.signal(signal.SIGINT, on_signal)
    main, over = threading.get_ident(), threading.Event()

    def disturb() -> None:
        while not over.wait(random.Random(seed).uniform(0.0005, 0.003)):
            signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=disturb)
    thread.start()
    interrupted = rounds = 0
    event = bl.Event()
    while time.monotonic() < stop or interrupted == 0:
        value = rounds % 251
        for _ in range(4):
            event = queue.memset(big, value, depends_on=event)
        complete = False
        while not complete:
            waiting = True
            try:
                event.wait() if rounds % 2 else queue.wait()
                complete = True
            except KeyboardInterrupt:
                interrupted += 1
            finally:
                waiting = False
        assert event.status is bl.EventStatus.complete
        rounds += 1
    over.set()
    thread.join()
    signal.signal(signal.SIGINT, before)
    sys.unraisablehook = hook
    assert (big.numpy(queue) == value).all()
    context.close()
    return interrupted


def _ignore_interrupts(unraisable: Any) -> None:
    if unraisable.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(unraisable)


def forks(device: bl.Device, seconds: float, seed: int) -> int:
    """Children of a parent whose threads submit continuously: each child is refused and ends; the parent continues."""
    context = bl.Context(device)
    shared = [bl.Queue(device, context), bl.Queue(device, context, in_order=True)]
    over = threading.Event()
    workers = [Worker(seed * 100 + index, device, context, shared) for index in range(4)]
    # All imports happen before: the interpreter's import locks do not survive a fork.
    for work in works(device):
        work(workers[0])
    running = [threading.Thread(target=submit_until, args=(worker, over.is_set)) for worker in workers]
    for thread in running:
        thread.start()
    stop, children = time.monotonic() + seconds, 0
    try:
        while time.monotonic() < stop or children == 0:
            child = os.fork()
            if child == 0:
                _in_child(shared[0], device)
            assert os.waitpid(child, 0)[1] == 0, "the child failed"
            children += 1
    finally:
        over.set()
        for thread in running:
            thread.join()
    for queue in shared:
        queue.wait()
    return children


def _in_child(queue: bl.Queue, device: bl.Device) -> None:
    faulthandler.register(signal.SIGALRM, chain=True)  # the watchdog's thread is not in the child
    signal.alarm(int(PATIENCE / 4))
    code = 1
    try:
        for use in (
            queue.wait,
            lambda: bl.usm_empty(4, "u1", queue),
            lambda: bl.Context(device),
            lambda: bl.Image(np.zeros((4, 4), np.float32)),
        ):
            try:
                use()
            except bl.SyclRuntimeError as error:
                assert "fork" in str(error), error
            else:
                raise AssertionError("a queue worked in the child")
        gc.collect()
        queue.close()
        code = 0
    except BaseException as error:
        sys.stderr.write(f"in the child: {error!r}\n")
    os._exit(code)


def leave(device: bl.Device, seconds: float, seed: int) -> int:
    """The interpreter exits while daemon threads submit, the garbage collector runs, and work is pending."""
    for name in bl.__all__:  # at exit, CPython 3.11 frees the import lock under an importing thread
        getattr(bl, name)
    context = bl.Context(device)
    shared = [bl.Queue(device, context, in_order=index % 2 == 0) for index in range(2)]
    workers = [Worker(seed * 100 + index, device, context, shared) for index in range(6)]
    ending = threading.Event()
    atexit.register(ending.set)  # runs before the package's exit handlers

    def run(worker: Worker) -> None:
        try:
            submit_until(worker, lambda: False, without=(failing_task,))  # the exit would report the failure
        except BaseException:
            if not ending.is_set():  # during the exit, threads are refused and stopped anywhere
                raise

    for worker in workers:
        threading.Thread(target=run, args=(worker,), daemon=True).start()
    time.sleep(min(seconds, random.Random(seed).uniform(0.0, 0.3)))
    ends: list[Callable[[], object]] = [
        lambda: None,
        lambda: sys.exit(0),
        gc.disable,
        lambda: gc.set_threshold(3, 2, 2),
        workers.clear,
    ]
    keep.append((workers, shared, context))
    random.Random(seed).choice(ends)()
    return 1


keep: list[object] = []
CASES = {"threads": threads, "interrupts": interrupts, "forks": forks, "leave": leave}


def main(selector: str, case: str, seconds: float, seed: int) -> None:
    faulthandler.enable()
    faulthandler.dump_traceback_later(seconds + PATIENCE, exit=True)
    device = bl.Device(selector)
    if case == "leave":
        leave(device, seconds, seed)
        return
    # The first round fills the persistent caches: kernels, pools.
    CASES[case](device, min(seconds, 0.3), seed + 1)
    before = native_objects(device)
    done = CASES[case](device, seconds, seed)
    after = native_objects(device)
    print(json.dumps({"case": case, "done": done, "before": before, "after": after}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))
