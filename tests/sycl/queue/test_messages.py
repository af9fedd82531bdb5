"""Error messages describe the given values: public names, shapes of arrays, and the actual fault."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import bindless as bl

LARGE = np.arange(900.0)


def said(error: type[BaseException], call: object, *arguments: object, **options: object) -> str:
    with pytest.raises(error) as raised:
        call(*arguments, **options)  # type: ignore[operator]
    return str(raised.value)


def test_wrong_counts_and_names_of_arguments_name_the_public_function(queue: bl.Queue) -> None:
    event = queue.memset(bl.usm_empty(4, "u1", queue), 0)
    for message, name in (
        (said(TypeError, queue.ext_oneapi_copy, 1, 2, 3), "Queue.ext_oneapi_copy()"),
        (said(TypeError, queue.ext_oneapi_copy, 1, 2, pitch=3), "Queue.ext_oneapi_copy()"),
        (said(TypeError, queue.ext_oneapi_copy, 1, 2, pitch=None), "Queue.ext_oneapi_copy()"),
        (said(TypeError, queue.parallel_for), "Queue.parallel_for()"),
        (said(TypeError, queue.parallel_for, 1, None, waits=3), "Queue.parallel_for()"),
        (said(TypeError, event.wait, 1, 2), "Event.wait()"),
        (said(TypeError, event.wait, seconds=1), "Event.wait()"),
    ):
        assert name in message and "_any" not in message


def test_large_arrays_are_told_by_shape_and_dtype(queue: bl.Queue) -> None:
    array = bl.usm_empty(4, "f4", queue)
    with bl.Image(np.ones((4, 4), np.float32), queue=queue) as image:
        messages = [
            said(bl.InvalidError, bl.BindlessImageSampler, filtering=LARGE),
            said(bl.InvalidError, bl.BindlessImageSampler, max_anisotropy=LARGE),
            said(bl.InvalidError, bl.ImageDescriptor, LARGE),
            said(bl.InvalidError, bl.Image, np.ones((4, 4), "f4"), queue=LARGE),
            said(bl.InvalidError, bl.Device, LARGE),
            said(bl.InvalidError, bl.usm_empty, LARGE, "f4", queue),
            said(bl.InvalidError, bl.LocalAccessor, LARGE),
            said(bl.InvalidError, bl.free, LARGE, queue),
            said(bl.InvalidError, image.resize, LARGE),
            said(bl.InvalidError, image.sample, np.zeros((1, 2)), layers=LARGE),
            said(bl.InvalidError, image.fetch, np.zeros((1, 2), int), level=LARGE),
            said(bl.InvalidError, queue.fill, array, LARGE),
            said(bl.InvalidError, queue.parallel_for, 1, LARGE),
            said(bl.InvalidError, queue.submit, LARGE),
            said(bl.InvalidError, queue.get_info, LARGE),
        ]
    for message in messages:
        assert "(900,)" in message and "float64" in message and "\n" not in message and len(message) < 400


def test_arrays_of_integers_are_sizes(queue: bl.Queue) -> None:
    pixels = np.arange(16, dtype=np.float32).reshape(4, 4)
    with bl.Image(pixels, queue=queue) as image:
        assert np.array_equal(image.resize(np.array([2, 3])), image.resize((2, 3)))
        assert image.warp(np.eye(3), np.array([3, 2])).shape == (3, 2)
        for wrong in (np.array([2.0, 3.0]), np.array([2]), np.array([2, 3, 4]), np.array(2), np.array([2, 0])):
            message = said(bl.InvalidError, image.resize, wrong)
            assert "(height, width)" in message and "depth" not in message
    assert bl.NdRange(np.array([4, 6]), np.array([2, 3])).group_range == bl.Range(2, 2)


@pytest.mark.parametrize(
    ("dtype", "near"), [("f8", "float32"), ("i8", "int32"), ("u8", "uint32"), ("?", "uint8"), ("c8", None)]
)
def test_conversions_that_are_proposed_can_be_typed(queue: bl.Queue, dtype: str, near: str | None) -> None:
    message = said(bl.InvalidError, bl.ImageDescriptor.from_array, np.zeros((4, 4), dtype))
    assert "..." not in message
    if near is None:
        assert "numpy.stack" in message
    else:
        assert f"astype('{near}')" in message
        bl.Image(np.zeros((4, 4), dtype).astype(near), filtering="nearest", queue=queue).close()
    message = said(bl.InvalidError, bl.usm_empty(4, "i2", queue).copy_from, np.zeros(4, "f4"))
    assert "astype('int16')" in message


def test_panoramas_that_make_no_cubemap_are_told_why(queue: bl.Queue) -> None:
    panorama = np.ones((4, 8, 3), np.float32)
    for options in ({"layers": True}, {"cubemap": True}, {"dimensions": 2}):
        (name,) = options
        message = said(bl.InvalidError, bl.Image.from_equirectangular, panorama, queue=queue, **options)
        assert name in message and "one of the three" not in message
    message = said(bl.InvalidError, bl.Image.from_equirectangular, panorama.astype("i4"), queue=queue)
    assert "int32" in message and "astype" in message and "mipmap" not in message
    message = said(bl.InvalidError, bl.Image.from_equirectangular, panorama, queue=queue, max_anisotropy=4)
    assert "cubemap" in message and "mipmaps=True" not in message


def test_masks_are_not_dropped_without_a_word(queue: bl.Queue) -> None:
    masked = np.ma.masked_array(np.arange(16, dtype=np.float32).reshape(4, 4), np.eye(4, dtype=bool))
    target = bl.usm_empty((4, 4), "f4", queue)
    desc = bl.ImageDescriptor(4, 4, num_channels=1)
    memory = bl.ImageMem(desc, queue)
    uses = [
        lambda array: bl.Image(array, queue=queue).close(),
        lambda array: bl.Image.from_equirectangular(array, queue=queue).close(),
        lambda array: bl.Buffer(array).close(),
        lambda array: bl.UnsampledImage(array).close(),
        lambda array: bl.SampledImage(array, bl.BindlessImageSampler("clamp_to_edge")).close(),
        lambda array: target.copy_from(array),
        lambda array: queue.memcpy(target, array).wait(),
        lambda array: queue.copy(array, target).wait(),
        lambda array: queue.ext_oneapi_copy(array, memory).wait(),
    ]
    for use in uses:
        with pytest.warns(UserWarning, match="mask") as told:
            use(masked)
        assert [item.filename for item in told] == [__file__]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            use(np.ma.masked_array(masked.data))  # nothing is masked
            use(masked.filled(0))


def test_names_of_valid_values_are_those_of_the_documentation() -> None:
    message = said(bl.InvalidError, bl.BindlessImageSampler, "wrap")
    assert "'clamp_to_border'" in message and "ext_oneapi" not in message
    for name in ("clamp_to_border", "ext_oneapi_clamp_to_border", "clamp"):
        assert bl.BindlessImageSampler(name).addressing[0] is bl.AddressingMode.clamp_to_border
    for enum in (bl.AddressingMode, bl.Backend, bl.ImageType, bl.FilteringMode, bl.ImageChannelType):
        for member in enum:
            assert enum(str(member)) is member


def test_the_specifications_name_of_level_zero(device: bl.Device) -> None:
    name = "ext_oneapi_level_zero"
    assert bl.Backend.ext_oneapi_level_zero is bl.Backend.level_zero is bl.Backend(name)
    assert "ext_oneapi" not in said(bl.InvalidError, bl.get_native, device, "vulkan")
    if device.backend is bl.Backend.level_zero:
        assert bl.get_native(device, name) == bl.get_native(device, bl.Backend.level_zero)
        assert bl.Device(f"{name}:*:0") == bl.Device("level_zero:*:0")
    else:
        with pytest.raises(bl.BackendMismatchError) as refused:
            bl.get_native(device, name)
        assert refused.value.code is bl.Errc.backend_mismatch
