"""Python functions of the package that a repeated call on another library's arrays runs, on ``fake_cuda.c``.

``tests/backends/cuda/test_cuda_recording.py`` runs this file. The fake driver computes nothing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import ndimage
from bindless.image import default_queue
from bindless.ndimage import repeated
from tests.backends.cuda.fake_cuda import Fake
from tests.interop.recorded_exchange import Library, library  # noqa: F401  a fixture
from tests.support.exchange_peer import Exchanged
from tests.support.python_calls import python_calls

MOST, MOST_OF_SPLINES = 12, 16
VOLUME = (6, 7, 8)
MATRIX = np.diag([0.9, 0.8, 0.7])
NAMES = ["affine", "shift", "zoom", "rotate", "points", "cubic", "coefficients", "line"]


class Described(Exchanged):
    """Such an array with the attributes that arrays of libraries have."""

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    @property
    def strides(self) -> tuple[int, ...]:
        return self.array.strides


@pytest.fixture
def arrays(library: Library, device: bl.Device, monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: F811
    number = device.index

    def new(shape: tuple[int, ...], dtype: Any = np.float32, place: Any = None) -> Described:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        buffer = (ctypes.c_uint8 * size).from_address(library.allocate(size))
        return Described(np.frombuffer(buffer, dtype).reshape(shape), device=(2, number))

    monkeypatch.setattr(Exchanged, "new", new)
    monkeypatch.setattr(Exchanged, "current", library.stream())
    with bl.Queue(device, in_order=True) as queue:
        monkeypatch.setattr(default_queue, "_default", queue)
        monkeypatch.setattr(repeated, "_calls", {})
        yield new


def own_calls(call: Callable[[], object]) -> list[str]:
    return [name for name in python_calls(call) if not name.startswith("tests/")]


def call_of(name: str, volume: Any, points: Any) -> Callable[..., Any]:
    """The call of one of ``NAMES`` on a volume, or at points of it."""
    calls = {
        "affine": partial(ndimage.affine_transform, volume, MATRIX, 0.5, order=1),
        "shift": partial(ndimage.shift, volume, 0.5, order=1),
        "zoom": partial(ndimage.zoom, volume, 1, order=1, prefilter=False),
        "rotate": partial(ndimage.rotate, volume, 30, reshape=False, order=1),
        "cubic": partial(ndimage.affine_transform, volume, MATRIX, 0.5, mode="nearest"),
        "coefficients": partial(ndimage.spline_filter, volume),
        "line": partial(ndimage.spline_filter1d, volume),
        "points": partial(ndimage.map_coordinates, volume, points, order=1),
    }
    return calls[name]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("has_output", [False, True])
def test_a_repeated_call(arrays: Any, name: str, has_output: bool) -> None:
    volume, points = arrays(VOLUME), arrays((3, 20))
    output = arrays((20,) if name == "points" else VOLUME) if has_output else np.float32
    call = partial(call_of(name, volume, points), output=output)
    for _ in range(4):
        result = call()
    assert isinstance(result, Exchanged)
    fake = Fake()
    fake.clear()
    before = fake.allocations()
    calls_made = own_calls(call)
    launches = sum(line.startswith("cuLaunchKernel") for line in fake.lines())
    assert launches == {"cubic": 4, "coefficients": 3}.get(name, 1)
    assert fake.allocations() - before == (not has_output)  # the library's
    assert len(calls_made) <= (MOST_OF_SPLINES if name == "cubic" else MOST)


@pytest.mark.parametrize("name", NAMES)
def test_a_repeated_call_in_the_caller_s_queue(device: bl.Device, name: str) -> None:
    """On arrays in USM, into one that the caller gives: nothing is allocated."""
    with bl.Queue(device, in_order=True) as queue:
        volume, points = (bl.usm_empty(shape, np.float32, queue) for shape in (VOLUME, (3, 20)))
        output = bl.usm_empty((20,) if name == "points" else VOLUME, np.float32, queue)
        options: dict[str, Any] = {"output": output, "queue": queue}
        call = partial(call_of(name, volume, points), **options)
        for _ in range(4):
            assert call() is output
        fake = Fake()
        fake.clear()
        before = fake.allocations()
        calls_made = own_calls(call)
        assert fake.allocations() == before
        assert any(line.startswith("cuLaunchKernel") for line in fake.lines())
        assert len(calls_made) <= (MOST_OF_SPLINES if name == "cubic" else MOST)


@pytest.mark.parametrize("order", [1, 3])
def test_calls_at_new_angles(arrays: Any, order: int) -> None:
    image = arrays((8, 9))
    for degrees in range(4):
        ndimage.rotate(image, degrees, reshape=False, order=order)
    for degrees in range(20):
        calls_made = own_calls(partial(ndimage.rotate, image, 7.5 * degrees, reshape=False, order=order))
        assert len(calls_made) <= (MOST if order == 1 else MOST_OF_SPLINES)


@pytest.mark.parametrize("tries", [1, 2])
def test_a_result_that_has_room_once_commands_have_ended(
    arrays: Any, monkeypatch: pytest.MonkeyPatch, tries: int
) -> None:
    """Commands hold arrays until they end: a library without memory is asked once more after a wait."""
    call = partial(ndimage.affine_transform, arrays(VOLUME), MATRIX, 0.5, order=1)
    for _ in range(4):
        call()
    monkeypatch.setattr(Exchanged, "refused", tries)
    if tries == 2:
        with pytest.raises(RuntimeError):
            call()
    else:
        assert isinstance(call(), Exchanged)
    assert Exchanged.refused == 0


@pytest.mark.parametrize("offset", [0, 4, 32, 124, 128])
def test_a_result_over_the_input(arrays: Any, offset: int) -> None:
    """Where the two share an element, the input is read before the result is written: by way of other memory."""
    buffer = arrays((64,))
    first, apart = Described(buffer.array[:32], device=buffer.device), arrays((32,))
    output = Described(buffer.array[offset // 4 :][:32], device=buffer.device)
    for target in (apart, apart, apart, output):
        assert ndimage.shift(first, 0.5, output=target, order=1) is target
    fake = Fake()
    fake.clear()
    ndimage.shift(first, 0.5, output=output, order=1)
    lines = fake.lines()
    assert (len([line for line in lines if line.startswith(("cuLaunchKernel", "cuMemcpy"))]) == 1) is (offset == 128)
