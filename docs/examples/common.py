"""What every example needs: its options, its kernels, memory for their arguments, and a PNG at the end."""

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

__all__ = ["byte_levels", "load_kernels", "main", "photograph", "reductions", "sampled_image", "upload"]

Array = npt.NDArray[Any]
HERE = Path(__file__).resolve().parent


def load_kernels(queue: bl.Queue, source: str) -> bl.KernelBundle:
    """The kernels of one file of this folder, compiled for whatever the queue runs on."""
    return bl.load_kernel_bundle(bl.build(HERE / source), queue)


def upload(queue: bl.Queue, values: Array) -> bl.UsmArray:
    """A copy in device memory, which a kernel takes as a pointer."""
    memory = bl.usm_empty(values.shape, values.dtype, queue)
    memory.copy_from(values)
    return memory


@contextmanager
def sampled_image(
    queue: bl.Queue, levels: Sequence[Array], sampler: bl.BindlessImageSampler
) -> Iterator[bl.SampledImageHandle]:
    """The handle of an image on the device, while the block lasts.

    Args:
        levels: the image, ([depth,] height, width, channels) or (width, channels), and its reductions if there are any.
        sampler: how kernels read it; all the levels, whatever its clamps.
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
    """The levels of a mipmap of (height, width, channels): each pixel the mean of four, down to one row or column."""
    levels = [pixels]
    while min(levels[-1].shape[:2]) > 1:
        last = levels[-1][: levels[-1].shape[0] // 2 * 2, : levels[-1].shape[1] // 2 * 2].astype(np.float64)
        mean = (last[0::2, 0::2] + last[1::2, 0::2] + last[0::2, 1::2] + last[1::2, 1::2]) / 4
        levels.append((np.rint(mean) if pixels.dtype == np.uint8 else mean).astype(pixels.dtype))
    return levels


def photograph(name: str) -> npt.NDArray[np.uint8]:
    """A photograph that comes with scikit-image (pip install scikit-image), as RGBA (height, width, 4)."""
    package = importlib.util.find_spec("skimage")
    if package is None or package.origin is None:
        raise SystemExit("the photographs are those of scikit-image: pip install scikit-image")
    return np.asarray(Picture.open(Path(package.origin).parent / "data" / name).convert("RGBA"))


def byte_levels(picture: Array) -> npt.NDArray[np.uint8]:
    """8-bit RGB (height, width, 3) of a picture whose values, 0 to 1, are meant for a screen."""
    levels: npt.NDArray[np.float64] = np.rint(np.clip(picture[..., :3], 0, 1) * 255)
    return levels.astype(np.uint8)


def main(
    render: Callable[[bl.Queue, int], Array], about: str | None, size: int, arguments: Sequence[str] | None = None
) -> None:
    """The command line of an example.

    Args:
        render: draws a picture, (height, width, 3 or 4), of about the given height.
        about: the text of ``--help``.
        size: height of the picture where ``--size`` does not say it.
        arguments: instead of those of the process.
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
