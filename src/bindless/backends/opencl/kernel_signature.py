"""Kernel signatures: the driver's arguments, and the arguments of the source that they belong to.

`bindless build` compiles an image handle to two OpenCL arguments, an image and a sampler, or to an image alone. The
argument names encode that: ``picture__bindless_image`` and ``picture__bindless_sampler`` are the handle ``picture``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import Error
from ...model.module import opencl_c
from ...model.module.description import KernelSignature, Parameter
from ..contract import KernelArgument
from .errors import create

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
    """A driver argument: ``source`` is the index of the source's argument that it is part of, ``writes`` whether the
    kernel is known to write the image.
    """

    source: int
    kind: str
    type: str = ""
    writes: bool = False


@dataclass(frozen=True)
class Signature:
    """Arguments of the source, None if unknown, and those of the driver."""

    arguments: tuple[KernelArgument, ...] | None
    natives: tuple[NativeArgument, ...]


def signature_of(
    kernel: CData, count: int, record: KernelSignature | None, declared: KernelSignature | None = None
) -> Signature:
    """The signature of a cl_kernel.

    Parameters
    ----------
    count
        number of the driver's arguments.
    record
        signature in the SPIR-V.
    declared
        signature in the source text, for drivers without reflection.
    """
    return _join(_fitting(record, count) or _reflected(kernel, count, declared))


def _fitting(said: KernelSignature | None, count: int) -> tuple[Parameter, ...]:
    """The parameters in a source, if they are known and match the driver's count."""
    parameters = () if said is None else said.parameters or ()
    return parameters if len(parameters) == count else ()


def reflected_of(program: CData, name: str, declared: KernelSignature | None = None) -> KernelSignature:
    """The driver's reflection of a kernel in a program built from source, or else the text's declaration."""
    kernel = create("clCreateKernel", program, name.encode())
    try:
        count = int.from_bytes(driver.get_info("clGetKernelInfo", kernel, lib.CL_KERNEL_NUM_ARGS), "little")
        listed = _reflected(kernel, count, declared)
    finally:
        lib.clReleaseKernel(kernel)
    return KernelSignature(name, tuple(listed) if all(parameter.kind for parameter in listed) else None)


def _reflected(kernel: CData, count: int, declared: KernelSignature | None) -> Sequence[Parameter]:
    listed = [_argument(kernel, index) for index in range(count)]
    return listed if all(parameter.kind for parameter in listed) else _fitting(declared, count) or listed


def _join(listed: Sequence[Parameter]) -> Signature:
    """The parts of one handle, joined into one argument."""
    arguments: list[KernelArgument] = []
    natives: list[NativeArgument] = []
    handle = ""
    for row in listed:
        type_ = row.type.rpartition(" ")[2] if row.kind == "image" else row.type
        part = _PART.fullmatch(row.name)
        if part is None or part[1] != handle:
            index = len(arguments)
            if part is not None:
                arguments.append(KernelArgument(index, part[1], "value", _POINTER_SIZE))
            else:
                arguments.append(KernelArgument(index, row.name, row.kind, row.size, type_, may_be_handle=False))
        handle = part[1] if part is not None else ""
        natives.append(NativeArgument(len(arguments) - 1, row.kind, type_, type_ != row.type))
    complete = all(argument.size or argument.kind != "value" for argument in arguments)
    described = complete and all(row.kind for row in listed)
    return Signature(tuple(arguments) if described else None, tuple(natives))


def _argument(kernel: CData, index: int) -> Parameter:
    """An argument as the driver reports it; without a kind if the driver does not report it, and without a size for
    types of the source.
    """

    def ask(name: int) -> int:
        return int.from_bytes(driver.get_info("clGetKernelArgInfo", kernel, index, name), "little")

    try:
        name = driver.get_text("clGetKernelArgInfo", kernel, index, lib.CL_KERNEL_ARG_NAME)
        type_ = driver.get_text("clGetKernelArgInfo", kernel, index, lib.CL_KERNEL_ARG_TYPE_NAME)
        space, access = ask(lib.CL_KERNEL_ARG_ADDRESS_QUALIFIER), ask(lib.CL_KERNEL_ARG_ACCESS_QUALIFIER)
    except Error:
        return Parameter("", "", "", 0)
    return opencl_c.parameter(name, type_, _SPACES.get(space, ""), _WRITTEN.get(access, ""))
