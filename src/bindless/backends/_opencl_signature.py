"""What a kernel takes: the driver's own arguments, and those of the source that they stand for.

In kernels that `bindless build` compiles for OpenCL an image handle is two arguments, an image and a sampler, or an
image alone. Their names tell: ``picture__bindless_image`` and ``picture__bindless_sampler`` are the handle ``picture``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..drivers import opencl as driver
from ..model.errors import Error
from ..model.module import KernelSignature, Parameter
from ._opencl_errors import made
from .contract import KernelArgument

__all__ = ["NativeArgument", "Signature", "reflected_of", "signature_of"]

lib, ffi = driver.lib, driver.ffi

_PART = re.compile(r"(.+)__bindless_(image|sampler)")
_POINTER_SIZE = 8

_SIZES = {
    "char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "long": 8, "ulong": 8, "half": 2, "float": 4,
    "double": 8, "bool": 1, "size_t": 8, "ptrdiff_t": 8, "intptr_t": 8, "uintptr_t": 8, "unsigned char": 1,
    "unsigned short": 2, "unsigned int": 4, "unsigned long": 8,
}  # fmt: skip
_WRITES = "written "  # before the type of an image that the kernel writes
_VALUE = re.compile(r"([a-z_ ]+?)(2|3|4|8|16)?")


@dataclass(frozen=True)
class NativeArgument:
    """An argument as the driver has it: ``source`` is the index of the source's argument that it is made of, ``writes``
    whether the kernel is known to write the image."""

    source: int
    kind: str
    type: str = ""
    writes: bool = False


@dataclass(frozen=True)
class Signature:
    """Arguments of the source, None where they are not known, and those of the driver."""

    arguments: tuple[KernelArgument, ...] | None
    natives: tuple[NativeArgument, ...]


def signature_of(kernel: Any, count: int, told: KernelSignature | None) -> Signature:
    """The signature of a cl_kernel.

    Args:
        count: of the driver's arguments.
        told: what the source tells of it.
    """
    if told is not None and told.parameters is not None and len(told.parameters) == count:
        listed = [(found.name, found.kind, found.size, found.type) for found in told.parameters]
    else:
        listed = [_reflected(kernel, index) for index in range(count)]
    return _joined(listed)


def reflected_of(program: Any, name: str) -> KernelSignature:
    """What the driver tells of a kernel of a program that was built of its source."""
    kernel = made("clCreateKernel", program, name.encode())
    try:
        count = int.from_bytes(driver.get_info("clGetKernelInfo", kernel, lib.CL_KERNEL_NUM_ARGS), "little")
        listed = [_reflected(kernel, index) for index in range(count)]
    finally:
        lib.clReleaseKernel(kernel)
    known = all(kind for _, kind, _, _ in listed)
    parts = tuple(Parameter(part, type_, kind, size) for part, kind, size, type_ in listed)
    return KernelSignature(name, parts if known else None)


def _joined(listed: list[tuple[str, str, int, str]]) -> Signature:
    """Parts of one handle become one argument."""
    arguments: list[KernelArgument] = []
    natives: list[NativeArgument] = []
    handle = ""
    for name, kind, size, spelled in listed:
        type_ = spelled.removeprefix(_WRITES)
        part = _PART.fullmatch(name)
        if part is None or part[1] != handle:
            index = len(arguments)
            if part is not None:
                arguments.append(KernelArgument(index, part[1], "value", _POINTER_SIZE))
            else:
                arguments.append(KernelArgument(index, name, kind, size, type_, may_be_handle=False))
        handle = part[1] if part is not None else ""
        natives.append(NativeArgument(len(arguments) - 1, kind, type_, type_ != spelled))
    known = all(argument.size or argument.kind != "value" for argument in arguments)
    return Signature(tuple(arguments) if known and all(kind for _, kind, _, _ in listed) else None, tuple(natives))


def _is_written(kernel: Any, index: int) -> bool:
    found = driver.get_info("clGetKernelArgInfo", kernel, index, lib.CL_KERNEL_ARG_ACCESS_QUALIFIER)
    written = (lib.CL_KERNEL_ARG_ACCESS_WRITE_ONLY, lib.CL_KERNEL_ARG_ACCESS_READ_WRITE)
    return int.from_bytes(found, "little") in written


def _reflected(kernel: Any, index: int) -> tuple[str, str, int, str]:
    """Name, kind, size and type of an argument as the driver tells them; no kind where it does not, no size of a value
    whose type is the source's own."""
    try:
        name = driver.get_text("clGetKernelArgInfo", kernel, index, lib.CL_KERNEL_ARG_NAME)
        type_ = driver.get_text("clGetKernelArgInfo", kernel, index, lib.CL_KERNEL_ARG_TYPE_NAME)
        found = driver.get_info("clGetKernelArgInfo", kernel, index, lib.CL_KERNEL_ARG_ADDRESS_QUALIFIER)
    except Error:
        return "", "", 0, ""
    space = int.from_bytes(found, "little")
    if space == lib.CL_KERNEL_ARG_ADDRESS_LOCAL:
        return name, "local", 0, type_
    if type_.startswith("image"):
        return name, "image", _POINTER_SIZE, _WRITES * _is_written(kernel, index) + type_
    if type_ == "sampler_t":
        return name, "sampler", _POINTER_SIZE, type_
    if space in (lib.CL_KERNEL_ARG_ADDRESS_GLOBAL, lib.CL_KERNEL_ARG_ADDRESS_CONSTANT):
        return name, "pointer", _POINTER_SIZE, type_
    value = _VALUE.fullmatch(type_)
    if value is None or value[1] not in _SIZES:
        return name, "value", 0, type_
    width = int(value[2] or 1)
    return name, "value", _SIZES[value[1]] * (4 if width == 3 else width), type_
