"""Finalizers that use a queue while the queue releases the objects of completed commands."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import bindless as bl
from bindless.core._submission import Openable, Prepared
from tests.support.fake_backend import FakeBackend, FakeQueue

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    made = threading.Event()
    yield made
    made.set()


class Used:
    """An object that a command uses."""


class Dropped:
    """Garbage whose finalizer calls a function."""

    def __init__(self, function: Callable[[], object]) -> None:
        self.function, self.cycle = function, self

    def __del__(self) -> None:
        self.function()


def submitted(queue: bl.Queue, operation: Callable[..., object], used: Used) -> None:
    queue._enqueue(operation, (), (used,))


def interrupted(queue: bl.Queue, operation: Callable[..., object], used: Used) -> None:
    """Ctrl-C arrives after the driver accepted the command."""

    def twice(waits: object) -> object:
        operation(waits)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        queue._enqueue(twice, (), (used,))


def prepared(queue: bl.Queue, operation: Callable[..., object], used: Used) -> None:
    """A prepared command, which C code submits."""
    backend: Any = queue._backend
    backend.launch = lambda *_: operation(())
    command = backend.prepare_launch(queue._native, (None, "empty"), (1,), None, ())
    bundle = Openable()
    bundle._open = True
    made = Prepared(
        command, 1, bundle, command.mark, command.lanes, command.settle, command.refused, command.keep,
        command.submit, command.descriptions, (),
    )  # fmt: skip
    assert queue._stream.submit_prepared(made, (), (), (used,)) is not None


@pytest.mark.parametrize("submit", [submitted, interrupted, prepared])
@pytest.mark.parametrize("moment", ["at the answer", "at the next allocation"])
@pytest.mark.parametrize("in_order", [True, False], ids=["in order", "out of order"])
def test_a_finalizer_submits_after_the_driver_has_said_idle(
    fake: FakeBackend,
    gate: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
    in_order: bool,
    moment: str,
    submit: Callable[[bl.Queue, Callable[..., object], Used], None],
) -> None:
    """The idle answer predates the finalizer's command: its objects stay alive, and the queue is not idle."""
    queue, used, first = bl.Queue(in_order=in_order), Used(), Used()
    alive, before = weakref.ref(used), weakref.ref(first)
    operation = fake.gate(queue._native, gate)
    real, late, threshold = fake.queue_is_idle, [used], gc.get_threshold()
    fake.instant = True
    submitted(queue, fake.gate(queue._native, opened()), first)
    fake.instant = False
    del used, first

    def finalizer() -> None:
        gc.set_threshold(*threshold)
        submit(queue, operation, late.pop())

    def idle(native: FakeQueue) -> bool:
        answer = real(native)
        if late:
            assert answer
            if moment == "at the answer":
                finalizer()
            else:
                Dropped(finalizer)
                gc.set_threshold(1)
        return answer

    gc.collect()
    monkeypatch.setattr(fake, "queue_is_idle", idle)
    try:
        queue._stream.reap()
        gc.collect()
    finally:
        gc.set_threshold(*threshold)
    assert not late
    assert not queue.ext_oneapi_empty()
    assert alive() is not None
    gate.set()
    queue.wait()
    assert queue.ext_oneapi_empty()
    assert alive() is None and before() is None


@pytest.mark.parametrize("submit", [submitted, prepared])
def test_a_finalizer_submits_where_a_batch_ends(
    fake: FakeBackend,
    gate: threading.Event,
    submit: Callable[[bl.Queue, Callable[..., object], Used], None],
) -> None:
    """The event that ends the batch precedes the finalizer's command, whose objects stay alive."""
    queue, used, first = bl.Queue(in_order=True), Used(), Used()
    alive, late = weakref.ref(used), [used]
    outer, inner = fake.gate(queue._native, opened()), fake.gate(queue._native, gate)
    del used

    def operation(waits: object) -> object:
        event = outer(waits)
        submit(queue, inner, late.pop())  # as a finalizer, between the driver's call and the accounting
        return event

    queue._stream._countdown = 0
    event = queue._enqueue(operation, (), (first,))
    event.wait()
    queue._stream.reap()
    gc.collect()
    assert alive() is not None
    gate.set()
    queue.wait()
    assert alive() is None


def opened() -> threading.Event:
    made = threading.Event()
    made.set()
    return made
