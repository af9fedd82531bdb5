"""``Image.from_memory``: an image of memory that exists already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...bindless_images import ImageMem
from ...model.enums import (
    AddressingMode,
    CoordinateNormalizationMode,
    FilteringMode,
    Interpolation,
    Precision,
)
from ...model.errors import InvalidError
from ...model.image_descriptor import ImageDescriptor
from ...model.message_values import shown
from ...sycl.queue.queue import Queue
from ..device_image import ImageStore
from ..options import Addressing, image_options
from ..plan import plan_of_memory

if TYPE_CHECKING:
    from ..image import Image

__all__ = ["from_memory"]


def from_memory(
    cls: type[Image],
    /,
    memory: ImageMem,
    desc: ImageDescriptor | None = None,
    queue: Queue | None = None,
    *,
    addressing: Addressing = AddressingMode.clamp_to_edge,
    filtering: FilteringMode | Interpolation | str = FilteringMode.linear,
    precision: Precision | str = Precision.hardware,
    fill: float = 0.0,
    nan: str = "propagate",
    coordinate: CoordinateNormalizationMode | str = CoordinateNormalizationMode.unnormalized,
    max_anisotropy: float = 0.0,
    owned: bool = False,
) -> Image:
    """An image of memory that exists already, with the pixels that it has.

    Parameters
    ----------
    memory : ImageMem
        The memory. The image shares it, and ``close()`` leaves it to its other owners.
    desc : ImageDescriptor, optional
        Its descriptor, as it was allocated.
    queue : Queue, optional
        A queue of the memory's context and device; default: one in order.
    addressing, filtering, precision, fill, nan, coordinate, max_anisotropy : Any
        As of ``Image``. Others may write the memory: the coefficients of ``filtering="cubic"`` are made for each
        call.
    owned : bool, default False
        Whether the image takes the memory over: then ``close()`` closes ``memory``.

    Returns
    -------
    Image
        With an axis of channels if the memory has several.

    Raises
    ------
    InvalidError
        It is no memory, or an option does not fit it.

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> with bindless.Image(np.eye(2, dtype=np.float32), queue=queue) as image:
    ...     bindless.Image.from_memory(image.memory, queue=queue).numpy()
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    if not isinstance(memory, ImageMem):
        raise InvalidError(f"memory={shown(memory)} is no ImageMem; image.memory is one")
    stored = memory.get_descriptor()
    if desc is not None and desc != stored:
        raise InvalidError(f"desc={shown(desc)}: the memory was allocated as {stored}; pass that, or leave desc out")
    if queue is None:
        queue = Queue(memory.get_device(), memory.get_context(), in_order=True)
    elif not isinstance(queue, Queue) or queue.context is not memory.get_context():
        raise InvalidError(f"queue={shown(queue)} is no Queue of the memory's context, {memory.get_context()!r}")
    image = cls.__new__(cls)
    options = image_options(addressing, filtering, precision, fill, nan, coordinate, max_anisotropy)
    image._take(plan_of_memory(stored, options), queue)
    image._lend()
    whole = memory if owned else ImageMem(memory)
    image._hold(ImageStore(whole, image._described, stored, queue, image._handle_precision))
    if image._sampler.max_anisotropy > 1:
        image._warn_of_anisotropy()
    return image
