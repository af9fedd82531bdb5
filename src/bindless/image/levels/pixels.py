"""Pixels of formats that samplers alone read: decoded blocks and words, and means of codes of sRGB."""

from __future__ import annotations

import numpy as np

from ...drivers import reference
from ...model.arrays import Array
from ...model.channels import CHANNELS
from ...model.enums import ImageChannelType
from ...model.image_descriptor import ImageDescriptor
from ..area_filter import area_means

__all__ = ["decode_pixels", "halve_srgb"]


def decode_pixels(blocks: Array, desc: ImageDescriptor) -> Array:
    """The pixels of blocks: codes, or halves of BC6H; and of words of ten bits: codes of 16 bits, as filters take them.

    Parameters
    ----------
    blocks : Array
        ([layers,] rows, columns, bytes), C-contiguous.
    desc : ImageDescriptor
        Of the image, or of a level.
    """
    channel = desc.channel
    assert channel.decoded is not None
    if not channel.block:
        words = blocks.view("<u4")
        codes = words >> np.array([0, 10, 20, 30], np.uint32) & 1023
        return np.where(np.arange(4) < 3, codes << 6 | codes >> 4, codes * 21845).astype(channel.decoded)
    reference.load()
    layers = blocks.reshape(-1, *blocks.shape[-3:])
    result = np.empty((len(layers), desc.height, desc.width, desc.num_channels), channel.decoded)
    for source, target in zip(layers, result):
        addresses = [reference.ffi.cast("void *", array.ctypes.data) for array in (source, target)]
        code = reference.lib.blrDecodeBlocks(channel.index, addresses[0], desc.width, desc.height, addresses[1])
        reference.check(code, "blrDecodeBlocks")
    pixels: Array = result.reshape(*blocks.shape[:-3], *result.shape[1:])
    return pixels


def halve_srgb(codes: Array, shape: tuple[int, int]) -> Array:
    """A smaller picture of codes of sRGB, (height, width, channels): codes of the means of linear values."""
    height, width, channels = codes.shape
    extent, size = (width, height, 1), (shape[1], shape[0], 1)
    numbers = codes.astype(np.float64) / 255
    linear = np.where(numbers <= 0.04045, numbers / 12.92, ((numbers + 0.055) / 1.055) ** 2.4)
    linear[..., 3:] = numbers[..., 3:]
    means = np.empty((*shape, channels), np.float32)
    source = np.ascontiguousarray(linear, np.float32)
    area_means(source, extent, size, CHANNELS[ImageChannelType.fp32], means)
    curved = np.where(means <= 0.0031308, means * 12.92, 1.055 * np.maximum(means, 0) ** (1 / 2.4) - 0.055)
    curved[..., 3:] = means[..., 3:]
    smaller: Array = np.rint(curved * 255).astype(np.uint8)
    return smaller
