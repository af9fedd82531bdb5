"""Helpers of the sharing tests: scoped imports, random pixels and the number of open descriptors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

import bindless as bl
from bindless.interop.vulkan import ExportedImage, ExportedMemory, ExportedSemaphore
from tests.support.pixels import random_pixels
from tests.support.shared_files import descriptors

Array = npt.NDArray[Any]


@contextmanager
def imported(memory: ExportedMemory, queue: bl.Queue) -> Iterator[bl.ExternalMem]:
    """Import the memory of a Vulkan object for the duration of the block."""
    made = bl.import_external_memory(memory.export(), queue)
    try:
        yield made
    finally:
        bl.release_external_memory(made, queue)


@contextmanager
def mapped_image(image: ExportedImage, queue: bl.Queue) -> Iterator[bl.ImageMemHandle]:
    """Map a Vulkan image as image memory for the duration of the block."""
    with imported(image, queue) as memory:
        handle = bl.map_external_image_memory(memory, image.desc, queue)
        try:
            yield handle
        finally:
            bl.unmap_external_image_memory(handle, image.desc.type, queue)


@contextmanager
def mapped_bytes(memory: ExportedMemory, queue: bl.Queue, size: int, offset: int = 0) -> Iterator[bl.UsmPointer]:
    """Map a range of a Vulkan object's memory for the duration of the block."""
    with imported(memory, queue) as made:
        pointer = bl.map_external_linear_memory(made, queue, size=size, offset=offset)
        try:
            yield pointer
        finally:
            bl.unmap_external_linear_memory(pointer, queue)


@contextmanager
def imported_semaphore(semaphore: ExportedSemaphore, queue: bl.Queue) -> Iterator[bl.ExternalSemaphore]:
    made = bl.import_external_semaphore(semaphore.export(), queue)
    try:
        yield made
    finally:
        bl.release_external_semaphore(made, queue)


def levels_of(desc: bl.ImageDescriptor) -> list[bl.ImageDescriptor]:
    """Descriptors of all levels as standard images."""
    if desc.num_levels == 1:
        return [desc]
    return [desc.get_mip_level_desc(level) for level in range(desc.num_levels)]


def pixels_for(desc: bl.ImageDescriptor, seed: int) -> list[Array]:
    """Random pixels for every level."""
    return [random_pixels(level, seed * 100 + index) for index, level in enumerate(levels_of(desc))]


def level_handle(handle: bl.ImageMemHandle, desc: bl.ImageDescriptor, level: int, queue: bl.Queue) -> bl.ImageMemHandle:
    return handle if desc.num_levels == 1 else bl.get_mip_level_mem_handle(handle, level, queue)


def read_by_copies(handle: bl.ImageMemHandle, desc: bl.ImageDescriptor, queue: bl.Queue) -> list[Array]:
    """Copy every level to the host."""
    found = []
    for index, level in enumerate(levels_of(desc)):
        target = np.empty(level.shape, level.dtype)
        queue.ext_oneapi_copy(level_handle(handle, desc, index, queue), target, src_desc=level).wait_and_throw()
        found.append(target)
    return found


def write_by_copies(handle: bl.ImageMemHandle, desc: bl.ImageDescriptor, levels: list[Array], queue: bl.Queue) -> None:
    for index, (level, pixels) in enumerate(zip(levels_of(desc), levels)):
        target = level_handle(handle, desc, index, queue)
        queue.ext_oneapi_copy(pixels, target, dst_desc=level).wait_and_throw()


def same(found: list[Array], wanted: list[Array]) -> None:
    assert len(found) == len(wanted)
    for level, (one, other) in enumerate(zip(found, wanted)):
        np.testing.assert_array_equal(one, other, err_msg=f"level {level}")


open_descriptors = descriptors
