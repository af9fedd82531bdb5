"""Images in a kernel in CUDA C++ by NVRTC: ``compile_cuda`` finds the package's header by itself."""

from __future__ import annotations

from contextlib import ExitStack

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
        kernel = bl.compile_cuda(SOURCE, queue).get_kernel("sample")
        parts = (scene.handles, scene.which, scene.x, scene.y)
        given = [bl.usm_empty(part.shape, part.dtype, queue).copy_from(part) for part in parts]
        out = bl.usm_empty((POINTS, 4), np.float32, queue)
        queue.parallel_for(bl.NdRange(POINTS, 128), kernel, *given, out, np.int32(POINTS))
        return report("NVRTC", out.numpy(queue), scene)


if __name__ == "__main__":
    main()
