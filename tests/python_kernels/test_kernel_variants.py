"""Kernels in Python compiled for several types of arguments: which one a launch takes, and what a launch costs."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device
from bindless.core._submission import Variants
from tests.support.python_calls import python_calls

Upload = Callable[[Any], bl.UsmArray]

COUNT = 32

Pair = namedtuple("Pair", "first second")


@bl.kernel
def add(out, value, pair):
    out[device.item_id(0)] = value + pair[0] + pair[1]


def test_a_launch_takes_the_kernel_of_its_types(queue: bl.Queue, upload: Upload) -> None:
    """Each case runs twice, among the others: the second time its kernel is there."""
    cases: list[tuple[Any, Any, Any]] = [
        (1, (2, 3), np.int64),
        (1.5, (2, 3), np.float32),
        (1.5, (2.25, 3), np.float64),
        (np.float64(0.1), (0.2, 0.3), np.float64),
        (2**63 + 1, (0, 1), np.uint64),
        (np.uint8(255), (np.uint8(1), np.int16(-5)), np.int32),
        (True, Pair(2, 3), np.int32),
        (True, Pair(2.5, 3), np.float32),
        (True, (2, 3), np.int32),
    ]
    for value, pair, dtype in cases * 2:
        out = upload(np.zeros(COUNT, dtype))
        queue.parallel_for(COUNT, add, out, value, pair).wait()
        expected = int(value) + sum(pair) if np.dtype(dtype).kind in "iu" else float(value) + float(sum(pair))
        np.testing.assert_allclose(out.numpy(queue), np.full(COUNT, expected).astype(dtype), rtol=1e-6)


@bl.kernel
def mixed(image, out, part, place, pair, number, factor):
    y, x = device.item_id(0), device.item_id(1)
    texel = device.sample_image(image, x + 0.5, y + 0.5)[0]
    out[y, x] = texel * factor + part[y] + place.mass + pair[0] * pair[1] + number + out.shape[1]


@bl.kernel
def scaled(out, part, factor, pair):
    y, x = device.item_id(0), device.item_id(1)
    if x < out.shape[1]:
        out[y, x] = part[y] * factor + pair[0] * pair[1]


def test_repeated_launches_run_no_python(queue: bl.Queue, upload: Upload) -> None:
    picture = np.random.default_rng(3).random((4, 8), np.float32)
    record = np.zeros(1, [("mass", np.float32), ("name", np.int32)])
    record["mass"] = 0.5
    with bl.Image(picture, queue=queue) as image:
        out, part = upload(np.zeros((4, 8), np.float32)), upload(np.arange(8, dtype=np.float32))
        expected = picture * 2 + np.arange(4, dtype=np.float32)[:, None] + 0.5 + 6 + 7 + 8
        others = (record[0], (2, 3), np.int16(7), 2.0)
        for _ in range(3):
            queue.parallel_for((4, 8), mixed, image, out, part, *others).wait()
        np.testing.assert_allclose(out.numpy(queue), expected, rtol=1e-5)
    queue.parallel_for((4, 8), scaled, out, part, 2.0, (1, 3)).wait()  # the next one writes the same elements
    narrow = out.reshape((8, 4))[:4]  # of other sizes
    calls = python_calls(lambda: queue.parallel_for((4, 8), scaled, narrow, part, 3.0, (2, 3)))
    assert calls == [] or not queue._stream.prepares
    grouped = bl.NdRange((4, 8), (4, 8))
    queue.parallel_for(grouped, scaled, narrow, part, 3.0, (2, 3))
    calls = python_calls(lambda: queue.parallel_for(grouped, scaled, narrow, part, 3.0, (2, 3)))
    assert calls == [] or not queue._stream.prepares
    queue.wait()
    assert narrow.numpy(queue).tolist() == [[y * 3.0 + 6] * 4 for y in range(4)]


def test_more_parameters_than_prepared_launches_have(queue: bl.Queue, upload: Upload) -> None:
    out = upload(np.zeros(COUNT, np.int64))

    @bl.kernel
    def run(out, values):
        total = 0
        for value in values:
            total += value
        out[device.item_id(0)] = total

    for first in (0, 5):
        values = tuple(range(first, first + 100))
        queue.parallel_for(COUNT, run, out, values).wait()
        assert out.numpy(queue).tolist() == [sum(values)] * COUNT


def test_variants_refuse_what_they_cannot_hold(queue: bl.Queue) -> None:
    variants = Variants()
    assert variants.find(1, (1, 2.0)) is None
    for arguments, steps in (
        ((1,), (((1,), None, 0),)),
        ((1,), (((), None, 0),)),
        ((1,), (((0,) * 9, None, 0),)),
        ((tuple(range(300)),), ()),
        (tuple(range(300)), ()),
    ):
        with pytest.raises(ValueError, match=r"kernel|step|tuples"):
            variants.add(1, arguments, "kernel", steps)
    assert variants.kernels() == []
    variants.add(2, (1, (2.0, None)), "kernel", (((1, 0), None, 0), ((0,), str, 0)))
    assert variants.find(1, (1, (2.0, None))) is None
    assert variants.find(2, (1, (2.0, 1))) is None
    assert variants.find(2, (7, (3.0, None))) == ("kernel", (3.0, "7"))
