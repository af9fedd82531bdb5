"""Warps of two-dimensional images: the device computes the coordinates from a map."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.enums import ImageType, Precision
from ..model.errors import FeatureNotSupportedError
from ..model.filter import CoordinateMap, Filter
from ..model.image_call import PictureMap
from ..model.image_descriptor import ImageDescriptor
from ..model.resampling import Resampling
from .call_arguments import ArrayLike, Form, enqueue, find_image
from .resample import resample

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
_FLOAT32 = np.dtype(np.float32)
_ANY = ImageDescriptor(1, 1, num_channels=1)  # ``resample`` sets the image's own
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
    FeatureNotSupportedError
        Gradients with another precision than the texture unit's, on other devices than the reference.
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
    precision = Precision.hardware if image.record is None else image.record.precision
    if precision is Precision.hardware:
        return enqueue(queue, form, image, {}, out, fields, depends_on)
    if queue._backend.traits.computes_precisions:
        return enqueue(queue, form, image, {}, out, fields | {"precision": precision}, depends_on)
    if gradients:
        raise FeatureNotSupportedError(
            f"{form.name}: precision={precision}: gradients are followed by texture units and the reference device "
            "alone; use precision='hardware'"
        )
    assert image.record is not None and image.record.sampler is not None
    filter_ = Filter.from_sampler(image.record.sampler, fill=image.record.fill, precision=precision)
    return resample(queue, handle, _resampling(picture, filter_, layer), out, depends_on=depends_on)


def _resampling(picture: PictureMap, filter_: Filter, layer: int) -> Resampling:
    """The same picture in the terms of other precisions."""
    a = picture.matrix
    return Resampling(
        handle=0,
        descriptor=_ANY,
        shape=(picture.width, picture.height, 1),
        values=0,
        value_dtype=_FLOAT32,
        value_channels=1,
        filter=filter_,
        map=CoordinateMap.pictures((*a[:2], 0.0, a[2], *a[3:5], 0.0, a[5], 0.0, 0.0, 0.0, 0.0, *a[6:8], 0.0, a[8])),
        layer=layer,
        scale=(*picture.scale, 1.0),
        bias=(*picture.bias, 0.0),
    )
