"""Prefetch, advice, and queries of addresses."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises

KINDS = ("device", "host", "shared")


@pytest.mark.parametrize("kind", KINDS)
def test_prefetch_and_advice_leave_the_values(queue, kind):
    array = bl.usm_empty((64, 64), "f4", queue, kind=kind).copy_from(np.arange(4096).reshape(64, 64))
    advised = queue.mem_advise(array, None, 0)
    fetched = queue.prefetch(array, depends_on=advised)
    part = queue.prefetch(array[3:], 100, depends_on=[fetched])
    queue.mem_advise(array.pointer + 256, 1024, 0, depends_on=part).wait()
    queue.submit(lambda handler: handler.prefetch(array)).wait()
    queue.submit(lambda handler: handler.mem_advise(array, 64, 0)).wait()
    np.testing.assert_array_equal(array.numpy(), np.arange(4096).reshape(64, 64))


def test_what_reaches_the_driver(fake):
    queue = bl.Queue()
    array = bl.usm_empty(100, "f4", queue, kind="shared")
    queue.prefetch(array[10:20]).wait()
    queue.mem_advise(array.pointer + 8, 16, 3).wait()
    queue.prefetch(array, 0).wait()  # no bytes: no effect
    assert fake.calls == [("prefetch", (array.address + 40, 40)), ("advise", (array.address + 8, 16, 3))]


@pytest.mark.parametrize(
    "use, message",
    [
        (lambda q, a: q.prefetch(a, 401), "401 bytes leave the memory, which has 400"),
        (lambda q, a: q.prefetch(a, -1), "nbytes=-1"),
        (lambda q, a: q.prefetch(a[::2]), "pointer: this view"),
        (lambda q, a: q.prefetch(a.address), "a int is no UsmPointer or UsmArray"),
        (lambda q, a: q.prefetch(np.zeros(4)), "a ndarray is no UsmPointer or UsmArray"),
        (lambda q, a: q.mem_advise(a, 4, 1.5), "advice=1.5"),
        (lambda q, a: q.mem_advise(a, 4, -1), "advice=-1"),
    ],
)
def test_requests_that_cannot_be(queue, use, message):
    array = bl.usm_empty(100, "f4", queue, kind="shared")
    with raises(bl.InvalidError, names=message):
        use(queue, array)


@pytest.mark.parametrize("kind", KINDS)
def test_pointers_tell_their_kind_and_device(queue, device, kind):
    array = bl.usm_empty(100, "f4", queue, kind=kind)
    for pointer in (array, array.pointer, array[3:], array.pointer + 17, array.address, array.address + 399):
        assert bl.get_pointer_type(pointer, queue.context) == kind
        assert bl.get_pointer_type(pointer, queue) is bl.UsmKind(kind)
        assert bl.get_pointer_device(pointer, queue.context) == device
    address = array.address
    array.close()
    for pointer in (array, array._owner and address):
        assert bl.get_pointer_type(pointer, queue) == "unknown"


def test_memory_that_is_none_of_the_context(queue, device):
    values = np.zeros(10)
    other = bl.Context(device)
    array = bl.usm_empty(10, "f4", device, other)
    for pointer in (values.ctypes.data, 0, array):
        assert bl.get_pointer_type(pointer, queue.context) == "unknown"
        with raises(bl.InvalidError):
            bl.get_pointer_device(pointer, queue.context)
    for wrong in (-1, 2**64):
        with raises(bl.InvalidError):
            bl.get_pointer_type(wrong, queue)
    with raises(bl.InvalidError, names=("UsmPointer", "UsmArray")):
        bl.get_pointer_type(values, queue)
    with raises(bl.InvalidError, names=("Context", "Queue")):
        bl.get_pointer_device(array, device)
