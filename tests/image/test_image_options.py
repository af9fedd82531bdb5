"""``ImageOptions``: one value of all arguments of ``Image``, which parts, copies and pickles take."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.image import image as image_module
from bindless.image.options import ImageOptions, _image_options, image_options
from bindless.model.enums import Boundary, CoordinateNormalizationMode, Interpolation, Precision
from bindless.model.filter import Filter
from tests.support.error_checks import raises


def test_names_and_members_make_equal_values() -> None:
    names = image_options(["repeat", "border"], "cubic", "exact", 2, coordinate="normalized", channel_type="fp32")
    members = ImageOptions(
        Filter(Interpolation.cubic, (Boundary.repeat, Boundary.border, Boundary.edge), 2.0, Precision.exact),
        bl.ImageChannelType.fp32,
        coordinate=CoordinateNormalizationMode.normalized,
        modes=2,
    )
    assert names == members and hash(names) == hash(members)
    assert pickle.loads(pickle.dumps(names)) == names
    assert image_options() == ImageOptions()


def test_every_argument_of_an_image_reaches_its_options(queue: bl.Queue) -> None:
    """Each argument but the queue has another value than its default, and changes the options."""
    others: dict[str, Any] = {
        "channel_type": "unsigned_int8", "mipmaps": True, "layers": True, "cubemap": True, "addressing": "repeat",
        "filtering": "nearest", "precision": "exact", "fill": 3, "nan": "ignore", "coordinate": "normalized",
        "max_anisotropy": 4, "dimensions": 2, "grid": bl.space.Grid((4, 4)), "srgb": True,
    }  # fmt: skip
    taken = inspect.signature(bl.Image).parameters.keys() - {"array", "queue"}
    assert others.keys() == taken == inspect.signature(_image_options).parameters.keys()
    for name, value in others.items():
        assert image_options(**{name: value}) != ImageOptions()
    options: dict[str, Any] = {"channel_type": "unsigned_int8", "filtering": "nearest", "dimensions": 2}
    with bl.Image(np.zeros((6, 4, 4), np.uint8), queue=queue, cubemap=True, **options) as image:
        assert image._options == image_options(cubemap=True, **options)


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((8, 8), {"mipmaps": True, "max_anisotropy": 2, "addressing": ("repeat", "clamp")}),
        ((3, 8, 8), {"layers": True, "mipmaps": True, "max_anisotropy": 2}),
        ((6, 8, 8), {"cubemap": True, "mipmaps": True, "filtering": "nearest"}),
        ((2, 5, 6), {"layers": True, "precision": "exact", "nan": "ignore", "addressing": "border", "fill": 1}),
    ],
)
def test_copies_and_pickles_have_the_options(queue: bl.Queue, shape: tuple[int, ...], options: dict[str, Any]) -> None:
    pixels = np.random.default_rng(3).random(shape, np.float32)
    with bl.Image(pixels, queue=queue, **options) as image:
        for other in (copy.copy(image), copy.deepcopy(image), pickle.loads(pickle.dumps(image))):
            assert other._options == image._options and other.sampler == image.sampler
            assert repr(other).split(",")[:-1] == repr(image).split(",")[:-1]
            np.testing.assert_array_equal(other.numpy(), pixels)
            other.close()


def test_a_number_of_dimensions_is_an_integer(queue: bl.Queue) -> None:
    pixels = np.zeros((4, 4), np.float32)
    bl.Image(pixels, queue=queue, dimensions=2).close()  # options are kept: 2.0 is equal to 2
    for wrong in ("2", 2.0, [2]):
        with raises(bl.InvalidError):
            bl.Image(pixels, queue=queue, dimensions=wrong)  # type: ignore[arg-type]


def test_a_ratio_beyond_the_device_is_told_once(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of images of layers too, at the line of the program that makes the image."""
    monkeypatch.setattr(image_module, "most_anisotropy", lambda device: 2)
    pixels = np.zeros((3, 8, 8), np.float32)
    for array, layers in ((pixels[0], False), (pixels, True)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            image = bl.Image(array, layers=layers, mipmaps=True, max_anisotropy=4, queue=queue)
            bl.Image.from_memory(image.parts[0].memory, queue=queue, max_anisotropy=4).close()
            copy.copy(image).close()
        image.close()
        assert [(item.category, item.filename) for item in caught] == [(bl.SamplerWarning, __file__)] * 2


def test_every_kind_of_image_is_of_one_class(queue: bl.Queue) -> None:
    for shape, options, parts in (
        ((8, 8), {}, 1),
        ((3, 8, 8), {"layers": True, "mipmaps": True}, 3),
        ((6, 8, 8), {"cubemap": True, "mipmaps": True}, 4),
    ):
        with bl.Image(np.zeros(shape, np.float32), queue=queue, **options) as image:  # type: ignore[arg-type]
            assert {type(part) for part in (image, copy.copy(image), *image.parts)} == {bl.Image}
            assert len(image.parts) == parts
            assert (image.parts == (image,)) == (parts == 1)
