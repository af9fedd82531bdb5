"""A row of ``bindless bench`` that the texture unit alone bounds: computed coordinates, and sums in registers."""

from __future__ import annotations

import numpy as np

from ..image.image import Image
from ..model import info
from ..model.enums import Backend
from .measure import Bench
from .peer_libraries import available

__all__ = ["measure_texture_rate"]

_UNITS = 4  # bilinear samples of a multiprocessor and a cycle
_SIDE, _THREADS, _SAMPLES, _GROUPS = 64, 256, 512, 64  # groups of a multiprocessor
_SOURCE = r"""
extern "C" __global__ void rate(unsigned long long image, float *sums, float step, int samples)
{
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    float x = (item & 7) + 0.25f, y = (item >> 3 & 3) + 0.25f, sum = 0.0f;
    #pragma unroll 16
    for (int k = 0; k < samples; k++) {
        sum += tex2D<float>(image, x, y);
        x += step;
    }
    sums[item] = sum;
}
"""


def measure_texture_rate(bench: Bench) -> None:
    """Measure linear samples of one channel, from the texture cache, by a kernel of CUDA C over an ``Image``'s handle.

    The bound is the rate of the units: multiprocessors, times 4, times the highest clock.
    """
    device, cupy = bench.queue.device, available("cupy")
    if device.backend is not Backend.cuda or cupy is None:
        bench.notes.append("samples at computed coordinates: an NVIDIA GPU and CuPy are needed")
        return
    kernel = cupy.RawModule(code=_SOURCE).get_function("rate")
    units, clock = device.get_info(info.device.max_compute_units), device.get_info(info.device.max_clock_frequency)
    groups = units * _GROUPS
    sums, pixels = cupy.empty(groups * _THREADS, np.float32), np.ones((_SIDE, _SIDE), np.float32)
    amount = groups * _THREADS * _SAMPLES
    with Image(pixels, queue=bench.queue) as image:
        arguments = (np.uint64(image.handle.raw_handle), sums, np.float32(1 / 16), np.int32(_SAMPLES))

        def work() -> None:
            kernel((groups,), (_THREADS,), arguments)
            cupy.cuda.Device().synchronize()

        bound = amount / (units * _UNITS * clock * 1e6)
        bench.measure(
            "linear samples at computed coordinates, summed",
            work,
            amount=amount,
            unit="samples",
            bound="texture units",
            bound_seconds=bound,
        )
