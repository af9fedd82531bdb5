"""Resolution of the argument ``*where``: ``queue``, or ``device, context``."""

from __future__ import annotations

from typing import TypeAlias, Union

from ...model.errors import InvalidError
from .context import Context
from .device import Device
from .queue_base import QueueBase

__all__ = ["Where", "resolve", "resolve_where"]

Where: TypeAlias = Union[QueueBase, Device, Context]
"""One of the last arguments of a function of a queue, or of a device and a context."""


def resolve_where(*where: object) -> tuple[Device, Context]:
    """Device and context of ``queue`` or ``device, context``.

    Raises
    ------
    InvalidError
        Neither form, an object that was closed, or a device outside the context.
    """
    return resolve(where)


def resolve(where: tuple[object, ...]) -> tuple[Device, Context]:
    """``resolve_where(*where)``."""
    if len(where) == 1:
        queue = where[0]
        if isinstance(queue, QueueBase):
            queue._native  # noqa: B018  raises if it has ended
            return queue.device, queue.context
    elif len(where) == 2:
        device, context = where
        if isinstance(device, Device) and isinstance(context, Context):
            if context._reason is not None:
                raise context._unusable()
            if device not in context.devices:
                raise InvalidError(f"{device!r} is not a device of {context!r}")
            return context.devices[context.devices.index(device)], context  # the context's own object
    types = ", ".join(type(item).__name__ for item in where) or "neither"
    raise InvalidError(f"the last arguments are a Queue, or a Device and a Context; the call has {types} there")
