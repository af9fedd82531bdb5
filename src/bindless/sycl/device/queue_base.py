"""``QueueBase``: the device, context and command stream of a queue, for the layers below ``Queue``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core._submission import Submitter

if TYPE_CHECKING:
    from ...backends.contract import NativeQueue
    from ...submission.command_stream import CommandStream
    from .context import Context
    from .device import Device

__all__ = ["QueueBase"]


class QueueBase(Submitter):
    """Base class of ``Queue``: functions of lower layers take a queue without importing it."""

    __slots__ = ()

    device: Device
    context: Context
    _stream: CommandStream

    @property
    def _native(self) -> NativeQueue:
        """The back end's queue; raises if this one has ended."""
        native = self._stream.native
        if native is None or self._stream.closed:
            raise self._stream.unusable()
        return native
