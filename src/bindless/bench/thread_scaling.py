"""Rows of ``bindless bench`` about threads of the reference driver: the same samples on 1, 2, 4, ... threads."""

from __future__ import annotations

import os
import time
from typing import Any

from ..model.enums import Backend
from .measure import Bench
from .subprocesses import run_python

__all__ = ["measure_scaling"]

_VARIABLE = "BINDLESS_REFERENCE_THREADS"  # the driver reads it at start
_FORMATS = (("fp32", 4), ("unorm_int8", 4), ("fp32", 1))
_SAMPLES = """
from bindless.bench.measure import Bench
from bindless.bench.sampling import sample_format
from bindless.sycl.queue.queue import Queue
print(sample_format(Bench(Queue("reference", in_order=True), {samples}), "{channel_type}", {channels}))
"""


def measure_scaling(bench: Bench) -> None:
    """Measure in one process per thread count: powers of two up to the number of processors."""
    if bench.queue.device.backend is not Backend.reference:
        return
    if bench.clock is not time.perf_counter:
        bench.notes.append("scaling: the processor time of all threads does not tell it; leave --processor-time out")
        return
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    numbers = [1 << power for power in range(processors.bit_length())]
    for channel_type, channels in _FORMATS:
        code = _SAMPLES.format(samples=bench.samples, channel_type=channel_type, channels=channels)
        alone = 0.0
        for threads in numbers:
            name = f"sample 2D {channel_type} x{channels}, {threads} thread{'s' if threads > 1 else ''}"
            said, done = run_python(code, **{_VARIABLE: str(threads)})
            if not done:
                bench.notes.append(f"{name}: {said}")
                return
            seconds = float(said)
            alone = alone or seconds
            peer: dict[str, Any] = {"peer": "1 thread", "peer_seconds": alone} if threads > 1 else {}
            bench.add(name, seconds, amount=bench.samples, unit="samples", **peer)
