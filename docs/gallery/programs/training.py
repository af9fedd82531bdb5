"""Shared parts of the examples that learn: command line, descent, and pictures next to one another."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from common import byte_levels, grid
from PIL import Image as Picture

__all__ = ["Tensor", "beside", "descend", "main"]

Tensor = torch.Tensor
Array = npt.NDArray[Any]


def descend(loss: Callable[[], Tensor], parameters: Iterable[Tensor], steps: int, rate: float) -> list[float]:
    """Minimise a function with Adam, at a rate that falls to a tenth; return its value before each step."""
    optimizer = torch.optim.Adam(list(parameters), lr=rate)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.1 ** (1 / max(steps, 1)))
    values = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss()
        value.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
        values.append(value.detach())
    return [float(value) for value in values]


def beside(pictures: Sequence[Tensor], gap: int = 4) -> Array:
    """Put pictures of one height, (height, width[, 3]), next to one another with white between them."""
    rows = [picture.detach().cpu().numpy() for picture in pictures]
    rows = [np.repeat(row[..., None], 3, 2) if row.ndim == 2 else row for row in rows]
    return grid([rows], gap)


def main(
    learn: Callable[[torch.device, int, int], Array],
    about: str | None,
    size: int,
    steps: int,
    arguments: Sequence[str] | None = None,
) -> None:
    """Run the command line of an example.

    Parameters
    ----------
    learn
        Function of the device, the height of the pictures and the number of steps; returns a picture, values 0 to 1.
    about
        Text of ``--help``.
    size, steps
        Defaults of ``--size`` and ``--steps``.
    arguments
        Command line arguments; those of the process by default.
    """
    name = Path(learn.__code__.co_filename).stem
    parser = argparse.ArgumentParser(prog=f"{name}.py", description=about)
    parser.add_argument(
        "--device", default="cuda" if torch.cuda.is_available() else "cpu", help="of PyTorch: cpu, cuda"
    )
    parser.add_argument("--size", type=int, default=size, help=f"height of the pictures in pixels (default: {size})")
    parser.add_argument("--steps", type=int, default=steps, help=f"of the descent (default: {steps})")
    parser.add_argument("-o", "--output", type=Path, default=Path(f"{name}.png"), help=f"default: {name}.png")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    picture = byte_levels(learn(torch.device(options.device), options.size, options.steps))
    print(f"{options.device}: {options.steps} steps in {time.perf_counter() - start:.2f} s")
    Picture.fromarray(picture).save(options.output, optimize=True)
    print(f"wrote {options.output}")
