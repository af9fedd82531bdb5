"""Objects that a context owns by number: released at once or with the last holder, exactly once."""

from __future__ import annotations

import threading

import bindless as bl
from bindless.core import ownership
from bindless.submission.handle_table import Listed, end_all
from tests.support.error_checks import raises


class Thing(Listed):
    """An object that records its release."""

    def __init__(self, number: int, released: list[int]) -> None:
        self.number, self.released = number, released
        self._held, self._unheld = None, True

    def _hold(self, context):
        return ownership.Resource(ownership.Rank.IMAGE_HANDLE, None, self.released.append, self.number)

    def _release(self, backend, native):
        if self.number < 0:
            raise bl.SyclRuntimeError("on purpose")
        self.released.append(self.number)


def test_what_nobody_holds_is_released_at_once():
    released: list[int] = []
    thing = Thing(1, released)
    thing.end(None, None)
    assert released == [1]
    assert thing.keep(None) is None


def test_what_is_held_is_released_by_the_last_holder():
    released: list[int] = []
    thing = Thing(1, released)
    holders = [thing.keep(None), thing.keep(None)]
    thing.end(None, None)
    assert thing.keep(None) is None
    holders.pop()
    assert released == []
    holders.pop()
    assert released == [1]


def test_threads_that_take_hold_of_what_another_ends():
    released: list[int] = []
    for number in range(200):
        thing, start = Thing(number, released), threading.Barrier(3)
        held: list[object] = []

        def take(thing=thing, start=start, held=held):
            start.wait()
            held.append(thing.keep(None))

        takers = [threading.Thread(target=take) for _ in range(2)]
        for taker in takers:
            taker.start()
        start.wait()
        thing.end(None, None)
        for taker in takers:
            taker.join()
        assert (number in released) == (held == [None, None])
        held.clear()
        assert released.count(number) == 1


def test_the_end_of_a_table_ends_everything_and_tells_of_a_failure():
    released: list[int] = []
    table = {number: Thing(number, released) for number in (1, -2, 3)}
    with raises(bl.SyclRuntimeError, names="on purpose"):
        end_all(table, None, None)
    assert not table and sorted(released) == [1, 3]
