"""Sampling with a real OpenCL device, through the raw API."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np

from bindless.drivers import opencl as cl
from tests.goldens.configuration import Array

from .cases import STORAGE, Case

_GEOMETRIES = {
    # (kind, dimensions): (name, coordinates of item i, from floats or integers of type V)
    ("standard", 1): ("image1d_t", "at[i]"),
    ("standard", 2): ("image2d_t", "(V##2)(at[2 * i], at[2 * i + 1])"),
    ("standard", 3): ("image3d_t", "(V##4)(at[3 * i], at[3 * i + 1], at[3 * i + 2], 0)"),
    ("array", 1): ("image1d_array_t", "(V##2)(at[i], layer[i])"),
    ("array", 2): ("image2d_array_t", "(V##4)(at[2 * i], at[2 * i + 1], layer[i], 0)"),
}
_CLASSES = {"f": "float4", "i": "int4", "ui": "uint4"}
_ORDERS = {1: "CL_R", 2: "CL_RG", 4: "CL_RGBA"}
_TYPES = {
    "snorm_int8": "CL_SNORM_INT8", "snorm_int16": "CL_SNORM_INT16", "unorm_int8": "CL_UNORM_INT8",
    "unorm_int16": "CL_UNORM_INT16", "signed_int8": "CL_SIGNED_INT8", "signed_int16": "CL_SIGNED_INT16",
    "signed_int32": "CL_SIGNED_INT32", "unsigned_int8": "CL_UNSIGNED_INT8", "unsigned_int16": "CL_UNSIGNED_INT16",
    "unsigned_int32": "CL_UNSIGNED_INT32", "fp16": "CL_HALF_FLOAT", "fp32": "CL_FLOAT",
}  # fmt: skip
_MODES = {
    "repeat": "CL_ADDRESS_REPEAT",
    "mirrored_repeat": "CL_ADDRESS_MIRRORED_REPEAT",
    "clamp_to_edge": "CL_ADDRESS_CLAMP_TO_EDGE",
    "clamp_to_border": "CL_ADDRESS_CLAMP",
}
_OBJECTS = {
    ("standard", 1): "CL_MEM_OBJECT_IMAGE1D",
    ("standard", 2): "CL_MEM_OBJECT_IMAGE2D",
    ("standard", 3): "CL_MEM_OBJECT_IMAGE3D",
    ("array", 1): "CL_MEM_OBJECT_IMAGE1D_ARRAY",
    ("array", 2): "CL_MEM_OBJECT_IMAGE2D_ARRAY",
}


def _source() -> str:
    parts = []
    for (kind, dims), (image, place) in _GEOMETRIES.items():
        for letter, vector in _CLASSES.items():
            for operation, number in (("sample", "float"), ("fetch", "int")):
                sampler = "how, " if operation == "sample" else ""
                parts.append(
                    f"kernel void {operation}_{kind}_{dims}_{letter}(read_only {image} image, sampler_t how, "
                    f"global const {number} *at, global const uint *layer, global {vector} *out)\n"
                    "{ size_t i = get_global_id(0); "
                    f"out[i] = read_image{letter}(image, {sampler}{place.replace('V##', number)}); }}\n"
                )
    return "".join(parts)


def _made(function: str, *arguments: Any) -> Any:
    """Return the object of a clCreate function."""
    result = cl.ffi.new("cl_int *")
    made = getattr(cl.lib, function)(*arguments, result)
    cl.check(result[0], function)
    return made


def cpu_devices() -> Iterator[tuple[Any, Any]]:
    """Return (platform, device) of every CPU with images."""
    for platform in cl.platforms():
        for device in cl.get_all("cl_device_id", "clGetDeviceIDs", platform, cl.lib.CL_DEVICE_TYPE_CPU):
            if any(cl.get_info("clGetDeviceInfo", device, cl.lib.CL_DEVICE_IMAGE_SUPPORT)):
                yield platform, device


class OpenCLSampler:
    """An OpenCL device with a queue and the kernels; call ``close`` after use."""

    def __init__(self, platform: Any, device: Any) -> None:
        self.name = " ".join(
            [
                cl.get_text("clGetPlatformInfo", platform, cl.lib.CL_PLATFORM_NAME),
                cl.get_text("clGetPlatformInfo", platform, cl.lib.CL_PLATFORM_VERSION),
            ]
        )
        self._kept = ExitStack()
        devices = cl.ffi.new("cl_device_id[]", [device])
        context = _made("clCreateContext", cl.ffi.NULL, 1, devices, cl.ffi.NULL, cl.ffi.NULL)
        self._context = context
        self._kept.callback(cl.lib.clReleaseContext, context)
        self._queue = _made("clCreateCommandQueue", context, device, 0)
        self._kept.callback(cl.lib.clReleaseCommandQueue, self._queue)
        text = cl.ffi.new("char[]", _source().encode())
        program = _made("clCreateProgramWithSource", context, 1, cl.ffi.new("char *[]", [text]), cl.ffi.NULL)
        self._kept.callback(cl.lib.clReleaseProgram, program)
        built = cl.lib.clBuildProgram(program, 1, devices, b"-cl-std=CL1.2", cl.ffi.NULL, cl.ffi.NULL)
        if built != cl.lib.CL_SUCCESS:
            log = cl.get_text("clGetProgramBuildInfo", program, device, cl.lib.CL_PROGRAM_BUILD_LOG)
            raise AssertionError(f"{self.name} does not build the kernels:\n{log}")
        self._program = program
        self._formats: dict[tuple[str, int], set[tuple[int, int]]] = {}

    def close(self) -> None:
        """Release all objects."""
        self._kept.close()

    def supports(self, case: Case) -> bool:
        """Return whether the device supports the image format of a case."""
        geometry = (case.type, case.dimensions)
        if geometry not in self._formats:
            kind, flags = getattr(cl.lib, _OBJECTS[geometry]), cl.lib.CL_MEM_READ_ONLY
            call, count = cl.lib.clGetSupportedImageFormats, cl.ffi.new("cl_uint *")
            cl.check(call(self._context, flags, kind, 0, cl.ffi.NULL, count), "clGetSupportedImageFormats")
            found = cl.ffi.new("cl_image_format[]", count[0])
            cl.check(call(self._context, flags, kind, count[0], found, count), "clGetSupportedImageFormats")
            self._formats[geometry] = {(f.image_channel_order, f.image_channel_data_type) for f in found}
        wanted = getattr(cl.lib, _ORDERS[case.channels]), getattr(cl.lib, _TYPES[case.channel_type])
        return wanted in self._formats[geometry]

    def run(self, case: Case) -> Array:
        """Return the device's results: (points, 4) of float32, int32 or uint32."""
        storage = np.dtype(STORAGE[case.channel_type][0])
        real = case.channel_type in ("fp16", "fp32") or "norm" in case.channel_type
        letter = "f" if real else "ui" if storage.kind == "u" else "i"
        out = np.zeros((case.count, 4), {"f": np.float32, "i": np.int32, "ui": np.uint32}[letter])
        operation = "fetch" if case.operation == "fetch" else "sample"
        coords, layers = case.point("coordinates"), case.point("layers")
        if operation == "sample":
            layers = layers.astype(np.uint32)
        flags = cl.lib.CL_MEM_READ_ONLY | cl.lib.CL_MEM_COPY_HOST_PTR
        with ExitStack() as kept:
            image = self._image(case, flags)
            kept.callback(cl.lib.clReleaseMemObject, image)
            sampler = self._sampler(case)
            kept.callback(cl.lib.clReleaseSampler, sampler)
            buffers = []
            for array in (coords, layers, out):
                content = cl.ffi.from_buffer(np.ascontiguousarray(array))
                made = _made("clCreateBuffer", self._context, flags if array is not out else
                             cl.lib.CL_MEM_READ_WRITE | cl.lib.CL_MEM_COPY_HOST_PTR, array.nbytes, content)  # fmt: skip
                kept.callback(cl.lib.clReleaseMemObject, made)
                buffers.append(made)
            name = f"{operation}_{case.type}_{case.dimensions}_{letter}"
            kernel = _made("clCreateKernel", self._program, name.encode())
            kept.callback(cl.lib.clReleaseKernel, kernel)
            types = ["cl_mem", "cl_sampler", *["cl_mem"] * 3]
            for number, (kind, value) in enumerate(zip(types, [image, sampler, *buffers])):
                held = cl.ffi.new(f"{kind} *", value)
                cl.check(cl.lib.clSetKernelArg(kernel, number, cl.ffi.sizeof(kind), held), "clSetKernelArg")
            size, null = cl.ffi.new("size_t *", case.count), cl.ffi.NULL
            cl.check(
                cl.lib.clEnqueueNDRangeKernel(self._queue, kernel, 1, null, size, null, 0, null, null),
                "clEnqueueNDRangeKernel",
            )
            # Blocking: the sampler is alive until the kernel is complete, which PoCL needs.
            cl.check(
                cl.lib.clEnqueueReadBuffer(
                    self._queue, buffers[2], 1, 0, out.nbytes, cl.ffi.from_buffer(out), 0, null, null
                ),
                "clEnqueueReadBuffer",
            )
        return out

    def _image(self, case: Case, flags: int) -> Any:
        form = cl.ffi.new("cl_image_format *")
        form.image_channel_order = getattr(cl.lib, _ORDERS[case.channels])
        form.image_channel_data_type = getattr(cl.lib, _TYPES[case.channel_type])
        width, height, depth = (*case.sizes, 1, 1)[:3]
        desc = cl.ffi.new("cl_image_desc *")
        desc.image_type = getattr(cl.lib, _OBJECTS[case.type, case.dimensions])
        desc.image_width, desc.image_height, desc.image_depth = width, height, depth
        desc.image_array_size = max(case.layers, 1)
        pixels = np.ascontiguousarray(case.pixels()[0])
        return _made("clCreateImage", self._context, flags, form, desc, cl.ffi.from_buffer(pixels))

    def _sampler(self, case: Case) -> Any:
        mode = getattr(cl.lib, _MODES[case.addressing[0]])
        filtering = cl.lib.CL_FILTER_LINEAR if case.filtering == "linear" else cl.lib.CL_FILTER_NEAREST
        return _made("clCreateSampler", self._context, int(case.normalized), mode, filtering)
