"""What a kernel takes: the driver's own arguments, and those of the source that they stand for.

In kernels that `bindless build` compiles for OpenCL an image handle is two arguments, an image and a sampler, or an
image alone. Their names tell: ``picture__bindless_image`` and ``picture__bindless_sampler`` are the handle ``picture``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...drivers import opencl as driver
from ...model.errors import Error
from ...model.module import opencl_c
from ...model.module.description import KernelSignature, Parameter
from ..contract import KernelArgument
from .errors import made

__all__ = ["NativeArgument", "Signature", "reflected_of", "signature_of"]

lib, ffi = driver.lib, driver.ffi

_PART = re.compile(r"(.+)__bindless_(image|sampler)")
_POINTER_SIZE = 8

_WRITTEN = {lib.CL_KERNEL_ARG_ACCESS_WRITE_ONLY: "write_only", lib.CL_KERNEL_ARG_ACCESS_READ_WRITE: "read_write"}
_SPACES = {
    lib.CL_KERNEL_ARG_ADDRESS_LOCAL: "local",
    lib.CL_KERNEL_ARG_ADDRESS_GLOBAL: "global",
    lib.CL_KERNEL_ARG_ADDRESS_CONSTANT: "constant",
}


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


def signature_of(
    kernel: Any, count: int, told: KernelSignature | None, declared: KernelSignature | None = None
) -> Signature:
    """The signature of a cl_kernel.

    Args:
        count: of the driver's arguments.
        told: what SPIR-V says of it.
        declared: what the text says of it, for drivers that do not tell.
    """
    return _joined(_fitting(told, count) or _reflected(kernel, count, declared))


def _fitting(said: KernelSignature | None, count: int) -> tuple[Parameter, ...]:
    """Parameters that a source says, if they are known and as many as the driver's."""
    found = () if said is None else said.parameters or ()
    return found if len(found) == count else ()


def reflected_of(program: Any, name: str, declared: KernelSignature | None = None) -> KernelSignature:
    """What the driver tells of a kernel of a program that was built of its source, or else the text."""
    kernel = made("clCreateKernel", program, name.encode())
    try:
        count = int.from_bytes(driver.get_info("clGetKernelInfo", kernel, lib.CL_KERNEL_NUM_ARGS), "little")
        listed = _reflected(kernel, count, declared)
    finally:
        lib.clReleaseKernel(kernel)
    return KernelSignature(name, tuple(listed) if all(found.kind for found in listed) else None)


def _reflected(kernel: Any, count: int, declared: KernelSignature | None) -> Sequence[Parameter]:
    listed = [_argument(kernel, index) for index in range(count)]
    return listed if all(found.kind for found in listed) else _fitting(declared, count) or listed


def _joined(listed: Sequence[Parameter]) -> Signature:
    """Parts of one handle become one argument."""
    arguments: list[KernelArgument] = []
    natives: list[NativeArgument] = []
    handle = ""
    for found in listed:
        type_ = found.type.rpartition(" ")[2] if found.kind == "image" else found.type
        part = _PART.fullmatch(found.name)
        if part is None or part[1] != handle:
            index = len(arguments)
            if part is not None:
                arguments.append(KernelArgument(index, part[1], "value", _POINTER_SIZE))
            else:
                arguments.append(KernelArgument(index, found.name, found.kind, found.size, type_, may_be_handle=False))
        handle = part[1] if part is not None else ""
        natives.append(NativeArgument(len(arguments) - 1, found.kind, type_, type_ != found.type))
    known = all(argument.size or argument.kind != "value" for argument in arguments)
    told = known and all(found.kind for found in listed)
    return Signature(tuple(arguments) if told else None, tuple(natives))


def _argument(kernel: Any, index: int) -> Parameter:
    """An argument as the driver tells it; no kind where it does not, no size of a value whose type is the source's
    own."""

    def told(name: int) -> int:
        return int.from_bytes(driver.get_info("clGetKernelArgInfo", kernel, index, name), "little")

    try:
        name = driver.get_text("clGetKernelArgInfo", kernel, index, lib.CL_KERNEL_ARG_NAME)
        type_ = driver.get_text("clGetKernelArgInfo", kernel, index, lib.CL_KERNEL_ARG_TYPE_NAME)
        space, access = told(lib.CL_KERNEL_ARG_ADDRESS_QUALIFIER), told(lib.CL_KERNEL_ARG_ACCESS_QUALIFIER)
    except Error:
        return Parameter("", "", "", 0)
    return opencl_c.parameter(name, type_, _SPACES.get(space, ""), _WRITTEN.get(access, ""))
