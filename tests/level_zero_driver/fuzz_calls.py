"""Calls the Level Zero driver's functions with random values of the right types: python fuzz_calls.py SEED COUNT.

Sizes and regions stay within the memory that addresses point into, for a driver takes addresses of the host as they
are; handles, descriptors, chains, counts and enumerations are anything. Prints how many calls gave each result.
"""

from __future__ import annotations

import ctypes
import os
import random
import re
import sys
from collections import Counter
from typing import Any

from bindless.cli.ze_driver import driver_path
from bindless.drivers.level_zero import _bindings as _level_zero
from bindless.drivers.level_zero._struct_types import STRUCTURE_TYPES

ffi, lib = _level_zero.ffi, _level_zero.lib

VERSION = 0x1000D
SCRATCH = 1 << 20
# These functions wait without a limit for all submitted work, and could wait for ever.
WAITS = {"zeDeviceSynchronize", "zeMemFreeExt"}
# Interfaces that the driver does not offer: one function of each is enough.
ABSENT = ("RTAS", "Graph", "Fabric", "Mutable", "CounterBased", "RuntimeRequirements", "WithParameters")
NUMBERS = (0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 4, 7, 8, 16, 31, 64)
WILD = (-1, 0x7FFFFFFF, 0x7FFFFFFE, 255, 65536)
SIZES = (0, 1, 2, 3, 4, 8, 16, 64, 100, 4096)
LIMITLESS = {"zeVirtualMemReserve", "zeMemAllocHost", "zeMemAllocDevice", "zeMemAllocShared", "zeVirtualMemFree"}


def entry_points() -> dict[str, Any]:
    """Every function of the driver's tables by its name."""
    driver = ctypes.CDLL(str(driver_path()))
    table = (ctypes.c_void_p * 64)()
    assert driver.zeGetGlobalProcAddrTable(VERSION, table) == 0
    assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint32)(table[0])(0) == 0
    assert driver.zeGetDriverProcAddrTable(VERSION, table) == 0
    count, handle = ctypes.c_uint32(1), ctypes.c_void_p()
    assert (
        ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(table[0])(
            ctypes.byref(count), ctypes.byref(handle)
        )
        == 0
    )
    ask = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(table[5])
    found = {}
    for name in dir(lib):
        if not name.startswith("ze") or not callable(getattr(lib, name)) or name in WAITS:
            continue
        address = ctypes.c_void_p()
        offered = not any(word in name for word in ABSENT)
        if offered and ask(handle, name.encode(), ctypes.byref(address)) == 0:
            found[name] = ffi.cast(ffi.typeof(getattr(lib, name)), address.value)
    return found


