"""Descriptors and arrays that describe no valid image, and the error code of each function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl

MALFORMED = [
    bl.ImageDescriptor(),
    bl.ImageDescriptor(0, 4),
    bl.ImageDescriptor(4, 0, 4),
    bl.ImageDescriptor(4, 4, num_channels=0),
    bl.ImageDescriptor(4, 4, num_channels=5),
    bl.ImageDescriptor(4, 4, num_levels=2),
    bl.ImageDescriptor(4, 4, array_size=2),
    bl.ImageDescriptor(4, 4, type="mipmap"),
    bl.ImageDescriptor(4, 4, type="mipmap", num_levels=4),
    bl.ImageDescriptor(4, 4, type="array"),
    bl.ImageDescriptor(4, 4, 4, type="array", array_size=2),
    bl.ImageDescriptor(4, 4, type="cubemap", array_size=5),
    bl.ImageDescriptor(4, 2, type="cubemap", array_size=6),
]
DESC = bl.ImageDescriptor(4, 4)
SAMPLER = bl.BindlessImageSampler("clamp_to_edge", "normalized", max_mipmap_level_clamp=1)


@pytest.mark.parametrize("desc", MALFORMED, ids=str)
def test_verify_says_invalid_and_each_function_its_own_code(queue: bl.Queue, desc: bl.ImageDescriptor) -> None:
    memory, where = bl.ImageMem(DESC, queue), (queue.device, queue.context)
    shared = bl.malloc_device(4096, queue)
    cases: list[tuple[type[bl.Error], bl.Errc, Callable[[], Any]]] = [
        (bl.InvalidError, bl.Errc.invalid, desc.verify),
        (bl.MemoryAllocationError, bl.Errc.memory_allocation, lambda: bl.alloc_image_mem(desc, queue)),
        (bl.MemoryAllocationError, bl.Errc.memory_allocation, lambda: bl.alloc_image_mem(desc, *where)),
        (bl.MemoryAllocationError, bl.Errc.memory_allocation, lambda: bl.ImageMem(desc, queue)),
        (bl.MemoryAllocationError, bl.Errc.memory_allocation, lambda: bl.pitched_alloc_device(desc, queue)),
        (bl.SyclRuntimeError, bl.Errc.runtime, lambda: bl.create_image(memory, desc, queue)),
        (bl.SyclRuntimeError, bl.Errc.runtime, lambda: bl.create_image(memory.get_handle(), desc, *where)),
        (bl.SyclRuntimeError, bl.Errc.runtime, lambda: bl.create_image(memory, desc, queue, sampler=SAMPLER)),
        (bl.SyclRuntimeError, bl.Errc.runtime, lambda: bl.create_image(shared, desc, queue, sampler=SAMPLER, pitch=64)),
        (
            bl.InvalidError,
            bl.Errc.invalid,
            lambda: queue.ext_oneapi_copy(np.zeros(4096, "u1"), shared, src_desc=desc, dst_pitch=64),
        ),
    ]
    for error, code, call in cases:
        with pytest.raises(error) as refused:
            call()
        assert refused.value.code is code


@pytest.mark.parametrize(
    "desc",
    [
        bl.ImageDescriptor(8, 8, type="mipmap", num_levels=2),
        bl.ImageDescriptor(8, 8, type="array", array_size=2),
        bl.ImageDescriptor(8, 8, type="cubemap", array_size=6),
        bl.ImageDescriptor(8, 8, 8),
    ],
    ids=str,
)
@pytest.mark.parametrize("has_aspects", [True, False])
def test_images_that_usm_does_not_back_are_runtime_errors_whatever_the_device_has(
    queue: bl.Queue, monkeypatch: pytest.MonkeyPatch, desc: bl.ImageDescriptor, has_aspects: bool
) -> None:
    if not has_aspects:
        missing = {bl.Aspect.ext_oneapi_mipmap, bl.Aspect.ext_oneapi_image_array, bl.Aspect.ext_oneapi_cubemap}
        monkeypatch.setattr(queue.device, "_aspects", queue.device.aspects - missing)
    memory = bl.malloc_device(1 << 16, queue)
    for sampler in (None, SAMPLER):
        with pytest.raises(bl.SyclRuntimeError) as refused:
            bl.create_image(memory, desc, queue, sampler=sampler, pitch=512)
        assert refused.value.code is bl.Errc.runtime
    with pytest.raises(bl.MemoryAllocationError) as failed:
        bl.pitched_alloc_device(desc, queue)
    assert failed.value.code is bl.Errc.memory_allocation


def test_pitched_memory_where_there_are_no_images_in_usm(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue.device, "_aspects", queue.device.aspects - {bl.Aspect.ext_oneapi_bindless_images_2d_usm})
    for arguments in ((DESC,), (64, 4, 16)):
        with pytest.raises(bl.MemoryAllocationError) as failed:
            bl.pitched_alloc_device(*arguments, queue)
        assert failed.value.code is bl.Errc.memory_allocation


@pytest.mark.parametrize(
    "shape", [(0,), (0, 4, 4), (4, 0, 4), (4, 4, 0), (0, 3, 4, 4), (3, 0, 4, 4), (0, 0), (4, 4, 4, 0)]
)
@pytest.mark.parametrize("dimensions", [None, 1, 2, 3])
def test_arrays_without_pixels_are_no_images(queue: bl.Queue, shape: tuple[int, ...], dimensions: int | None) -> None:
    array = np.zeros(shape, np.float32)
    for make in (
        lambda: bl.UnsampledImage(array, dimensions=dimensions),
        lambda: bl.SampledImage(array, bl.BindlessImageSampler("clamp_to_edge"), dimensions=dimensions),
        lambda: bl.ImageDescriptor.from_array(array, dimensions=dimensions),
        lambda: bl.ImageDescriptor.from_array(array, dimensions=dimensions, type="array"),
        lambda: bl.ImageDescriptor.from_array(array, dimensions=dimensions, type="cubemap"),
        lambda: bl.Image(array, dimensions=dimensions, queue=queue),
        lambda: bl.Image(array, dimensions=dimensions, layers=True, queue=queue),
    ):
        with pytest.raises(bl.InvalidError) as refused:
            make()
        assert refused.value.code is bl.Errc.invalid
