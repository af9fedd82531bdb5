"""Kernel faults, each in its own process because a fault may lose the device.

``python faulting_kernels.py SELECTOR CASE [MODULE]``, with a module in SPIR-V for devices other than CUDA's.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import bindless as bl

# The kernel writes to an unmapped address.
WILD = b"""
.version 6.3
.target sm_75
.address_size 64
.visible .entry wild(.param .u64 where)
{ .reg .b64 %d; .reg .b32 %r; ld.param.u64 %d, [where]; mov.u32 %r, 1; st.global.u32 [%d], %r; ret; }
"""


def fault(queue: bl.Queue) -> bl.Event:
    """Submit a command that faults."""
    source = Path(sys.argv[3]).read_bytes() if len(sys.argv) > 3 else WILD
    kernel = bl.load_kernel_bundle(source, queue).get_kernel("wild")
    return queue.single_task(kernel, np.uint64(64))


def refused(work: object) -> bl.Error:
    """The error of an operation that is no longer possible."""
    try:
        work()  # type: ignore[operator]
    except bl.Error as error:
        return error
    raise AssertionError("it worked")


def told_by_event(selector: str) -> None:
    """The event reports the fault once; every call on the context is refused; other devices continue."""
    queue = bl.Queue(selector)
    other = bl.Queue(queue.device, queue.context)
    array = bl.usm_empty(16, "u1", queue)
    error = refused(fault(queue).wait)
    assert isinstance(error, bl.DeviceLostError) and error.code is bl.Errc.kernel, error
    assert error.native_name == "CUDA_ERROR_ILLEGAL_ADDRESS" and error.native_code == 700
    assert "start a new process" in str(error), error
    for work in (
        queue.wait,
        other.wait,
        lambda: queue.memset(array, 1).wait(),
        lambda: other.memset(array, 1).wait(),
        lambda: bl.usm_empty(16, "u1", queue),
        lambda: bl.Queue(queue.device, bl.Context(queue.device)).memset(array, 1).wait(),
    ):
        assert isinstance(refused(work), (bl.DeviceLostError, bl.InvalidError)), work
    with bl.Queue("reference") as reference:
        assert bl.usm_empty(4, "u1", reference).copy_from(7).numpy().tolist() == [7] * 4
    refused(queue.close)
    array.close()


def told_by_handler(selector: str) -> None:
    """The handler gets one error, not one per driver query."""
    taken: list[bl.ExceptionList] = []
    queue = bl.Queue(selector, async_handler=taken.append)
    fault(queue)
    queue.wait_and_throw()
    assert [type(error) for errors in taken for error in errors] == [bl.DeviceLostError], taken


def goes_on(queue: bl.Queue) -> None:
    """Check that old and new objects work, and that no error is pending."""
    array = bl.usm_empty(16, "u1", queue)
    queue.memset(array, 3).wait()
    assert array.numpy(queue).tolist() == [3] * 16
    queue.wait_and_throw()


def told_by_event_that_goes_on(selector: str) -> None:
    """The event reports the kernel's fault; its queue, its context and other contexts continue."""
    queue = bl.Queue(selector)
    other = bl.Queue(queue.device, queue.context)
    error = refused(fault(queue).wait)
    assert isinstance(error, bl.KernelError) and error.code is bl.Errc.kernel, error
    assert "kernel 'wild', item_id (0): writes 4 bytes at 0x40" in str(error), error
    for usable in (queue, other, bl.Queue(queue.device, bl.Context(queue.device))):
        goes_on(usable)


def told_by_handler_that_goes_on(selector: str) -> None:
    """The handler gets each fault once."""
    taken: list[bl.ExceptionList] = []
    queue = bl.Queue(selector, async_handler=taken.append)
    for count in (1, 2):
        fault(queue)
        queue.wait_and_throw()
        assert [type(error) for errors in taken for error in errors] == [bl.KernelError] * count, taken
        goes_on(queue)


def told_at_exit(selector: str) -> None:
    """No query: the fault is reported once at the interpreter's exit."""
    queue = bl.Queue(selector)
    fault(queue)
    del queue


CASES = {
    "event": told_by_event,
    "handler": told_by_handler,
    "event_goes_on": told_by_event_that_goes_on,
    "handler_goes_on": told_by_handler_that_goes_on,
    "exit": told_at_exit,
}

if __name__ == "__main__":
    CASES[sys.argv[2]](sys.argv[1])
