"""``*where``: the two ways of saying where something is made, ``queue`` or ``device, context``."""

from __future__ import annotations

from ..model.errors import InvalidError
from .context import Context
from .device import Device
from .queue import Queue

__all__ = ["resolve", "resolve_where"]


def resolve_where(*where: object) -> tuple[Device, Context]:
    """Device and context of ``queue`` or ``device, context``.

    Raises:
        InvalidError: neither form, an object that was closed, or a device outside the context.
    """
    return resolve(where)


def resolve(where: tuple[object, ...]) -> tuple[Device, Context]:
    """``resolve_where(*where)``."""
    first, last = (where[0], where[-1]) if where else (None, None)
    if isinstance(first, Queue) and len(where) == 1:
        stream = first._stream
        if stream.native is None:
            raise stream.unusable()
        return first.device, first.context
    if len(where) == 2 and isinstance(first, Device) and isinstance(last, Context):
        device, context = first, last
        context._native  # noqa: B018
        if device not in context.devices:
            raise InvalidError(f"{device!r} is not a device of {context!r}")
        return device, context
    given = ", ".join(type(item).__name__ for item in where) or "nothing"
    raise InvalidError(f"where to do it was given as ({given}): give a Queue, or a Device and a Context")
