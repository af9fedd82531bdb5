"""Cache of freed CUarrays and destroyed texture objects, reused by the next allocation of the same format and extent.

The driver creates arrays in blocks for each pixel size: the first and the last of a block cost 25 to 35 microseconds
each, other arrays 1, a cached array nothing. The driver does not clear the memory of reused arrays either. A texture or
a surface costs two calls of a microsecond each; those over a cached array are cached with it.
"""

from __future__ import annotations

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from .device import PrimaryContext
from .errors import release

__all__ = ["array_to_rest", "end_rest", "end_views", "view_to_rest", "wake_array", "wake_view"]

lib = driver.lib

_destroy_array, _destroy_view = lib.bindless_array_destroy, lib.bindless_image_destroy

# Cached arrays: the most kinds per context. The storage defines the most arrays per kind.
_KINDS = 16

# Cached textures and surfaces: the most memories per context that have some, and the most per memory.
_MEMORIES, _VIEWS = 64, 4


def array_to_rest(primary: PrimaryContext, kind: str, most: int, handle: int) -> bool:
    """Cache a freed array if fewer than ``most`` of its kind are cached; otherwise the caller destroys it."""
    rest = primary.rest.get(kind)
    if rest is None:
        if len(primary.rest) >= _KINDS:
            end_rest(primary)
        rest = primary.rest.setdefault(kind, [])
    if len(rest) >= most:
        return False
    rest.append(handle)
    if primary.rest.get(kind) is rest:
        return True
    try:  # Another thread has cleared the cache just now.
        rest.remove(handle)
    except ValueError:
        return True
    return False


def wake_array(primary: PrimaryContext, kind: str) -> int:
    """A cached array of this kind, removed from the cache, or 0."""
    rest = primary.rest.get(kind)
    try:
        return rest.pop() if rest else 0
    except IndexError:  # another thread took it
        return 0


def view_to_rest(primary: PrimaryContext, memory: int, texture: CData | None, number: int) -> bool:
    """Cache an unused texture or surface, one of each kind; otherwise the caller destroys it.

    Parameters
    ----------
    memory
        raw handle of the array, mipmap or level below it, which still exists.
    texture
        CUDA_TEXTURE_DESC of the texture, an object that its sampler keeps alive; None for a surface.
    number
        number of the texture or surface.
    """
    views = primary.views.get(memory)
    if views is None:
        if len(primary.views) >= _MEMORIES:
            for other in list(primary.views):
                end_views(primary, other)
        views = primary.views.setdefault(memory, {})
    if len(views) >= _VIEWS or views.setdefault(texture, number) != number:
        return False
    # If another thread has cleared them just now, the thread that removes the entry destroys it.
    return primary.views.get(memory) is views or views.pop(texture, None) is None


def wake_view(primary: PrimaryContext, memory: int, texture: CData | None) -> int:
    """The cached texture or surface of that memory and descriptor, or 0."""
    views = primary.views.get(memory)
    return views.pop(texture, 0) if views else 0


def end_views(primary: PrimaryContext, memory: int) -> None:
    """Destroy the cached textures and surfaces of a memory before the memory's end."""
    views = primary.views.pop(memory, None)
    while views:
        try:
            texture, number = views.popitem()
        except KeyError:  # another thread took it
            break
        sampled = texture is not None
        call = "cuTexObjectDestroy" if sampled else "cuSurfObjectDestroy"
        release(_destroy_view(primary.handle, number, sampled), call)


def end_rest(primary: PrimaryContext) -> None:
    """Destroy everything in the cache, and the unused pinned buffers."""
    for memory in list(primary.views):
        end_views(primary, memory)
    while primary.mapped:
        try:
            release(lib.bindless_mapped_destroy(primary.handle, primary.mapped.pop()), "cuMemFreeHost")
        except IndexError:  # another thread took it
            break
    kinds, primary.rest = primary.rest, {}
    for rest in kinds.values():
        while rest:
            try:
                release(_destroy_array(primary.handle, rest.pop(), False), "cuArrayDestroy")
            except IndexError:  # another thread took it
                break
