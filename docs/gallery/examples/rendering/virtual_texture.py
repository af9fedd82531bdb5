"""
A virtual texture
=================

A map too large for memory: only the tiles that the camera sees, at the size at which it sees them, are in an atlas, a
stack of layers. A small image, the page table, says which layer has a tile. Two lookups draw a pixel.
"""

import matplotlib.pyplot as plt
import numpy as np

import bindless as bl

TILE, SIDE, LEVELS = 64, 64, 7  # 4096 x 4096 pixels: 64 x 64 tiles at level 0, one at level 6


def tile(level, row, column):
    """Pixels of a tile, with a border of one pixel, from the file or the network; here a formula."""
    y, x = np.meshgrid(*[(np.arange(-1, TILE + 1) + 0.5) * 2**level + 2**level * TILE * k for k in (row, column)],
                       indexing="ij")  # fmt: skip
    rings = 0.5 + 0.5 * np.cos(np.hypot(x - 2048, y - 2048) / 24)
    lines = (np.minimum(x % 256, y % 256) < 6 + 2**level) * 0.6
    red, green, blue = np.eye(3)[[0, 1, 2]] * 0.35
    tint = 0.4 + (level % 3 == 0) * red + (level % 3 == 1) * green + (level % 3 == 2) * blue
    return (rings[..., None] * tint * (1 - lines[..., None])).astype(np.float32)


# %%
# The camera looks over the map; the distance gives the level of each pixel.

v, u = np.mgrid[0.5:240, 0.5:400]
depth = 60000 / (v + 18)
at = np.stack([2048 + (u - 200) * depth / 260, 4090 - depth * 1.22 + 120], -1)
level = np.clip(np.floor(np.log2(depth / 260 * 1.5)), 0, LEVELS - 1).astype(int)
seen = (at > 0).all(-1) & (at < 4096).all(-1)
pages = np.concatenate([level[..., None], (at // (TILE * 2 ** level[..., None])).astype(int)[..., ::-1]], -1)[seen]
needed = np.unique(pages, axis=0)

# %%
# Load the tiles that are needed, and write the table: for each level, the layer of each tile.

atlas = np.stack([tile(*page) for page in needed])
table = np.full((LEVELS, SIDE, SIDE), -1, np.int32)
table[tuple(needed.T)] = np.arange(len(needed))
with bl.Image(table, layers=True, filtering="nearest") as page_table, bl.Image(atlas, layers=True) as tiles:
    layer = page_table.fetch(pages[:, :0:-1], layers=pages[:, 0])
    inside = at[seen] / 2.0 ** pages[:, :1] % TILE + 1  # behind the border
    colours = tiles.sample(inside.astype(np.float32), layers=layer)
picture = np.full((240, 400, 3), 0.85)
picture[seen] = colours
print(f"{len(needed)} tiles in memory, of {sum(4**k for k in range(LEVELS))}")
figure, axis = plt.subplots(figsize=(8, 4.8), layout="constrained")
axis.imshow(picture)
axis.set_title("the tint shows the level of the tile")
axis.axis("off")
