"""Shared parts of the examples: command line, kernels, device memory for arguments, and PNG output."""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image as Picture

import bindless as bl

__all__ = ["byte_levels", "grid", "load_kernels", "main", "photograph", "reductions", "sampled_image", "upload"]

Array = npt.NDArray[Any]
HERE = Path(__file__).resolve().parent


def load_kernels(queue: bl.Queue, source: str) -> bl.KernelBundle:
    """Compile the kernels of one file of this folder for the queue's device."""
    return bl.load_kernel_bundle(bl.build(HERE / source), queue)


def upload(queue: bl.Queue, values: Array) -> bl.UsmArray:
    """Copy an array to device memory, which a kernel takes as a pointer."""
    memory = bl.usm_empty(values.shape, values.dtype, queue)
    memory.copy_from(values)
    return memory


@contextmanager
def sampled_image(
    queue: bl.Queue, levels: Sequence[Array], sampler: bl.BindlessImageSampler
) -> Iterator[bl.SampledImageHandle]:
    """Create a sampled image on the device, and yield its handle; the image is destroyed at the end of the block.

    Parameters
    ----------
    levels
        The image, ([depth,] height, width, channels) or (width, channels), followed by its mipmap levels, if any.
    sampler
        Sampler of the handle; all levels are accessible, whatever its level limits.
    """
    *extent, channels = levels[0].shape
    desc = bl.ImageDescriptor(
        *reversed(extent),
        num_channels=channels,
        channel_type="unorm_int8" if levels[0].dtype == np.uint8 else "fp32",
        type="mipmap" if len(levels) > 1 else "standard",
        num_levels=len(levels),
    )
    with bl.ImageMem(desc, queue) as memory:
        if len(levels) == 1:
            queue.ext_oneapi_copy(np.ascontiguousarray(levels[0]), memory).wait()
        else:
            sampler = replace(sampler, max_mipmap_level_clamp=len(levels) - 1)
            for level, pixels in enumerate(levels):
                target = memory.get_mip_level_mem_handle(level)
                queue.ext_oneapi_copy(pixels, target, dst_desc=desc.get_mip_level_desc(level)).wait()
        handle = bl.create_image(memory, desc, queue, sampler=sampler)
        try:
            yield handle
        finally:
            bl.destroy_image_handle(handle, queue)


def reductions(pixels: Array) -> list[Array]:
    """Return the mipmap levels of (height, width, channels): each pixel averages four, down to one row or column."""
    levels = [pixels]
    while min(levels[-1].shape[:2]) > 1:
        last = levels[-1][: levels[-1].shape[0] // 2 * 2, : levels[-1].shape[1] // 2 * 2].astype(np.float64)
        mean = (last[0::2, 0::2] + last[1::2, 0::2] + last[0::2, 1::2] + last[1::2, 1::2]) / 4
        levels.append((np.rint(mean) if pixels.dtype == np.uint8 else mean).astype(pixels.dtype))
    return levels


def photograph(name: str) -> npt.NDArray[np.uint8]:
    """Return a photograph of scikit-image (pip install scikit-image) as RGBA (height, width, 4)."""
    package = importlib.util.find_spec("skimage")
    if package is None or package.origin is None:
        raise SystemExit("the photographs are those of scikit-image: pip install scikit-image")
    return np.asarray(Picture.open(Path(package.origin).parent / "data" / name).convert("RGBA"))


def byte_levels(picture: Array) -> npt.NDArray[np.uint8]:
    """Convert a picture in display space, values 0 to 1, to 8-bit RGB (height, width, 3)."""
    levels: npt.NDArray[np.float64] = np.rint(np.clip(picture[..., :3], 0, 1) * 255)
    return levels.astype(np.uint8)


def grid(rows: Sequence[Sequence[Array]], gap: int = 4) -> Array:
    """Put rows of pictures, all (height, width, 3) and of one size, below one another with white between them."""

    def join(parts: Sequence[Array], axis: int) -> Array:
        shape = list(parts[0].shape)
        shape[axis] = gap
        white = np.ones(shape, parts[0].dtype)
        return np.concatenate([each for part in parts for each in (part, white)][:-1], axis)

    return join([join(row, 1) for row in rows], 0)


def main(
    render: Callable[[bl.Queue, int], Array], about: str | None, size: int, arguments: Sequence[str] | None = None
) -> None:
    """Run the command line of an example.

    Parameters
    ----------
    render
        Function that returns a picture, (height, width, 3 or 4), of about the given height.
    about
        Text of ``--help``.
    size
        Default height of the picture, without ``--size``.
    arguments
        Command line arguments; those of the process by default.
    """
    name = Path(render.__code__.co_filename).stem
    parser = argparse.ArgumentParser(prog=f"{name}.py", description=about)
    parser.add_argument("--device", default="default", help="reference, cuda, ... or a filter such as cuda:gpu:1")
    parser.add_argument("--size", type=int, default=size, help=f"height of the picture in pixels (default: {size})")
    parser.add_argument("-o", "--output", type=Path, default=Path(f"{name}.png"), help=f"default: {name}.png")
    options = parser.parse_args(arguments)
    with bl.Queue(bl.Device(options.device)) as queue:
        start = time.perf_counter()
        picture = byte_levels(render(queue, options.size))
        seconds = time.perf_counter() - start
        print(f"{queue.device.name}: {picture.shape[1]} x {picture.shape[0]} in {seconds:.2f} s, compiling included")
    Picture.fromarray(picture).save(options.output, optimize=True)
    print(f"wrote {options.output}")