class Fuzzer:
    """Random arguments, including handles and addresses that earlier calls returned."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.handles: dict[str, list[Any]] = {}
        self.memory: list[Any] = []
        self.scratch = ffi.new("char[]", SCRATCH)
        self.name = ffi.new("char[4096]", b"zeInit")
        self.alive: list[Any] = []

    def handle(self, ctype: Any) -> Any:
        """A handle: mostly one of the right kind, possibly destroyed; else NULL, one of another kind, or a number."""
        own = self.handles.get(ctype.cname)
        chance = self.random.random()
        if own and chance < 0.85:
            return self.random.choice(own)
        if chance < 0.88:
            return ffi.cast(ctype, 0)
        if chance < 0.97 and self.handles:
            return ffi.cast(ctype, self.random.choice(self.random.choice(list(self.handles.values()))))
        return ffi.cast(ctype, self.random.getrandbits(64))

    def address(self, ctype: Any) -> Any:
        """An address in driver memory or host memory, or NULL."""
        chance = self.random.random()
        if self.memory and chance < 0.7:
            return ffi.cast(ctype, self.random.choice(self.memory))
        if chance < 0.95:
            return ffi.cast(ctype, self.scratch + SCRATCH // 2 + self.random.randrange(4096))
        return ffi.cast(ctype, 0)

    def number(self) -> int:
        return self.random.choice(WILD if self.random.random() < 0.05 else NUMBERS)

    def fill(self, struct: Any, ctype: Any) -> None:
        """Fill a random subset of a struct's members."""
        for name, member in ctype.fields:
            kind = member.type
            if name == "stype":
                known = STRUCTURE_TYPES.get(ctype.cname.removeprefix("struct _"))
                right = known is not None and self.random.random() < 0.95
                struct.stype = known if right else self.number() & 0xFFFF
            elif name == "pNext":
                struct.pNext = ffi.NULL if self.random.random() < 0.9 else self.chained()
            elif name in ("flags", "freePolicy") and self.random.random() < 0.8:
                continue
            elif name == "mode":
                struct.mode = self.random.choice((0, 2))  # modes that do not wait for an event
            elif name == "fd":
                struct.fd = -1
            elif kind.kind == "primitive" and kind.cname not in ("float", "double", "char"):
                bits = 8 * ffi.sizeof(kind)
                setattr(struct, name, self.number() & (((1 << bits) - 1) if kind.cname.startswith("u") else 0x7F))
            elif kind.kind == "struct":
                self.fill(getattr(struct, name), kind)

    def chained(self) -> Any:
        """A struct of a random kind, or one that is chained to itself."""
        room = ffi.new("char[4096]")  # large enough for every kind
        self.alive.append(room)
        base = ffi.cast("ze_base_desc_t *", room)
        base.stype = self.random.choice(list(STRUCTURE_TYPES.values()))
        if self.random.random() < 0.3:
            base.pNext = base
            base.stype = 0x7777
        return base

    def argument(self, function: str, ctype: Any) -> Any:
        """One argument of a call."""
        if ctype.kind == "primitive":
            if ctype.cname in ("float", "double"):
                return 1.5
            sizes = (*SIZES, 2**64 - 1, 2**63, 2**40) if function in LIMITLESS else SIZES
            if ctype.cname == "uint64_t" and "ynchronize" in function:
                return self.random.choice((0, 1000))  # nanoseconds, always finite
            value = self.random.choice(sizes) if ffi.sizeof(ctype) == 8 else self.number()
            bits = 8 * ffi.sizeof(ctype)
            return value & ((1 << bits) - 1) if ctype.cname.startswith("u") or bits == 64 else value % 128
        if ctype.kind == "function":
            return ffi.NULL
        if ctype.kind != "pointer":
            struct = ffi.new(f"{ctype.cname} *")
            self.alive.append(struct)
            return struct[0]
        target = ctype.item
        if re.fullmatch(r"struct _ze_\w+_handle_t", target.cname) and not re.search("_ipc_|win32", target.cname):
            return self.handle(ctype)
        asynchronous = "Append" in function and target.kind == "primitive"  # the write comes after the call returns
        if target.kind == "void" or asynchronous:
            return self.address(ctype)
        if target.cname == "char":
            return ffi.cast(ctype, self.name)
        if self.random.random() < 0.04:
            return ffi.cast(ctype, 0)
        if target.kind == "struct":
            array = ffi.new(f"{target.cname}[]", 256)
            for i in range(4):
                self.fill(array[i], target)
        else:
            array = ffi.new(ffi.getctype(target, "[]"), 256)
            if target.kind == "pointer" and target.item.kind != "void":
                for i in range(8):
                    array[i] = self.handle(target)
            elif target.kind == "primitive" and target.cname not in ("float", "double", "char"):
                array[0] = self.random.choice((0, 1, 2, 8))
        self.alive.append(array)
        return array

    def learn(self, ctype: Any, before: list[Any], arguments: list[Any]) -> None:
        """Record the objects that a successful call returned."""
        for kind, argument, old in zip(ctype.args, arguments, before, strict=True):
            if kind.kind != "pointer" or kind.item.kind != "pointer" or old is None or argument == ffi.NULL:
                continue
            for i in range(8):
                value = argument[i]
                if value != ffi.NULL and value != old[i]:
                    if kind.item.item.kind == "void":
                        self.memory.append(value)
                    else:
                        self.handles.setdefault(kind.item.cname, []).append(value)

    def call(self, name: str, function: Any) -> int:
        """One call with random arguments; returns its result."""
        ctype = ffi.typeof(function)
        arguments = [self.argument(name, kind) for kind in ctype.args]
        before = [
            [argument[i] for i in range(8)]
            if kind.kind == "pointer" and kind.item.kind == "pointer" and argument != ffi.NULL
            else None
            for kind, argument in zip(ctype.args, arguments, strict=True)
        ]
        result = function(*arguments)
        if not isinstance(result, int):
            return 0
        if result == 0:
            if "FunctionAddress" not in name and "FunctionPointer" not in name:
                self.learn(ctype, before, arguments)
            if "Free" in name or "Unmap" in name or "Close" in name:
                self.memory = [address for address in self.memory if address not in arguments]
        if len(self.alive) > 20000:
            del self.alive[:10000]
        return result


def main() -> None:
    """Run from the command line."""
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    functions = entry_points()
    fuzzer = Fuzzer(seed)
    while "struct _ze_device_handle_t *" not in fuzzer.handles:  # all other calls need a device
        for name in ("zeDriverGet", "zeDeviceGet"):
            fuzzer.call(name, functions[name])
    results: Counter[int] = Counter()
    names = sorted(functions)
    makers = [
        name for name in names if any(word in name for word in ("Create", "Alloc", "Reserve", "DriverGet", "DeviceGet"))
    ]
    for _ in range(count):
        name = fuzzer.random.choice(makers if fuzzer.random.random() < 0.4 else names)
        if len(sys.argv) > 3:
            print(name, file=sys.stderr, flush=True)
        results[fuzzer.call(name, functions[name])] += 1
    print(len(functions), *(f"{result:#x}:{number}" for result, number in sorted(results.items())), flush=True)
    os._exit(0)  # with work pending on this program's memory


if __name__ == "__main__":
    main()
