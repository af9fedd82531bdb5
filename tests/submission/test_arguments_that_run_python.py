"""Arguments whose reading runs Python code: it submits the same command, or replaces what C code looks at.

Several tests see use of freed memory only under a sanitizer: .ci/sanitizers runs this file.
"""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

import bindless as bl
from bindless.core import _submission
from bindless.core._submission import Copies, Copy, Prepared, Variants
from tests.support.compile_kernels import load
from tests.support.exchange_peer import EXPORT, Exchanged, Functions
from tests.support.pixels import random_pixels, upload

COUNT = 64
DESC = bl.ImageDescriptor(9, 7)
SAMPLER = bl.BindlessImageSampler("clamp_to_edge")


@pytest.fixture(params=[True, False], ids=["in order", "out of order"])
def own(queue: bl.Queue, request: pytest.FixtureRequest) -> Iterator[bl.Queue]:
    """A queue for one test: its tables have the commands of the test alone."""
    with bl.Queue(queue.device, queue.context, in_order=request.param) as made:
        yield made


@pytest.fixture
def image(own: bl.Queue) -> Any:
    return bl.create_image(upload(own, DESC, random_pixels(DESC, 1)), DESC, own, sampler=SAMPLER)


def zeros(queue: bl.Queue) -> bl.UsmArray:
    return bl.usm_empty((COUNT,), np.int32, queue).copy_from(np.zeros(COUNT, np.int32))


class Number(np.int32):
    """A scalar that calls a function once when its bytes are read."""

    action: ClassVar[Callable[[], object] | None] = None

    def tobytes(self, *order: Any) -> bytes:
        action, Number.action = Number.action, None
        if action is not None:
            action()
        return super().tobytes(*order)


class Described:
    """An array that describes itself by a dict, and calls a function before, once."""

    def __init__(self, action: Callable[[], object], interface: dict[str, Any] | None = None) -> None:
        self.action: Callable[[], object] | None = action
        self.interface = interface

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        action, self.action = self.action, None
        if action is not None:
            action()
        if self.interface is None:
            raise AttributeError("no description")
        return self.interface


class Index:
    """An index that calls a function first."""

    def __init__(self, value: int, action: Callable[[], object]) -> None:
        self.value, self.action = value, action

    def __index__(self) -> int:
        self.action()
        return self.value


# ---------------------------------------------------------------------- launches


@pytest.mark.parametrize("bound", [False, True])
def test_a_number_launches_the_same_kernel(own: bl.Queue, bound: bool) -> None:
    fill, arrays = load(own, "simple").get_kernel("fill"), [zeros(own) for _ in range(3)]
    for _ in range(3):
        own.parallel_for(COUNT, fill, arrays[0], np.int32(5)).wait()
    launch = fill.bind(own, COUNT, arrays[1], np.int32(7))

    def nested() -> None:
        _ = launch() if bound else own.parallel_for(COUNT, fill, arrays[1], np.int32(7))
        own.parallel_for(COUNT, fill, arrays[2], 8)

    Number.action = nested
    own.parallel_for(COUNT, fill, arrays[0], Number(9)).wait()
    own.wait()
    assert Number.action is None
    assert [data.numpy(own).tolist() for data in arrays] == [[9] * COUNT, [7] * COUNT, [8] * COUNT]


def test_a_number_waits_for_a_thread_that_uses_the_queue(own: bl.Queue) -> None:
    """The lock of the queue is not held while Python code of an argument runs."""
    fill, arrays = load(own, "simple").get_kernel("fill"), [zeros(own) for _ in range(2)]
    for _ in range(3):
        own.parallel_for(COUNT, fill, arrays[0], np.int32(5)).wait()
    ended = []

    def nested() -> None:
        thread = threading.Thread(target=lambda: own.parallel_for(COUNT, fill, arrays[1], 7).wait(), daemon=True)
        thread.start()
        thread.join(20)
        ended.append(not thread.is_alive())

    Number.action = nested
    own.parallel_for(COUNT, fill, arrays[0], Number(9)).wait()
    assert ended == [True]
    assert [data.numpy(own).tolist() for data in arrays] == [[9] * COUNT, [7] * COUNT]


