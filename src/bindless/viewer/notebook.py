"""``view``: a picture or volume of any size in a notebook."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..bricks.store import BrickStore
from ..image.default_queue import default_queue
from ..model.errors import InvalidError
from ..sycl.queue.queue import Queue
from .drawing import Painter
from .navigation import drag, zoom
from .view import MODES, first_view

__all__ = ["view"]


def view(source: Any, queue: Queue | None = None, **options: Any) -> Any:
    """Show a picture or volume of any size in a notebook, with the mouse and keys of ``bindless view``.

    Needs jupyter_rfb: ``pip install 'bindless[view]'``.

    Parameters
    ----------
    source : array, sequence of arrays, str or BrickStore
        As for ``bindless.bricks.BrickStore``. A store that is given stays the caller's.
    queue : Queue, optional
        Where it is drawn; default one on the default device.
    options : keywords
        Of ``BrickStore``: ``memory``, ``axes``, ``time``, ``channels``.

    Returns
    -------
    jupyter_rfb.RemoteFrameBuffer
        A widget, which a cell shows. Its attribute ``view`` is a ``bindless.viewer.view.View``, which may be replaced;
        ``snapshot()`` is the picture. ``close()`` frees the memory.

    Raises
    ------
    InvalidError
        jupyter_rfb is not installed, or as of ``BrickStore``.
    """
    try:
        from jupyter_rfb import RemoteFrameBuffer
    except ImportError as error:
        raise InvalidError(f"notebooks are served by jupyter_rfb: pip install 'bindless[view]' ({error})") from error

    class Viewer(RemoteFrameBuffer):  # type: ignore[misc]
        """The widget."""

        def __init__(self) -> None:
            self._own = not isinstance(source, BrickStore)
            self._bricks = BrickStore(source, queue or default_queue(), **options) if self._own else source
            self._painter, self._pointer, self._is_moving = Painter(self._bricks), (0.0, 0.0), False
            self._size = (640, 480)
            self.view = first_view(self._bricks.source)
            super().__init__()
            self.css_height = "480px"

        def get_frame(self) -> Any:
            frame = self._painter.draw(self.view, *self._size, is_moving=self._is_moving)
            if not frame.is_complete:
                self._is_moving = False
                self.request_draw()
            return np.ascontiguousarray(frame.pixels)

        def handle_event(self, event: dict[str, Any]) -> None:
            kind, before = str(event.get("event_type", event.get("type"))), self._pointer
            is_volume = self._bricks.source.is_volume
            if kind == "close":
                self._painter.close()
                if self._own:
                    self._bricks.close()
                return
            if kind == "resize":
                self._size = max(int(event["width"]), 1), max(int(event["height"]), 1)
            if kind in ("pointer_down", "pointer_move"):
                self._pointer = event["x"], event["y"]
            old = self.view
            if kind == "pointer_move" and event["buttons"]:
                by = self._pointer[0] - before[0], self._pointer[1] - before[1]
                is_other = "Shift" in event["modifiers"] or 2 in event["buttons"]
                self.view = drag(old, is_volume, self._size[1], by, is_other)
            elif kind == "wheel":
                self.view = zoom(old, 2 ** (event["dy"] / 400))
            elif kind == "key_down" and event["key"] in "1234" and is_volume:
                self.view = replace(old, mode=MODES[int(event["key"]) - 1])
            elif kind == "key_down" and event["key"] in ("PageUp", "PageDown"):
                step = min(self._bricks.source.spacing) * (1 if event["key"] == "PageDown" else -1)
                self.view = replace(old, centre=tuple((np.array(old.centre) + old.axes()[2] * step).tolist()))
            self._is_moving = self.view != old
            if self._is_moving or kind == "resize":
                self.request_draw()

    return Viewer()
