"""Groups of aspects for drivers whose images are objects, not hardware numbers."""

from __future__ import annotations

from ...model.aspects import Aspect

__all__ = ["IMAGES", "LINEAR_IMAGES"]

IMAGES = frozenset(
    (
        Aspect.ext_oneapi_bindless_images,
        Aspect.ext_oneapi_bindless_sampled_image_fetch_1d,
        Aspect.ext_oneapi_bindless_sampled_image_fetch_2d,
        Aspect.ext_oneapi_bindless_sampled_image_fetch_3d,
    )
)
"""Aspects of a device with images."""

LINEAR_IMAGES = frozenset(
    (
        Aspect.ext_oneapi_bindless_images_2d_usm,
        Aspect.ext_oneapi_bindless_images_sample_2d_usm,
        Aspect.ext_oneapi_bindless_sampled_image_fetch_2d_usm,
    )
)
"""Aspects of a device with two-dimensional images over linear memory."""
