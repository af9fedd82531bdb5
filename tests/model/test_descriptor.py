"""Image descriptors (R1–R12)."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bindless import BindlessImageSampler, Errc, ImageChannelType, ImageDescriptor, ImageType, InvalidError, Range
from tests.support.error_checks import raises

SIZES = {
    "snorm_int8": 1,
    "snorm_int16": 2,
    "unorm_int8": 1,
    "unorm_int16": 2,
    "signed_int8": 1,
    "signed_int16": 2,
    "signed_int32": 4,
    "unsigned_int8": 1,
    "unsigned_int16": 2,
    "unsigned_int32": 4,
    "fp16": 2,
    "fp32": 4,
}


def test_default() -> None:  # R1
    desc = ImageDescriptor()
    assert (desc.width, desc.height, desc.depth) == (0, 0, 0)
    assert desc.num_channels == 4
    assert desc.channel_type is ImageChannelType.fp32
    assert desc.type is ImageType.standard
    assert (desc.num_levels, desc.array_size) == (1, 1)


def test_is_a_value() -> None:  # R2
    desc = ImageDescriptor(8, 4, num_channels=2, channel_type="unorm_int8")
    twin = copy.copy(desc)
    assert twin == desc and hash(twin) == hash(desc) and {desc: 1}[twin] == 1
    for field, value in {
        "width": 9,
        "height": 5,
        "depth": 1,
        "num_channels": 1,
        "channel_type": "fp16",
        "type": "array",
        "num_levels": 2,
        "array_size": 3,
    }.items():
        fields: dict[str, Any] = {
            "width": 8,
            "height": 4,
            "depth": 0,
            "num_channels": 2,
            "channel_type": "unorm_int8",
            "type": "standard",
            "num_levels": 1,
            "array_size": 1,
            field: value,
        }
        sizes = [fields.pop(name) for name in ("width", "height", "depth")]
        assert ImageDescriptor(*sizes, **fields) != desc, field


BREACHES = {
    "width": [ImageDescriptor(), ImageDescriptor(0, 4)],  # R3
    "height": [ImageDescriptor(4, 0, 4), ImageDescriptor(4, 5, type="cubemap", array_size=6)],
    "num_channels": [ImageDescriptor(4, num_channels=n) for n in (0, 5, 6, 255)],  # R5
    "num_levels": [
        *(ImageDescriptor(4, num_levels=n) for n in (0, 2)),  # R4
        *(ImageDescriptor(4, 4, type="mipmap", num_levels=n) for n in (0, 1, 4, 200)),  # R10
        ImageDescriptor(4, 4, type="array", array_size=2, num_levels=2),  # R6
        ImageDescriptor(4, 4, type="cubemap", array_size=6, num_levels=3),
    ],
    "array_size": [
        *(ImageDescriptor(4, array_size=n) for n in (0, 2)),  # R4
        ImageDescriptor(4, 4, type="mipmap", num_levels=2, array_size=2),  # R6
        *(ImageDescriptor(4, 4, type="array", array_size=n) for n in (0, 1)),  # R11
        *(ImageDescriptor(4, 4, type="cubemap", array_size=n) for n in (0, 1, 5, 7, 12)),  # R12
    ],
    "depth": [
        ImageDescriptor(4, 4, 4, type="array", array_size=2),  # R11
        ImageDescriptor(4, 4, 4, type="cubemap", array_size=6),
    ],
}


@pytest.mark.parametrize(
    ("field", "desc"), [(field, desc) for field, descs in BREACHES.items() for desc in descs], ids=str
)
def test_verify_refuses(field: object, desc: ImageDescriptor) -> None:  # R3 R4 R5 R6 R10 R11 R12
    with raises(InvalidError, names=field) as caught:
        desc.verify()
    assert caught.value.code is Errc.invalid


@pytest.mark.parametrize("num_channels", [1, 2, 3, 4])
@pytest.mark.parametrize("channel_type", list(SIZES))
def test_verify_accepts(channel_type: str, num_channels: int) -> None:  # R5
    descs = [
        ImageDescriptor(5, num_channels=num_channels, channel_type=channel_type),
        ImageDescriptor(5, 3, num_channels=num_channels, channel_type=channel_type),
        ImageDescriptor(5, 3, 2, num_channels=num_channels, channel_type=channel_type),
        ImageDescriptor(5, 3, num_channels=num_channels, channel_type=channel_type, type="mipmap", num_levels=3),
        ImageDescriptor(5, 3, num_channels=num_channels, channel_type=channel_type, type="array", array_size=2),
        ImageDescriptor(5, num_channels=num_channels, channel_type=channel_type, type="array", array_size=2),
        ImageDescriptor(5, 5, num_channels=num_channels, channel_type=channel_type, type="cubemap", array_size=6),
    ]
    for desc in descs:
        desc.verify()
        assert desc.pixel_size == num_channels * SIZES[channel_type]
        assert desc.dtype.itemsize == SIZES[channel_type]


@given(st.integers(1, 70), st.integers(0, 70), st.integers(0, 70), st.integers(2, 7))
def test_levels_halve(width: int, height: int, depth: int, levels: int) -> None:  # R7 R8 R10
    depth = depth if height else 0
    desc = ImageDescriptor(width, height, depth, num_channels=2, channel_type="fp16", type="mipmap", num_levels=levels)
    largest = max(width, height, depth)
    if 2 ** (levels - 1) > largest:
        with raises(InvalidError, names="num_levels"):
            desc.verify()
        return
    desc.verify()
    sizes = [width, height, depth]
    for level in range(levels):
        got = desc.get_mip_level_desc(level)
        assert [got.width, got.height, got.depth] == sizes
        assert (got.type, got.num_levels, got.array_size) == (ImageType.standard, 1, 1)
        assert (got.num_channels, got.channel_type) == (2, ImageChannelType.fp16)
        got.verify()
        sizes = [max(n // 2, 1) if n else 0 for n in sizes]


def test_level_of_no_mipmap() -> None:  # R9
    others = [
        ImageDescriptor(4, 4),
        ImageDescriptor(4, 4, type="array", array_size=2),
        ImageDescriptor(4, 4, type="cubemap", array_size=6),
    ]
    for desc, level in itertools.product(others, (0, 1)):
        with raises(InvalidError, names="mipmap"):
            desc.get_mip_level_desc(level)
    mipmap = ImageDescriptor(4, 4, type="mipmap", num_levels=3)
    for level in (3, 4, 1000):
        with raises(InvalidError, names=f"level={level}"):
            mipmap.get_mip_level_desc(level)
    with raises(InvalidError, names="level"):
        mipmap.get_mip_level_desc(-1)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"width": -1}, "width"),
        ({"width": 1.5}, "width"),
        ({"width": 2**64}, "width"),
        ({"num_channels": 2**32}, "num_channels"),
        ({"channel_type": "float"}, "channel_type"),
        ({"type": "cube"}, "type"),
        ({"array_size": "2"}, "array_size"),
    ],
)
def test_fields_are_numbers_and_names(arguments: dict[str, Any], word: object) -> None:
    with raises(InvalidError, names=word):
        ImageDescriptor(**arguments)


@pytest.mark.parametrize(
    ("shape", "options", "wanted"),
    [
        ((7,), {}, ImageDescriptor(7, num_channels=1, channel_type="unorm_int8")),
        ((5, 7), {}, ImageDescriptor(7, 5, num_channels=1, channel_type="unorm_int8")),
        ((5, 7, 3), {}, ImageDescriptor(7, 5, num_channels=3, channel_type="unorm_int8")),
        ((4, 5, 7), {}, ImageDescriptor(7, 5, 4, num_channels=1, channel_type="unorm_int8")),
        ((4, 5, 7, 2), {}, ImageDescriptor(7, 5, 4, num_channels=2, channel_type="unorm_int8")),
        (
            (9, 5, 7, 4),
            {"type": "array"},
            ImageDescriptor(7, 5, num_channels=4, channel_type="unorm_int8", type="array", array_size=9),
        ),
        (
            (9, 7, 2),
            {"type": "array", "dimensions": 1},
            ImageDescriptor(7, num_channels=2, channel_type="unorm_int8", type="array", array_size=9),
        ),
        (
            (6, 7, 7, 2),
            {"type": "cubemap"},
            ImageDescriptor(7, 7, num_channels=2, channel_type="unorm_int8", type="cubemap", array_size=6),
        ),
    ],
)
def test_from_array(shape: tuple[int, ...], options: dict[str, Any], wanted: ImageDescriptor) -> None:
    array = np.zeros(shape, np.uint8)
    desc = ImageDescriptor.from_array(array, **options)
    assert desc == wanted
    assert desc.nbytes == array.nbytes
    assert np.zeros(desc.shape, desc.dtype).nbytes == array.nbytes


def test_from_array_refuses() -> None:
    with raises(InvalidError, names="float64"):
        ImageDescriptor.from_array(np.zeros((4, 4)))
    with raises(InvalidError):
        ImageDescriptor.from_array(np.zeros((4, 4), np.float32), channel_type="unorm_int8")
    with raises(InvalidError):
        ImageDescriptor.from_array(np.zeros((2, 2, 2, 2, 5), np.uint8))


def test_what_backends_keep_with_it_is_no_part_of_the_value() -> None:
    desc, sampler = ImageDescriptor(4, 3), BindlessImageSampler("repeat", "normalized")
    for value in (desc, sampler):
        value.prepared["driver"] = object()
        for same in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
            assert same == value and hash(same) == hash(value) and not same.prepared


@pytest.mark.parametrize("make", [tuple, list, lambda sizes: Range(*sizes)])
@pytest.mark.parametrize("sizes", [(7,), (5, 7), (3, 5, 7)])
def test_a_shape_stands_for_the_extents(make: Callable[[tuple[int, ...]], Any], sizes: tuple[int, ...]) -> None:
    """SYCL's constructor takes a range; its order is that of numpy's shapes."""
    extents = dict(zip(("width", "height", "depth"), reversed(sizes)))
    wanted = ImageDescriptor(**extents, num_channels=2, channel_type="unorm_int8")
    assert ImageDescriptor(make(sizes), 2, "unorm_int8") == wanted
    assert ImageDescriptor(make(sizes), num_channels=2, channel_type="unorm_int8") == wanted
    assert ImageDescriptor(make(sizes)) == ImageDescriptor(**extents)
    assert wanted.shape == (*sizes, 2)


def test_a_shape_of_layers() -> None:
    assert ImageDescriptor((5, 7), 1, "fp32", type="array", array_size=3).shape == (3, 5, 7, 1)
    wrongs: list[Any] = [(), (1, 2, 3, 4), (-1,), ("x", 2), (1.5, 2), "12", b"12", 1.5]
    for wrong in wrongs:
        with raises(InvalidError):
            ImageDescriptor(wrong)
