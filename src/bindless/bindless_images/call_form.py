"""``Form`` and ``CallImage``: a device function, and the image that a call of it names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Union

from ..model.arrays import Array
from ..model.enums import ImageType, Precision
from ..model.image_call import Operation
from ..model.image_descriptor import ImageDescriptor
from ..sycl.usm import UsmArray
from .context_tables import HandleRecord

__all__ = ["ArrayLike", "CallImage", "Form"]

ArrayLike = Union[Array, UsmArray]


@dataclass(frozen=True)
class Form:
    """One device function: its name, what it does, the images that it takes, the names of its arguments, and the
    precision that the caller gave.
    """

    name: str
    operation: Operation
    type: ImageType
    sampled: bool
    unsampled: bool
    coords: str = "coords"
    layers: str | None = None
    precision: Precision | None = None


class CallImage(NamedTuple):
    """The image that a call names; ``keep`` and ``key`` if the context knows it."""

    raw: int
    desc: ImageDescriptor
    sampled: bool
    usm: bool
    keep: tuple[object, ...] = ()
    key: int = 0
    record: HandleRecord | None = None

    def precision(self, form: Form) -> Precision:
        """The arithmetic of a call: what the caller gave, or else that of the image."""
        if form.precision is not None:
            return form.precision
        return Precision.hardware if self.record is None else self.record.precision
