"""Run one SPIR-V or OpenCL C module on two devices: the device under test, and an OpenCL device through the raw API.

``run(module, kernel, size, *arguments, local=None)`` of either device returns the arrays and images among the arguments
after the launch. Ranges are in OpenCL's order: dimension 0 is the fastest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import bindless as bl
from bindless.drivers import opencl as cl
from bindless.model.module.spirv import is_spirv

__all__ = ["Local", "OpenCLPeer", "Picture", "Sampler", "Value", "run_here", "spirv_device"]

Array = npt.NDArray[Any]

_ORDERS = {1: "CL_R", 2: "CL_RG", 4: "CL_RGBA"}
_TYPES = {
    "unorm_int8": "CL_UNORM_INT8", "snorm_int16": "CL_SNORM_INT16", "signed_int8": "CL_SIGNED_INT8",
    "signed_int16": "CL_SIGNED_INT16", "signed_int32": "CL_SIGNED_INT32", "unsigned_int8": "CL_UNSIGNED_INT8",
    "unsigned_int16": "CL_UNSIGNED_INT16", "unsigned_int32": "CL_UNSIGNED_INT32", "fp16": "CL_HALF_FLOAT",
    "fp32": "CL_FLOAT",
}  # fmt: skip
_MODES = {
    "repeat": "CL_ADDRESS_REPEAT",
    "mirrored_repeat": "CL_ADDRESS_MIRRORED_REPEAT",
    "clamp_to_edge": "CL_ADDRESS_CLAMP_TO_EDGE",
    "ext_oneapi_clamp_to_border": "CL_ADDRESS_CLAMP",
}


@dataclass
class Picture:
    """An image parameter.

    Parameters
    ----------
    pixels
        Shape ([depth or layers,] [height,] width, channels).
    channel_type
        The package's channel type.
    layered
        Whether the first axis counts layers.
    """

    pixels: Array
    channel_type: str
    layered: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """Width, height and depth, for as many dimensions as the image has."""
        return tuple(reversed(self.pixels.shape[1 if self.layered else 0 : -1]))


@dataclass
class Sampler:
    """A sampler parameter."""

    addressing: str
    coordinate: str
    filtering: str


@dataclass
class Local:
    """Local memory; size in bytes."""

    nbytes: int


@dataclass
class Value:
    """A structure passed by value."""

    content: Array


# ------------------------------------------------------------------ the device under test


def run_here(
    queue: bl.Queue, module: bytes, kernel: str, size: Sequence[int], *arguments: Any, local: Any = None
) -> list[Array]:
    """Run the kernel on the queue's device, through the package."""
    made = bl.load_kernel_bundle(module, queue).get_kernel(kernel)
    with ExitStack() as kept:
        passed, results = [], []
        for argument in arguments:
            value, result = _here(queue, argument, kept)
            passed.append(value)
            if result is not None:
                results.append(result)
        whole = tuple(reversed(size))
        where = whole if local is None else bl.NdRange(whole, tuple(reversed(local)))
        queue.parallel_for(where, made, *passed).wait_and_throw()
        return [result() for result in results]


def _here(queue: bl.Queue, argument: Any, kept: ExitStack) -> tuple[Any, Callable[[], Array] | None]:
    if isinstance(argument, Picture):
        sizes = argument.sizes
        desc = bl.ImageDescriptor(
            *sizes,
            num_channels=argument.pixels.shape[-1],
            channel_type=argument.channel_type,
            type="array" if argument.layered else "standard",
            array_size=len(argument.pixels) if argument.layered else 1,
        )
        memory = kept.enter_context(bl.ImageMem(desc, queue))
        queue.ext_oneapi_copy(np.ascontiguousarray(argument.pixels), memory).wait()
        handle = bl.create_image(memory, desc, queue)
        kept.callback(bl.destroy_image_handle, handle, queue)

        def pixels() -> Array:
            found = np.empty_like(argument.pixels)
            queue.ext_oneapi_copy(memory, found).wait()
            return found

        return handle, pixels
    if isinstance(argument, Sampler):
        desc = bl.ImageDescriptor(1, 1)
        memory = kept.enter_context(bl.ImageMem(desc, queue))
        wanted = bl.BindlessImageSampler(argument.addressing, argument.coordinate, argument.filtering)
        sampled = bl.create_image(memory, desc, queue, sampler=wanted)
        kept.callback(bl.destroy_image_handle, sampled, queue)
        return sampled, None
    if isinstance(argument, Local):
        return bl.LocalAccessor(argument.nbytes), None
    if isinstance(argument, Value):
        return argument.content, None
    if isinstance(argument, np.ndarray) and argument.ndim > 0:
        memory_ = bl.usm_empty(argument.shape, argument.dtype, queue)
        memory_.copy_from(argument)
        kept.callback(memory_.close)
        return memory_, lambda: memory_.numpy(queue).copy()
    return argument, None


