"""Integers with more digits than Python prints, equally long texts, and misbehaving objects raise package errors."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.level_zero.capability import nanoseconds
from bindless.model.host_array import as_array, plain
from bindless.model.message_values import shown
from bindless.model.seconds import seconds

HUGE = 10**5000
NINES = "9" * 5000

HUGE_CALLS: dict[str, Callable[[bl.Queue, Any], object]] = {
    "usm_empty": lambda q, n: bl.usm_empty(n, np.float32, q),
    "usm_empty of two": lambda q, n: bl.usm_empty((n, 2), np.float32, q),
    "malloc": lambda q, n: bl.malloc_device(n, q),
    "alignment": lambda q, n: bl.malloc_device(64, q, alignment=n),
    "descriptor": lambda q, n: bl.ImageMem(bl.ImageDescriptor(n, 4), q),
    "pitched": lambda q, n: bl.pitched_alloc_device(n, 4, 4, q),
    "pitched element": lambda q, n: bl.pitched_alloc_device(4, 4, n, q),
    "memset": lambda q, n: q.memset(bl.malloc_device(16, q), n, 4),
    "memcpy": lambda q, n: q.memcpy(np.zeros(16, np.uint8), bl.malloc_device(16, q), n),
    "fill": lambda q, n: q.fill(bl.usm_empty(4, np.int32, q), n),
    "fill count": lambda q, n: q.fill(bl.malloc_device(16, q), np.int32(3), n),
    "prefetch": lambda q, n: q.prefetch(bl.malloc_device(16, q), n),
    "range": lambda q, n: bl.Range(n),
    "local accessor": lambda q, n: bl.LocalAccessor(n),
    "image memory handle": lambda q, n: bl.ImageMemHandle(n),
    "sampled handle": lambda q, n: bl.SampledImageHandle(n),
    "buffer": lambda q, n: bl.Buffer(n, np.int32),
    "sub-buffer": lambda q, n: bl.Buffer(np.zeros(16, np.int32)).sub_buffer(n, 4),
    "sub-buffer shape": lambda q, n: bl.Buffer(np.zeros(16, np.int32)).sub_buffer(4, n),
    "reinterpret": lambda q, n: bl.Buffer(np.zeros(16, np.int32)).reinterpret(n),
    "reshape": lambda q, n: bl.usm_empty(8, np.int32, q).reshape(n),
    "axes": lambda q, n: bl.usm_empty((2, 4), np.int32, q).transpose(n, 1),
    "dtype": lambda q, n: bl.usm_empty(8, n, q),
    "view": lambda q, n: bl.usm_empty(8, np.int32, q).view(n),
    "pointer query": lambda q, n: bl.get_pointer_type(n, q),
    "external memory": lambda q, n: bl.ExternalMemDescriptor(bl.ResourceFd(0), "opaque_fd", n),
    "resize": lambda q, n: bl.Image(np.zeros((8, 8), np.float32), queue=q).resize((4, n)),
    "level": lambda q, n: bl.Image(np.zeros((8, 8), np.float32), queue=q).sample([[1, 1]], level=n),
    "anisotropy": lambda q, n: bl.Image(np.zeros((8, 8), np.float32), max_anisotropy=n, queue=q),
    "dependency": lambda q, n: q.fill(bl.usm_empty(4, np.int32, q), 1, depends_on=[n]),
    "selector": lambda q, n: bl.Device(f"reference:cpu:{NINES}"),
}


@pytest.mark.parametrize("name", HUGE_CALLS)
@pytest.mark.parametrize("value", [HUGE, -HUGE, NINES, [HUGE], Fraction(HUGE)], ids=["+", "-", "text", "list", "part"])
def test_numbers_that_python_does_not_print(queue: bl.Queue, name: str, value: Any) -> None:
    with pytest.raises(bl.Error) as caught:
        HUGE_CALLS[name](queue, value)
    assert caught.value.code in (bl.Errc.invalid, bl.Errc.memory_allocation)
    assert len(str(caught.value)) < 2000


def test_an_index_beyond_every_array(queue: bl.Queue) -> None:
    array = bl.usm_empty(8, np.int32, queue)
    for index in (HUGE, -HUGE):
        with pytest.raises(IndexError):
            array[index]
    with pytest.raises(bl.InvalidError):
        array[:, HUGE]
    with pytest.raises(bl.InvalidError):
        bl.malloc_device(8, queue) + HUGE


def test_arguments_of_kernels(queue: bl.Queue) -> None:
    bundle = bl.load_kernel_bundle(bl.build("kernel void f(global int *a, int b) { *a = b; }"), queue)
    kernel, memory = bundle.get_kernel("f"), bl.usm_empty(1, np.int32, queue)
    for value in (HUGE, -HUGE, [HUGE], NINES):
        with pytest.raises(bl.InvalidError):
            queue.parallel_for(1, kernel, memory, value)


def test_time_limits_of_every_size() -> None:
    assert seconds(2) == 2.0 and seconds(np.float32(0.5)) == 0.5 and seconds(Fraction(1, 4)) == 0.25
    assert seconds(HUGE) == seconds(Fraction(HUGE)) == float("inf")
    for wrong in (-1, -HUGE, float("nan"), "1", None):
        with pytest.raises(bl.InvalidError):
            seconds(wrong)
    assert (nanoseconds(None), nanoseconds(HUGE), nanoseconds(1e308), nanoseconds(2)) == (-1, -1, -1, 2 * 10**9)
    assert nanoseconds(1e290) == 2**63 - 1


def test_waits_of_every_size(queue: bl.Queue) -> None:
    event = queue.fill(bl.usm_empty(4, np.int32, queue), 1)
    for limit in (HUGE, Fraction(HUGE), 1e308, Fraction(60)):
        event.wait(timeout=limit)


class Mute:
    def __repr__(self) -> str:
        raise OSError("no words")


def test_shown_never_raises() -> None:
    assert shown(7) == "7" and shown("a\nb") == "'a\\nb'"
    assert shown(HUGE) == shown(-HUGE) and "int" in shown(HUGE) and str(HUGE.bit_length()) in shown(HUGE)
    assert "list" in shown([HUGE]) and "Mute" in shown(Mute()) and "tuple" in shown((Mute(),))
    assert len(shown("x" * 10**6)) < 300


class Liar(np.ndarray):
    """An array that misreports itself; numpy's own record of it is right."""

    @property
    def __array_interface__(self) -> Any:
        return {"data": (4096, False), "shape": (4,), "typestr": "<f4", "version": 3}

    @property
    def nbytes(self) -> Any:
        return 2**40

    @property
    def shape(self) -> Any:
        return (2**30,)

    @property
    def flags(self) -> Any:
        raise ValueError("none")


