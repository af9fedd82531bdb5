"""Types of a back end's native objects: opaque above ``backends/``, classes of its own inside a back end.

Most kinds are distinct types, so that mypy refuses an event where a queue is expected, and any access to their members.
A back end converts at its boundary: methods through ``OwnMethods`` and the table of the registry, records with
``NativeQueue(...)`` or ``NativeModule(...)``. Two kinds remain ``Any``:

- ``NativeDevice``: records of devices and pointers carry it out of a back end and into it again, at ten places in
  OpenCL alone, and each would be a conversion.
- ``NativeObject``: a bundle in state object holds its source instead where a back end compiles and links in one step.
"""

from __future__ import annotations

from typing import Any, NewType

__all__ = [
    "NativeContext",
    "NativeDevice",
    "NativeEvent",
    "NativeExternalMemory",
    "NativeFence",
    "NativeGraph",
    "NativeKernel",
    "NativeModule",
    "NativeObject",
    "NativePhysical",
    "NativePool",
    "NativePoolEvent",
    "NativeQueue",
    "NativeSemaphore",
]

NativeDevice = Any
NativeObject = Any

NativeContext = NewType("NativeContext", object)
NativeEvent = NewType("NativeEvent", object)
NativeExternalMemory = NewType("NativeExternalMemory", object)
NativeFence = NewType("NativeFence", object)
NativeGraph = NewType("NativeGraph", object)
NativeKernel = NewType("NativeKernel", object)
NativeModule = NewType("NativeModule", object)
NativePhysical = NewType("NativePhysical", object)
NativePool = NewType("NativePool", object)
NativePoolEvent = NewType("NativePoolEvent", object)
NativeQueue = NewType("NativeQueue", object)
NativeSemaphore = NewType("NativeSemaphore", object)
