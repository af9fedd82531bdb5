"""Reductions among the arguments of kernels in Python: results against numpy, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device
from bindless.model.combiners import COMBINERS

Upload = Callable[[Any], bl.UsmArray]

INTEGERS = ("int32", "uint32", "int64", "uint64")
NUMPY = {
    "add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip
CASES = [
    (combiner, name)
    for combiner in COMBINERS
    for name in (*INTEGERS, "float32", "float64")
    if not (combiner in ("and", "or", "xor") and name.startswith("float"))
]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(24)


@bl.kernel
def combined(values: Any, total: Any) -> None:
    total.combine(values[device.item_id(0)])


@bl.kernel
def two(values: Any, total: Any, count: Any, limit: Any) -> None:
    i = device.item_id(0)
    if values[i] < limit:
        return
    total += values[i]
    for _ in range(2):
        count += 1


@bl.kernel
def histogram(values: Any, counts: Any) -> None:
    counts[values[device.item_id(0)]] += 1


@bl.kernel
def pairs(values: Any, extremes: Any) -> None:
    y, x = device.item_id(0), device.item_id(1)
    extremes[x % 2].combine(values[y, x])
    extremes[-1].combine(values[y, x])


@bl.device_function
def _add_square(total: Any, value: Any) -> None:
    total += value * value


@bl.kernel
def squares(values: Any, total: Any) -> None:
    _add_square(total, values[device.item_id(0)])


@bl.kernel
def products(value: Any, bits: Any, odd: Any, some: Any) -> None:
    value *= np.float32(1.01)
    bits |= np.uint32(1) << np.uint32(device.item_id(0) % 32)
    odd ^= device.item_id(0)
    some &= ~np.int32(device.item_id(0) % 4)


def values_for(combiner: str, name: str, count: int, rng: np.random.Generator) -> Any:
    """Numbers that do not overflow where overflow is undefined."""
    dtype = np.dtype(name)
    if combiner == "mul":
        return (
            rng.choice([1, 3], count).astype(dtype)
            if dtype.kind != "f"
            else rng.uniform(0.98, 1.02, count).astype(dtype)
        )
    if dtype.kind == "f":
        return rng.normal(size=count).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)


def combined_by_numpy(combiner: str, values: Any, before: Any) -> Any:
    with np.errstate(over="ignore"):
        return NUMPY[combiner].reduce(np.concatenate([[before], values]).astype(values.dtype), dtype=values.dtype)


@pytest.mark.parametrize(("combiner", "name"), CASES)
@pytest.mark.parametrize("groups", [None, 64], ids=["range", "groups"])
def test_each_operation(
    combiner: str, name: str, groups: int | None, queue: bl.Queue, upload: Upload, rng: np.random.Generator
) -> None:
    if name == "float64" and not queue.device.has(bl.Aspect.fp64):
        pytest.skip("the device has no float64")
    values = values_for(combiner, name, 192, rng)
    before = values_for(combiner, name, 1, rng)[0]
    total = upload(before)
    space: Any = 192 if groups is None else bl.NdRange(192, groups)
    given = upload(values)
    queue.parallel_for(space, combined, given, bl.reduction(total, combiner)).wait()
    expected = combined_by_numpy(combiner, values, before)
    if np.dtype(name).kind == "f" and combiner in ("add", "mul"):
        np.testing.assert_allclose(total.numpy(), expected, rtol=1e-5 if name == "float32" else 1e-13, atol=1e-5)
    else:
        assert total.numpy() == expected


def test_several_with_early_returns(queue: bl.Queue, upload: Upload, rng: np.random.Generator) -> None:
    values = rng.integers(0, 1000, 500).astype(np.int64)
    total, count = upload(np.int64(7)), upload(np.array([11], np.int32))
    queue.parallel_for(500, two, upload(values), bl.reduction(total), bl.reduction(count), 400).wait()
    chosen = values[values >= 400]
    assert total.numpy() == 7 + chosen.sum()
    assert count.numpy()[0] == 11 + 2 * chosen.size


@pytest.mark.parametrize("bins", [2, 5, 256, 1000])
def test_a_histogram(bins: int, queue: bl.Queue, upload: Upload, rng: np.random.Generator) -> None:
    values = rng.integers(0, bins, 1024).astype(np.int32)
    counts = upload(np.arange(bins, dtype=np.uint32))
    queue.parallel_for(bl.NdRange(1024, 128), histogram, upload(values), bl.reduction(counts)).wait()
    assert (counts.numpy() == np.arange(bins) + np.bincount(values, minlength=bins)).all()


def test_floats_of_two_dimensions(queue: bl.Queue, upload: Upload, rng: np.random.Generator) -> None:
    values = rng.normal(size=(24, 32)).astype(np.float32)
    extremes = upload(np.full(3, -0.5, np.float32))
    queue.parallel_for((24, 32), pairs, upload(values), bl.reduction(extremes, "max")).wait()
    expected = [values[:, 0::2].max(), values[:, 1::2].max(), values.max()]
    assert (extremes.numpy() == np.array(expected, np.float32)).all()


def test_a_helper_contributes(queue: bl.Queue, upload: Upload, rng: np.random.Generator) -> None:
    values = rng.integers(-9, 9, 96).astype(np.int32)
    total = upload(np.int32(0))
    queue.parallel_for(96, squares, upload(values), bl.reduction(total)).wait()
    assert total.numpy() == (values**2).sum()


def test_operators(queue: bl.Queue, upload: Upload) -> None:
    value, bits = upload(np.float32(2)), upload(np.uint32(0))
    odd, some = upload(np.int64(0)), upload(np.int32(-1))
    queue.parallel_for(
        48, products, bl.reduction(value, "mul"), bl.reduction(bits, "or"), bl.reduction(odd, "xor"),
        bl.reduction(some, "and"),
    ).wait()  # fmt: skip
    assert value.numpy() == pytest.approx(2 * 1.01**48, rel=1e-5)
    assert bits.numpy() == 0xFFFFFFFF
    assert odd.numpy() == np.bitwise_xor.reduce(np.arange(48))
    assert some.numpy() == ~np.int32(3)


def test_the_value_before_is_ignored_on_request(queue: bl.Queue, upload: Upload) -> None:
    values, total = upload(np.arange(64, dtype=np.int32)), upload(np.int32(1 << 20))
    first = queue.fill(total, np.int32(5))
    chosen = bl.reduction(total, "max", initialize_to_identity=True)
    for _ in range(3):
        first = queue.parallel_for(64, combined, values, chosen, depends_on=first)
        first.wait()
        assert total.numpy() == 63
    queue.parallel_for(64, combined, values, bl.reduction(total, "add"), depends_on=first).wait()
    assert total.numpy() == 63 + 64 * 63 // 2


def test_a_ranged_accessor_receives_the_results_of_its_range(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def counted(values, counts):
        counts[values[device.item_id(0)]] += 1

    values = np.random.default_rng(5).integers(0, 3, 64, np.int32)
    counts = np.zeros(8, np.int32)
    with bl.Buffer(counts) as buffer:
        given = upload(values)
        queue.submit(
            lambda group: group.parallel_for(
                64, counted, given, bl.reduction(buffer.get_access(group, "read_write", range=3, offset=4))
            )
        )
    assert counts.tolist() == [0, 0, 0, 0, *np.bincount(values, minlength=3), 0]


def test_handlers_and_graphs(queue: bl.Queue, upload: Upload) -> None:
    values, total = upload(np.arange(64, dtype=np.int32)), upload(np.int32(1))
    queue.submit(lambda group: group.parallel_for(64, combined, values, bl.reduction(total))).wait()
    buffer = bl.Buffer(np.array([100], np.int32))
    queue.submit(
        lambda group: group.parallel_for(64, combined, values, bl.reduction(buffer.get_access(group, "read_write")))
    ).wait()
    bound = combined.bind(queue, 64, values, bl.reduction(total))
    bound().wait()
    assert total.numpy() == 1 + 2 * 2016
    assert buffer.get_host_access().array[0] == 2116
    with pytest.raises(bl.InvalidError):
        combined.bind(queue, 64, values, bl.reduction(total, initialize_to_identity=True))


def test_interpreted_in_python(upload: Upload, rng: np.random.Generator) -> None:
    values = rng.integers(0, 1000, 60).astype(np.int64)
    total, count = upload(np.int64(7)), upload(np.array([11], np.int32))
    two.run_in_python(60, upload(values), bl.reduction(total), bl.reduction(count, initialize_to_identity=True), 400)
    chosen = values[values >= 400]
    assert total.numpy() == 7 + chosen.sum()
    assert count.numpy()[0] == 2 * chosen.size
    counts = upload(np.zeros(4, np.int32))
    histogram.run_in_python(bl.NdRange(8, 4), upload(np.arange(8, dtype=np.int32) % 4), bl.reduction(counts))
    assert (counts.numpy() == 2).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda array: bl.reduction(np.zeros(1, np.float32)),  # type: ignore[arg-type]
        lambda array: bl.reduction(array, "median"),
        lambda array: bl.reduction(array, "and"),
        lambda array: bl.reduction(array[::2]),
        lambda array: bl.reduction(array.reshape(2, 2)),
    ],
    ids=["host", "combiner", "bits of floats", "strides", "dimensions"],
)
def test_what_no_launch_reduces(make: Callable[[Any], object], upload: Upload) -> None:
    with pytest.raises(bl.InvalidError):
        make(upload(np.zeros(4, np.float32)))


@pytest.mark.parametrize("name", ["float16", "int8", "bool", "complex64"])
def test_types_without_reductions(name: str, upload: Upload) -> None:
    with pytest.raises(bl.InvalidError):
        bl.reduction(upload(np.zeros(1, name)))


def test_too_large_for_local_memory(upload: Upload) -> None:
    with pytest.raises(bl.InvalidError):
        bl.reduction(upload(np.zeros(4097, np.float32)))


@bl.kernel
def subtracts(total: Any) -> None:
    total -= 1


@bl.kernel
def reads(total: Any, out: Any) -> None:
    out[0] = total


@bl.kernel
def forgets_the_index(total: Any) -> None:
    total += 1


def test_errors_of_reducers(queue: bl.Queue, upload: Upload) -> None:
    one, several, out = upload(np.int32(0)), upload(np.zeros(4, np.int32)), upload(np.zeros(1, np.int32))
    for kernel, arguments, text in (
        (subtracts, (bl.reduction(one),), "+="),
        (reads, (bl.reduction(one), out), "out[0] = total"),
        (forgets_the_index, (bl.reduction(several),), "by index"),
        (forgets_the_index, (bl.reduction(one, "max"),), "combine"),
    ):
        with pytest.raises(bl.BuildError) as caught:
            queue.parallel_for(4, kernel, *arguments)
        assert text in str(caught.value)
    with pytest.raises(bl.InvalidError):
        forgets_the_index.run_in_python(2, bl.reduction(one, "max"))


def test_in_a_tuple_and_after_a_generator_of_events(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(values, results):
        total, largest = results
        total += values[device.item_id(0)]
        largest.combine(values[device.item_id(0)])

    values, total, largest = upload(np.zeros(64, np.int32)), upload(np.int32(5)), upload(np.int32(1000))
    results = (
        bl.reduction(total, initialize_to_identity=True),
        bl.reduction(largest, "max", initialize_to_identity=True),
    )
    for first in (1, 2, -7):
        filled = queue.copy(np.arange(first, first + 64, dtype=np.int32), values)
        queue.parallel_for(64, run, values, results, depends_on=(event for event in [filled])).wait_and_throw()
        assert total.numpy(queue) == sum(range(first, first + 64)) and largest.numpy(queue) == first + 63
    queue.parallel_for(64, run, values, (bl.reduction(total), results[1])).wait_and_throw()
    assert total.numpy(queue) == 2 * sum(range(first, first + 64))
