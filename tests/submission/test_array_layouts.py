"""``array_layout``: keys of arrays that may differ in their addresses alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bindless.core._submission import array_layout
from tests.support.exchange_peer import Exchanged


def differing(new: Any) -> list[Any]:
    """Arrays of different layouts."""
    values = np.arange(24, dtype=np.float32)
    return [
        new(values), new(values[:12]), new(values.reshape(4, 6)), new(values.reshape(6, 4)),
        new(values.reshape(4, 6).T), new(values[::2]), new(values.astype(np.int32)), new(values.astype(np.float64)),
        new(values.reshape(2, 3, 4)),
    ]  # fmt: skip


@pytest.mark.parametrize("new", [np.asarray, Exchanged])
def test_equal_layouts(new: Any) -> None:
    keys = [array_layout(array) for array in differing(new)]
    assert keys == [array_layout(array) for array in differing(new)]
    assert len(set(keys)) == len(keys)


def test_places_differ() -> None:
    values = np.zeros(3, np.float32)
    keys = {array_layout(Exchanged(values, device=device)) for device in ((1, 0), (2, 0), (2, 1), (13, 0))}
    assert len(keys | {array_layout(values)}) == 5


def test_a_library_that_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attributes tell what exchange functions do not, and their absence is an error."""

    class Named(Exchanged):
        dtype = np.dtype(np.float32)
        strides = (4,)

    array = Named(np.zeros(3, np.float32))
    told = array_layout(array)
    monkeypatch.setattr(Exchanged, "refuses", True)
    assert array_layout(array)[3] == told[3] == (3,)
    with pytest.raises(AttributeError):
        array_layout(Exchanged(np.zeros(3, np.float32)))
    for value in (None, 3, "array", [1.0]):
        with pytest.raises(AttributeError):
            array_layout(value)
