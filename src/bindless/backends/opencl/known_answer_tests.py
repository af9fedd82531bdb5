"""Known-answer tests of a driver's images, run once per device: some drivers read or write pixels of a format wrongly,
or select the wrong layer, and no query reports it.

Format tests fetch and write a few texels in kernels. Layer tests use normalized coordinates: OpenCL scales only
coordinates within a layer, and PoCL up to 3.1 scales the layer number too.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.arrays import Array, DType
from ...model.module.disk_cache import cache
from .device import Device
from .errors import check, create
from .fork_guard import refuse_in_fork

__all__ = ["LAYER_MACRO", "LayerCoordinate", "layer_coordinate", "spoiled_formats"]

lib, ffi = driver.lib, driver.ffi


LAYER_MACRO = "BINDLESS_SCALED_LAYERS"
"""Defined for texts of `bindless build` on drivers that scale the layer; see ``compiler.prelude.opencl_c``."""


class LayerCoordinate:
    """The driver's interpretation of the layer coordinate when coordinates are normalized."""

    NUMBER = "number"
    """The number of the layer, as OpenCL has it."""
    SCALED = "scaled"
    """A fraction of the layers: texts with ``LAYER_MACRO`` divide it."""
    UNKNOWN = "unknown"
    """Neither."""


# Channel type: elements in memory, and the code of 1 for normalized types.
_ELEMENTS: dict[int, tuple[str, int]] = {
    lib.CL_SNORM_INT8: ("i1", 127),
    lib.CL_SNORM_INT16: ("i2", 32767),
    lib.CL_UNORM_INT8: ("u1", 255),
    lib.CL_UNORM_INT16: ("u2", 65535),
    lib.CL_SIGNED_INT8: ("i1", 0),
    lib.CL_SIGNED_INT16: ("i2", 0),
    lib.CL_SIGNED_INT32: ("i4", 0),
    lib.CL_UNSIGNED_INT8: ("u1", 0),
    lib.CL_UNSIGNED_INT16: ("u2", 0),
    lib.CL_UNSIGNED_INT32: ("u4", 0),
    lib.CL_HALF_FLOAT: ("f2", 0),
    lib.CL_FLOAT: ("f4", 0),
}
_CHANNELS = {lib.CL_R: 1, lib.CL_RG: 2, lib.CL_RGB: 3, lib.CL_RGBA: 4}

_WIDTH, _HEIGHT = 5, 3
_LAYERS = 5

_TEXELS = "\n".join(
    f"""kernel void fetch_{letter}(read_only image2d_t image, global {vector} *out)
{{
    const int x = get_global_id(0), y = get_global_id(1);
    out[y * {_WIDTH} + x] = read_image{function}(image, (int2)(x, y));
}}
kernel void write_{letter}(write_only image2d_t image, global const {vector} *in)
{{
    const int x = get_global_id(0), y = get_global_id(1);
    write_image{function}(image, (int2)(x, y), in[y * {_WIDTH} + x]);
}}"""
    for letter, function, vector in (("f", "f", "float4"), ("i", "i", "int4"), ("u", "ui", "uint4"))
)

# Uses the macro as the prelude of `bindless build` does.
_CHOSEN = f"""#ifdef {LAYER_MACRO}
#define LAYER(layer) ((layer + 0.25f) / {_LAYERS})
#else
#define LAYER(layer) (layer)
#endif
kernel void rows(read_only image1d_array_t image, sampler_t how, global float4 *out)
{{
    const float layer = get_global_id(0);
    out[get_global_id(0)] = read_imagef(image, how, (float2)(0.5f, LAYER(layer)));
}}
kernel void planes(read_only image2d_array_t image, sampler_t how, global float4 *out)
{{
    const float layer = get_global_id(0);
    out[get_global_id(0)] = read_imagef(image, how, (float4)(0.5f, 0.5f, LAYER(layer), 0));
}}"""


def _remembered(device: Device, name: str, text: str, test: Callable[[], Any]) -> Any:
    """The result of a test, stored for other processes by driver version if the cache is on."""
    store = cache()
    platform = device.platform.record
    about = (platform.name, platform.version, device.name, device.version_text, device.driver_version)
    key = (b"opencl known answers 1", name.encode(), repr(about).encode(), text.encode())
    entry = store.get(*key) if store is not None else None
    if entry is not None:
        return json.loads(entry)
    result = test()
    if store is not None:
        store.put(json.dumps(result).encode(), *key)
    return result


