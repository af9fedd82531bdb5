"""Ctrl-C during a call.

Python raises ``KeyboardInterrupt`` only if SIGINT is not ignored; ``nohup`` and a shell's background jobs start their
processes with SIGINT ignored. Code that waits for an interrupt therefore sets the handler first.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator

__all__ = ["INTERRUPTED_WAITS", "interrupted_in"]

INTERRUPTED_WAITS = """
signal.signal(signal.SIGINT, signal.default_int_handler)
for wait in (queue.wait, event.wait):
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        wait()
    except KeyboardInterrupt:
        print("interrupted")
"""
"""Of a program with a queue, and an event in it that does not come: both waits end."""


@contextlib.contextmanager
def interrupted_in(name: str) -> Iterator[None]:
    """Send this thread SIGINT each time it enters the package's function of that name."""
    main, over = threading.get_ident(), threading.Event()

    def is_there() -> bool:
        frames = traceback.walk_stack(sys._current_frames()[main])
        return any(
            frame.f_code.co_name == name and frame.f_globals["__name__"].startswith("bindless.") for frame, _ in frames
        )

    def watch() -> None:
        while not over.is_set():
            if is_there():
                signal.pthread_kill(main, signal.SIGINT)
                return
            time.sleep(0.001)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        signal.signal(signal.SIGINT, before)
