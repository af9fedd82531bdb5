"""Progress of commands that take longer than a second: on stderr, where that is a terminal.

With rich it is a bar that vanishes at the end, without it a line now and then.
"""

from __future__ import annotations

import sys
import threading
import time
from importlib.util import find_spec
from types import TracebackType
from typing import Any

from ..core.lock import Lock

__all__ = ["Progress"]

_SILENT = 1.0  # seconds
_BETWEEN_BARS, _BETWEEN_LINES = 0.1, 1.0  # seconds


class Progress:
    """The steps of a command.

    Steps are shown when they begin, so that nothing of this runs while one is measured. A command of one long step is
    shown by a timer.

    Parameters
    ----------
    command : str
        Name of the command.
    total : int, default 0
        Number of steps; 0 where it is not known.
    """

    def __init__(self, command: str, total: int = 0) -> None:
        self.command, self.total = command, total
        self.done = 0
        self._name = ""
        self._part = ""
        self._began = self._last_draw = 0.0
        self._active = False
        self._lock = Lock()
        self._timer: threading.Timer | None = None
        self._bar: Any = None
        self._task: Any = None
        self._visible = False

    def __enter__(self) -> Progress:
        self._active = sys.stderr.isatty()
        self._began = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lock:
            self._active = False
            if self._timer is not None:
                self._timer.cancel()
            self._hide()

    def step(self, name: str, *, long: bool = False) -> None:
        """A step begins, and the one before is done.

        Parameters
        ----------
        long : bool, default False
            Whether it is shown after a second though no other step begins: a thread waits for that.
        """
        self.done += bool(self._name)
        self._name, self._part = name, ""
        self._show()
        if long and self._active:
            self._timer = threading.Timer(_SILENT, self._show)
            self._timer.daemon = True
            self._timer.start()

    def part(self, name: str) -> None:
        """A part of the step begins."""
        self._part = name
        self._show()

    def say(self, line: str) -> None:
        """Prints a line of the command's own output, above the bar."""
        with self._lock:
            visible = self._visible
            self._hide()
            print(line, flush=True)
            if visible:
                self._draw()

    def _text(self) -> str:
        return f"{self._name}: {self._part}" if self._part else self._name

    def _show(self) -> None:
        with self._lock:
            now = time.monotonic()
            has_rich = find_spec("rich") is not None
            pause = _BETWEEN_BARS if has_rich else _BETWEEN_LINES
            if not self._active or now - self._began < _SILENT or now - self._last_draw < pause:
                return
            self._last_draw = now
            if has_rich:
                self._draw()
            else:
                count = f"{self.done + 1} of {self.total}, " if self.total else ""
                print(f"bindless {self.command}: {count}{self._text()}", file=sys.stderr, flush=True)

    def _draw(self) -> None:
        """Shows the bar as it is now; the lock is held."""
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        if self._bar is None:
            self._bar = Bar(
                TextColumn("{task.fields[command]}"),
                BarColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.description}"),
                console=Console(file=sys.stderr),
                transient=True,
                auto_refresh=False,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._task = self._bar.add_task("", total=self.total or None, command=self.command)
        if not self._visible:
            self._bar.start()
            self._visible = True
        self._bar.update(self._task, completed=self.done, description=self._text(), refresh=True)

    def _hide(self) -> None:
        """Removes the bar; the lock is held."""
        if self._visible:
            self._bar.stop()
            self._visible = False
