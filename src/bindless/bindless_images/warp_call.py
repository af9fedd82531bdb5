"""Warps of two-dimensional images: the device computes the coordinates from a map."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..model.enums import ImageType
from ..model.image_call import PictureMap
from .call_arguments import ArrayLike, Form, enqueue, find_image

if TYPE_CHECKING:
    from ..model.image_handles import SampledImageHandle
    from ..submission.event import Event
    from ..sycl.queue.queue import Queue

__all__ = ["sample_picture"]

_FORMS = {
    ImageType.standard: Form("picture", "sample", ImageType.standard, sampled=True, unsampled=False),
    ImageType.array: Form("picture of a layer", "sample", ImageType.array, sampled=True, unsampled=False),
    ImageType.mipmap: Form("picture of a level", "sample_lod", ImageType.mipmap, sampled=True, unsampled=False),
}
_GRADIENT_FORM = Form("picture by gradients", "sample_grad", ImageType.mipmap, sampled=True, unsampled=False)


def sample_picture(
    queue: Queue,
    handle: SampledImageHandle,
    picture: PictureMap,
    out: ArrayLike,
    *,
    layer: int = 0,
    gradients: bool = False,
    depends_on: Iterable[Event] = (),
) -> Event | None:
    """The samples of a picture, as they would be with its coordinates in an array, to the last bit.

    Parameters
    ----------
    handle : SampledImageHandle
        Of a two-dimensional standard image, mipmap or array, made by ``create_image``.
    picture : PictureMap
        Its map; the matrix gives pixels, scale and bias make them the handle's own coordinates.
    out : ArrayLike
        (height, width, channels), contiguous, of the image's storage dtype or what it is sampled as. Normalized
        values are stored as codes in the former. On the host (waits, returns None) or in USM (returns the event).
    layer : int, default 0
        Of an array.
    gradients : bool, default False
        Whether the level of a mipmap follows from the map; else it is 0.
    depends_on : Iterable[Event], default ()
        Events to wait for first.

    Raises
    ------
    InvalidError
        The handle is no such image of the queue's context.
    """
    desc = handle._descriptor
    assert desc is not None
    form = _GRADIENT_FORM if gradients else _FORMS[desc.type]
    image = find_image(queue, form, handle, out, None, None)
    fields: dict[str, Any] = {
        "count": picture.width * picture.height,
        "coords": 0,
        "value_dtype": out.dtype,
        "value_channels": out.shape[-1],
        "layer": layer,
        "map": picture,
    }
    return enqueue(queue, form, image, {}, out, fields, depends_on)
