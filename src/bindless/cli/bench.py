"""``bindless bench``: benchmarks of this device and of installed peer libraries."""

from __future__ import annotations

import datetime
import json
import os
import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..bench.block_rows import measure_blocks
from ..bench.call_overhead import measure_calls, measure_import
from ..bench.copies import measure_copies
from ..bench.everyday_rows import measure_everyday
from ..bench.measure import ALONE, TRANSFERS, Bench, Row
from ..bench.processor_rows import measure_processor
from ..bench.sampling import measure_pictures, measure_pixels, measure_sampling
from ..bench.space_rows import measure_space
from ..bench.thread_scaling import measure_scaling
from ..bench.user_rows import measure_user
from ..bench.volume_rows import measure_volumes
from ..model.errors import Error
from ..sycl.queue.queue import Queue
from .ls import device_line
from .progress import Progress
from .table import show_table

__all__ = ["PARTS", "run_bench"]

PARTS: dict[str, Callable[[Bench], None]] = {
    "everyday": measure_everyday,
    "user": measure_user,
    "volumes": measure_volumes,
    "space": measure_space,
    "blocks": measure_blocks,
    "sampling": measure_sampling,
    "pixels": measure_pixels,
    "pictures": measure_pictures,
    "processor": measure_processor,
    "scaling": measure_scaling,
    "copies": measure_copies,
    "calls": measure_calls,
    "import": measure_import,
}

# What the times of a part's rows include, where a row says nothing else; ``ALONE`` for other parts.
_INCLUDES = {
    "pictures": TRANSFERS,
    "copies": "the copy that it names",
    "calls": "the calls that it names",
    "import": "the start of Python's process",
}


def run_bench(
    queue: Queue, samples: int, *, parts: list[str] | None = None, as_json: bool = False, processor_time: bool = False
) -> None:
    """Measures and prints a table, or JSON.

    Parameters
    ----------
    queue : Queue
        In order, of the device that is measured.
    samples : int
        Coordinates of one call.
    parts : list[str], optional
        Names of ``PARTS``; default all.
    as_json : bool, default False
        One document instead of the table.
    processor_time : bool, default False
        That of all threads instead of the wall's, for a busy machine without a GPU.
    """
    bench = Bench(queue, samples, time.process_time if processor_time else time.perf_counter)
    names = parts or list(PARTS)
    with Progress("bench", len(names)) as progress:
        bench.announce = progress.part
        for name in names:
            progress.step(name)
            bench.includes = _INCLUDES.get(name, ALONE)
            try:
                PARTS[name](bench)
            except Error as error:
                bench.notes.append(f"{name}: {error}")
    if as_json:
        print(json.dumps(_document(bench, processor_time), indent=1))
        return
    header = ("operation", "includes", "ours", "peer", "theirs", "ratio", "bound", "of it", "target")
    clock = "processor time" if processor_time else "time"
    title = f"{device_line(queue.device)}\n{clock} of the peer / ours: above 1 we are faster"
    show_table(title, header, [_cells(row) for row in bench.rows])
    for note in bench.notes:
        print(f"not measured: {note}")


def _cells(row: Row) -> tuple[str, ...]:
    ratio, percent = row.ratio, row.percent_of_bound
    return (
        row.operation,
        row.includes,
        row.speed(row.seconds),
        row.peer,
        row.speed(row.peer_seconds) if row.peer else "",
        "" if ratio is None else f"{ratio:.2f}",
        row.speed(row.bound_seconds) if row.bound else "",
        "" if percent is None else f"{percent:.0f} %",
        row.target,
    )


def _document(bench: Bench, processor_time: bool) -> dict[str, Any]:
    return {
        "device": device_line(bench.queue.device),
        "backend": str(bench.queue.device.backend),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": {
            "processors": os.cpu_count(),
            "system": platform.platform(),
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
        "clock": "processor" if processor_time else "wall",
        "samples": bench.samples,
        "rows": [row.document() for row in bench.rows],
        "notes": bench.notes,
    }