@functools.cache
def spoiled_formats(device: Device, formats: frozenset[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    """Formats, as order and type, that kernels of the device fetch or write wrongly."""
    refuse_in_fork()
    if not formats or not device.number(lib.CL_DEVICE_COMPILER_AVAILABLE):
        return frozenset()
    tested = sorted(formats)
    spoiled = _remembered(device, repr(tested), _TEXELS, lambda: _spoiled(device, tested))
    return frozenset((order, type_) for order, type_ in spoiled)


def _spoiled(device: Device, formats: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    try:
        with _bench(device, _TEXELS) as bench:
            return [form for form in formats if not bench.keeps_texels(*form)]
    except _NotBuilt:
        return []


@functools.cache
def layer_coordinate(device: Device) -> str:
    """The member of ``LayerCoordinate`` that describes the device."""
    refuse_in_fork()
    arrays = device.has_images and device.number(lib.CL_DEVICE_IMAGE_MAX_ARRAY_SIZE) >= _LAYERS
    if not arrays or not device.number(lib.CL_DEVICE_COMPILER_AVAILABLE):
        return LayerCoordinate.NUMBER
    return str(_remembered(device, "layers", _CHOSEN, lambda: _chosen(device)))


def _chosen(device: Device) -> str:
    for options, meaning in (("", LayerCoordinate.NUMBER), (f"-D{LAYER_MACRO}", LayerCoordinate.SCALED)):
        try:
            with _bench(device, _CHOSEN, options) as bench:
                if bench.finds_layers():
                    return meaning
        except _NotBuilt:
            return LayerCoordinate.NUMBER
    return LayerCoordinate.UNKNOWN


class _NotBuilt(Exception):
    """The driver builds no kernels with images, so no wrong result can occur."""


class _Bench:
    """A program with its own context and queue, all released with the stack."""

    def __init__(self, device: Device, text: str, options: str, stack: ExitStack) -> None:
        self._stack = stack
        handles, source = ffi.new("cl_device_id[]", [device.handle]), text.encode()
        self._context = create(
            "clCreateContext", ffi.NULL, 1, handles, ffi.NULL, ffi.NULL, details=f"for {device.name}"
        )
        stack.callback(lib.clReleaseContext, self._context)
        self._queue = create("clCreateCommandQueue", self._context, device.handle, 0)
        stack.callback(lib.clReleaseCommandQueue, self._queue)
        texts, sizes = ffi.new("char const *[]", [ffi.from_buffer(source)]), ffi.new("size_t[]", [len(source)])
        self._program = create("clCreateProgramWithSource", self._context, 1, texts, sizes)
        stack.callback(lib.clReleaseProgram, self._program)
        # The newest language, as for the package's own kernels: PoCL 7.1 has no image functions in 1.2.
        language = "-cl-std=CL{}.{}".format(*max(device.c_version, (1, 2)))
        flags = ffi.new("char[]", f"{language} {options}".encode())
        result = lib.clBuildProgram(self._program, 1, handles, flags, ffi.NULL, ffi.NULL)
        if result == lib.CL_BUILD_PROGRAM_FAILURE:
            raise _NotBuilt
        check(result, "clBuildProgram")

    def _own(self, memory: CData) -> CData:
        self._stack.callback(lib.clReleaseMemObject, memory)
        return memory

    def _image(self, order: int, type_: int, kind: int, height: int, layers: int) -> CData:
        desc = ffi.new("cl_image_desc *")
        desc.image_type, desc.image_width, desc.image_height, desc.image_array_size = kind, _WIDTH, height, layers
        pixel = ffi.new("cl_image_format *", (order, type_))
        return self._own(create("clCreateImage", self._context, lib.CL_MEM_READ_WRITE, pixel, desc, ffi.NULL))

    def _buffer(self, values: Array) -> CData:
        flags = lib.CL_MEM_READ_WRITE | lib.CL_MEM_COPY_HOST_PTR
        memory = ffi.cast("void *", values.ctypes.data)
        return self._own(create("clCreateBuffer", self._context, flags, values.nbytes, memory))

    def _copy(self, to_image: bool, image: CData, region: tuple[int, int, int], pixels: Array) -> None:
        call = lib.clEnqueueWriteImage if to_image else lib.clEnqueueReadImage
        origin, size, memory = (
            ffi.new("size_t[3]"),
            ffi.new("size_t[3]", region),
            ffi.cast("void *", pixels.ctypes.data),
        )
        result = call(self._queue, image, 1, origin, size, 0, 0, memory, 0, ffi.NULL, ffi.NULL)
        check(result, "clEnqueueWriteImage" if to_image else "clEnqueueReadImage")

    def _run(self, name: str, items: tuple[int, ...], *arguments: object) -> None:
        kernel = create("clCreateKernel", self._program, name.encode())
        self._stack.callback(lib.clReleaseKernel, kernel)
        for index, argument in enumerate(arguments):
            check(lib.clSetKernelArg(kernel, index, 8, ffi.new("void **", argument)), "clSetKernelArg", name)
        sizes, null = ffi.new("size_t[]", items), ffi.NULL
        result = lib.clEnqueueNDRangeKernel(self._queue, kernel, len(items), null, sizes, null, 0, null, null)
        check(result, "clEnqueueNDRangeKernel", name)
        check(lib.clFinish(self._queue), "clFinish", name)

    def _read(self, buffer: CData, values: Array) -> None:
        memory = ffi.cast("void *", values.ctypes.data)
        result = lib.clEnqueueReadBuffer(self._queue, buffer, 1, 0, values.nbytes, memory, 0, ffi.NULL, ffi.NULL)
        check(result, "clEnqueueReadBuffer")

    def keeps_texels(self, order: int, type_: int) -> bool:
        """Whether kernels fetch and write the texels of this format unchanged."""
        code, most = _ELEMENTS[type_]
        texels = _texels(np.dtype(code), _CHANNELS[order])
        letter = "f" if most or code.startswith("f") else code[0]
        colors = np.zeros((_HEIGHT, _WIDTH, 4), {"f": "f4", "i": "i4", "u": "u4"}[letter])
        colors[..., : _CHANNELS[order]] = texels / np.float32(most) if most else texels
        region, items = (_WIDTH, _HEIGHT, 1), (_WIDTH, _HEIGHT)
        image = self._image(order, type_, lib.CL_MEM_OBJECT_IMAGE2D, _HEIGHT, 1)
        self._copy(True, image, region, texels)
        fetched = np.full_like(colors, 77)
        buffer = self._buffer(fetched)
        self._run(f"fetch_{letter}", items, image, buffer)
        self._read(buffer, fetched)
        there = slice(0, _CHANNELS[order])
        if not np.allclose(fetched[..., there], colors[..., there], rtol=1e-6, atol=1e-6):
            return False
        written = np.zeros_like(texels)
        self._copy(True, image, region, written)
        self._run(f"write_{letter}", items, image, self._buffer(colors))
        self._copy(False, image, region, written)
        return bool((written == texels).all())

    def finds_layers(self) -> bool:
        """Whether samples of both kinds of arrays come from the requested layers."""
        sampler = create("clCreateSampler", self._context, 1, lib.CL_ADDRESS_CLAMP_TO_EDGE, lib.CL_FILTER_NEAREST)
        self._stack.callback(lib.clReleaseSampler, sampler)
        numbers = np.arange(_LAYERS, dtype="f4") + 1
        pixels = np.ascontiguousarray(np.broadcast_to(numbers[:, None, None, None], (_LAYERS, 1, _WIDTH, 4)))
        for name, kind, region in (
            ("rows", lib.CL_MEM_OBJECT_IMAGE1D_ARRAY, (_WIDTH, _LAYERS, 1)),
            ("planes", lib.CL_MEM_OBJECT_IMAGE2D_ARRAY, (_WIDTH, 1, _LAYERS)),
        ):
            image = self._image(lib.CL_RGBA, lib.CL_FLOAT, kind, 1, _LAYERS)
            self._copy(True, image, region, pixels)
            values = np.zeros((_LAYERS, 4), "f4")
            buffer = self._buffer(values)
            self._run(name, (_LAYERS,), image, sampler, buffer)
            self._read(buffer, values)
            if not (values[:, 0] == numbers).all():
                return False
        return True


def _texels(dtype: DType, channels: int) -> Array:
    """Array of (height, width, channels): the range's ends and numbers within, in another order for each channel."""
    count = _HEIGHT * _WIDTH * channels
    if dtype.kind == "f":
        values = np.linspace(-60, 60, count).round(1)
        values[: min(count, 4)] = (42, -1.5, 0, 2048)[:count]
    else:
        limits = np.iinfo(dtype)
        low, high = limits.min + (limits.min < 0), limits.max  # The lowest signed code equals the next one, normalized.
        values = np.array([low + (high - low) * step // (count - 1) for step in range(count)], dtype)
    return np.ascontiguousarray(values.astype(dtype).reshape(_HEIGHT, _WIDTH, channels))


@contextmanager
def _bench(device: Device, text: str, options: str = "") -> Iterator[_Bench]:
    with ExitStack() as stack:
        yield _Bench(device, text, options, stack)
