"""Samplers of other projects behind one interface, for samplers.py: linear samples of a two-dimensional image.

``prepare(texels, xy, outside)`` takes (height, width) or (height, width, 4) texels of float32 or uint8, (N, 2)
coordinates in texels with centres at one half, and what lies outside, "edge" or "zero". It returns ``(work, values)``:
``work()`` samples all coordinates and waits, ``values()`` reads the result of the last call as float32, (N,) or (N, 4),
bytes as 0 to 1. What a library converts once (pixels, coordinates to its own convention) is done by ``prepare``.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

import bindless as bl

Array = Any
Prepared = tuple[Callable[[], object], Callable[[], Array]]


class Sampler(NamedTuple):
    """Another implementation of linear sampling.

    Attributes
    ----------
    name, version : str
        As the tables name it.
    prepare : Callable
        ``prepare(texels, xy, outside)``; raises NotImplementedError for what the sampler does not have.
    share : int, default 1
        The speed is measured with the first of this many parts of the coordinates, for slow samplers.
    """

    name: str
    version: str
    prepare: Callable[[Array, Array, str], Prepared]
    share: int = 1


def as_float(texels: Array) -> Array:
    return texels if texels.dtype == np.float32 else texels.astype(np.float32) / np.float32(255)


def kept(call: Callable[[], Any], read: Callable[[Any], Array]) -> Prepared:
    """A call that returns its result, which ``values`` reads."""
    last: list[Any] = []

    def work() -> None:
        last[:] = [call()]

    return work, lambda: read(last[0])


def ours(precision: str) -> Callable[[Array, Array, str], Prepared]:
    def prepare(texels: Array, xy: Array, outside: str) -> Prepared:
        addressing = {"edge": "clamp_to_edge", "zero": "border"}[outside]
        image = bl.Image(texels, precision=precision, addressing=addressing, queue=bl.Queue("reference"))
        out = np.empty((len(xy), *texels.shape[2:]), np.float32)
        return (lambda: image.sample(xy, out=out)), out.copy

    return prepare


def scipy_sampler(texels: Array, xy: Array, outside: str) -> Prepared:
    from scipy import ndimage

    if texels.ndim != 2:
        raise NotImplementedError
    pixels, rows = as_float(texels), np.ascontiguousarray(xy[:, ::-1].T) - np.float32(0.5)
    mode = {"edge": "nearest", "zero": "constant"}[outside]
    return kept(lambda: ndimage.map_coordinates(pixels, rows, order=1, mode=mode), np.asarray)


def jax_sampler(texels: Array, xy: Array, outside: str) -> Prepared:
    import jax
    from jax.scipy.ndimage import map_coordinates

    if texels.ndim != 2:
        raise NotImplementedError
    mode = {"edge": "nearest", "zero": "constant"}[outside]
    call = jax.jit(lambda pixels, rows: map_coordinates(pixels, rows, order=1, mode=mode))
    pixels, rows = jax.device_put(as_float(texels)), jax.device_put(xy[:, ::-1].T - np.float32(0.5))
    return kept(lambda: call(pixels, rows).block_until_ready(), np.asarray)


def torch_sampler(texels: Array, xy: Array, outside: str) -> Prepared:
    import torch

    pixels = as_float(texels).reshape(*texels.shape[:2], -1)
    image = torch.from_numpy(np.ascontiguousarray(np.moveaxis(pixels, -1, 0)[None]))
    grid = torch.from_numpy(xy / np.float32(texels.shape[1::-1]) * 2 - 1)[None, None]
    padding = {"edge": "border", "zero": "zeros"}[outside]
    sample = torch.nn.functional.grid_sample
    return kept(
        lambda: sample(image, grid, mode="bilinear", padding_mode=padding, align_corners=False),
        lambda result: np.moveaxis(result.numpy()[0, :, 0], 0, -1).reshape(len(xy), *texels.shape[2:]),
    )


def opencv_sampler(fixed: bool, to_bytes: bool = False) -> Callable[[Array, Array, str], Prepared]:
    def prepare(texels: Array, xy: Array, outside: str) -> Prepared:
        import cv2

        if to_bytes and texels.dtype != np.uint8:
            raise NotImplementedError
        pixels = texels if to_bytes else as_float(texels)
        rows = np.pad(xy, [(0, -len(xy) % 1024), (0, 0)], mode="edge") - np.float32(0.5)
        x, y = (np.ascontiguousarray(rows[:, axis].reshape(-1, 1024)) for axis in (0, 1))
        maps = cv2.convertMaps(x, y, cv2.CV_16SC2) if fixed else (x, y)
        border = {"edge": cv2.BORDER_REPLICATE, "zero": cv2.BORDER_CONSTANT}[outside]
        return kept(
            lambda: cv2.remap(pixels, *maps, cv2.INTER_LINEAR, borderMode=border),
            lambda result: as_float(result).reshape(-1, *texels.shape[2:])[: len(xy)],
        )

    return prepare


def drjit_sampler(texels: Array, xy: Array, outside: str) -> Prepared:
    import drjit
    from drjit.llvm import Array2f, Float, TensorXf, Texture2f

    if outside != "edge":
        raise NotImplementedError  # clamp, repeat and mirror
    pixels = as_float(texels).reshape(*texels.shape[:2], -1)
    texture = Texture2f(TensorXf(pixels), wrap_mode=drjit.WrapMode.Clamp)
    places = Array2f(*(Float(np.ascontiguousarray(part)) for part in (xy / np.float32(texels.shape[1::-1])).T))

    def call() -> Any:
        result = texture.eval(places)
        drjit.eval(result)
        drjit.sync_thread()
        return result

    return kept(call, lambda result: np.stack([*result], -1).reshape(len(xy), *texels.shape[2:]))


def pocl_sampler(texels: Array, xy: Array, outside: str) -> Prepared:
    import pyopencl as cl

    context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    queue = cl.CommandQueue(context)
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    order = cl.channel_order.RGBA if texels.ndim == 3 else cl.channel_order.R
    kind = cl.channel_type.FLOAT if texels.dtype == np.float32 else cl.channel_type.UNORM_INT8
    image = cl.Image(
        context, flags, cl.ImageFormat(order, kind), texels.shape[1::-1], hostbuf=np.ascontiguousarray(texels)
    )
    addressing = {"edge": cl.addressing_mode.CLAMP_TO_EDGE, "zero": cl.addressing_mode.CLAMP}[outside]
    sampler = cl.Sampler(context, False, addressing, cl.filter_mode.LINEAR)
    places = cl.Buffer(context, flags, hostbuf=xy)
    channels = texels.shape[2] if texels.ndim == 3 else 1
    out = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, 4 * channels * len(xy))
    result, part = ("float4", "") if channels == 4 else ("float", ".x")
    kernel = cl.Kernel(
        cl.Program(
            context,
            f"""
            kernel void sample(read_only image2d_t image, sampler_t how, global const float2 *xy, global {result} *out)
            {{ out[get_global_id(0)] = read_imagef(image, how, xy[get_global_id(0)]){part}; }}""",
        ).build(),
        "sample",
    )

    def work() -> None:
        kernel(queue, (len(xy),), None, image, sampler, places, out)
        queue.finish()

    def values() -> Array:
        found = np.empty((len(xy), *texels.shape[2:]), np.float32)
        cl.enqueue_copy(queue, found, out)
        return found

    return work, values


WGSL = """
@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var how: sampler;
@group(0) @binding(2) var<storage, read> xy: array<vec2f>;
@group(0) @binding(3) var<storage, read_write> out: array<RESULT>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&xy)) {
    let size = vec2f(textureDimensions(image));
    out[id.x] = textureSampleLevel(image, how, xy[id.x] / size, 0.0)PART;
  }
}
"""


def webgpu_sampler(device: Any) -> Callable[[Array, Array, str], Prepared]:
    """A Vulkan driver by way of WebGPU, whose coordinates are normalized and which has no border."""

    def prepare(texels: Array, xy: Array, outside: str) -> Prepared:
        if outside != "edge":
            raise NotImplementedError
        height, width = texels.shape[:2]
        four = texels.ndim == 3
        kind = {"f": "32float", "u": "8unorm"}[texels.dtype.kind]
        texture = device.create_texture(
            size=(width, height, 1), format=("rgba" if four else "r") + kind, usage="TEXTURE_BINDING|COPY_DST"
        )
        device.queue.write_texture(
            {"texture": texture}, np.ascontiguousarray(texels), {"bytes_per_row": texels.strides[0]}, (width, height, 1)
        )
        sampler = device.create_sampler(mag_filter="linear", min_filter="linear")
        places = device.create_buffer_with_data(data=np.ascontiguousarray(xy), usage="STORAGE")
        out = device.create_buffer(size=len(xy) * (16 if four else 4), usage="STORAGE|COPY_SRC")
        code = WGSL.replace("RESULT", "vec4f" if four else "f32").replace("PART", "" if four else ".x")
        pipeline = device.create_compute_pipeline(
            layout="auto", compute={"module": device.create_shader_module(code=code), "entry_point": "main"}
        )
        resources = (texture.create_view(), sampler, {"buffer": places}, {"buffer": out})
        group = device.create_bind_group(
            layout=pipeline.get_bind_group_layout(0),
            entries=[{"binding": place, "resource": resource} for place, resource in enumerate(resources)],
        )

        def work() -> None:
            encoder = device.create_command_encoder()
            compute = encoder.begin_compute_pass()
            compute.set_pipeline(pipeline)
            compute.set_bind_group(0, group)
            compute.dispatch_workgroups(-(-len(xy) // 64))
            compute.end()
            device.queue.submit([encoder.finish()])
            device.queue.read_buffer(out, size=4)  # waits

        def values() -> Array:
            return np.frombuffer(device.queue.read_buffer(out), np.float32).reshape(len(xy), *texels.shape[2:])

        return work, values

    return prepare


def openimageio_sampler(texels: Array, xy: Array, outside: str) -> Prepared:
    """TextureSystem, one call for each sample as its Python interface has it."""
    import OpenImageIO as oiio

    height, width = texels.shape[:2]
    channels = texels.shape[2] if texels.ndim == 3 else 1
    path = os.path.join(tempfile.mkdtemp(), "texels.tif")
    pixels = oiio.ImageBuf(np.ascontiguousarray(texels.reshape(height, width, channels)))
    pixels.set_write_tiles(64, 64)
    if not pixels.write(path):
        raise OSError(pixels.geterror())
    options = oiio.TextureOpt()
    wrap = oiio.Wrap.Clamp if outside == "edge" else oiio.Wrap.Black
    options.swrap = options.twrap = wrap
    options.interpmode, options.mipmode = oiio.InterpMode.Bilinear, oiio.MipMode.NoMIP
    system = oiio.TextureSystem()
    places = (xy / np.float32([width, height])).tolist()

    def call() -> list[Any]:
        texture = system.texture
        return [texture(path, options, s, t, 0.0, 0.0, 0.0, 0.0, channels) for s, t in places]

    return kept(call, lambda found: np.array(found, np.float32).reshape(len(xy), *texels.shape[2:]))


def _opencl_version() -> str:
    import pyopencl as cl

    return str(cl.get_platforms()[0].version.split("PoCL ")[-1].split()[0])


def _webgpu_samplers() -> list[Sampler]:
    """One for each Vulkan driver that VK_ICD_FILENAMES lists."""
    import wgpu

    found = []
    for adapter in wgpu.gpu.enumerate_adapters_sync():
        if adapter.info["backend_type"] == "Vulkan" and adapter.info["adapter_type"] == "CPU":
            device = adapter.request_device_sync(required_features=["float32-filterable"])
            name, described = adapter.info["device"].split()[0], adapter.info["description"]
            found.append(Sampler(f"{name}, by WebGPU", described, webgpu_sampler(device)))
    return found


def opencv_samplers() -> list[Sampler]:
    import cv2

    return [
        Sampler("OpenCV remap, float maps", cv2.__version__, opencv_sampler(fixed=False)),
        Sampler("OpenCV remap, fixed maps", cv2.__version__, opencv_sampler(fixed=True)),
        Sampler("OpenCV remap, to bytes", cv2.__version__, opencv_sampler(fixed=False, to_bytes=True)),
    ]


def samplers() -> list[Sampler]:
    """All samplers; a library that is missing is an ImportError."""
    import OpenImageIO as oiio

    return [
        Sampler("bindless, hardware", bl.__version__, ours("hardware")),
        Sampler("bindless, exact", bl.__version__, ours("exact")),
        *_webgpu_samplers(),
        Sampler("PoCL read_imagef", _opencl_version(), pocl_sampler, 4),
        *opencv_samplers(),
        Sampler("torch grid_sample", version("torch"), torch_sampler),
        Sampler("scipy map_coordinates", version("scipy"), scipy_sampler, 4),
        Sampler("JAX map_coordinates", version("jax"), jax_sampler, 4),
        Sampler("Dr.Jit Texture2f", version("drjit"), drjit_sampler),
        Sampler("OpenImageIO texture", oiio.VERSION_STRING, openimageio_sampler, 64),
    ]
