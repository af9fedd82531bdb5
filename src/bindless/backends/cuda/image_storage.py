"""``ImageStorage``: the memory of images."""

from __future__ import annotations

from ...drivers.common.cffi_types import CData
from ...model.enums import ImageType
from ...model.image_descriptor import ImageDescriptor
from .device import PrimaryContext
from .image_format import is_srgb

__all__ = ["ImageStorage", "texture_kind"]


class ImageStorage:
    """The storage of a raw handle, which is the address of a CUDA array, a mipmapped array or one of its levels.

    One object describes all arrays that a context creates for a descriptor; each mipmap and each level has its own.

    Attributes
    ----------
    primary
        primary context of the memory.
    desc
        image descriptor; for a level, the level's.
    description
        CUDA_ARRAY3D_DESCRIPTOR.
    is_mipmap
        whether it has levels with handles of their own.
    writable
        whether it supports surfaces.
    parent
        raw handle of the mipmap of a level, else 0.
    levels
        raw handles of the requested levels of a mipmap, by number.
    texture_kind
        see the function ``texture_kind``.
    kind
        key in the cache of freed arrays; empty for arrays that are not cached.
    most_at_rest
        most freed arrays of the kind in the cache.
    geometry
        geometry name of surface instructions: ``2d``, with layers or faces ``a2d``.
    """

    __slots__ = (
        "desc", "description", "geometry", "is_mipmap", "kind", "levels", "most_at_rest", "parent", "primary",
        "texture_kind", "writable",
    )  # fmt: skip

    def __init__(
        self, primary: PrimaryContext, desc: ImageDescriptor, description: CData, writable: bool, parent: int = 0
    ) -> None:
        self.primary, self.desc, self.description = primary, desc, description
        self.writable, self.parent = writable, parent
        self.is_mipmap = desc.type is ImageType.mipmap
        self.kind, self.most_at_rest = "", 0
        self.levels: dict[int, int] = {}
        self.texture_kind = texture_kind(desc)
        layered = desc.type in (ImageType.array, ImageType.cubemap)
        self.geometry = f"{'a' if layered else ''}{desc.dimensions}d"


def texture_kind(desc: ImageDescriptor) -> str:
    """A key for the properties of an image that the texture descriptor of a sampler depends on; a string, because
    strings are the fastest dictionary keys.
    """
    channel = desc.channel
    return f"cuda {desc.type} {desc.dimensions} {channel.is_integer} {channel.size} {is_srgb(desc.channel_type)}"
