"""
A terrain of compressed tiles
=============================

A map of 64 tiles, each an image of its own: blocks of BC7, a quarter of the memory of plain pixels, with mipmaps. A
kernel marches through the heights and finds the tile of each point in an array of handles, without binding.
:meth:`bindless.Image.from_blocks` takes the blocks as files or, here, an encoder have them.
"""

import math

import etcpak
import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter

import bindless as bl
from bindless import device

TILES, SIDE, WIDTH, HEIGHT = 8, 128, 320, 180  # tiles along an edge of the map, pixels of a tile; of the view
noise = np.random.default_rng(9).normal(size=(TILES * SIDE,) * 2).astype(np.float32)
ground = sum(gaussian_filter(noise, s, mode="wrap") * s**1.9 for s in (6, 18, 50, 110))
ground = (120 * (ground - ground.min()) / np.ptp(ground)).astype(np.float32)
down, right = np.gradient(gaussian_filter(ground, 1.0, mode="wrap"))
slope = np.clip(np.hypot(down, right) * 2 - 0.8, 0, 1)[..., None]
snow = np.clip((ground[..., None] - 78) / 10, 0, 1) * (1 - 0.7 * slope)
grass, rock, white = np.array([[0.42, 0.55, 0.22, 1], [0.62, 0.55, 0.47, 1], [0.97, 0.98, 1.0, 1]])
land = (grass + (rock - grass) * slope) * (1 - snow) + white * snow
land[..., :3] *= np.clip(0.8 + 0.4 * (right - down) + 0.06 * noise, 0.15, 1.2)[..., None]
levels = [np.clip(255 * land, 0, 255).round().astype(np.uint8)]
while len(levels) < 6:  # down to tiles of 4 x 4 pixels
    levels.append(levels[-1].reshape(-1, 2, levels[-1].shape[1] // 2, 2, 4).mean((1, 3)).round().astype(np.uint8))


@bl.kernel
def march(heights, tiles, out, eye_x, eye_y, eye_z):
    row, column = device.item_id(0), device.item_id(1)
    x, y, z, t, above = eye_x, eye_y, eye_z, 2.0, 1.0
    for _ in range(100):
        x, y, z = eye_x + t * (column / WIDTH - 0.5), eye_y - t, eye_z - t * ((row - HEIGHT / 2) / WIDTH + 0.32)
        above = z - device.sample_image(heights, x, y)[0]
        t += max(above * 0.5, 0.0)
    u, v, level = x / SIDE, y / SIDE, math.log2(max(t / WIDTH, 1.0))
    ground = device.sample_mipmap(tiles[int(v) % TILES * TILES + int(u) % TILES], u % 1, v % 1, level=level)
    clear = math.exp(-t / 1500) if above < 0.01 * t and min(u, v) >= 0 and max(u, v) < TILES else 0.0
    out[row, column, 0], out[row, column, 1] = 0.66 + (ground[0] - 0.66) * clear, 0.79 + (ground[1] - 0.79) * clear
    out[row, column, 2] = 0.93 + (ground[2] - 0.93) * clear


queue = bl.Queue() if bl.Device().backend == "cuda" else bl.Queue("reference")
blocks = [np.frombuffer(etcpak.compress_bc7(p.tobytes(), len(p), len(p), None), np.uint8) for p in levels]
rows = [np.split(b.reshape(len(p) // 4, -1, 16), TILES) for b, p in zip(blocks, levels)]
tiles = [[np.split(level[r], TILES, 1)[c] for level in rows] for r, c in np.ndindex(TILES, TILES)]
images = [bl.Image.from_blocks(tile, (SIDE, SIDE), "bc7_unorm", queue=queue) for tile in tiles]
handles = bl.usm_empty(len(images), np.uint64, queue).copy_from(np.array([int(i.handle) for i in images], np.uint64))
out = bl.usm_empty((HEIGHT, WIDTH, 3), np.float32, queue)
with bl.Image(ground, queue=queue) as heights:
    queue.parallel_for((HEIGHT, WIDTH), march, heights, handles, out, 512.0, 1004.0, 170.0).wait()
plt.figure(figsize=(9, 5.2), layout="constrained").gca().imshow(out.numpy(queue))
plt.axis("off")
