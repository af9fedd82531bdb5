"""Kernels in Python whose neighbouring work-items use different images: results, and the code for NVIDIA GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device
from bindless.python_kernels.argument_type import ArgumentType
from tests.compiler.ptxas import nvdisasm, ptxas
from tests.python_kernels.conftest import require_handles
from tests.python_kernels.test_kernel_ptx import compiled
from tests.support.image_instructions import disassemble, image_instructions

IMAGES, ITEMS, GROUP, WIDTH = 33, 256, 64, 8
RNG = np.random.default_rng(8)
WHICH = np.concatenate([np.arange(128) % IMAGES, RNG.integers(0, IMAGES, 128)]).astype(np.int32)
ITEM = np.arange(ITEMS)


def column(i: Any) -> Any:
    return i * 5 % WIDTH


at_column = bl.device_function(column)


@bl.kernel
def plain(handles, which, out):
    i = device.item_id(0)
    out[i] = device.sample_image(handles[which[i]], at_column(i) + 0.5, 0.5).x


@bl.kernel
def divergent(handles, which, out):
    i = device.item_id(0)
    if i % 3 == 0:
        out[i] = device.sample_image(handles[which[i]], at_column(i) + 0.5, 0.5).x
    elif i % 3 == 1:
        out[i] = device.fetch_sampled_image(handles[which[i]], at_column(i + 1), 0).y
    else:
        out[i] = -1


@bl.kernel
def looping(handles, which, out):
    i = device.item_id(0)
    total = 0.0
    for step in range(i % 5 + 1):
        total += device.sample_image(handles[(which[i] + 3 * step) % 33], at_column(i + step) + 0.5, 0.5).x
    out[i] = total


@bl.kernel
def chained(handles, which, out):
    i = device.item_id(0)
    value = float(which[i])
    for step in range(4):
        value = device.sample_image(handles[int(value) % 33], at_column(i + step) + 0.5, 0.5).x
    out[i] = value


@bl.kernel
def shuffled(handles, which, out):
    i = device.item_id(0)
    other = device.sub_group_shuffle_xor(handles[which[i]], 1)
    out[i] = device.sample_image(other, at_column(i) + 0.5, 0.5).x


@bl.kernel
def shared(handles, which, out):
    i = device.item_id(0)
    kept = device.local_array(64, np.uint64)
    kept[device.local_id(0)] = handles[which[i]]
    device.barrier()
    out[i] = device.sample_image(kept[63 - device.local_id(0)], at_column(i) + 0.5, 0.5).x


@bl.kernel
def stepped(handles, which, out):
    """The form whose results ptxas of CUDA 12 loses: coordinates that are the same for all work-items."""
    i = device.item_id(0)
    image = handles[which[i]]
    one = device.sample_image(image, 1.5, 0.5).x
    two = device.sample_image(image, 2.5, 0.5).x
    out[i] = one + 2 * two


def pixels(image: Any, x: Any) -> Any:
    """Whole numbers that differ between all pixels; the second channel is half of them."""
    return np.asarray(image) * WIDTH + x


def chain() -> Any:
    value = WHICH.copy()
    for step in range(4):
        value = pixels(value % IMAGES, column(ITEM + step))
    return value


WANTED = {
    "plain": pixels(WHICH, column(ITEM)),
    "divergent": np.select(
        [ITEM % 3 == 0, ITEM % 3 == 1], [pixels(WHICH, column(ITEM)), pixels(WHICH, column(ITEM + 1)) / 2], -1
    ),
    "looping": sum(
        np.where(step <= ITEM % 5, pixels((WHICH + 3 * step) % IMAGES, column(ITEM + step)), 0) for step in range(5)
    ),
    "chained": chain(),
    "shuffled": pixels(WHICH[ITEM ^ 1], column(ITEM)),
    "shared": pixels(WHICH[ITEM ^ (GROUP - 1)], column(ITEM)),
    "stepped": pixels(WHICH, 1) + 2 * pixels(WHICH, 2),
}
KERNELS = {kernel.name: kernel for kernel in (plain, divergent, looping, chained, shuffled, shared, stepped)}


@pytest.mark.parametrize("name", KERNELS)
def test_each_work_item_uses_its_own_image(name: str, queue: bl.Queue) -> None:
    require_handles(queue)
    values = [pixels(number, np.arange(WIDTH)).astype(np.float32)[np.newaxis] for number in range(IMAGES)]
    images = [bl.Image(np.stack([value, value / 2], 2), queue=queue) for value in values]
    handles = np.array([int(image.handle) for image in images], np.uint64)
    arrays = [bl.usm_empty(one.shape, one.dtype, queue).copy_from(one) for one in (handles, WHICH)]
    out = bl.usm_empty(ITEMS, np.float32, queue)
    queue.parallel_for(bl.NdRange(ITEMS, GROUP), KERNELS[name], *arrays, out).wait_and_throw()
    np.testing.assert_array_equal(out.numpy(queue), WANTED[name])
    for image in images:
        image.close()


@pytest.mark.skipif(
    ptxas() is None or nvdisasm() is None,
    reason="needs ptxas and nvdisasm: pip install nvidia-cuda-nvcc nvidia-cuda-nvdisasm",
)
@pytest.mark.parametrize("architecture", ("sm_75", "sm_90", "sm_100", "sm_120"))
def test_machine_code_has_a_handle_for_each_lane(architecture: str, tmp_path: Path) -> None:
    handles, which, out = (
        ArgumentType("array", dtype=np.dtype(kind), dimensions=1) for kind in (np.uint64, np.int32, np.float32)
    )
    for kernel in KERNELS.values():
        text = compiled(kernel._kernel_function, handles, which, out, dimensions=1)
        found = image_instructions(disassemble(text.encode(), architecture, str(ptxas()), str(nvdisasm()), tmp_path))
        assert found and [item for item in found if item.uniform and not item.selected] == [], kernel.name
