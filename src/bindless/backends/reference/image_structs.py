"""The driver's structs of image descriptors and samplers, cached in the model's objects."""

from __future__ import annotations

from ...drivers.common.cffi_types import FFI, CData
from ...model.channels import CHANNELS
from ...model.enums import AddressingMode, CubemapFilteringMode, FilteringMode, ImageType
from ...model.image_descriptor import ImageDescriptor
from ...model.sampler import BindlessImageSampler

__all__ = ["ADDRESSING", "IMAGE_TYPES", "image_struct", "sampler_struct"]

# The driver's numbers of the model's names, in the order of the header.
IMAGE_TYPES = {kind: index for index, kind in enumerate(ImageType)}
ADDRESSING = {
    AddressingMode.repeat: 0,
    AddressingMode.clamp_to_edge: 1,
    AddressingMode.mirrored_repeat: 2,
    AddressingMode.ext_oneapi_clamp_to_border: 3,
    AddressingMode.none: 4,
    **{mode: number for number, mode in enumerate((mode for mode in AddressingMode if mode.is_computed), 5)},
}
_FILTERING = {FilteringMode.nearest: 0, FilteringMode.linear: 1}
_CUBEMAP_FILTERING = {CubemapFilteringMode.disjointed: 0, CubemapFilteringMode.seamless: 1}


def image_struct(ffi: FFI, desc: ImageDescriptor) -> CData:
    """The ``blr_image_desc_t`` of a descriptor."""
    native = desc.prepared.get("blr")
    if native is None:
        sizes = desc.width, desc.height, desc.depth, desc.num_channels
        kind = CHANNELS[desc.channel_type].index, IMAGE_TYPES[desc.type], desc.num_levels, desc.array_size
        native = desc.prepared["blr"] = ffi.new("blr_image_desc_t *", (*sizes, *kind))
    return native


def sampler_struct(ffi: FFI, sampler: BindlessImageSampler) -> CData:
    """The ``blr_sampler_desc_t`` of a sampler."""
    native = sampler.prepared.get("blr")
    if native is None:
        native = sampler.prepared["blr"] = ffi.new(
            "blr_sampler_desc_t *",
            (
                [ADDRESSING[mode] for mode in sampler.addressing],
                int(sampler.is_normalized),
                _FILTERING[sampler.filtering],
                _FILTERING[sampler.mipmap_filtering],
                _CUBEMAP_FILTERING[sampler.cubemap_filtering],
                sampler.min_mipmap_level_clamp,
                sampler.max_mipmap_level_clamp,
                sampler.max_anisotropy,
            ),
        )
    return native
