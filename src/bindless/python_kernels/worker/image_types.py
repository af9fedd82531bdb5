"""The type of an ``Image`` among the arguments: a sampled and an unsampled handle, of which kernels use what they need.

A handle itself is an unsigned integer of 64 bits.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.extending import lower_cast, register_model
from numba.core.typeconv import Conversion

from .numba_names import Builder, Context, ModelManager, NumbaType, TypingContext, Value

__all__ = ["IMAGE", "HandleType", "ImageType", "handle_of"]


class ImageType(types.Type):
    """An image with two handles."""

    def __init__(self) -> None:
        super().__init__("Image")


class HandleType(types.Type):
    """A handle, ``sampled`` or ``unsampled``; a number where one is needed."""

    def __init__(self, form: str) -> None:
        self.form = form
        super().__init__(f"{form} image handle")

    def can_convert_to(self, typingctx: TypingContext, other: NumbaType) -> Conversion | None:
        return Conversion.safe if other == types.uint64 else None


IMAGE = ImageType()


@register_model(HandleType)
class _HandleModel(models.PrimitiveModel):
    def __init__(self, manager: ModelManager, fe_type: NumbaType) -> None:
        super().__init__(manager, fe_type, ir.IntType(64))


@register_model(ImageType)
class _ImageModel(models.StructModel):
    def __init__(self, manager: ModelManager, fe_type: NumbaType) -> None:
        super().__init__(manager, fe_type, [("sampled", types.uint64), ("unsampled", types.uint64)])


@lower_cast(HandleType, types.uint64)
def _number(context: Context, builder: Builder, kind: NumbaType, to: NumbaType, value: Value) -> Value:
    return value


def handle_of(builder: Builder, value: Value, *, sampled: bool) -> ir.Value:
    """Return one of the two handles."""
    return builder.extract_value(value, 0 if sampled else 1)