def test_a_number_closes_memory_or_the_bundle(own: bl.Queue) -> None:
    bundle = load(own, "simple")
    fill, data, other = bundle.get_kernel("fill"), zeros(own), zeros(own)
    for array in (data, other, data):
        own.parallel_for(COUNT, fill, array, np.int32(5)).wait()
    Number.action = data.close
    with pytest.raises(bl.InvalidError):
        own.parallel_for(COUNT, fill, data, Number(9))
    Number.action = bundle.close
    with pytest.raises(bl.Error):
        own.parallel_for(COUNT, fill, other, Number(9))
    assert other.numpy(own).tolist() == [5] * COUNT


def test_a_number_that_cannot_be_read(own: bl.Queue) -> None:
    """The error is the caller's; the arguments read before it do not reach the next launch."""
    axpy = load(own, "simple").get_kernel("axpy")
    ones, sums = np.ones(COUNT, np.float32), np.zeros(COUNT, np.float32)
    x, y = (bl.usm_empty((COUNT,), np.float32, own).copy_from(array) for array in (ones, sums))

    class Unreadable(np.float32):
        def tobytes(self, *_: Any) -> bytes:
            raise KeyError("no bytes")

    for _ in range(3):
        own.parallel_for(COUNT, axpy, np.float32(2), x, y).wait()
    for _ in range(2):
        with pytest.raises(KeyError):
            own.parallel_for(COUNT, axpy, Unreadable(3), x, y)
        own.parallel_for(COUNT, axpy, np.float32(2), x, y).wait()
    assert y.numpy(own).tolist() == [10] * COUNT


def test_a_collection_launches_the_same_kernel(own: bl.Queue) -> None:
    """Before Python 3.12 a collection begins at a new object, such as those of the reading of a scalar."""
    fill, arrays = load(own, "simple").get_kernel("fill"), [zeros(own) for _ in range(2)]
    seven, nine = np.int32(7), np.int32(9)

    class Garbage:
        def __init__(self) -> None:
            self.cycle = self

        def __del__(self) -> None:
            own.parallel_for(COUNT, fill, arrays[1], seven)

    before = gc.get_threshold()
    try:
        for turn in range(45):
            for data in arrays:
                own.parallel_for(COUNT, fill, data, np.int32(5)).wait()
            gc.disable()
            Garbage()
            gc.set_threshold(1 + turn, 1, 1)
            gc.enable()
            own.parallel_for(COUNT, fill, arrays[0], nine).wait()
            gc.collect()
            own.wait()
            assert [data.numpy(own)[0] for data in arrays] == [9, 7]
    finally:
        gc.set_threshold(*before)
        gc.enable()


def test_a_launch_whose_row_is_replaced_while_it_waits(own: bl.Queue) -> None:
    """A bound launch in another thread waits for the lock, and has the last reference to its prepared launch."""
    increment, data = load(own, "simple").get_kernel("increment"), zeros(own)
    launch, begins, errors = increment.bind(own, COUNT, data), threading.Event(), list[BaseException]()
    launch().wait()
    launch().wait()

    def other() -> None:
        begins.set()
        try:
            launch()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=other)
    with own._stream.lock:
        thread.start()
        begins.wait()
        thread.join(0.2)
        own._stream.forget_launches()
        launch()
    thread.join()
    own.wait()
    assert not errors and data.numpy(own).tolist() == [4] * COUNT


# ---------------------------------------------------------------------- device functions and copies


def test_an_array_replaces_the_prepared_calls(own: bl.Queue, image: Any) -> None:
    def sample(count: int) -> Any:
        return bl.sample_image(own, image, np.full((count, 2), 1.5, np.float32))

    expected = sample(5)

    def replace() -> None:
        for count in range(10, 30):
            sample(count)
        gc.collect()

    coords = Described(replace)
    with pytest.raises(bl.InvalidError):
        bl.sample_image(own, image, coords)
    assert coords.action is None and np.array_equal(sample(5), expected)


