"""Functions that kernels call. (pydev writes this file.)"""

from .declaration import Call, Launch, Type, device_intrinsic

__all__ = ["item_id", "sample_image"]


def _item(launch: Launch, dimension: Type) -> Call:
    return Call("long", f"__bindless_global_id_{launch.dimensions - 1 - dimension.value}")


@device_intrinsic(_item)
def item_id(dimension):
    """Id."""


def _sample(launch, image, x, y=None, z=None):
    given = [value for value in (x, y, z) if value is not None]
    return Call(
        "float4",
        f"__bindless_sample_{len(given)}d_f",
        ("sampled_image_handle", *["float"] * len(given)),
        (image, *given),
    )


@device_intrinsic(_sample)
def sample_image(image, x, y=None, z=None):
    """Sample."""
