"""Plans of pictures: which road they take, that roads give equal values, and when they end."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.model.filter import CoordinateMap
from bindless.model.resampling import Resampling, Strategy
from bindless.sampling.blocks import BlockPlan
from bindless.sampling.driver import DriverPlan
from bindless.sampling.host import HostPlan
from bindless.sampling.kernel import KernelPlan
from bindless.sampling.plan import Plan
from bindless.sampling.prepare import prepare, resample
from tests.oracle.pictures import random_pixels
from tests.support.error_checks import raises
from tests.support.filters import resampling

Array = npt.NDArray[Any]

WIDTH, HEIGHT = 21, 17
MATRIX = (0.8, -0.3, 0.0, 3.0, 0.25, 0.9, 0.0, -2.0, 0.0, 0.0, 1.0, 0.0, 0.001, 0.002, 0.0, 1.1)
MAP = CoordinateMap.pictures(MATRIX)
SAMPLER = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")


def image_of(queue: bl.Queue, pixels: Array, **options: Any) -> bl.Image:
    return bl.Image(pixels, queue=queue, dimensions=2, **options)


def picture_of(image: bl.Image, **options: Any) -> Resampling:
    unit: dict[str, Any] = {}
    if image.handle.descriptor is not None and image.handle.descriptor.type is bl.ImageType.mipmap:
        (x, y), (u, v) = image._native.reader(image.sampler).units
        unit = {"scale": (x, y, 1.0), "bias": (u, v, 0.0)}
    shape, dtype = (WIDTH, HEIGHT, 1), image.dtype
    return resampling(0, image.descriptor, shape, 0, dtype, image.num_channels, **(unit | options))


def drawn(plan: Plan, image: bl.Image) -> Array:
    """The picture in memory of the host, and that it is the same in USM."""
    out = np.empty((HEIGHT, WIDTH, image.num_channels), image.dtype)
    assert plan.submit(MAP, out) is None
    values = bl.usm_empty(out.shape, out.dtype, image.queue)
    event = plan.submit(MAP, values)
    assert event is not None
    event.wait()
    np.testing.assert_array_equal(values.numpy(), out)
    return out


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
@pytest.mark.parametrize("kind", ["plane", "layers", "mipmaps"])
def test_both_strategies_give_the_same_values(queue: bl.Queue, dtype: str, kind: str) -> None:
    pixels = random_pixels(dtype, (*(3,) * (kind == "layers"), 19, 23, 3))
    with image_of(queue, pixels, layers=kind == "layers", mipmaps=kind == "mipmaps") as image:
        picture = picture_of(image, layer=2 * (kind == "layers"))
        first = drawn(prepare(queue, image.handle, picture), image)
        plan: Plan
        if queue._backend.resampling is None:
            plan = KernelPlan(queue, image.handle, picture, Strategy.resampling)
        else:
            plan = DriverPlan(queue, image.handle, picture, Strategy.resampling)
        np.testing.assert_array_equal(drawn(plan, image), first)


@pytest.mark.parametrize("footprints", [False, True])
def test_blocks_have_the_values_of_one_picture(
    queue: bl.Queue, footprints: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with image_of(queue, random_pixels("uint8", (39, 43, 3)), mipmaps=True) as image:
        picture = picture_of(image, footprints=footprints)
        whole = drawn(BlockPlan(queue, image.handle, picture), image)
        monkeypatch.setattr("bindless.sampling.row_blocks._BLOCK", 3 * WIDTH)
        np.testing.assert_array_equal(drawn(BlockPlan(queue, image.handle, picture), image), whole)
        np.testing.assert_array_equal(drawn(prepare(queue, image.handle, picture), image), whole)


def test_layers_lie_one_after_the_other(queue: bl.Queue) -> None:
    pixels = random_pixels("uint8", (2, 19, 23, 3))
    with image_of(queue, pixels, layers=True) as image:
        plans = [prepare(queue, image.handle, picture_of(image, layer=layer)) for layer in range(2)]
        alone = [drawn(plan, image) for plan in plans]
        out = np.empty((2, HEIGHT, WIDTH, 3), np.uint8)
        values = bl.usm_empty(out.shape, out.dtype, queue)
        for layer, plan in enumerate(plans):
            plan.submit(MAP, out, offset=layer * out[0].nbytes)
            plan.submit(MAP, values, offset=layer * out[0].nbytes)
        np.testing.assert_array_equal(out, alone)
        queue.wait()
        np.testing.assert_array_equal(values.numpy(), alone)


def test_roads_of_a_device(queue: bl.Queue) -> None:
    with image_of(queue, random_pixels("float32", (19, 23, 1))) as image:
        handle = image.handle
        exact, unit = picture_of(image, precision="exact"), picture_of(image)
        reproducible = picture_of(image, precision="reproducible")
        if queue._backend.resampling is not None:
            plans = [prepare(queue, handle, picture) for picture in (unit, exact, reproducible)]
            assert [plan._strategy for plan in plans if isinstance(plan, DriverPlan)] == [
                Strategy.projection,
                Strategy.resampling,
                Strategy.resampling,
            ]
            return
        assert isinstance(prepare(queue, handle, exact), KernelPlan)
        assert isinstance(prepare(queue, handle, reproducible), HostPlan)
        assert isinstance(prepare(queue, handle, unit), KernelPlan)


def test_work_that_waits_for_the_host_is_submitted_in_python(queue: bl.Queue) -> None:
    with image_of(queue, random_pixels("float32", (19, 23, 1))) as image:
        plan = prepare(queue, image.handle, picture_of(image))
        expected = drawn(plan, image)
        values = bl.usm_empty(expected.shape, np.float32, queue)
        task = queue.submit(lambda group: group.host_task(lambda: None))
        event = plan.submit(MAP, values, depends_on=task)
        assert event is not None
        event.wait()
        np.testing.assert_array_equal(values.numpy(), expected)


def test_queues_with_profiling(device: bl.Device) -> None:
    pixels = random_pixels("float32", (19, 23, 1))
    with bl.Queue(device) as plain, image_of(plain, pixels) as image:
        expected = image.warp([[0.8, -0.3, 3], [0.25, 0.9, -2]], (HEIGHT, WIDTH))
    with bl.Queue(device, enable_profiling=True) as profiled, image_of(profiled, pixels) as image:
        found = image.warp([[0.8, -0.3, 3], [0.25, 0.9, -2]], (HEIGHT, WIDTH))
    np.testing.assert_array_equal(found, expected)


def test_images_that_were_destroyed(queue: bl.Queue) -> None:
    pixels = np.zeros((19, 23, 1), np.float32)
    desc = bl.ImageDescriptor.from_array(pixels)
    with bl.ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(pixels, memory).wait()
        handle = bl.create_image(memory, desc, queue, sampler=SAMPLER)
        picture = resampling(0, desc, (WIDTH, HEIGHT, 1), 0, np.dtype(np.float32), 1)
        plan, out = prepare(queue, handle, picture), np.empty((HEIGHT, WIDTH, 1), np.float32)
        plan.submit(MAP, out)
        bl.destroy_image_handle(handle, queue)
        with raises(bl.InvalidError):
            plan.submit(MAP, out)
        with raises(bl.InvalidError):
            resample(queue, handle, picture, out)


def test_memory_that_was_freed(queue: bl.Queue) -> None:
    with image_of(queue, random_pixels("float32", (19, 23, 1))) as image:
        plan = prepare(queue, image.handle, picture_of(image))
        values = bl.usm_empty((HEIGHT, WIDTH, 1), np.float32, queue)
        values.close()
        with raises(bl.InvalidError):
            plan.submit(MAP, values)