def test_an_array_copies_the_same_way(own: bl.Queue) -> None:
    memory, others = [bl.ImageMem(DESC, own) for _ in range(2)], [random_pixels(DESC, seed) for seed in range(3)]

    class Array(Exchanged):
        action: Callable[[], object] | None = None

        @property  # type: ignore[override]
        def requires_grad(self) -> bool:
            action, self.action = self.action, None
            if action is not None:
                action()
            return False

    mine = Array(others[0])
    for _ in range(3):
        own.ext_oneapi_copy(mine, memory[0]).wait()
    mine = Array(others[1])
    other = Array(others[2])
    mine.action = lambda: own.ext_oneapi_copy(other, memory[1])
    own.ext_oneapi_copy(mine, memory[0]).wait()
    own.wait()
    assert mine.action is None
    for number, pixels in zip(memory, others[1:]):
        back = np.empty_like(pixels)
        own.ext_oneapi_copy(number, back).wait()
        assert np.array_equal(back, pixels)


def test_rows_that_leave_a_table_end_at_once(own: bl.Queue, image: Any) -> None:
    """Without a collection: a row keeps the driver's descriptions, and memory that stands in for host arrays."""
    memory, data = bl.ImageMem(DESC, own), list[bl.UsmArray]()

    def rows(kind: type) -> int:
        return sum(type(thing) is kind for thing in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = rows(Copy), rows(_submission.ImageCall), rows(Prepared)
        for turn in range(60):
            bl.sample_image(own, image, np.ones((20 + turn, 2), np.float32))
            data.append(bl.usm_empty((7, 9, 4), np.float32, own))
            own.ext_oneapi_copy(data[-1], memory).wait()
        own.wait()
        after = rows(Copy), rows(_submission.ImageCall), rows(Prepared)
        assert own._stream.copies.count() > 8
    finally:
        gc.enable()
    assert after[0] - before[0] <= 32 and after[1] - before[1] <= 8 and after[2] - before[2] <= 40, (before, after)


def test_equal_keywords_are_one_row_and_an_interrupt_in_their_comparison_is_raised(own: bl.Queue) -> None:
    pixels = np.arange(7 * 9 * 4, dtype=DESC.dtype).reshape(DESC.shape)

    def again() -> bl.ImageDescriptor:
        return bl.ImageDescriptor(DESC.width, DESC.height)

    with bl.ImageMem(DESC, own) as memory:
        for _ in range(3):
            own.ext_oneapi_copy(pixels, memory, dst_desc=again()).wait()
        assert own._stream.copies.count() == 1
        equal = bl.ImageDescriptor.__eq__

        def interrupt(self: bl.ImageDescriptor, other: object) -> bool:
            raise KeyboardInterrupt

        bl.ImageDescriptor.__eq__ = interrupt  # type: ignore[method-assign]
        try:
            with pytest.raises(KeyboardInterrupt):
                own.ext_oneapi_copy(pixels, memory, dst_desc=again())
        finally:
            bl.ImageDescriptor.__eq__ = equal  # type: ignore[method-assign]
        result = np.empty_like(pixels)
        own.ext_oneapi_copy(memory, result).wait()
        assert np.array_equal(result, pixels)


def test_operands_that_cannot_be_read_are_not_kept(own: bl.Queue) -> None:
    increment, data = load(own, "simple").get_kernel("increment"), zeros(own)
    own.parallel_for(COUNT, increment, data).wait()
    launch = own._stream.find(increment, COUNT, 1)

    class Record:
        """Without the attributes of an image's record."""

    class Image:
        _resource, _context = Record(), None

    class Memory:
        pass

    copies = Copies(Image, Memory, np.ndarray)
    record = Image._resource
    before = _references(record)
    for _ in range(5):
        with pytest.raises(AttributeError):
            Copy(copies, Image(), Image(), (), (), 0, 0, (), (), launch, 0)
    assert _references(record) == before


def _references(thing: object) -> int:
    return ctypes.c_ssize_t.from_address(id(thing)).value


# ---------------------------------------------------------------------- other libraries' arrays


def interface(**others: Any) -> dict[str, Any]:
    return {"version": 3, "typestr": "<f4", "data": (4096, False), "shape": (4, 4), "strides": None, **others}


@pytest.mark.parametrize("strides", [None, (16, 4)])
@pytest.mark.parametrize("part", ["shape", "strides", "stream"])
def test_sizes_that_change_their_dict(part: str, strides: tuple[int, ...] | None) -> None:
    """What was read of the dict stays: the description is that of the beginning."""

    def changed() -> None:
        described.clear()
        others.extend(int(f"{number}000") for number in range(100))  # in place of what ended

    described, others, stream = interface(strides=strides, stream=int("5000000")), list[int](), "5000000"
    calls = list[None]()
    index = Index(4, lambda: (calls.append(None), changed()))
    if part == "shape":
        described["shape"] = (index, int("4"))
    elif part == "strides":
        described["strides"] = (16, index)
    else:
        described["data"] = (4096, False)
        described["shape"] = (index,) * 2
    assert _submission.stream_of_foreign(Described(lambda: None, described)) == int(stream)
    assert calls and not described


@pytest.mark.parametrize("shape", [(0, 2**62, 4), (2**62, 4, 0), (2**31, 0, 2**31, 2**31)])
def test_arrays_without_elements_of_huge_sizes(shape: tuple[int, ...]) -> None:
    """The product of sizes exceeds 64 bits; signed arithmetic would be undefined."""
    strides = (0,) * len(shape)
    array = Described(lambda: None, interface(shape=shape, strides=strides, stream=5))
    assert _submission.stream_of_foreign(array) == 5


def test_the_functions_of_a_library_read_its_own_arrays() -> None:
    """A property of an array makes C code know other types meanwhile, of a library with functions of its own."""
    read = list[type]()

    @EXPORT
    def export(array: object, tensor: Any) -> int:
        read.append(type(array))
        return -1

    base = Functions.from_buffer_copy(_functions_of(Exchanged))
    functions = Functions(1, 3, None, base.allocate, base.export_owning, base.import_, export, base.stream)

    class Other(Exchanged):
        __dlpack_c_exchange_api__ = _capsule(functions)

    class Array(Exchanged):
        action: ClassVar[Callable[[], object] | None] = None

        @property  # type: ignore[override]
        def requires_grad(self) -> bool:
            action, Array.action = Array.action, None
            if action is not None:
                action()
            return False

    for before in range(8):
        array = type("Array", (Array,), {})(np.zeros(4, np.float32))
        _submission.stream_of_foreign(array)
        kinds = [type("Other", (Other,), {}) for _ in range(before + 1)]

        def know(kinds: list[type] = kinds) -> None:
            for kind in kinds:
                _submission.stream_of_foreign(kind(np.zeros(4, np.float32)))

        Array.action = know
        _submission.stream_of_foreign(array)
    assert read and all(issubclass(kind, Other) for kind in read)


def _functions_of(kind: type) -> Any:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    newest = Functions.from_address(pointer(kind.__dlpack_c_exchange_api__, b"dlpack_exchange_api"))  # type: ignore[attr-defined]
    return Functions.from_address(newest.previous)


_kept = list[Any]()  # consumers may call the functions as long as the process lives


def _capsule(functions: Functions) -> object:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    _kept.append(functions)
    return new(ctypes.addressof(functions), b"dlpack_exchange_api", None)


# ---------------------------------------------------------------------- variants


def test_a_variant_is_added_while_another_one_is_read() -> None:
    variants, names = Variants(), [f"kernel {number}" for number in range(20)]

    def add(number: int) -> None:
        def others() -> None:
            if number + 1 < len(names):
                add(number + 1)

        variants.add(1, (number,) * (number + 1), names[number], (((0,), None, Index(0, others)),))

    add(0)
    assert sorted(variants.kernels()) == sorted(names)
    for number, name in enumerate(names):
        assert variants.find(1, (number,) * (number + 1)) == (name, (number,))
    with pytest.raises(ValueError):
        variants.add(1, (1,), "kernel", (((-1,), None, 0),))
