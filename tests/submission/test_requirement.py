"""Access modes and their combination (ARCH, SYCL application memory model)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bindless as bl
from bindless.sycl.buffer.access_mode import NRW, NWO, RO, RW, WO, combined, requirement_of
from tests.support.error_checks import raises

EVERY = (RO, WO, RW, NWO, NRW)


@pytest.mark.parametrize(
    "one, other, both",
    [
        (RO, WO, RW),
        (RO, RW, RW),
        (WO, RW, RW),
        (NWO, NRW, NRW),
        (NWO, WO, WO),
        (NWO, RO, RW),
        (NWO, RW, RW),
        (NRW, WO, RW),
        (NRW, RO, RW),
        (NRW, RW, RW),
    ],
)
def test_the_table_of_combined_requirements_row_by_row(one, other, both):
    assert combined(one, other) is both
    assert combined(other, one) is both


def test_combining_is_commutative_associative_and_idempotent():
    for one, other in itertools.product(EVERY, repeat=2):
        assert combined(one, other) is combined(other, one)
        assert combined(one, one) is one
        for third in EVERY:
            assert combined(combined(one, other), third) is combined(one, combined(other, third))


def test_modes_and_no_init():
    found = {
        (mode, no_init): requirement_of(mode, no_init)
        for mode in bl.AccessMode.__members__.values()
        for no_init in (False, True)
        if (mode, no_init) != (bl.AccessMode.read, True)
    }
    assert sorted(map(str, found.values())) == ["NRW", "NWO", "RO", "RW", "WO"]
    assert requirement_of("read_write", True) is NRW and requirement_of("write", False) is WO
    with raises(bl.InvalidError):
        requirement_of("read", True)
    with raises(bl.InvalidError, names=("mode='discard'", "'read', 'write'")):
        requirement_of("discard", False)


def groups(buffer, *accesses):
    """A command group that requires one buffer several times."""

    def group(handler):
        for mode, target in accesses:
            buffer.get_access(handler, mode, target=target)
        handler.host_task(lambda: None)

    return group


def test_one_target_may_write_and_another_read(queue):
    buffer = bl.Buffer(np.zeros(4, np.int32))
    for accesses in (
        [("read_write", "device"), ("read", "host_task")],
        [("read", "device"), ("read_write", "host_task")],
        [("write", "device"), ("read", "constant_buffer")],
        [("read", "device"), ("read", "host_task"), ("read", "constant_buffer")],
        [("read", "device"), ("write", "device"), ("read_write", "device")],
    ):
        event = queue.submit(groups(buffer, *accesses))
        event.wait()
        assert event.status is bl.EventStatus.complete, accesses


@pytest.mark.parametrize(
    "accesses",
    [
        [("read_write", "device"), ("read_write", "host_task")],
        [("write", "device"), ("read_write", "constant_buffer")],
        [("read", "device"), ("write", "host_task"), ("write", "device")],
    ],
)
def test_two_targets_that_write_are_refused(queue, accesses):
    buffer = bl.Buffer(np.zeros(4, np.int32))
    with raises(bl.InvalidError):
        queue.submit(groups(buffer, *accesses))
    part = bl.Buffer(np.zeros(8, np.int32))

    def apart(handler):
        part.sub_buffer(0, 4).get_access(handler, "write")
        part.sub_buffer(4, 4).get_access(handler, "write", target="host_task")
        handler.host_task(lambda: None)

    queue.submit(apart).wait()


def test_constant_memory_is_only_read(queue):
    buffer = bl.Buffer(np.zeros(4, np.int32))
    with raises(bl.InvalidError, names=("'constant_buffer'", "'write'")):
        queue.submit(groups(buffer, ("write", "constant_buffer")))
    with raises(bl.InvalidError, names="target='local'"):
        queue.submit(groups(buffer, ("read", "local")))
