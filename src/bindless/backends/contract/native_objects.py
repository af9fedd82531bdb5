"""Native objects of a back end. Only that back end looks inside; everyone else keeps them opaque."""

from __future__ import annotations

from typing import Any

__all__ = [
    "NativeContext",
    "NativeDevice",
    "NativeEvent",
    "NativeExternalMemory",
    "NativeKernel",
    "NativeModule",
    "NativeObject",
    "NativeQueue",
    "NativeSemaphore",
]

NativeDevice = Any
NativeContext = Any
NativeQueue = Any
NativeEvent = Any
NativeModule = Any
NativeObject = Any
NativeKernel = Any
NativeExternalMemory = Any
NativeSemaphore = Any