# ------------------------------------------------------------------ an OpenCL device


def spirv_device() -> tuple[Any, Any] | None:
    """(platform, device) of a CPU or GPU that accepts SPIR-V and has images; None if there is none."""
    if not cl.available():
        return None
    for platform in cl.platforms():
        for device in cl.get_all("cl_device_id", "clGetDeviceIDs", platform, cl.lib.CL_DEVICE_TYPE_ALL):
            try:
                takes = "SPIR-V" in cl.get_text("clGetDeviceInfo", device, cl.lib.CL_DEVICE_IL_VERSION)
            except bl.Error:  # OpenCL before 2.1 lacks this query
                continue
            if takes and any(cl.get_info("clGetDeviceInfo", device, cl.lib.CL_DEVICE_IMAGE_SUPPORT)):
                return platform, device
    return None


def _made(function: str, *arguments: Any) -> Any:
    result = cl.ffi.new("cl_int *")
    made = getattr(cl.lib, function)(*arguments, result)
    cl.check(result[0], function)
    return made


class OpenCLPeer:
    """A context and a queue of an OpenCL device; the caller closes it."""

    def __init__(self, platform: Any, device: Any) -> None:
        self.name = cl.get_text("clGetPlatformInfo", platform, cl.lib.CL_PLATFORM_NAME)
        self._kept = ExitStack()
        self._device = device
        self._devices = cl.ffi.new("cl_device_id[]", [device])
        self._context = _made("clCreateContext", cl.ffi.NULL, 1, self._devices, cl.ffi.NULL, cl.ffi.NULL)
        self._kept.callback(cl.lib.clReleaseContext, self._context)
        self._queue = _made("clCreateCommandQueue", self._context, device, 0)
        self._kept.callback(cl.lib.clReleaseCommandQueue, self._queue)
        self._programs: dict[bytes, Any] = {}
        self.options = b"-cl-std=CL1.2"
        """For programs in OpenCL C."""

    def has(self, extension: str) -> bool:
        """Whether the device lists an extension."""
        return extension in cl.get_text("clGetDeviceInfo", self._device, cl.lib.CL_DEVICE_EXTENSIONS).split()

    def close(self) -> None:
        """Release everything."""
        self._kept.close()

    def _program(self, module: bytes) -> Any:
        if module not in self._programs:
            options = b"-cl-fp32-correctly-rounded-divide-sqrt"
            if is_spirv(module):
                data = cl.ffi.from_buffer(module)
                program = _made("clCreateProgramWithIL", self._context, data, len(module))
            else:
                text = cl.ffi.new("char[]", module)
                given = cl.ffi.new("char *[]", [text])
                program = _made("clCreateProgramWithSource", self._context, 1, given, cl.ffi.NULL)
                options = self.options
            self._kept.callback(cl.lib.clReleaseProgram, program)
            built = cl.lib.clBuildProgram(program, 1, self._devices, options, cl.ffi.NULL, cl.ffi.NULL)
            if built != cl.lib.CL_SUCCESS:
                log = cl.get_text("clGetProgramBuildInfo", program, self._device, cl.lib.CL_PROGRAM_BUILD_LOG)
                raise AssertionError(f"{self.name} does not build the module:\n{log}")
            self._programs[module] = program
        return self._programs[module]

    def run(
        self, module: bytes, kernel: str, size: Sequence[int], *arguments: Any, local: Sequence[int] | None = None
    ) -> list[Array]:
        """Run the kernel on this device."""
        made = _made("clCreateKernel", self._program(module), kernel.encode())
        null = cl.ffi.NULL
        with ExitStack() as kept:
            kept.callback(cl.lib.clReleaseKernel, made)
            results: list[tuple[Any, Any]] = []
            for number, argument in enumerate(arguments):
                if isinstance(argument, Local):
                    cl.check(cl.lib.clSetKernelArg(made, number, argument.nbytes, null), "clSetKernelArg")
                    continue
                held, memory = self._argument(argument, kept)
                cl.check(cl.lib.clSetKernelArg(made, number, cl.ffi.sizeof(held), held), "clSetKernelArg")
                if memory is not None:
                    results.append((argument, memory))
            whole = cl.ffi.new("size_t[]", list(size))
            group = null if local is None else cl.ffi.new("size_t[]", list(local))
            launch = (self._queue, made, len(size), null, whole, group, 0, null, null)
            cl.check(cl.lib.clEnqueueNDRangeKernel(*launch), "clEnqueueNDRangeKernel")
            return [self._read(argument, memory) for argument, memory in results]

    def _argument(self, argument: Any, kept: ExitStack) -> tuple[Any, Any]:
        """The C value of an argument, and its memory object if it has one."""
        flags = cl.lib.CL_MEM_READ_WRITE | cl.lib.CL_MEM_COPY_HOST_PTR
        if isinstance(argument, Picture):
            memory = self._image(argument, flags)
        elif isinstance(argument, Sampler):
            mode = getattr(cl.lib, _MODES[argument.addressing])
            filtering = cl.lib.CL_FILTER_LINEAR if argument.filtering == "linear" else cl.lib.CL_FILTER_NEAREST
            sampler = _made("clCreateSampler", self._context, int(argument.coordinate == "normalized"), mode, filtering)
            kept.callback(cl.lib.clReleaseSampler, sampler)
            return cl.ffi.new("cl_sampler[]", [sampler]), None
        elif isinstance(argument, np.ndarray) and argument.ndim > 0:
            content = cl.ffi.from_buffer(np.ascontiguousarray(argument))
            memory = _made("clCreateBuffer", self._context, flags, argument.nbytes, content)
        else:
            data = np.asarray(argument.content if isinstance(argument, Value) else argument).tobytes()
            return cl.ffi.new(f"char[{len(data)}]", data), None
        kept.callback(cl.lib.clReleaseMemObject, memory)
        return cl.ffi.new("cl_mem[]", [memory]), memory

    def _image(self, picture: Picture, flags: int) -> Any:
        form = cl.ffi.new("cl_image_format *")
        form.image_channel_order = getattr(cl.lib, _ORDERS[picture.pixels.shape[-1]])
        form.image_channel_data_type = getattr(cl.lib, _TYPES[picture.channel_type])
        sizes = picture.sizes
        desc = cl.ffi.new("cl_image_desc *")
        kind = f"CL_MEM_OBJECT_IMAGE{len(sizes)}D{'_ARRAY' if picture.layered else ''}"
        desc.image_type = getattr(cl.lib, kind)
        desc.image_width, desc.image_height, desc.image_depth = (*sizes, 1, 1)[:3]
        desc.image_array_size = len(picture.pixels) if picture.layered else 1
        content = cl.ffi.from_buffer(np.ascontiguousarray(picture.pixels))
        return _made("clCreateImage", self._context, flags, form, desc, content)

    def _read(self, argument: Any, memory: Any) -> Array:
        null = cl.ffi.NULL
        if not isinstance(argument, Picture):
            out: Array = np.empty_like(argument)
            call = (self._queue, memory, 1, 0, out.nbytes, cl.ffi.from_buffer(out), 0, null, null)
            cl.check(cl.lib.clEnqueueReadBuffer(*call), "clEnqueueReadBuffer")
            return out
        pixels: Array = np.empty_like(argument.pixels)
        extent = [*argument.sizes, *([len(argument.pixels)] if argument.layered else [])]
        region = cl.ffi.new("size_t[3]", (*extent, 1, 1)[:3])
        read = (self._queue, memory, 1, cl.ffi.new("size_t[3]"), region, 0, 0, cl.ffi.from_buffer(pixels))
        cl.check(cl.lib.clEnqueueReadImage(*read, 0, null, null), "clEnqueueReadImage")
        return pixels
