"""
Post-processing a picture that Vulkan drew
==========================================

Vulkan draws a town at night into an image of 16-bit floats; its windows are brighter than any screen. A kernel in
Python samples the same memory in place, without a copy, adds a glow and maps the tones. Needs a Vulkan driver,
``pip install 'bindless[vulkan]'``, and :download:`vulkan_headless.py </gallery/programs/vulkan_headless.py>` in the
folder of the program: it sets Vulkan up.
"""

import matplotlib.pyplot as plt
import numpy as np
from vulkan_headless import Renderer

import bindless as bl
from bindless import device

WIDTH, HEIGHT = 384, 240
random = np.random.default_rng(3)
boxes = [(0, 0, WIDTH, HEIGHT, (0.01, 0.02, 0.06))]  # x, y, width, height, colour: the sky, houses and windows
for x, y in zip(range(4, WIDTH - 24, 26), random.integers(50, 170, 14).tolist()):
    lights = random.choice([[0.0, 0.0, 0.0], [6.0, 3.0, 0.8], [2.0, 2.8, 4.0]], (3, HEIGHT), p=[0.6, 0.3, 0.1]).tolist()
    boxes += [(x, y, 24, HEIGHT - y, (0.002, 0.003, 0.005))]
    boxes += [(x + 4 + 6 * i, y + j, 3, 4, lights[i][j]) for i in range(3) for j in range(6, HEIGHT - y - 4, 10)]


@bl.kernel
def develop(scene, out, glow):
    row, column, channel = device.item_id(0), device.item_id(1), device.item_id(2)
    light = device.sample_image(scene, column + 0.5, row + 0.5)[channel]
    for i in range(1, 160):  # a spiral, fainter away from the pixel
        x, y = column + 0.5 + 0.2 * i * np.cos(2.4 * i), row + 0.5 + 0.2 * i * np.sin(2.4 * i)
        light += glow * device.sample_image(scene, x, y)[channel] * np.exp(-0.02 * i)
    out[row, column, channel] = (1 - np.exp(-light)) ** 0.4545


queue = bl.Queue(in_order=True)
desc = bl.ImageDescriptor(WIDTH, HEIGHT, num_channels=4, channel_type="fp16")
with Renderer(queue) as renderer, renderer.exporter.image(desc) as scene:
    renderer.start(scene)
    renderer.fill(scene, boxes)
    memory = bl.import_external_memory(scene.export(), queue)
    pixels = bl.map_external_image_memory(memory, desc, queue)  # the memory of Vulkan's image, not a copy
    image = bl.create_image(pixels, desc, queue, sampler=bl.BindlessImageSampler("clamp_to_edge", filtering="linear"))
    out = bl.usm_empty((HEIGHT, WIDTH, 3), np.float32, queue)
    queue.parallel_for(out.shape, develop, image, out, 0.01).wait()
    drawn = np.empty(desc.shape, desc.dtype)
    queue.ext_oneapi_copy(pixels, drawn, src_desc=desc).wait()
    bl.destroy_image_handle(image, queue)
    bl.unmap_external_image_memory(pixels, desc.type, queue)
    bl.release_external_memory(memory, queue)

figure, axes = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
pictures = {"drawn by Vulkan": drawn[..., :3].astype(np.float32), "developed": out.numpy()}
for axis, (name, picture) in zip(axes, pictures.items()):
    axis.imshow(np.clip(picture, 0, 1))
    axis.set_title(name)
    axis.axis("off")
