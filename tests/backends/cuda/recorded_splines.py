"""B-spline coefficients: the launches that the driver of ``fake_cuda.c`` receives."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
import pytest

import bindless as bl
from bindless.image.spline_filter import spline_coefficients
from tests.backends.cuda.fake_cuda import Fake

# Arguments of each kernel; of the first and last of the columns the lower halves, and the bits of floats: all launches
# of a test are logged alike.
ROWS = ("Q", "Q", *"IIIIIIIII", *"fff", "Q")
BOTH = ("Q", "Q", *"IIIIIIII")
POLE = np.float32(3**0.5 - 2)
GAIN = np.float32((3 - 3**0.5) ** 2)


@pytest.fixture
def fake() -> Iterator[Fake]:
    made = Fake()
    made.clear()
    yield made
    made.clear()
    made.parameters()


def launches(fake: Fake) -> list[tuple[str, list[str], list[bytes]]]:
    """The kernel of every launch, its groups and items in x, and its arguments."""
    found = []
    for line in fake.lines("cuLaunchKernel"):
        head, _, arguments = line.partition(":")
        _, name, *sizes = head.split()
        found.append((name, [sizes[0], sizes[3]], list(map(bytes.fromhex, arguments.split()))))
    fake.clear()
    return found


def numbers(arguments: list[bytes], form: tuple[str, ...]) -> tuple[float, ...]:
    return tuple(struct.unpack(f"<{letter}", part)[0] for letter, part in zip(form, arguments, strict=True))


def test_long_columns_go_from_one_array_to_the_other(queue: bl.Queue, fake: Fake) -> None:
    """Columns of 150 samples in two segments need another array; those of 20 are filtered in place."""
    samples = bl.usm_empty((20, 150, 33, 2), np.float32, queue)
    fake.clear()
    fake.parameters(*(struct.calcsize(f"<{letter}") for letter in BOTH))
    made, after = spline_coefficients(queue, samples, 3, ("mirror", "mirrored_repeat", "repeat"))
    assert isinstance(made, bl.UsmArray) and len(after) == 1
    rows, along_y, along_z = launches(fake)
    assert [launch[0] for launch in (rows, along_y, along_z)] == [
        "bindless_spline_rows", "bindless_spline_columns", "bindless_spline_columns"
    ]  # fmt: skip
    other = int(numbers(rows[2], BOTH)[1])
    assert other not in (samples.address, made.address)
    assert numbers(rows[2], BOTH) == (samples.address, other, 33, 150, 20, 0, 0, 0, 2, 0)
    assert rows[1] == ["143", "128"]  # 3000 rows; a group has 21 rows of 3 chunks for each of two channels
    filters = [int(number.view(np.uint32)) for number in (POLE, GAIN, np.float32(3 - 3**0.5))]
    assert numbers(along_y[2], BOTH) == (other, made.address, 66, 150, 80, 1, *filters, 66 * 20 * 2)
    assert numbers(along_z[2], BOTH) == (made.address, made.address, 66 * 150, 20, 20, 2, *filters, 66 * 150)
    assert along_z[1] == ["78", "128"]


def test_a_margin_is_added_along_rows(queue: bl.Queue, fake: Fake) -> None:
    samples = bl.usm_empty((5, 30, 40, 1), np.float32, queue)
    fake.clear()
    fake.parameters(*(struct.calcsize(f"<{letter}") for letter in ROWS))
    made, _ = spline_coefficients(queue, samples, 1, "repeat", margin=12, fill=0.5)
    assert isinstance(made, bl.UsmArray) and made.shape == (5, 30, 64, 1)
    ((name, sizes, arguments),) = launches(fake)
    assert (name, sizes) == ("bindless_spline_rows", ["5", "128"])  # 150 rows of 4 chunks, of 128 in a group
    expected = (samples.address, made.address, 40, 1, 1, 12, 0, 0, 1, 2, 1, 0.5, POLE, GAIN, 150)
    assert numbers(arguments, ROWS) == expected


def test_other_numbers_are_converted_first(queue: bl.Queue, fake: Fake) -> None:
    samples = bl.usm_empty((6, 8, 1), np.int16, queue)
    fake.clear()
    spline_coefficients(queue, samples, 1)
    assert [name for name, _, _ in launches(fake)] == ["bindless_pack", "bindless_spline_rows"]
