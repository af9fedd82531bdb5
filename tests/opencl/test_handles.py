"""Kernels with image handles on every OpenCL device, through the package, compared with numpy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.support.needs import lacks

pytestmark = [
    pytest.mark.opencl,
    pytest.mark.skipif(not bl.kernels_available(), reason="needs a kernel compiler: pip install 'bindless[kernels]'"),
]

Array = npt.NDArray[Any]
HEAD = "#include <bindless/device.h>\n"

# Shapes: [layers or depth,] [height,] width; positions are in the order of the device functions.
SHAPES = {"1d": (29,), "2d": (7, 29), "3d": (5, 7, 29), "1d_array": (4, 29), "2d_array": (4, 7, 29)}
_PLACES = {
    "1d": ("x", ""),
    "2d": ("(int2)(x, y)", ""),
    "3d": ("(int3)(x, y, z)", ""),
    "1d_array": ("x", ", (uint)y"),
    "2d_array": ("(int2)(x, y)", ", (uint)z"),
}
RESULTS = {"fp32": "float4", "unorm_int8": "float4", "signed_int16": "int4", "unsigned_int8": "uint4"}


def _copies() -> str:
    """Kernels that copy an image, one per geometry and class, and read one position beyond each end."""
    parts = []
    for geometry, (place, layer) in _PLACES.items():
        array = "_array" if layer else ""
        for result in sorted(set(RESULTS.values())):
            point = place if place == "x" else f"convert_float{place[4]}({place})"
            parts.append(
                f"kernel void copy_{geometry}_{result}(unsampled_image_handle from, sampled_image_handle same,\n"
                f"    unsampled_image_handle to, global {result} *sampled, global {result} *beyond)\n"
                "{ const int x = (int)get_global_id(0) - 1, y = (int)get_global_id(1), z = (int)get_global_id(2);\n"
                "  const size_t rows = get_global_id(1) + get_global_size(1) * get_global_id(2);\n"
                "  const size_t i = get_global_id(0) + get_global_size(0) * rows; (void)z;\n"
                f"  beyond[i] = fetch_image{array}_{result}(from, {place}{layer});\n"
                f"  write_image{array}(to, {place}{layer}, beyond[i]);\n"
                f"  sampled[i] = sample_image{array}_{result}(same, {point} + 0.5f{layer})\n"
                f"             - fetch_sampled_image{array}_{result}(same, {place}{layer}); }}\n"
            )
    return HEAD + "".join(parts)


@pytest.fixture(scope="module")
def queues() -> Iterator[list[bl.Queue]]:
    """A queue of each device."""
    devices = [device for device in bl.get_devices() if device.backend is bl.Backend.opencl]
    devices = [device for device in devices if device.has("ext_oneapi_bindless_images")]
    if not devices:
        lacks("opencl", "no device has images: apt install pocl-opencl-icd")
    with ExitStack() as kept:
        yield [kept.enter_context(bl.Queue(device)) for device in devices]


@pytest.fixture(scope="module")
def copies(queues: list[bl.Queue]) -> list[bl.KernelBundle]:
    """The bundle of ``_copies`` for each queue."""
    file = bl.build(_copies(), targets="opencl_c")
    return [bl.load_kernel_bundle(file, queue) for queue in queues]


class _Images:
    """Images of a queue and their handles; the caller closes it."""

    def __init__(self, queue: bl.Queue) -> None:
        self._queue, self._kept = queue, ExitStack()

    def __enter__(self) -> _Images:
        return self

    def __exit__(self, *_: object) -> None:
        self._kept.close()

    def make(self, pixels: Array, channel_type: str, layered: bool = False, filtering: str = "") -> tuple[Any, Any]:
        """Image memory with these pixels and a handle: a sampled handle if a filter is given."""
        desc = bl.ImageDescriptor(
            *reversed(pixels.shape[int(layered) : -1]),
            num_channels=pixels.shape[-1],
            channel_type=channel_type,
            type="array" if layered else "standard",
            array_size=len(pixels) if layered else 1,
        )
        memory = self._kept.enter_context(bl.ImageMem(desc, self._queue))
        self._queue.ext_oneapi_copy(np.ascontiguousarray(pixels), memory).wait()
        sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", filtering) if filtering else None
        handle = bl.create_image(memory, desc, self._queue, sampler=sampler)
        self._kept.callback(bl.destroy_image_handle, handle, self._queue)
        return memory, handle

    def read(self, memory: Any, like: Array) -> Array:
        found = np.empty_like(like)
        self._queue.ext_oneapi_copy(memory, found).wait()
        return found


def _pixels(shape: tuple[int, ...], channel_type: str) -> Array:
    rng = np.random.default_rng(5)
    dtype = np.dtype({"fp32": "f4", "unorm_int8": "u1", "signed_int16": "i2", "unsigned_int8": "u1"}[channel_type])
    if dtype.kind == "f":
        return rng.random(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("channel_type", RESULTS)
@pytest.mark.parametrize("geometry", SHAPES)
def test_fetches_samples_and_writes(
    geometry: str, channel_type: str, queues: list[bl.Queue], copies: list[bl.KernelBundle]
) -> None:
    """Pixels are read and written unchanged; positions outside read zero and are not written; a sample at a pixel's
    centre is the pixel."""
    result, layered = RESULTS[channel_type], geometry.endswith("array")
    pixels = _pixels((*SHAPES[geometry], 4), channel_type)
    for queue, bundle in zip(queues, copies):
        if layered and not queue.device.has("ext_oneapi_image_array"):
            continue
        with _Images(queue) as images:
            _, source = images.make(pixels, channel_type, layered)
            _, same = images.make(pixels, channel_type, layered, "nearest")
            memory, target = images.make(np.zeros_like(pixels), channel_type, layered)
            wide = (*pixels.shape[:-2], pixels.shape[-2] + 2)
            dtype = {"float4": "f4", "int4": "i4", "uint4": "u4"}[result]
            sampled, beyond = (bl.usm_empty((*wide, 4), dtype, queue) for _ in range(2))
            kernel = bundle.get_kernel(f"copy_{geometry}_{result}")
            queue.parallel_for(wide, kernel, source, same, target, sampled, beyond).wait_and_throw()
            np.testing.assert_array_equal(images.read(memory, pixels), pixels)
            found = beyond.numpy(queue).copy()
            wanted = pixels / np.float32(255) if channel_type == "unorm_int8" else pixels.astype(dtype)
            # A normalized code may differ by 1.5 ulp (OpenCL C, conversion rules).
            np.testing.assert_allclose(found[..., 1:-1, :], wanted, rtol=2e-7 if "norm" in channel_type else 0)
            assert not found[..., (0, -1), :].any()
            inner = sampled.numpy(queue)[..., 1:-1, :]
            assert np.abs(inner.astype(np.int64) if dtype != "f4" else inner).max() <= (2e-7 if dtype == "f4" else 0)
            sampled.close()
            beyond.close()


def test_helpers_structures_and_constants(queues: list[bl.Queue]) -> None:
    file = bl.build(
        HEAD + "typedef struct { float2 shift; float scale; } look_t;\n"
        "static float4 look(sampled_image_handle image, float2 at, look_t how)\n"
        "{ return how.scale * sample_image_float4(image, at + how.shift); }\n"
        "static float4 both(int2 at, sampled_image_handle one, unsampled_image_handle two, look_t how)\n"
        "{ return look(one, convert_float2(at), how) + fetch_image_float4(two, at); }\n"
        "kernel void add(sampled_image_handle one, unsampled_image_handle two, unsampled_image_handle out,\n"
        "                look_t how)\n"
        "{ const int2 at = (int2)((int)bindless_item_id(1, 2), (int)bindless_item_id(0, 2));\n"
        "  write_image(out, at, bindless_constant_float(4, 1.0f) * both(at, one, two, how)); }",
        targets="opencl_c",
    )
    one, two = np.random.default_rng(6).random((2, 12, 20, 4), np.float32)
    how = np.array(((0.75, 0.5), 2.0, 0), np.dtype([("shift", "f4", 2), ("scale", "f4"), ("rest", "f4")]))
    for queue in queues:
        with _Images(queue) as images:
            handles = [images.make(one, "fp32", False, "linear")[1], images.make(two, "fp32")[1]]
            memory, out = images.make(np.zeros_like(one), "fp32")
            for given, factor in (({}, 1.0), ({4: 3.0}, 3.0)):
                kernel = bl.load_kernel_bundle(file, queue, specialization=given).get_kernel("add")
                assert [argument.name for argument in kernel.arguments] == ["one", "two", "out", "how"]
                queue.parallel_for((12, 20), kernel, *handles, out, how).wait_and_throw()
                right = np.concatenate([one[:, 1:], one[:, -1:]], 1)
                wanted = factor * (2.0 * (0.75 * one.astype(float) + 0.25 * right) + two)
                np.testing.assert_allclose(images.read(memory, one), wanted, rtol=1e-6)


def test_channels_that_an_image_lacks_are_zero(queues: list[bl.Queue]) -> None:
    file = bl.build(
        HEAD + "kernel void f(sampled_image_handle s, unsampled_image_handle u, global float4 *out)\n"
        "{ out[0] = sample_image_float4(s, (float2)(1.5f)); out[1] = fetch_image_float4(u, (int2)(1)); }",
        targets="opencl_c",
    )
    pixels = np.arange(12, dtype=np.float32).reshape(3, 4, 1)
    for queue in queues:
        with _Images(queue) as images, bl.usm_empty((2, 4), "f4", queue) as out:
            handles = images.make(pixels, "fp32", False, "nearest")[1], images.make(pixels, "fp32")[1]
            queue.single_task(bl.load_kernel_bundle(file, queue).get_kernel("f"), *handles, out).wait_and_throw()
            assert out.numpy(queue).tolist() == [[5, 0, 0, 0]] * 2


def test_reading_and_writing_through_one_handle(queues: list[bl.Queue]) -> None:
    """Devices with read_write images do both; on others the compiler refuses, and the error carries the build log."""
    file = bl.build(
        HEAD + "kernel void twice(unsampled_image_handle image)\n"
        "{ const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));\n"
        "  write_image(image, at, 2 * fetch_image_float4(image, at)); }",
        targets="opencl_c",
    )
    pixels = np.random.default_rng(7).random((6, 9, 4), np.float32)
    for queue in queues:
        with _Images(queue) as images:
            memory, handle = images.make(pixels, "fp32")
            try:
                kernel = bl.load_kernel_bundle(file, queue).get_kernel("twice")
            except bl.BuildError as refused:
                assert "read_write" in refused.log or "image" in refused.log
                continue
            queue.parallel_for((6, 9), kernel, handle).wait_and_throw()
            np.testing.assert_array_equal(images.read(memory, pixels), 2 * pixels)


@pytest.mark.parametrize("coordinate", ["normalized", "unnormalized"])
@pytest.mark.parametrize("filtering", ["nearest", "linear"])
def test_places_far_away(filtering: str, coordinate: str, queues: list[bl.Queue]) -> None:
    """Coordinates beyond the range of the driver's arithmetic read the edge; NaN reads an arbitrary pixel."""
    pixels = np.random.default_rng(8).random((3, 29, 4), np.float32)
    far = np.array([1e6, 2.2e9, 1e15, 1e30, np.inf], np.float32)
    coords = np.stack([np.concatenate([-far, far, [np.nan]]), np.full(11, 0.5)], 1).astype(np.float32)
    wanted = np.repeat(pixels[1 if coordinate == "normalized" else 0, (0, -1)], 5, 0)
    for queue in queues:
        with _Images(queue) as images:
            desc = bl.ImageDescriptor(29, 3)
            memory = images.make(pixels, "fp32")[0]
            sampler = bl.BindlessImageSampler("clamp_to_edge", coordinate, filtering)
            handle = bl.create_image(memory, desc, queue, sampler=sampler)
            found = bl.sample_image(queue, handle, coords)
            bl.destroy_image_handle(handle, queue)
            np.testing.assert_allclose(found[:10], wanted, rtol=1e-6)
            assert ((found[10] >= 0) & (found[10] <= 1)).all()


def test_layers_that_there_are_not(queues: list[bl.Queue]) -> None:
    """A layer index out of range samples the last layer."""
    file = bl.build(
        HEAD + "kernel void f(sampled_image_handle image, global const uint *layers, global float4 *out)\n"
        "{ const size_t i = get_global_id(0); out[i] = sample_image_array_float4(image, 1.5f, layers[i]); }",
        targets="opencl_c",
    )
    pixels = np.random.default_rng(9).random((4, 6, 4), np.float32)
    layers = np.array([0, 3, 4, 1000, 2**31, 2**32 - 1], np.uint32)
    for queue in queues:
        if not queue.device.has("ext_oneapi_image_array"):
            continue
        kernel = bl.load_kernel_bundle(file, queue).get_kernel("f")
        with _Images(queue) as images, bl.usm_empty((6, 4), "f4", queue) as out, bl.usm_empty(6, "u4", queue) as given:
            given.copy_from(layers)
            queue.parallel_for(6, kernel, images.make(pixels, "fp32", True, "nearest")[1], given, out).wait_and_throw()
            np.testing.assert_array_equal(out.numpy(queue), pixels[np.minimum(layers, 3), 1])
