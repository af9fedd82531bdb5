"""Creation and destruction of images and their memory, compared with the same calls of the driver.

The peers are C code on an NVIDIA GPU (``driver_costs.c``), and on both devices the bindings alone: two calls and one
Python object, the lower bound of every Python function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

import bindless as bl

Compare = Callable[..., Any]
Work = Callable[[], object]
DESC = bl.ImageDescriptor(256, 256, num_channels=4, channel_type="fp32")
SAMPLER = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
CALLS = 200


class Bare:
    """The smallest possible handle object."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


def cuda_floors(memory: bl.ImageMem) -> Mapping[str, Work]:
    """One call of the bindings each way, with all descriptors prepared beforehand."""
    from bindless.drivers import cuda as driver

    lib, ffi = driver.lib, driver.ffi
    current = ffi.new("CUcontext *")
    device = ffi.new("CUdevice *")
    driver.check(lib.cuDeviceGet(device, memory.get_device().index), "cuDeviceGet")
    driver.check(lib.cuDevicePrimaryCtxRetain(current, device[0]), "cuDevicePrimaryCtxRetain")
    context, array = current[0], memory.get_handle().raw_handle
    description = ffi.new("CUDA_ARRAY3D_DESCRIPTOR *", (256, 256, 0, lib.CU_AD_FORMAT_FLOAT, 4, 2))
    texture = ffi.new("CUDA_TEXTURE_DESC *")

    def memory_floor() -> None:
        made = Bare(lib.bindless_array_create(context, description, 0))
        lib.bindless_array_destroy(context, made.number, False)

    def sampled_floor() -> None:
        made = Bare(lib.bindless_texture_create_of_array(context, array, False, texture))
        lib.bindless_image_destroy(context, made.number, True)

    def unsampled_floor() -> None:
        made = Bare(lib.bindless_surface_create(context, array))
        lib.bindless_image_destroy(context, made.number, False)

    return {"memory": memory_floor, "sampled": sampled_floor, "unsampled": unsampled_floor}


def reference_floors(memory: bl.ImageMem) -> Mapping[str, Work]:
    """The same on the reference driver."""
    from bindless.drivers import reference as driver

    lib, ffi = driver.lib, driver.ffi
    device, own = ffi.new("blr_device_t *"), ffi.new("blr_context_t *")
    driver.check(lib.blrDeviceGet(0, device), "blrDeviceGet")
    driver.check(lib.blrContextCreate(device[0], own), "blrContextCreate")
    context = own[0]
    desc = ffi.new("blr_image_desc_t *", (256, 256, 0, 4, 11, 0, 1, 1))
    sampler = ffi.new("blr_sampler_desc_t *", ([1, 1, 1], 0, 1, 0, 0, 0.0, 0.0, 0.0))
    image, handle = ffi.new("blr_image_t *"), ffi.new("blr_image_handle_t *")
    backing = ffi.new("blr_image_t *")
    driver.check(lib.blrImageCreate(context, desc, backing), "blrImageCreate")

    def memory_floor() -> None:
        driver.check(lib.blrImageCreate(context, desc, image), "blrImageCreate")
        lib.blrImageDestroy(Bare(image[0]).number)

    def sampled_floor() -> None:
        driver.check(lib.blrSampledImageCreate(context, backing[0], desc, sampler, handle), "blrSampledImageCreate")
        lib.blrImageHandleDestroy(context, Bare(handle[0]).number)

    def unsampled_floor() -> None:
        driver.check(lib.blrUnsampledImageCreate(context, backing[0], desc, handle), "blrUnsampledImageCreate")
        lib.blrImageHandleDestroy(context, Bare(handle[0]).number)

    return {"memory": memory_floor, "sampled": sampled_floor, "unsampled": unsampled_floor}


@pytest.mark.parametrize("kind", ["memory", "sampled", "unsampled"])
def test_create_and_destroy(compare: Compare, queue: Any, request: pytest.FixtureRequest, kind: str) -> None:
    backend = str(queue.device.backend)
    in_c: dict[str, float] = {}
    if backend == "cuda":
        in_c["the driver from C"] = request.getfixturevalue("driver_costs")[_IN_C[kind]]
    with bl.ImageMem(DESC, queue) as memory:
        handle = memory.get_handle()
        ours: dict[str, Work] = {
            "memory": lambda: bl.free_image_mem(bl.alloc_image_mem(DESC, queue), "standard", queue),
            "sampled": lambda: bl.destroy_image_handle(bl.create_image(handle, DESC, queue, sampler=SAMPLER), queue),
            "unsampled": lambda: bl.destroy_image_handle(bl.create_image(handle, DESC, queue), queue),
        }
        floors = cuda_floors(memory) if backend == "cuda" else reference_floors(memory)
        compare(
            ours[kind],
            {"two bare calls and one object": floors[kind]},
            known=in_c,
            name=f"{backend} create and destroy: {kind}",
            calls=CALLS,
            rounds=21,
            target="0.67 of C" if in_c else "",
        )


_IN_C = {"memory": "array", "sampled": "texture", "unsampled": "surface"}
