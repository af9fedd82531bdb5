"""``Image.from_blocks``: images of compressed blocks, and of other elements of memory, with all levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...model.enums import ImageChannelType, coerce
from ...model.errors import InvalidError
from ...model.message_values import shown
from ...sycl.queue.queue import Queue
from ..cubemap_levels import CubemapLevels
from ..device_image import ImageStore
from ..layer_groups import LayerGroup, layers_of_part
from ..levels.levels import Levels
from ..options import ImageOptions, image_options
from ..plan import plan_of_levels

if TYPE_CHECKING:
    from ..image import Image

__all__ = ["from_blocks", "store_levels", "update_levels"]


def from_blocks(
    cls: type[Image],
    /,
    blocks: Any,
    shape: Sequence[int],
    channel_type: ImageChannelType | str,
    *,
    mipmaps: Any = False,
    queue: Queue | None = None,
    **options: Any,
) -> Image:
    """An image of blocks of 4 x 4 pixels, BC1 to BC7, which stay compressed in the device's memory.

    Parameters
    ----------
    blocks : ArrayLike | Sequence[ArrayLike]
        uint8 of shape ([layers,] rows, columns, bytes): a row and a column for each four pixels begun, 8 bytes of BC1
        and BC4, else 16. Or a sequence of those of all levels, largest first. Of other channel types, pixels as
        they lie in memory.
    shape : Sequence[int]
        Pixels, (height, width).
    channel_type : ImageChannelType | str
        Such as ``"bc7_unorm"``. Blocks of ``_srgb`` are sampled as linear values.
    mipmaps : bool | Sequence[ArrayLike], default False
        The blocks of the further levels. True: ``blocks`` is a sequence.
    queue : Queue, optional
        Where the image lives; default: one on the default device.
    options : keywords
        Further arguments of ``Image``.

    Returns
    -------
    Image
        With an axis of channels, except of BC4. ``numpy`` decodes.

    Raises
    ------
    InvalidError
        Blocks of another dtype or shape, or an option that does not fit.
    FeatureNotSupportedError
        The device has no such format.

    Examples
    --------
    >>> blocks = np.zeros((1, 2, 8), np.uint8)
    >>> blocks[0, 1, :2] = 0x00, 0xF8  # the second block is red
    >>> queue = bindless.Queue("reference")
    >>> with bindless.Image.from_blocks(blocks, (4, 8), "bc1_unorm", queue=queue) as image:
    ...     image.sample([6.5, 1.5])
    array([1., 0., 0., 1.], dtype=float32)
    """
    from ..default_queue import queue_of_array

    levels = Levels.of_arrays(blocks, mipmaps, shape, coerce(ImageChannelType, channel_type, "channel_type"))
    if queue is not None and not isinstance(queue, Queue):
        raise InvalidError(f"queue={shown(queue)} is no Queue: bindless.Queue(...) makes one")
    whole = image_options(channel_type=levels.channel_type, mipmaps=len(levels.arrays) > 1, dimensions=2, **options)
    return cls._of(levels, whole, queue_of_array(levels.arrays[0]) if queue is None else queue)  # type: ignore[arg-type]


def store_levels(image: Image, levels: Levels, options: ImageOptions, queue: Queue | None) -> None:
    """Fills a new image with levels."""
    from ..default_queue import queue_of_array

    queue = queue_of_array(levels.arrays[0]) if queue is None else queue
    plan = plan_of_levels(queue.device, levels.described(options), len(levels.arrays), options)
    image._take(plan, queue)
    most = layers_of_part(queue, options.mipmaps) if options.layers else None
    pixels: Any = levels
    if options.cubemap and options.mipmaps:
        image._store = CubemapLevels(image, pixels)
    elif most and (options.mipmaps or most < image.num_layers):
        image._store = LayerGroup(image, pixels, most)
    else:
        store = ImageStore.empty(image._described, plan.stored, queue, image._handle_precision)
        try:
            store.fill_levels(levels.arrays)
        except BaseException:
            store.close()
            raise
        image._hold(store)


def update_levels(image: Image, blocks: Any) -> None:
    """``update`` of an image of blocks, or by all levels."""
    described, options = image._described, image._options
    levels = Levels.of_arrays(blocks, False, (described.height, described.width), described.channel_type)
    if levels.described(options) != described or len(levels.arrays) != image.num_levels:
        raise InvalidError(f"{len(levels.arrays)} levels: the image has {image.num_levels} of {described}")
    _update(image, levels)


def _update(image: Image, levels: Levels) -> None:
    if image.parts == (image,):
        image._native.fill_levels(levels.arrays)
        return
    store: Any = image._store
    for part, pixels in store.split_levels(levels):
        _update(part, pixels)
