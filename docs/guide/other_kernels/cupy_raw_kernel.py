"""Images in a kernel of CuPy: ``RawModule`` with the package's header for CUDA C++."""

from __future__ import annotations

from contextlib import ExitStack

import cupy
import numpy as np
from scene import POINTS, make_scene, report

import bindless as bl

SOURCE = r"""
#include <bindless/cuda.h>

extern "C" __global__ void sample(const unsigned long long *handles, const int *which, const float *x, const float *y,
                                  float4 *out, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = bindless::sample_image<float4>(handles[which[i]], make_float2(x[i], y[i]));
}
"""


def main() -> float:
    with ExitStack() as owner:
        queue = owner.enter_context(bl.Queue("cuda", in_order=True))
        scene = make_scene(queue, owner)
        kernel = cupy.RawModule(code=SOURCE, options=(f"-I{bl.get_include()}",)).get_function("sample")
        given = [cupy.asarray(part) for part in (scene.handles, scene.which, scene.x, scene.y)]
        out = cupy.empty((POINTS, 4), cupy.float32)
        kernel((POINTS // 128,), (128,), (*given, out, np.int32(POINTS)))
        return report("CuPy RawModule", cupy.asnumpy(out), scene)


if __name__ == "__main__":
    main()