def liar() -> Any:
    return np.arange(4, dtype=np.float32).view(Liar)


def test_subclasses_of_arrays_are_the_memory_that_numpy_knows(queue: bl.Queue) -> None:
    made = bl.usm_empty(4, np.float32, queue)
    queue.memcpy(made, liar(), 16).wait()
    assert made.numpy().tolist() == [0, 1, 2, 3]
    with pytest.raises(bl.InvalidError):
        queue.memcpy(made, liar(), 20)
    back = np.zeros(4, np.float32).view(Liar)
    queue.memcpy(back, made, 16).wait()
    assert plain(back).tolist() == [0, 1, 2, 3]
    with bl.Buffer(liar()) as buffer:
        assert buffer.shape == (4,)
        with buffer.get_host_access("read") as seen:
            assert seen.tolist() == [0, 1, 2, 3]
    if queue.device.has("usm_system_allocations"):
        assert bl.as_usm_array(liar(), queue).numpy().tolist() == [0, 1, 2, 3]
    array = np.zeros(3)
    assert plain(array) is array


class Exporter:
    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self.function()


@pytest.mark.parametrize("value", [Exporter(lambda: None), Exporter(lambda: "x"), [[1, 2], [3]]])
def test_what_numpy_makes_no_array_of(queue: bl.Queue, value: Any) -> None:
    with bl.Image(np.zeros((4, 4), np.float32), queue=queue) as image:
        for call in (
            lambda: bl.Image(value, queue=queue),
            lambda: bl.Image.from_equirectangular(value, queue=queue),
            lambda: image.sample(value),
            lambda: image.fetch(value),
            lambda: image.sample([[1, 1]], level=value),
            lambda: bl.usm_empty(4, np.float32, queue).copy_from(value),
        ):
            with pytest.raises(bl.InvalidError) as caught:
                call()
            assert caught.value.code is bl.Errc.invalid


def test_exceptions_of_an_object_s_own_code_pass_through(queue: bl.Queue) -> None:
    def fails() -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError):
        as_array("array", Exporter(fails))  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        bl.Image(Exporter(fails), queue=queue)  # type: ignore[arg-type]


def test_an_array_that_leaves_the_memory_is_refused(queue: bl.Queue) -> None:
    memory = bl.usm_empty(16, np.float32, queue)
    last = 1 << 22  # elements, far beyond every allocation of the test

    class Interface:
        def __init__(self, count: int) -> None:
            self.__sycl_usm_array_interface__ = {
                "version": 1, "shape": (count,), "typestr": "<f4", "data": (memory.address, False), "syclobj": queue
            }  # fmt: skip

    if queue.device.backend is bl.Backend.cuda:
        pytest.skip("memory of CUDA is exchanged by __cuda_array_interface__")
    assert bl.as_usm_array(Interface(16), queue).shape == (16,)
    with pytest.raises(bl.InvalidError):
        bl.as_usm_array(Interface(last), queue)
