"""Cached binaries of built programs, with the reflected signatures of their kernels.

Binaries lose the names of arguments, so these are stored with them. Programs of ``load_module`` are stored on disk if
the disk cache is on (``model.module_cache``); the built-in kernels are also kept in memory, because every context of
the process needs them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.module.description import KernelSignature, Parameter
from ..common import module as common
from .device import Device
from .errors import SUCCESS

__all__ = ["binary_of", "key_of", "pack", "unpack"]

lib, ffi = driver.lib, driver.ffi


def key_of(device: Device, options: bytes, constants: Mapping[int, bytes] | None, source: bytes) -> tuple[bytes, ...]:
    """The cache key: everything that a binary depends on."""
    platform = device.platform.record
    about = (platform.name, platform.version, device.name, device.version_text, device.driver_version)
    listed = repr(sorted((constants or {}).items()))
    return b"opencl 2", repr(about).encode(), options, listed.encode(), source


def binary_of(program: CData, device: Device) -> bytes:
    """The binary of a program for a device; empty if the driver gives none."""
    count = len(driver.get_info("clGetProgramInfo", program, lib.CL_PROGRAM_DEVICES)) // ffi.sizeof("cl_device_id")
    devices = ffi.new("cl_device_id[]", count)
    sizes = ffi.new("size_t[]", count)
    pointers = ffi.new("unsigned char *[]", count)
    ask = lib.clGetProgramInfo
    if ask(program, lib.CL_PROGRAM_DEVICES, ffi.sizeof(devices), devices, ffi.NULL) != SUCCESS:
        return b""
    if ask(program, lib.CL_PROGRAM_BINARY_SIZES, ffi.sizeof(sizes), sizes, ffi.NULL) != SUCCESS:
        return b""
    place = next((index for index in range(count) if devices[index] == device.handle), None)
    if place is None or not sizes[place]:
        return b""
    binaries = [ffi.new("unsigned char[]", max(int(size), 1)) for size in sizes]
    for index, binary in enumerate(binaries):
        pointers[index] = binary
    if ask(program, lib.CL_PROGRAM_BINARIES, ffi.sizeof(pointers), pointers, ffi.NULL) != SUCCESS:
        return b""
    return bytes(ffi.buffer(binaries[place], sizes[place]))


def pack(signatures: Mapping[str, KernelSignature], log: str, binary: bytes) -> bytes:
    """Signatures, log and binary as bytes."""
    rows = {
        name: None
        if signature.parameters is None
        else [[part.name, part.type, part.kind, part.size] for part in signature.parameters]
        for name, signature in signatures.items()
    }
    head = json.dumps({"kernels": rows, "log": log}).encode()
    return common.pack(head, binary)


def unpack(data: bytes) -> tuple[dict[str, KernelSignature], str, bytes]:
    """The arguments of ``pack``."""
    packed, binary = common.unpack(data)
    head = json.loads(packed)
    signatures = {
        name: KernelSignature(name, None if parts is None else tuple(Parameter(*part) for part in parts))
        for name, parts in head["kernels"].items()
    }
    return signatures, head["log"], binary
