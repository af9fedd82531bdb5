"""``Session``: what the pages of one source ask for, drawn on one device, one at a time."""

from __future__ import annotations

import io
import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from ..bricks.store import BrickStore
from ..core.lock import Lock
from ..model.arrays import Array
from ..model.errors import InvalidError
from .colours import MAPS
from .drawing import Frame, Painter
from .view import MODES, View, first_view, range_of, view_of

__all__ = ["Session", "jpeg_of", "png_of"]

_ALONE = 30.0  # seconds without a word until a page is gone
_MOST_PAGES = 64


def jpeg_of(pixels: Array, quality: int) -> bytes:
    """Bytes of a JPEG file."""
    return _encoded(pixels, "JPEG", quality=quality, subsampling=0 if quality > 85 else 2)


def png_of(pixels: Array) -> bytes:
    """Bytes of a PNG file."""
    return _encoded(pixels, "PNG")


def _encoded(pixels: Array, form: str, **options: Any) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(file, form, **options)
    return file.getvalue()


class Session:
    """Pages of one source.

    Parameters
    ----------
    open_store : Callable[[], BrickStore]
        Opens the store, at once and when a page comes after all were closed.
    """

    def __init__(self, open_store: Callable[[], BrickStore]) -> None:
        self._open, self._lock = open_store, Lock()
        self._gate = Lock()  # of what pages say, which waits for no picture
        self._store: BrickStore | None = None
        self._painter: Painter | None = None
        self._pages: dict[str, float] = {}  # when they last said a word
        self._requests: dict[str, int] = {}  # for how many pictures
        self._end = threading.Event()
        painter = self._opened()
        source = painter.source
        self.first: View = first_view(source)
        coarsest = source.levels[-1]
        depth, height, width = coarsest.shape
        texels = coarsest.read((slice(0, depth), slice(0, height), slice(0, width)))
        limits = []
        for channel in range(source.channels):
            numbers = texels[..., channel][np.isfinite(texels[..., channel])]
            low, high = range_of(source, channel, texels)
            limits.append((min(low, float(numbers.min(initial=low))), max(high, float(numbers.max(initial=high)))))
        self.info: dict[str, Any] = {
            "name": source.name, "sizes": source.levels[0].shape, "levels": len(source.levels),
            "spacing": source.spacing, "origin": source.origin, "unit": source.unit, "channels": source.channels,
            "is_volume": source.is_volume, "limits": limits, "maps": MAPS, "dtype": str(source.dtype),
            "modes": MODES if source.is_volume else MODES[:1], "device": painter.device, "first": asdict(self.first),
        }  # fmt: skip
        threading.Thread(target=self._watch, name="bindless pages", daemon=True).start()

    def _opened(self) -> Painter:
        if self._painter is None:
            self._store = self._open()
            self._painter = Painter(self._store)
        return self._painter

    @property
    def is_open(self) -> bool:
        """Whether the store is open and holds memory of the device."""
        return self._store is not None

    # ------------------------------------------------------------------ what pages ask for

    def draw(
        self, view: View, width: int, height: int, *, is_moving: bool = False, share: float = 1.0,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> tuple[Frame, list[str]]:  # fmt: skip
        """A picture, and why bricks could not be read."""
        with self._lock:
            if self._end.is_set():
                raise InvalidError("the session is closed")
            painter = self._opened()
            frame = painter.draw(view, width, height, is_moving=is_moving, share=share, is_wanted=is_wanted)
            return frame, list(painter.errors)

    def frame(self, request: Mapping[str, Any]) -> tuple[bytes, dict[str, Any]]:
        """A picture as JPEG, and its status. It ends before its end when the page asks for another one.

        Parameters
        ----------
        request : Mapping[str, Any]
            ``view``, the parts of one; ``width`` and ``height``; ``quality``, 10 to 95; ``is_moving``;
            ``share``, of the pixels of the whole picture along an axis; ``page``.

        Raises
        ------
        InvalidError
            A part is not right.
        """
        begin = time.monotonic()
        view = view_of(_part(request, "view", dict), self.first)
        page, number = self._meet(request, asks=True)
        width, height, quality = (int(_number(request, name)) for name in ("width", "height", "quality"))
        share = _number(request, "share") if "share" in request else 1.0
        frame, errors = self.draw(
            view, width, height, is_moving=bool(request.get("is_moving")), share=share,
            is_wanted=lambda: self._requests.get(page) == number,
        )  # fmt: skip
        drawn = time.monotonic()
        data = jpeg_of(frame.pixels, min(max(quality, 10), 95))
        status = {
            "level": frame.level, "missing": frame.missing, "is_complete": frame.is_complete, "is_full": frame.is_full,
            "milliseconds": round(1000 * (drawn - begin)), "encoding": round(1000 * (time.monotonic() - drawn)),
            "errors": len(errors), "error": errors[-1][:500] if errors else "",
        }  # fmt: skip
        return data, status

    def value(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The point and the numbers of the last picture at ``x`` and ``y``, shares of its width and height."""
        self._meet(request)
        x, y = _number(request, "x"), _number(request, "y")
        with self._lock:
            painter = self._painter
            place = None if painter is None else painter.value_at(x * painter.shape[1], y * painter.shape[0])
        if place is None:
            return {}
        return {"point": place[0], "numbers": [number if math.isfinite(number) else str(number) for number in place[1]]}

    def ping(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """A page is there."""
        self._meet(request)
        return {"is_open": self.is_open}

    def leave(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """A page was closed: after the last one the device is freed."""
        page = str(request.get("page"))[:64]
        with self._gate:
            self._forget(page)
        with self._lock:
            if not self._pages:
                self._free()
        return {}

    def _meet(self, request: Mapping[str, Any], asks: bool = False) -> tuple[str, int]:
        """Notes a page, and the number of its picture."""
        page = str(request.get("page"))[:64]
        with self._gate:
            self._pages[page] = time.monotonic()
            self._requests[page] = self._requests.get(page, 0) + asks
            while len(self._pages) > _MOST_PAGES:
                self._forget(min(self._pages, key=self._pages.__getitem__))
            return page, self._requests[page]

    def _forget(self, page: str) -> None:
        self._pages.pop(page, None)
        self._requests.pop(page, None)

    # ------------------------------------------------------------------ end

    def _watch(self) -> None:
        """Frees the device when no page has said a word for long."""
        while not self._end.wait(_ALONE / 6):
            late = time.monotonic() - _ALONE
            with self._gate:
                gone = [page for page, last in self._pages.items() if last <= late]
                for page in gone:
                    self._forget(page)
            with self._lock:
                if gone and not self._pages:
                    self._free()

    def _free(self) -> None:
        painter, store, self._painter, self._store = self._painter, self._store, None, None
        try:
            if painter is not None:
                painter.close()
        finally:
            if store is not None:
                store.close()

    def close(self) -> None:
        """Frees the device; a second call does nothing."""
        self._end.set()
        with self._lock:
            self._free()


def _part(request: Mapping[str, Any], name: str, kind: type) -> Any:
    value = request.get(name)
    if not isinstance(value, kind):
        raise InvalidError(f"the request has no {name}")
    return value


def _number(request: Mapping[str, Any], name: str) -> float:
    value = request.get(name)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not -1e9 < value < 1e9:
        raise InvalidError(f"the request has no number {name}")
    return float(value)
