"""Queries of supported image memory and handle types agree with what the device then accepts."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from tests.support.pixels import CHANNEL_TYPES

SAMPLER = bl.BindlessImageSampler("clamp_to_edge", "normalized", max_mipmap_level_clamp=float("inf"))
SHAPES = [
    {"width": 37},
    {"width": 16, "height": 9},
    {"width": 8, "height": 8, "depth": 4},
    {"width": 16, "height": 16, "type": "mipmap", "num_levels": 3},
    {"width": 16, "height": 9, "type": "array", "array_size": 3},
    {"width": 16, "height": 16, "type": "cubemap", "array_size": 6},
    {"width": 2**31},
    {"width": 2**20, "height": 2**20},
    {"width": 2**17, "height": 2},
]


def makes(queue: bl.Queue, desc: bl.ImageDescriptor, kind: type, memory: str) -> bool:
    """Whether `create_image` returns the handle."""
    sampler = SAMPLER if kind is bl.SampledImageHandle else None
    try:
        if memory == "opaque_handle":
            with bl.ImageMem(desc, queue) as allocated:
                handle = bl.create_image(allocated, desc, queue, sampler=sampler)
                bl.destroy_image_handle(handle, queue)
        else:
            rows = desc.height or 1
            pointer, pitch = bl.pitched_alloc_device(desc.row_size, rows, desc.pixel_size, queue)
            try:
                handle = bl.create_image(pointer, desc, queue, sampler=sampler, pitch=pitch)
                bl.destroy_image_handle(handle, queue)
            finally:
                bl.free(pointer)
    except (bl.FeatureNotSupportedError, bl.MemoryAllocationError, bl.SyclRuntimeError):
        return False
    return True


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("memory", ["opaque_handle", "usm_pointer"])
@pytest.mark.parametrize("kind", [bl.SampledImageHandle, bl.UnsampledImageHandle])
def test_the_answer_is_what_create_image_does(queue: bl.Queue, kind: type, memory: str, shape: dict[str, int]) -> None:
    for channels in (1, 3, 4):
        desc = bl.ImageDescriptor(**shape, num_channels=channels, channel_type="unorm_int8")
        where = queue if channels < 4 else (queue.device, queue.context)
        said = bl.is_image_handle_supported(kind, desc, memory, *(where if isinstance(where, tuple) else (where,)))
        if said and desc.nbytes > 1 << 24:
            continue  # too large to allocate
        assert said == makes(queue, desc, kind, memory), (desc, said)


@pytest.mark.parametrize("channel_type", CHANNEL_TYPES)
def test_every_format(queue: bl.Queue, channel_type: str) -> None:
    for channels in (1, 2, 3, 4):
        desc = bl.ImageDescriptor(8, 8, num_channels=channels, channel_type=channel_type)
        found = bl.get_image_memory_support(desc, queue)
        assert found == bl.get_image_memory_support(desc, queue.device, queue.context)
        assert all(isinstance(kind, bl.ImageMemoryHandleType) for kind in found)
        assert ("opaque_handle" in found) == makes(queue, desc, bl.SampledImageHandle, "opaque_handle")
        assert ("usm_pointer" in found) == makes(queue, desc, bl.SampledImageHandle, "usm_pointer")


def test_what_no_memory_backs(queue: bl.Queue) -> None:
    assert bl.get_image_memory_support(bl.ImageDescriptor(2**31, 2**31), queue) == []
    volume = bl.get_image_memory_support(bl.ImageDescriptor(8, 8, 8), queue)
    assert volume == [bl.ImageMemoryHandleType.opaque_handle]


def test_a_device_without_the_aspect(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    desc = bl.ImageDescriptor(8, 8, type="mipmap", num_levels=2)
    less = queue.device.aspects - {
        bl.Aspect.ext_oneapi_mipmap,
        bl.Aspect.ext_oneapi_bindless_images_2d_usm,
    }
    monkeypatch.setattr(queue.device, "_aspects", less)
    assert bl.get_image_memory_support(desc, queue) == []
    assert bl.get_image_memory_support(bl.ImageDescriptor(8, 8), queue) == ["opaque_handle"]


def test_wrong_arguments(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(8, 8)
    for call in (
        lambda: bl.get_image_memory_support(bl.ImageDescriptor(), queue),
        lambda: bl.get_image_memory_support("desc", queue),  # type: ignore[arg-type]
        lambda: bl.get_image_memory_support(desc),
        lambda: bl.is_image_handle_supported(bl.ImageMem, desc, "usm_pointer", queue),  # type: ignore[arg-type]
        lambda: bl.is_image_handle_supported(bl.SampledImageHandle, desc, "usm", queue),
        lambda: bl.is_image_handle_supported(bl.SampledImageHandle, desc, "usm_pointer", np.zeros(3)),
    ):
        with pytest.raises(bl.InvalidError):
            call()
