"""The contract of back ends: ``BackendProtocol``, its optional groups of methods, and its records.

A backend turns these calls into its driver's. It knows native devices, contexts, queues and events, and
nothing of command groups, accessors or the facade's ``Queue``. Arguments arrive validated
(``bindless.model``); a backend checks only what its own driver adds.

Rules
  - Native objects are the backend's own; callers keep them opaque, and keep a context alive as long as
    anything made in it. Releasing is explicit, happens once, and never raises for an object that the
    driver has already lost.
  - Every command takes the native events it waits for, and returns a native event at once. Memory named
    in a command stays valid until it has completed: the caller ensures that.
  - A failure at submission raises; a failure afterwards is raised by ``wait_event`` of the command's
    event, and by ``wait_queue`` if no call waited for the event.
  - An operation that the driver cannot do raises ``FeatureNotSupportedError`` naming the aspect to ask first.
  - All methods may be called from several threads; those that wait release the interpreter lock.
  - ``wait_queue``, ``release_*``, ``free*`` and ``destroy_image`` may be called by the garbage collector, during
    any other method on the same thread: a lock that they take is not held while Python objects are made, or is
    reentrant.
  - ``traits`` holds the properties in which back ends differ; see ``Traits``.
  - Methods that only some back ends have come in groups, each an attribute that may be None; see ``OptionalGroups``.
  - A native queue with lanes (``queue_lanes``) is idle when ``done`` equals ``submitted`` in each lane, or,
    where the driver makes an event for each command, when ``wait_for`` reports completion.
  - A failure that makes the native context unusable is a ``DeviceLostError``; every later call raises it again.
  - ``wait_queue`` raises one failure that no event has reported, or several in an ``ExceptionList``; the next call
    raises the next failure.
"""

from __future__ import annotations

from .backend import BackendProtocol
from .external import ExternalMemoryProtocol, ExternalSemaphoreProtocol
from .host_call import HostCallProtocol
from .host_memory import HostMemoryProtocol
from .linking import LinkingProtocol
from .native_handles import InteropProtocol
from .native_objects import (
    NativeContext,
    NativeDevice,
    NativeEvent,
    NativeExternalMemory,
    NativeKernel,
    NativeModule,
    NativeObject,
    NativeQueue,
    NativeSemaphore,
)
from .optional_groups import OptionalGroups, OwnMethods, functions_of, require_group
from .partitioning import PartitioningProtocol
from .records import (
    AdoptedQueue,
    DeviceRecord,
    ImageRecord,
    KernelArgument,
    KernelRecord,
    PlatformRecord,
    PointerRecord,
)
from .traits import Traits

__all__ = [
    "AdoptedQueue",
    "BackendProtocol",
    "DeviceRecord",
    "ExternalMemoryProtocol",
    "ExternalSemaphoreProtocol",
    "HostCallProtocol",
    "HostMemoryProtocol",
    "ImageRecord",
    "InteropProtocol",
    "KernelArgument",
    "KernelRecord",
    "LinkingProtocol",
    "NativeContext",
    "NativeDevice",
    "NativeEvent",
    "NativeExternalMemory",
    "NativeKernel",
    "NativeModule",
    "NativeObject",
    "NativeQueue",
    "NativeSemaphore",
    "OptionalGroups",
    "OwnMethods",
    "PartitioningProtocol",
    "PlatformRecord",
    "PointerRecord",
    "Traits",
    "functions_of",
    "require_group",
]
