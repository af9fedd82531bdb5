"""``precision="hardware"``: values of the texture unit.

XLA does not say when an array changes, so that no image is kept between calls. On processors the reference driver
samples the array where it is. On CUDA each call copies it into an array for textures, of which the memory is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import jax.numpy as jnp

from ..backends.reference.image_structs import ADDRESSING
from ..drivers import cuda, reference
from ..image.coordinates import normalized_units
from ..kernels.arguments import layout_of
from ..kernels.choose import image_kernel
from ..kernels.launch_range import GROUP, groups_of
from ..kernels.load import variant_of
from ..kernels.words import format_word
from ..model.channels import CHANNELS
from ..model.enums import Boundary, ImageChannelType, Interpolation, LevelFilter
from ..sampling.memory import Lookup
from ..sampling.memory.programs import Program, command, texture_command

__all__ = ["HOST_FUNCTION", "arranged", "cuda_program", "host_program", "serves"]

HOST_FUNCTION = "blrSampleMemory"
"""The function of the reference driver that samples images in the memory of the process."""

_MOST_CHANNELS = 4
_MOST_TEXELS = {1: (131072,), 2: (131072, 65536), 3: (16384, 16384, 16384)}
"""Along x, y, z, on all GPUs since compute capability 6.0."""

_CHANNELS = {"f": CHANNELS[ImageChannelType.fp32], "e": CHANNELS[ImageChannelType.fp16]}
_REPEATING = (Boundary.repeat, Boundary.mirrored_repeat)


def serves(lookup: Lookup, image: Any) -> bool:
    """Whether texture units sample images (N, *axes, C) so; else ``precision="hardware"`` computes as "exact"."""
    sizes = image.shape[-2:0:-1]
    return (
        not lookup.cube
        and lookup.filter.levels is LevelFilter.none
        and lookup.filter.is_plain
        and image.dtype in (jnp.float32, jnp.float16)
        and image.shape[-1] <= _MOST_CHANNELS
        and all(size <= most for size, most in zip(sizes, _MOST_TEXELS[lookup.dims], strict=True))
    )


def arranged(lookup: Lookup, image: Any, coords: Any, platform: str) -> tuple[Any, Any]:
    """Images with a number of channels that the platform has; coordinates in pixels, or as its sampler takes them."""
    scale = lookup.map.scale[: lookup.dims]
    coords = coords * jnp.asarray(scale, coords.dtype) if set(scale) != {1.0} else coords
    if platform == "cuda":
        scale, bias = _units(lookup, image.shape)
        coords = coords / jnp.asarray(scale) + jnp.asarray(bias) if _is_normalized(lookup) else coords
        if image.shape[-1] == 3:
            image = jnp.pad(image, [(0, 0)] * (image.ndim - 1) + [(0, 1)])
    return image, coords


def _is_normalized(lookup: Lookup) -> bool:
    """Whether the sampler takes coordinates of 0..1: others do not repeat."""
    return any(mode in _REPEATING for mode in lookup.filter.boundary)


def _units(lookup: Lookup, shape: Sequence[int]) -> tuple[Any, Any]:
    if _is_normalized(lookup):
        return normalized_units(shape[-2:0:-1])
    return (1.0,) * lookup.dims, (0.0,) * lookup.dims


def host_program(lookup: Lookup, image: Any, coords: Any, values: Any) -> Program:
    """The program on processors, with the buffers image, coordinates, values: objects with a shape and a dtype."""
    ffi, lib = reference.ffi, reference.lib
    call = ffi.new("blr_memory_samples_t *")
    call.desc.width, call.desc.height, call.desc.depth = (*image.shape[-2:0:-1], 0, 0)[:3]
    call.desc.num_channels, call.desc.num_levels, call.desc.array_size = image.shape[-1], 1, 1
    call.desc.channel_type = _CHANNELS[image.dtype.char].index
    linear = lookup.filter.interpolation is Interpolation.linear
    call.sampler.filtering = lib.BLR_FILTERING_LINEAR if linear else lib.BLR_FILTERING_NEAREST
    call.sampler.normalized_coordinates = _is_normalized(lookup)
    scale, bias = _units(lookup, image.shape)
    for axis, mode in enumerate(lookup.filter.addressing[: lookup.dims]):
        call.sampler.addressing[axis] = ADDRESSING[mode]
        call.scale[axis], call.bias[axis] = scale[axis], bias[axis]
    call.images, call.samples = coords.shape[:2]
    places = [(int(ffi.offsetof("blr_memory_samples_t", name)), buffer, 0) for buffer, name in enumerate(_FIELDS)]
    return Program(command(0, (0,) * 6, bytes(ffi.buffer(call)), places), (HOST_FUNCTION,), 0)


_FIELDS = ("pixels", "coordinates", "values")


def cuda_program(lookup: Lookup, image: Any, coords: Any, values: Any) -> Program:
    """The program on CUDA: for each image a copy into the texture, and a launch of the built-in kernel."""
    sizes, (count, samples) = image.shape[-2:0:-1], coords.shape[:2]
    of_image, of_coords, of_values = (prod(each.shape[1:]) * each.dtype.itemsize for each in (image, coords, values))
    name = image_kernel("sample", f"{lookup.dims}d", "f")
    description = _texture_words(lookup, image)
    word = _format_word(image, values, of_coords)
    parameters, layout, widths = layout_of(name)
    numbers = {"count": samples, "format": word, "row": sizes[0] if lookup.dims > 1 else 0}
    contents = layout.pack(*[numbers.get(parameter, 0) for parameter in parameters])
    at = {parameter: sum(widths[:place]) for place, parameter in enumerate(parameters)}
    groups = groups_of(samples)
    words: list[int] = []
    for number in range(count):
        words += texture_command(0, number * of_image, description)
        patches = [(at["image"], len(_FIELDS), 0), (at["coords"], 1, number * of_coords)]
        patches.append((at["values"], 2, number * of_values))
        words += command(0, (groups, 1, 1, GROUP, 1, 1), contents, patches)
    return Program(words, (variant_of(name, format=word),), 0)


def _texture_words(lookup: Lookup, image: Any) -> list[int]:
    """The words of a texture in csrc/programs/program.h."""
    from ..backends.cuda.image_handle import ADDRESS_MODES

    lib = cuda.lib
    sizes = (*image.shape[-2:0:-1], 0, 0)[:3]
    form = lib.CU_AD_FORMAT_FLOAT if image.dtype.char == "f" else lib.CU_AD_FORMAT_HALF
    modes = [ADDRESS_MODES[mode] for mode in lookup.filter.addressing[: lookup.dims]]
    modes += [lib.CU_TR_ADDRESS_MODE_CLAMP] * (3 - len(modes))  # a texture of one dimension is a row: no border in y
    is_linear = lookup.filter.interpolation is Interpolation.linear
    return [*sizes, form, image.shape[-1], *modes, int(is_linear), int(_is_normalized(lookup))]


def _format_word(image: Any, values: Any, of_coords: int) -> int:
    """The argument ``format`` of built-in kernels. XLA aligns buffers; images after the first may not be aligned."""
    channel, channels = _CHANNELS[image.dtype.char], int(values.shape[-1])
    aligned = image.shape[0] == 1 or of_coords % 8 == 0
    return format_word(values.dtype, channels, channel, image.shape[-1], aligned=aligned)
