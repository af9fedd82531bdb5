"""``CopyRegion``: one validated value for every copy (R45, R47–R53)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bindless import ImageDescriptor, InvalidError
from bindless.model.copy_region import CopyRegion, HostMemory, ImageMemory, UsmMemory, copy_failure
from tests.support.error_checks import raises

DESC = ImageDescriptor(10, 6, 4, num_channels=2, channel_type="fp16")
PACKED = 10 * 6 * 4 * 4


def host(**options: Any) -> HostMemory:
    return HostMemory(**{"address": 64, "extent": (10, 6, 4), "pixel_size": 4, "capacity": PACKED} | options)


def image(**options: Any) -> ImageMemory:
    return ImageMemory(**{"handle": 7, "descriptor": DESC} | options)


def linear(**options: Any) -> UsmMemory:
    return UsmMemory(**{"address": 64, "pitch": 64, "descriptor": DESC, "pitch_align": 32} | options)


def test_is_a_value() -> None:
    region = CopyRegion(host(), image(), (10, 6, 4))
    assert region == CopyRegion(host(), image(), (10, 6, 4)) and hash(region) == hash(region)
    assert region.nbytes == PACKED and region.pixel_size == 4
    with pytest.raises(AttributeError):
        region.extent = (1, 1, 1)  # type: ignore[misc]


def test_strides() -> None:  # R45 R50
    end = host(extent=(7, 3, 2))
    assert (end.row_pitch, end.slice_pitch) == (28, 84)
    assert host(extent=(7, 0, 0)).slice_pitch == 28
    assert (linear().row_pitch, linear().slice_pitch) == (64, 384)
    assert (linear(pitch=0).row_pitch, linear(pitch=0).slice_pitch) == (40, 240)


def test_unused_components_become_one() -> None:  # R53
    line = ImageDescriptor(10, num_channels=1)
    ends = (
        HostMemory(0, (10, 0, 0), 4, 40),
        ImageMemory(1, line),
    )
    assert CopyRegion(*ends, (4, 0, 0)) == CopyRegion(*ends, (4, 1, 1))


@pytest.mark.parametrize(
    ("scenario", "src", "dst", "extent"),
    [
        (2, image(descriptor=ImageDescriptor(10, 6, 4, num_channels=2)), image(descriptor=DESC), (1, 1, 1)),
        (3, host(), image(), (11, 1, 1)),
        (3, image(), linear(), (1, 7, 1)),
        (4, host(capacity=PACKED - 1), linear(), (1, 1, 1)),
        (4, linear(), host(extent=(10, 6, 5)), (1, 1, 1)),
        (5, host(extent=(10, 7, 4)), image(), (1, 1, 1)),
        (5, linear(capacity=64 * 23 + 39), image(), (1, 1, 1)),
        (6, image(), host(extent=(11, 6, 4)), (1, 1, 1)),
        (6, image(), linear(capacity=1), (1, 1, 1)),
        (7, host(offset=(9, 0, 0)), image(), (2, 1, 1)),
        (7, image(offset=(0, 2**64 - 1, 0)), host(), (1, 1, 1)),
        (8, host(), image(offset=(0, 0, 4)), (1, 1, 1)),
        (8, host(), linear(offset=(0, 0, 2**63)), (10, 6, 4)),
        (9, host(), linear(pitch=68), (1, 1, 1)),
        (10, linear(pitch=32), image(), (1, 1, 1)),
    ],
)
def test_numbered_failures(scenario: int, src: Any, dst: Any, extent: Any) -> None:  # R47 R49 R50 R51
    with raises(InvalidError, names=f"scenario {scenario}"):
        CopyRegion(src, dst, extent, part=True)


def test_pitch_of_one_row_is_free() -> None:  # R51
    row = ImageDescriptor(10, 1, num_channels=1)
    for pitch in (1, 13, 40):
        CopyRegion(linear(descriptor=row, pitch=pitch), ImageMemory(1, row), (10, 1, 1))


def test_capacity_of_whole_copies() -> None:  # R48
    with raises(InvalidError, names="scenario 2"):
        CopyRegion(host(capacity=PACKED - 1), image(), (10, 6, 4))
    with raises(InvalidError, names="scenario 2"):
        CopyRegion(linear(capacity=64 * 24 - 25), image(), (10, 6, 4))
    CopyRegion(linear(capacity=64 * 23 + 40), image(), (10, 6, 4))  # the last row needs no pitch


sizes = st.integers(1, 2**64 - 1)
anywhere = st.tuples(*[st.integers(0, 2**64 - 1)] * 3)


@given(anywhere, anywhere, st.tuples(sizes, sizes, sizes))
def test_bounds_never_overflow(src_offset: Any, dst_offset: Any, extent: Any) -> None:  # R49
    inside = all(
        offset + size <= bound
        for offsets in (src_offset, dst_offset)
        for offset, size, bound in zip(offsets, extent, DESC.extent)
    )
    try:
        CopyRegion(host(offset=src_offset), image(offset=dst_offset), extent, part=True)
    except InvalidError:
        assert not inside
    else:
        assert inside


def test_every_scenario_has_a_sentence() -> None:  # R47
    for part, count in ((False, 2), (True, 10)):
        sentences = {str(copy_failure(number, "1 > 0", part=part)) for number in range(1, count + 1)}
        assert len(sentences) == count and all(sentence.endswith(": 1 > 0") for sentence in sentences)
