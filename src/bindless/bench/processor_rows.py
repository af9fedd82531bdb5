"""Rows of ``bindless bench`` about kernels on the processor: the reference driver next to numba, one thread each.

The driver reads its number of threads at start: the rows are measured in a process with one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from types import ModuleType

import numpy as np

from ..model.arrays import Array
from ..model.enums import Backend
from ..model.ranges import NdRange
from ..sycl.usm import UsmArray, usm_empty
from .measure import Bench, Peer, Row, Work
from .peer_libraries import available
from .processor_kernels import GROUP, axpby, mandelbrot, matrix_product, stencil, tree_sum
from .subprocesses import run_python

__all__ = ["measure_processor", "measure_processor_here"]

_HERE = """
import json
import time
from dataclasses import asdict
from bindless.bench.measure import Bench
from bindless.bench.processor_rows import measure_processor_here
from bindless.sycl.queue.queue import Queue
bench = Bench(Queue("reference", in_order=True), {samples}, time.{clock})
measure_processor_here(bench)
print(json.dumps({{"rows": [asdict(row) for row in bench.rows], "notes": bench.notes}}))
"""

# Elements of the sums, sides of the matrices and pictures, and the least ratio to numba.
_ELEMENTS, _SIDE, _PICTURE, _STEPS = 1 << 20, 256, 1024, 100
_GOAL = {"axpby": 0.5, "matrix product": 1.5, "stencil": 0.5, "sums in local memory": 0.3, "mandelbrot": 2.0}


def measure_processor(bench: Bench) -> None:
    """Measure kernels on one thread, in a process of its own."""
    if bench.queue.device.backend is not Backend.reference:
        bench.notes.append("kernels on the processor: of the reference device alone")
        return
    text, success = run_python(
        _HERE.format(samples=bench.samples, clock=bench.clock.__name__), BINDLESS_REFERENCE_THREADS="1"
    )
    if not success:
        bench.notes.append(f"kernels on the processor: {text}")
        return
    document = json.loads(text)
    bench.rows += [Row(**row) for row in document["rows"]]
    bench.notes += document["notes"]


def measure_processor_here(bench: Bench) -> None:
    """Measure the kernels with this process's threads."""
    numba = available("numba")
    if numba is None:
        bench.notes.append("kernels on the processor: numba is not installed")
        return
    queue = bench.queue
    rng = np.random.default_rng(5)
    scale = min(bench.samples / 1e6, 1.0) ** 0.5
    count, side, picture = (max(int(size * scale) // GROUP, 1) * GROUP for size in (_ELEMENTS, _SIDE, _PICTURE))
    loops = _loops(numba)

    def on_device(*shape: int, dtype: type = np.float32) -> tuple[UsmArray, Array]:
        values: Array = rng.random(shape).astype(dtype)
        return usm_empty(shape, dtype, queue).copy_from(values), values

    def compare(name: str, size: str, work: Work, peer: Work, ours: UsmArray, theirs: Array, amount: int) -> None:
        work()
        peer()
        np.testing.assert_allclose(ours.numpy(queue), theirs, rtol=1e-4)
        beside = {"numba": Peer(peer, goal=_GOAL[name])}
        bench.measure(f"{name} on the processor, {size}", work, beside, amount=amount, unit="items")

    (x, x_), (y, y_), (z, z_) = (on_device(count) for _ in range(3))
    compare(
        "axpby",
        f"{count} elements",
        lambda: queue.parallel_for(count, axpby, 2.0, x, 3.0, y, z).wait(),
        lambda: loops["axpby"](np.float32(2), x_, np.float32(3), y_, z_),
        z,
        z_,
        count,
    )
    (a, a_), (b, b_), (c, c_) = (on_device(side, side) for _ in range(3))
    compare(
        "matrix product",
        f"{side} x {side}",
        lambda: queue.parallel_for((side, side), matrix_product, a, b, c).wait(),
        lambda: loops["matrix_product"](a_, b_, c_),
        c,
        c_,
        side**3,
    )
    (p, p_), (q, q_) = (on_device(picture, picture) for _ in range(2))
    q.copy_from(q_[:] * 0)
    q_[:] = 0
    compare(
        "stencil",
        f"{picture} x {picture}",
        lambda: queue.parallel_for((picture, picture), stencil, p, q).wait(),
        lambda: loops["stencil"](p_, q_),
        q,
        q_,
        picture**2,
    )
    s, s_ = on_device(count // GROUP)
    compare(
        "sums in local memory",
        f"{count} elements",
        lambda: queue.parallel_for(NdRange(count, GROUP), tree_sum, x, s).wait(),
        lambda: loops["tree_sum"](x_, s_),
        s,
        s_,
        count,
    )
    n, n_ = on_device(picture // 2, picture // 2, dtype=np.int32)
    corner = (-2.0, -1.25, 2.5 / (picture // 2), _STEPS)
    compare(
        "mandelbrot",
        f"{picture // 2} x {picture // 2}",
        lambda: queue.parallel_for(n.shape, mandelbrot, *corner, n).wait(),
        lambda: loops["mandelbrot"](*corner, n_),
        n,
        n_,
        (picture // 2) ** 2,
    )


def _loops(numba: ModuleType) -> dict[str, Callable[..., None]]:
    """Return the same work as loops that numba compiles."""
    compiled: Callable[[Callable[..., None]], Callable[..., None]] = numba.njit

    @compiled
    def axpby(a: float, x: Array, b: float, y: Array, out: Array) -> None:
        for i in range(len(out)):
            out[i] = a * x[i] + b * y[i]

    @compiled
    def matrix_product(left: Array, right: Array, out: Array) -> None:
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                total = np.float32(0)
                for k in range(left.shape[1]):
                    total += left[i, k] * right[k, j]
                out[i, j] = total

    @compiled
    def stencil(values: Array, out: Array) -> None:
        for i in range(1, values.shape[0] - 1):
            for j in range(1, values.shape[1] - 1):
                around = values[i - 1, j] + values[i + 1, j] + values[i, j - 1] + values[i, j + 1]
                out[i, j] = np.float32(0.2) * (values[i, j] + around)

    @compiled
    def tree_sum(values: Array, sums: Array) -> None:
        shared = np.empty(GROUP, np.float32)
        for group in range(len(sums)):
            for item in range(GROUP):
                shared[item] = values[group * GROUP + item]
            half = GROUP // 2
            while half > 0:
                for item in range(half):
                    shared[item] += shared[item + half]
                half //= 2
            sums[group] = shared[0]

    @compiled
    def mandelbrot(left: float, top: float, step: float, limit: int, counts: Array) -> None:
        for i in range(counts.shape[0]):
            for j in range(counts.shape[1]):
                cx = np.float32(left) + np.float32(step) * np.float32(j)
                cy = np.float32(top) + np.float32(step) * np.float32(i)
                x = y = np.float32(0)
                count = 0
                while count < limit and x * x + y * y <= np.float32(4):
                    x, y = x * x - y * y + cx, np.float32(2) * x * y + cy
                    count += 1
                counts[i, j] = count

    works = (axpby, matrix_product, stencil, tree_sum, mandelbrot)
    return {work.__name__: work for work in works}
