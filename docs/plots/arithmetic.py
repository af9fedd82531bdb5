"""Figures of docs/internals/numerics.md: positions, addressing and the split of weights, sampled on the reference.

python docs/plots/arithmetic.py        writes docs/plots/arithmetic.png; needs pip install 'bindless[plots]'
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import bindless as bl

__all__ = ["MODES", "addressing", "draw", "positions", "split"]

Array = npt.NDArray[Any]
MODES = ("clamp_to_edge", "clamp_to_border", "repeat", "mirrored_repeat")


def positions(x: Array) -> Array:
    """Samples between a texel 0 at 0.5 and a texel 1 at 1.5."""
    with bl.Image(np.array([[0, 1]], np.float32), queue=bl.Queue("reference")) as image:
        return image.sample(np.stack([x, np.full_like(x, 0.5)], -1).astype(np.float32))


def addressing(x: Array, mode: str) -> Array:
    """Samples of the texels 1, 2, 3, 4 in and outside of their image."""
    with bl.Image(np.array([[1, 2, 3, 4]], np.float32), addressing=mode, queue=bl.Queue("reference")) as image:
        return image.sample(np.stack([x, np.full_like(x, 0.5)], -1).astype(np.float32))


def split() -> Array:
    """The weight of the lower right texel of a quad for each a (columns) and b (rows), in 1/256."""
    texels = np.zeros((2, 2), np.float32)
    texels[1, 1] = 256
    b, a = np.mgrid[0:256, 0:256] / 256 + 0.5
    with bl.Image(texels, queue=bl.Queue("reference")) as image:
        return image.sample(np.stack([a, b], -1).astype(np.float32))


def draw(target: Path) -> None:
    """Draw the three figures side by side."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    x = np.linspace(0.9895, 1.0105, 2101)
    axes[0].plot(x, x - 0.5, color="tab:orange", linewidth=1, label="exact")
    axes[0].plot(x, positions(x), color="tab:blue", label="texture unit")
    axes[0].set(title="positions: steps of 1/256 of a texel", xlabel="x in texels", ylabel="weight of the next texel")
    axes[0].legend()
    x = np.linspace(-5, 9, 1401)
    for number, mode in enumerate(MODES):
        axes[1].plot(x, addressing(x, mode) - 6 * number)
        axes[1].text(-5, 4.4 - 6 * number, mode)
    axes[1].axvspan(0, 4, color="0.9", zorder=0)
    axes[1].set(title="addressing: texels 1, 2, 3, 4 from 0 to 4", xlabel="x in texels", yticks=[], ylim=(-19, 6))
    a = np.arange(64)
    shown = axes[2].imshow(split()[:64, :64] - np.outer(a, a) / 256, cmap="RdBu", vmin=-0.75, vmax=0.75, origin="lower")
    axes[2].set(title="weights: split minus product, in 1/256", xlabel="a", ylabel="b")
    figure.colorbar(shown, ax=axes[2])
    figure.savefig(target, dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).with_name("arithmetic.png"))
