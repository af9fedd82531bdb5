"""Figure of docs/guide/millimetres.md: what lies outside of four pixels, by each rule.

python docs/plots/outside.py        writes docs/plots/outside.png; needs pip install 'bindless[plots]'
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import bindless as bl
from bindless import ndimage, space

__all__ = ["PIXELS", "RULES", "draw", "values"]

Array = npt.NDArray[Any]

PIXELS = np.array([2, 1, 3, 2.5])
RULES = {
    "extent": "extent: ITK",
    "border": "border: grid-constant",
    "constant": "scipy's constant",
    "clamp_to_edge": "clamp_to_edge: nearest",
    "mirrored_repeat": "mirrored_repeat: reflect",
    "mirror": "mirror",
    "repeat": "repeat: grid-wrap",
}


def values(x: Array, rule: str, filtering: str) -> Array:
    """Samples of four pixels, whose centres are at 0, 1, 2, 3, at evenly spaced positions; 0 is the fill value."""
    queue = bl.Queue("reference")
    if rule == "constant":
        order = {"linear": 1, "cubic": 3}[filtering]
        return np.asarray(ndimage.map_coordinates(PIXELS, x[None], order=order, mode=rule, queue=queue))
    source, target = space.Grid(4), space.Grid(len(x), x[1] - x[0], x[0])
    return np.asarray(
        space.resample(PIXELS, source, target, filtering=filtering, addressing=rule, fill=0.0, queue=queue)
    )


def draw(target: Path) -> None:
    """Draw a figure for each rule."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 4, figsize=(13, 4.6), layout="constrained", sharex=True, sharey=True)
    x = np.linspace(-4, 7, 1101)
    for axis, (rule, title) in zip(axes.flat, RULES.items()):
        axis.axvspan(-0.5, 3.5, color="0.93", zorder=0)
        axis.axhline(0, color="0.8", linewidth=0.8, zorder=1)
        for filtering, color in (("cubic", "tab:orange"), ("linear", "tab:blue")):
            axis.plot(x, values(x, rule, filtering), color=color, label=filtering)
        axis.plot(range(4), PIXELS, "ko", markersize=4)
        axis.set(title=title, ylim=(-1, 4.5))
    axes[1, 2].set_xlabel("x in pixels, from the centre of the first one")
    axes[1, 3].axis("off")
    axes[1, 3].legend(*axes[0, 0].get_legend_handles_labels(), loc="center")
    figure.savefig(target, dpi=80)
    plt.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).with_name("outside.png"))
