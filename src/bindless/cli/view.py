"""``bindless view``: a page that shows a picture or volume of any size, or its picture in a file."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ..bricks import BrickStore
from ..model.errors import InvalidError
from ..model.message_values import shown
from ..sycl.device.device import Device
from ..sycl.queue.queue import Queue
from ..viewer.drawing import Painter
from ..viewer.files import open_source
from ..viewer.server import PageServer
from ..viewer.session import Session, png_of
from ..viewer.view import first_view, view_of
from .extras import require

__all__ = ["view_file"]

_SECONDS = 600.0  # for a picture


def view_file(args: argparse.Namespace) -> int:
    """Runs the command.

    Raises
    ------
    InvalidError
        An option is not right, or the file is no source.
    """
    require("PIL", "pictures are encoded with Pillow", "view")
    require("numba", "pictures are drawn by kernels in Python", "view")
    if args.save is None:  # pictures are drawn while native code is made, and faster after it
        os.environ.setdefault("BINDLESS_REFERENCE_NATIVE", "background")
    queue = Queue(Device(args.device), in_order=True)
    try:
        channels = None if args.channels is None else [int(word) for word in args.channels.split(",")]
    except ValueError:
        raise InvalidError(f"--channels {args.channels}: indices with commas, such as 0,2") from None
    source = open_source(args.file, queue, time=args.time, channels=channels)

    def open_store() -> BrickStore:
        return BrickStore(source, queue, memory=args.memory)

    if args.save is not None:
        with open_store() as store:
            return _save(store, args)
    if args.view is not None:
        view_of(args.view, first_view(source))  # an error now rather than in the page
    session = Session(open_store)
    try:
        with PageServer(session, args.port) as server:
            link = "" if args.view is None else "#" + (args.view.partition("#")[2] or args.view)
            print(f"{source.name} on {queue.device.name}: {server.address}{link}\nCtrl-C ends it", flush=True)
            server.wait()
    except KeyboardInterrupt:
        print()
    finally:
        session.close()
    return 0


def _save(store: BrickStore, args: argparse.Namespace) -> int:
    width, _, height = args.size.partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise InvalidError(f"--size {args.size}: it is WxH in pixels, such as 1280x720")
    if not args.save.lower().endswith(".png"):
        raise InvalidError(f"--save {shown(args.save)}: pictures are written as .png")
    first = first_view(store.source)
    view = first if args.view is None else view_of(args.view, first)
    painter = Painter(store)
    frame = painter.complete(view, int(width), int(height), _SECONDS)
    painter.close()
    if store.errors:
        raise InvalidError(store.errors[-1])
    path = Path(args.save)
    unfinished = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        unfinished.write_bytes(png_of(frame.pixels))
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    print(f"{args.file} -> {args.save}: level {frame.level} of {len(store.levels)}")
    return 0
