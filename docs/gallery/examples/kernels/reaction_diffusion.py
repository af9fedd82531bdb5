"""
Patterns by a kernel
====================

Two chemicals diffuse and react, and spots grow (Gray and Scott). The kernel reads one image and writes the other, which
then change places: 1400 launches, and the host sees only the last state. The images repeat at their edges, so that the
kernel tests no borders.
"""

import matplotlib.pyplot as plt
import numpy as np

import bindless as bl

source = """
#include <bindless/device.h>

kernel void step(unsampled_image_handle now, unsampled_image_handle next, float feed, float kill)
{
    const int y = bindless_item_id(0, 2), x = bindless_item_id(1, 2), n = bindless_item_range(1, 2), last = n - 1;
    const float2 here = fetch_image_float2(now, (int2)(x, y));
    const float2 around = 0.2f * (fetch_image_float2(now, (int2)((x + 1) & last, y))
                                + fetch_image_float2(now, (int2)((x + last) & last, y))
                                + fetch_image_float2(now, (int2)(x, (y + 1) & last))
                                + fetch_image_float2(now, (int2)(x, (y + last) & last)))
                        + 0.05f * (fetch_image_float2(now, (int2)((x + 1) & last, (y + 1) & last))
                                 + fetch_image_float2(now, (int2)((x + last) & last, (y + 1) & last))
                                 + fetch_image_float2(now, (int2)((x + 1) & last, (y + last) & last))
                                 + fetch_image_float2(now, (int2)((x + last) & last, (y + last) & last)));
    const float2 spread = (around - here) * (float2)(1.0f, 0.5f);
    const float reaction = here.x * here.y * here.y;
    write_image(next, (int2)(x, y), here + spread + (float2)(feed * (1 - here.x) - reaction,
                                                              reaction - (kill + feed) * here.y));
}
"""
n = 64  # a power of two: & is the remainder
start = np.dstack([np.ones((n, n)), np.zeros((n, n))]).astype(np.float32)
for row, column in np.random.default_rng(1).integers(0, n - 8, (6, 2)):
    start[row : row + 8, column : column + 8] = 0.5, 0.25

queue = bl.Queue(in_order=True)
kernel = bl.load_kernel_bundle(bl.build(source), queue).get_kernel("step")
figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained")
for axis, (feed, kill) in zip(axes, [(0.035, 0.065), (0.03, 0.057), (0.025, 0.06)]):
    with bl.Image(start, queue=queue) as one, bl.Image(start, queue=queue) as two:
        a, b = one.unsampled_handle(), two.unsampled_handle()
        for _ in range(700):
            queue.parallel_for((n, n), kernel, a, b, feed, kill)
            queue.parallel_for((n, n), kernel, b, a, feed, kill)
        axis.imshow(one.numpy()[..., 1], cmap="cividis", interpolation="bicubic")
    axis.set_title(f"feed {feed}, kill {kill}")
    axis.axis("off")
