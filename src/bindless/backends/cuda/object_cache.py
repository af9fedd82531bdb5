"""What rests: freed arrays, and the textures and surfaces of destroyed images, kept for the next of their kind.

The driver makes arrays in blocks for each pixel size: the first of a block and the last cost 25 to 35 microseconds
each, others 1, and one at rest nothing. It clears no memory either where a process frees and makes arrays. A texture or
a surface costs two calls of a microsecond each; those over an array that rests, rest with it.
"""

from __future__ import annotations

from typing import Any

from ...drivers import cuda as driver
from .device import PrimaryContext
from .errors import release

__all__ = ["array_to_rest", "end_rest", "end_views", "view_to_rest", "wake_array", "wake_view"]

lib = driver.lib

_destroy_array, _destroy_view = lib.bindless_array_destroy, lib.bindless_image_destroy

# Arrays at rest: kinds in a context. How many of a kind, the storage says.
_KINDS = 16

# Textures and surfaces at rest: memories in a context that have some, and how many each has.
_MEMORIES, _VIEWS = 64, 4


def array_to_rest(primary: PrimaryContext, kind: str, most: int, handle: int) -> bool:
    """Keeps a freed array for the next one of its kind, if fewer than ``most`` are there; else it is the caller's."""
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
    try:  # another thread has ended the rest just now
        rest.remove(handle)
    except ValueError:
        return True
    return False


def wake_array(primary: PrimaryContext, kind: str) -> int:
    """An array at rest of this kind, or 0."""
    rest = primary.rest.get(kind)
    try:
        return rest.pop() if rest else 0
    except IndexError:  # another thread took it
        return 0


def view_to_rest(primary: PrimaryContext, memory: int, texture: Any, number: int) -> bool:
    """Keeps a texture or a surface that nothing uses, one of each kind; else it is the caller's.

    Args:
        memory: raw handle of the array, mipmap or level that it was made of, which lives.
        texture: CUDA_TEXTURE_DESC that it was made with, an object that its sampler has for good; None of a surface.
        number: it.
    """
    views = primary.views.get(memory)
    if views is None:
        if len(primary.views) >= _MEMORIES:
            for other in list(primary.views):
                end_views(primary, other)
        views = primary.views.setdefault(memory, {})
    if len(views) >= _VIEWS or views.setdefault(texture, number) != number:
        return False
    # If another thread has ended them just now, it is the one's that takes it out.
    return primary.views.get(memory) is views or views.pop(texture, None) is None


def wake_view(primary: PrimaryContext, memory: int, texture: Any) -> int:
    """The texture or surface at rest that was made so, or 0."""
    views = primary.views.get(memory)
    return views.pop(texture, 0) if views else 0


def end_views(primary: PrimaryContext, memory: int) -> None:
    """Destroys the textures and surfaces at rest of a memory: before it ends, if that is soon."""
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
    """Destroys everything at rest."""
    for memory in list(primary.views):
        end_views(primary, memory)
    kinds, primary.rest = primary.rest, {}
    for rest in kinds.values():
        while rest:
            try:
                release(_destroy_array(primary.handle, rest.pop(), False), "cuArrayDestroy")
            except IndexError:  # another thread took it
                break
