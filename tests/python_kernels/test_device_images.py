"""Image functions of ``bindless.device``: compiled and interpreted, compared with the package's own functions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device
from bindless.python_kernels.argument_type import ArgumentType
from tests.python_kernels.conftest import require_handles
from tests.python_kernels.test_device_functions import (
    counted,
    geometry,
    grouped,
    mirrored,
    places,
    sub_grouped,
    transposed,
)
from tests.python_kernels.test_kernel_ptx import assemble, compiled

FLOATS = ArgumentType("array", dtype=np.dtype(np.float32), dimensions=1)
Upload = Callable[[Any], bl.UsmArray]
RNG = np.random.default_rng(5)


def run(kernel: Any, space: Any, queue: bl.Queue, *arguments: Any) -> np.ndarray:
    """Return what a kernel writes to its last argument, which interpretation in Python gives too."""
    out = arguments[-1]
    array = bl.usm_empty(out.shape, out.dtype, queue).copy_from(out)
    given = [bl.usm_empty(a.shape, a.dtype, queue).copy_from(a) if isinstance(a, np.ndarray) else a for a in arguments]
    queue.parallel_for(space, kernel, *given[:-1], array).wait_and_throw()
    found = array.numpy(queue)
    if queue.device.backend is bl.Backend.reference:
        mine = out.copy()
        kernel.run_in_python(space, *arguments[:-1], mine)
        np.testing.assert_array_equal(found, mine)
    return found


@pytest.fixture
def picture(queue: bl.Queue) -> Any:
    with bl.Image(RNG.random((9, 13, 4), np.float32), filtering="linear", queue=queue) as made:
        yield made


def test_samples_of_every_dimension(queue: bl.Queue) -> None:
    @bl.kernel
    def flat(image, at, out):
        i = device.item_id(0)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = device.sample_image(image, at[i, 0], at[i, 1])

    @bl.kernel
    def deep(image, at, out):
        i = device.item_id(0)
        color = device.sample_image(image, at[i, 0], y=at[i, 1], z=at[i, 2])
        out[i, 0] = color.x
        out[i, 1] = color.g

    at = RNG.uniform(-1, 14, (50, 3)).astype(np.float32)
    with bl.Image(RNG.random((9, 13, 4), np.float32), filtering="linear", queue=queue) as image:
        found = run(flat, 50, queue, image, at, np.zeros((50, 4), np.float32))
        np.testing.assert_array_equal(found, bl.sample_image(queue, image.handle, at[:, :2].copy()))
        handle = run(flat, 50, queue, image.handle, at, np.zeros((50, 4), np.float32))
        np.testing.assert_array_equal(handle, found)
    with bl.Image(RNG.random((5, 9, 13, 2), np.float32), filtering="linear", dimensions=3, queue=queue) as volume:
        found = run(deep, 50, queue, volume, at, np.zeros((50, 2), np.float32))
        np.testing.assert_array_equal(found, bl.sample_image(queue, volume.handle, at))


def test_integer_images(queue: bl.Queue) -> None:
    @bl.kernel
    def codes(image, out):
        y, x = device.item_id(0), device.item_id(1)
        a = device.sample_image(image, x + 0.5, y + 0.5, dtype=np.int32)
        b = device.fetch_image(image, x, y, dtype=np.int32)
        out[y, x] = a.x + 3 * b.y

    pixels = RNG.integers(-99, 99, (4, 6, 2)).astype(np.int16)
    desc = bl.ImageDescriptor(6, 4, num_channels=2, channel_type="signed_int16")
    with bl.ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(pixels, memory).wait()
        sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "nearest")
        handle = bl.create_image(memory, desc, queue, sampler=sampler)
        found = run(codes, (4, 6), queue, handle, np.zeros((4, 6), np.int32))
        bl.destroy_image_handle(handle, queue)
    np.testing.assert_array_equal(found, pixels[..., 0].astype(int) + 3 * pixels[..., 1])


def test_handles_from_memory(queue: bl.Queue) -> None:
    require_handles(queue)

    @bl.kernel
    def atlas(handles, which, out):
        i = device.item_id(0)
        out[i] = device.sample_image(handles[which[i]], i % 8 + 0.5, 0.5).x

    images = [
        bl.Image(np.full((1, 8), k, np.float32) + np.arange(8, dtype=np.float32) / 8, queue=queue) for k in range(9)
    ]
    handles = np.array([int(image.handle) for image in images], np.uint64)
    which = RNG.integers(0, 9, 128).astype(np.int32)
    found = run(atlas, 128, queue, handles, which, np.zeros(128, np.float32))
    np.testing.assert_array_equal(found, which + np.arange(128) % 8 / 8)
    for image in images:
        image.close()


def test_layers(queue: bl.Queue) -> None:
    @bl.kernel
    def layers(image, out):
        layer, y, x = device.item_id(0), device.item_id(1), device.item_id(2)
        out[layer, y, x] = device.sample_image_array(image, x + 0.5, y + 0.5, layer).x
        out[layer, y, x] += 2 * device.fetch_image_array(image, x, y, layer=layer).x

    pixels = RNG.random((3, 4, 5), np.float32)
    with bl.Image(pixels, layers=True, queue=queue) as image:
        found = run(layers, (3, 4, 5), queue, image, np.zeros((3, 4, 5), np.float32))
    np.testing.assert_allclose(found, 3 * pixels, rtol=1e-6)


def test_levels(queue: bl.Queue) -> None:
    @bl.kernel
    def levels(image, level, out):
        i = device.item_id(0)
        out[i] = device.sample_mipmap(image, 3.5, 2.5, level=level[i]).x

    if not queue.device.has(bl.Aspect.ext_oneapi_mipmap):
        pytest.skip(f"{queue.device.name} has no mipmaps")
    with bl.Image(RNG.random((16, 16), np.float32), mipmaps=True, filtering="linear", queue=queue) as image:
        level = np.linspace(0, 3, 7, dtype=np.float32)
        found = run(levels, 7, queue, image, level, np.zeros(7, np.float32))
        places = np.full((7, 2), (3.5, 2.5), np.float32)
        np.testing.assert_array_equal(found, bl.sample_mipmap(queue, image.handle, places, level=level)[:, 0])


@pytest.mark.parametrize("dims", (1, 2, 3))
def test_cubic_samples(dims: int, queue: bl.Queue) -> None:
    @bl.kernel
    def line(image, at, out):
        i = device.item_id(0)
        out[i] = device.sample_image(image, at[i, 0], filtering="cubic").x

    @bl.kernel
    def flat(image, at, out):
        i = device.item_id(0)
        out[i] = device.sample_image(image, at[i, 0], at[i, 1], filtering="cubic").x

    @bl.kernel
    def deep(image, at, out):
        i = device.item_id(0)
        out[i] = device.sample_image(image, at[i, 0], at[i, 1], at[i, 2], filtering="cubic").x

    desc = bl.ImageDescriptor(*(7, 8, 9)[:dims], num_channels=1, channel_type="fp32")
    at = RNG.uniform(1.5, 5.5, (20, 3)).astype(np.float32)
    pixels = RNG.random(desc.shape, np.float32)
    kernel = (line, flat, deep)[dims - 1]
    with bl.ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(pixels, memory).wait()
        sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
        handle = bl.create_image(memory, desc, queue, sampler=sampler)
        out = bl.usm_empty(20, np.float32, queue)
        given = bl.usm_empty(at.shape, at.dtype, queue).copy_from(at)
        queue.parallel_for(20, kernel, handle, given, out).wait_and_throw()
        mine = np.zeros(20, np.float32)
        kernel.run_in_python(20, handle, at, mine)
        bl.destroy_image_handle(handle, queue)
    np.testing.assert_allclose(out.numpy(queue), mine, atol=0.02)  # the texture unit's weights have 8 bits
    assert mine.std() > 0.02


TYPES = [
    ("fp32", np.float32, 4), ("fp32", np.float32, 1), ("fp16", np.float16, 4), ("fp16", np.float16, 2),
    ("unsigned_int8", np.uint8, 4), ("signed_int16", np.int16, 2), ("unsigned_int32", np.uint32, 1),
    ("signed_int8", np.int8, 1),
]  # fmt: skip


@pytest.mark.parametrize(("channel_type", "dtype", "channels"), TYPES)
def test_unsampled_images(channel_type: str, dtype: Any, channels: int, queue: bl.Queue) -> None:
    @bl.kernel
    def one(source, target):
        y, x = device.item_id(0), device.item_id(1)
        value = device.fetch_image(source, x, y, dtype=dtype, channels=1)
        device.write_image(target, 4 - x, y, value)

    @bl.kernel
    def more(source, target):
        y, x = device.item_id(0), device.item_id(1)
        device.write_image(target, 4 - x, y, device.fetch_image(source, x, y, dtype=dtype, channels=channels))

    desc = bl.ImageDescriptor(5, 3, num_channels=channels, channel_type=channel_type)
    if np.dtype(dtype).kind == "f":
        pixels = RNG.random(desc.shape, np.float32).astype(dtype)
    else:
        pixels = RNG.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, desc.shape, dtype, endpoint=True)
    with bl.ImageMem(desc, queue) as source, bl.ImageMem(desc, queue) as target, bl.ImageMem(desc, queue) as other:
        queue.ext_oneapi_copy(pixels, source).wait()
        handles = [bl.create_image(memory, desc, queue) for memory in (source, target, other)]
        kernel = one if channels == 1 else more
        queue.parallel_for((3, 5), kernel, *handles[:2]).wait_and_throw()
        kernel.run_in_python((3, 5), handles[0], handles[2])
        for memory in (target, other):
            found = np.zeros_like(pixels)
            queue.ext_oneapi_copy(memory, found).wait()
            np.testing.assert_array_equal(found, pixels[:, ::-1])
        for handle in handles:
            bl.destroy_image_handle(handle, queue)


def test_normalized_images(queue: bl.Queue) -> None:
    @bl.kernel
    def doubled(source, target):
        y, x = device.item_id(0), device.item_id(1)
        color = device.fetch_image(source, x, y, channel_type="unorm_int8")
        device.write_image(target, x, y, color * 2, channel_type="unorm_int8")

    desc = bl.ImageDescriptor(5, 3, num_channels=4, channel_type="unorm_int8")
    pixels = RNG.integers(0, 256, desc.shape).astype(np.uint8)
    with bl.ImageMem(desc, queue) as source, bl.ImageMem(desc, queue) as target:
        queue.ext_oneapi_copy(pixels, source).wait()
        handles = [bl.create_image(memory, desc, queue) for memory in (source, target)]
        queue.parallel_for((3, 5), doubled, *handles).wait_and_throw()
        found = np.zeros_like(pixels)
        queue.ext_oneapi_copy(target, found).wait()
        for handle in handles:
            bl.destroy_image_handle(handle, queue)
    np.testing.assert_array_equal(found, np.minimum(2 * pixels.astype(int), 255))


def test_an_image_is_read_and_written_by_its_own_handles(picture: Any, queue: bl.Queue) -> None:
    @bl.kernel
    def copied(image, out):
        y, x = device.item_id(0), device.item_id(1)
        color = device.fetch_image(image, x, y)
        for channel in range(4):
            out[y, x, channel] = color[channel]

    @bl.kernel
    def filled(image):
        device.write_image(image, device.item_id(1), device.item_id(0), (1.0, 2.0, 3.0, device.item_id(0)))

    before = run(copied, (9, 13), queue, picture, np.zeros((9, 13, 4), np.float32))
    queue.parallel_for((9, 13), filled, picture).wait_and_throw()
    after = run(copied, (9, 13), queue, picture, np.zeros((9, 13, 4), np.float32))
    rows = np.broadcast_to(np.arange(9)[:, None], (9, 13))
    wanted = np.stack([np.full((9, 13), k + 1) for k in range(3)] + [rows], 2)
    assert not np.array_equal(before, wanted)
    np.testing.assert_array_equal(after, wanted)


def test_cubemaps(queue: bl.Queue) -> None:
    @bl.kernel
    def cube(image, at, out):
        i = device.item_id(0)
        out[i] = device.sample_cubemap(image, at[i, 0], at[i, 1], at[i, 2]).x

    if not queue.device.has(bl.Aspect.ext_oneapi_cubemap):
        pytest.skip(f"{queue.device.name} has no cubemaps")
    at = RNG.normal(size=(60, 3)).astype(np.float32) * 100
    at[0], at[1], at[2] = (1, -1, 1), (0, 0, 0), (np.nan, 1, 0)
    with bl.Image(RNG.random((6, 8, 8), np.float32), cubemap=True, filtering="linear", queue=queue) as image:
        found = run(cube, 60, queue, image, at, np.zeros(60, np.float32))
        np.testing.assert_array_equal(found, bl.sample_cubemap(queue, image.handle, at)[:, 0])
    assert found.std() > 0.02


@pytest.mark.parametrize("dims", (1, 2, 3))
def test_gradients(dims: int, queue: bl.Queue) -> None:
    @bl.kernel
    def line(image, at, slopes, out):
        i = device.item_id(0)
        out[i] = device.sample_mipmap(image, at[i, 0], dx=slopes[i, 0], dy=slopes[i, 1]).x

    @bl.kernel
    def flat(image, at, slopes, out):
        i = device.item_id(0)
        dy = device.float2(slopes[i, 2], slopes[i, 3])
        out[i] = device.sample_mipmap(image, at[i, 0], at[i, 1], dx=(slopes[i, 0], slopes[i, 1]), dy=dy).x

    @bl.kernel
    def deep(image, at, slopes, out):
        i = device.item_id(0)
        dx = (slopes[i, 0], slopes[i, 1], slopes[i, 2])
        dy = device.float3(slopes[i, 3], slopes[i, 4], slopes[i, 5])
        out[i] = device.sample_mipmap(image, at[i, 0], at[i, 1], at[i, 2], dx=dx, dy=dy).x

    if not queue.device.has(bl.Aspect.ext_oneapi_mipmap):
        pytest.skip(f"{queue.device.name} has no mipmaps")
    at = RNG.uniform(0, 16, (40, 3)).astype(np.float32)[:, :dims].copy()
    slopes = RNG.uniform(0, 4, (40, 2 * dims)).astype(np.float32)
    pixels = RNG.random((16,) * dims, np.float32)
    with bl.Image(pixels, mipmaps=True, filtering="linear", dimensions=dims, queue=queue) as image:
        found = run((line, flat, deep)[dims - 1], 40, queue, image, at, slopes, np.zeros(40, np.float32))
        dx, dy = slopes[:, :dims].copy(), slopes[:, dims:].copy()
        wanted = bl.sample_mipmap(queue, image.handle, at, dx=dx, dy=dy)[:, 0]
        np.testing.assert_array_equal(found, wanted)


def test_gathers(picture: Any, queue: bl.Queue) -> None:
    @bl.kernel
    def gather(image, at, out):
        i = device.item_id(0)
        four = device.gather_image(image, at[i, 0], at[i, 1], 2)
        for k in range(4):
            out[i, k] = four[k]

    if not queue.device.has(bl.Aspect.ext_oneapi_bindless_images_gather):
        pytest.skip(f"{queue.device.name} has no gathers")
    at = RNG.uniform(-1, 14, (50, 2)).astype(np.float32)
    found = run(gather, 50, queue, picture, at, np.zeros((50, 4), np.float32))
    np.testing.assert_array_equal(found, bl.gather_image(queue, picture.handle, at, component=2))


def test_wrong_slopes_are_named(picture: Any, queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def short(image, out):
        out[0] = device.sample_mipmap(image, 1, 0, dx=(1, 0, 0), dy=(0, 1)).x

    @bl.kernel
    def other(image, out):
        out[0] = device.sample_mipmap(image, 1, 0, dx=image, dy=(0, 1)).x

    @bl.kernel
    def array(image, out):
        out[0] = device.sample_cubemap(out, 1, 0, 0).x

    for kernel in (short, other, array):
        with pytest.raises(bl.BuildError):
            queue.parallel_for(1, kernel, picture, upload(np.zeros(1, np.float32)))


@pytest.mark.parametrize(
    "function", ["sample", "layers", "levels", "cube", "slopes", "gather", "cubic", "pixels", "faces"]
)
def test_ptx_of_every_function(function: str, tmp_path: Path) -> None:
    """Kernels for CUDA, without one: the assembler takes them, and they have the instructions."""

    def sample(image, out):
        out[0] = device.sample_image(image, 1, 2).x + device.sample_image(image, 1, 2, 3).y

    def layers(image, out):
        out[0] = device.sample_image_array(image, 2.0, 3.0, 1).x + device.fetch_image_array(image, 2, 3, 1).x

    def levels(image, out):
        out[0] = device.sample_mipmap(image, 1, 2, level=0.5).x

    def cube(image, out):
        out[0] = device.sample_cubemap(image, 1, 2, 3).x

    def slopes(image, out):
        out[0] = device.sample_mipmap(image, 1, 2, dx=(1, 0), dy=(0, 1)).x

    def gather(image, out):
        out[0] = device.gather_image(image, 1, 2, 3).x

    def cubic(image, out):
        out[0] = device.sample_image(image, 1, 2, filtering="cubic").x
        out[1] = device.sample_image_array(image, 2, 3, 1, filtering="cubic").y

    def pixels(image, out):
        device.write_image(image, 1, 2, device.float4(out[0]))
        device.write_image(image, 1, 2, device.float2(out[0]), dtype=np.float16)
        device.write_image_array(image, 2, 3, 1, (np.uint8(1), np.uint8(2), np.uint8(3), np.uint8(4)))
        out[0] = device.fetch_image(int(out[1]), 3, 4, dtype=np.uint8, channels=4).w
        out[1] = device.fetch_image(int(out[1]), 3, 4, channels=2, channel_type="snorm_int16").y

    def faces(image, out):
        device.write_cubemap(image, 2, 3, 1, out[0])
        out[0] = device.fetch_cubemap(image, 2, 3, 1, channels=1)

    kernels = {one.__name__: one for one in (sample, layers, levels, cube, slopes, gather, cubic, pixels, faces)}
    instructions = {
        "sample": ("tex.2d", "tex.3d"), "layers": ("tex.a2d",), "levels": ("tex.level.2d",), "cube": ("tex.cube",),
        "slopes": ("tex.grad.2d",), "gather": ("tld4.a.2d",), "cubic": ("tex.2d", "tex.a2d"),
        "pixels": ("sust.b.2d.v4.b32", "sust.b.2d.b32", "sust.b.a2d.b32", "suld.b.2d.b32"),
        "faces": ("sust.b.a2d.b32", "suld.b.a2d.b32"),
    }  # fmt: skip
    text = compiled(kernels[function], ArgumentType("image"), FLOATS, dimensions=1)
    assert [name for name in instructions[function] if name not in text] == []
    assemble(text, tmp_path)


@pytest.mark.parametrize("kernel", [counted, grouped, sub_grouped, mirrored, transposed, geometry, places])
def test_ptx_of_other_functions(kernel: Any, tmp_path: Path) -> None:
    kinds = {
        counted: (np.int32, np.uint32, (np.int32, 2), np.float32), grouped: (np.int32, (np.int32, 2)),
        sub_grouped: (np.int32, (np.int32, 2)), mirrored: (np.float32, np.float32),
        transposed: ((np.int16, 2), (np.int16, 2)), geometry: ((np.float32, 2), (np.float32, 2)),
        places: ((np.int64, 3),),
    }  # fmt: skip
    arguments = []
    for kind in kinds[kernel]:
        dtype, dimensions = kind if isinstance(kind, tuple) else (kind, 1)
        arguments.append(ArgumentType("array", dtype=np.dtype(dtype), dimensions=dimensions))
    ranges = 2 if kernel in (transposed, places) else 1
    assemble(compiled(kernel._kernel_function, *arguments, dimensions=ranges), tmp_path)


def test_a_handle_is_a_number_in_memory(queue: bl.Queue) -> None:
    require_handles(queue)

    @bl.kernel
    def kept(image, numbers):
        numbers[device.item_id(0)] = image

    with bl.Image(np.zeros((2, 2), np.float32), queue=queue) as image:
        numbers = bl.usm_empty(3, np.uint64, queue)
        queue.parallel_for(3, kept, image.handle, numbers).wait_and_throw()
        assert numbers.numpy(queue).tolist() == [int(image.handle)] * 3
