"""Ctrl-C at any moment of taking an event of the driver: none is lost, and none is used again too early."""

from __future__ import annotations

import gc
import itertools
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

import bindless as bl

pytestmark = pytest.mark.on_level_zero


@pytest.fixture
def pool(device: bl.Device) -> Iterator[Any]:
    """A pool of three events, all at rest."""
    from bindless.backends._level_zero_context import NativeContext
    from bindless.backends._level_zero_pool import EventPool, NativeEvent

    context = NativeContext.of(device._record.native.driver)
    made = EventPool(context.handle, timed=False)
    del [NativeEvent(made) for _ in range(3)][:]
    assert len(set(made.at_rest)) == 3
    yield made
    made.close()
    context.leave()


def interrupted(pool: Any, moment: int) -> bool:
    """Takes an event, interrupted at an instruction of the interpreter; whether it came to that one."""
    from bindless.backends import _level_zero_pool

    passed = itertools.count()

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename != _level_zero_pool.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and next(passed) == moment:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        _level_zero_pool.NativeEvent(pool)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_no_event_is_lost(pool: Any) -> None:
    moments = itertools.takewhile(lambda moment: interrupted(pool, moment), itertools.count())
    for moment in moments:
        gc.collect()
        assert len(set(pool.at_rest)) == len(pool.at_rest) == 3, f"interrupted at instruction {moment}"
    assert moment > 10
    assert len(pool._events) == 3


def test_an_event_is_not_used_again_before_it_was_signalled(device: bl.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    with bl.Context(device) as context, bl.Queue(context=context, in_order=True) as queue:
        array = bl.usm_empty(16, "u1", queue)
        queue.memset(array, 1).wait()
        stream = queue._native.streams[0]
        at_rest = stream.context.native.pools[False].at_rest
        run, submitted = stream.lists.run, []

        def run_and_interrupt(command: Any, signal: Any, *waits: Any) -> int:
            submitted.append(address_of(signal))
            run(command, signal, *waits)
            raise KeyboardInterrupt

        event = queue.memset(array, 2)
        monkeypatch.setattr(stream.lists, "run", run_and_interrupt)
        with pytest.raises(KeyboardInterrupt):
            event.wait()
        monkeypatch.undo()
        gc.collect()
        assert submitted and submitted[0] not in map(address_of, at_rest)
        event.wait()
        assert submitted[0] in map(address_of, at_rest)
        assert array.numpy(queue).tolist() == [2] * 16


def address_of(handle: Any) -> int:
    from bindless.drivers import level_zero as driver

    return int(driver.ffi.cast("uintptr_t", handle))
