"""The log and the switches of the driver of ``fake_cuda.c``, and kernels that it takes."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from tests.backends.contract.contract_rig import Rig

__all__ = ["PTX", "Fake", "launch"]

PTX = b"""
.target sm_75
.visible .entry f(.param .u64 .ptr .global .align 4 a, .param .f32 b, .param .align 8 .b8 c[24]) { ret; }
.visible .entry pieces(.param .u64 a, .param .u32 one, .param .u64 two) { ret; }
.visible .entry plain(.param .u64 a) { ret; }
.visible .entry nothing() .reqntid 64, 2, 1 { ret; }
"""


class Fake:
    """The log and the switches of the fake driver."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(os.environ["BINDLESS_LIBCUDA"])
        self.library.fake_log.restype = ctypes.c_char_p

    def lines(self, beginning: str = "") -> list[str]:
        text = self.library.fake_log().decode()
        return [line for line in text.splitlines() if line.startswith(beginning)]

    def allocations(self) -> int:
        """The number of allocations of memory so far."""
        return int(self.library.fake_allocations())

    def clear(self) -> None:
        self.library.fake_clear()

    def fail(self, call: str, result: int, after: int = 0) -> None:
        self.library.fake_fail(call.encode(), result, after)

    def sticky(self, result: int) -> None:
        self.library.fake_sticky(result)

    def parameters(self, *sizes: int) -> None:
        self.library.fake_parameters(len(sizes), (ctypes.c_size_t * len(sizes))(*sizes))


def launch(rig: Rig, name: str, arguments: list[Any], size: tuple[int, ...] = (8,), local: Any = None) -> Any:
    module = rig.backend.load_module(rig.context, rig.device, PTX)
    return rig.backend.launch(rig.queue, rig.backend.get_kernel(module, name), size, local, arguments)
