"""``BackendProtocol``: the methods that every back end has. The package states the rules that hold for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ...core._submission import Lane
from ...model.aspects import Aspect
from ...model.copy_region import CopyRegion
from ...model.enums import Backend, EventStatus, ImageChannelType, UsmKind
from ...model.image_call import ImageCall
from ...model.image_descriptor import ImageDescriptor
from ...model.module.description import ModuleDescription
from ...model.sampler import BindlessImageSampler
from .native_objects import (
    NativeContext,
    NativeDevice,
    NativeEvent,
    NativeKernel,
    NativeModule,
    NativeQueue,
)
from .optional_groups import OptionalGroups
from .prepared_command import PreparedCommand
from .prepared_copy import PreparedCopy
from .records import DeviceRecord, ImageRecord, KernelRecord, PlatformRecord, PointerRecord
from .traits import Traits

__all__ = ["BackendProtocol"]


class BackendProtocol(OptionalGroups, Protocol):
    """One vendor's driver. The docstring of the package states the rules of all methods."""

    @property
    def backend(self) -> Backend:
        """The name of the back end."""

    @property
    def traits(self) -> Traits:
        """Properties in which back ends differ."""

    # ------------------------------------------------------------------ discovery

    def platforms(self) -> Sequence[PlatformRecord]:
        """The drivers, including drivers without devices."""

    def devices(self) -> Sequence[DeviceRecord]:
        """All devices; empty where the driver has none. Raises what the driver's loader raises if it is missing."""

    def aspects(self, device: NativeDevice) -> frozenset[Aspect]:
        """Aspects that the device has."""

    def device_info(self, device: NativeDevice, name: str) -> Any:
        """The answer to a member of ``model.info.device`` outside ``DERIVED``; ``FeatureNotSupportedError`` if none."""

    def supports_format(self, device: NativeDevice, channel_type: ImageChannelType, num_channels: int) -> bool:
        """Whether images of this format can be made."""

    # ------------------------------------------------------------------ contexts, queues

    def create_context(self, devices: Sequence[NativeDevice]) -> NativeContext: ...

    def release_context(self, context: NativeContext) -> None: ...

    def create_queue(
        self,
        context: NativeContext,
        device: NativeDevice,
        *,
        in_order: bool,
        profiling: bool,
        immediate: bool | None = None,
    ) -> NativeQueue:
        """``immediate``: whether each command goes to the device by itself, where the driver has a choice; None is its
        own."""

    def release_queue(self, queue: NativeQueue) -> None:
        """Waits for its work first."""

    def wait_queue(self, queue: NativeQueue) -> None:
        """Returns when all work submitted so far is complete. Interruptible."""

    def queue_is_idle(self, queue: NativeQueue) -> bool: ...

    def queue_lanes(self, queue: NativeQueue) -> tuple[Lane, ...] | None:
        """Lanes of the queue, by which C code finds whether it is idle; None where ``queue_is_idle`` is called."""

    # ------------------------------------------------------------------ events

    def barrier(self, queue: NativeQueue, waits: Sequence[NativeEvent] = ()) -> NativeEvent:
        """Completes after everything submitted to the queue before it, and after ``waits``."""

    def wait_event(self, event: NativeEvent) -> None:
        """Returns when it is complete; raises the error of its command. Interruptible."""

    def event_status(self, event: NativeEvent) -> EventStatus: ...

    def event_times(self, event: NativeEvent) -> tuple[int, int, int]:
        """Nanoseconds of submission, start and end; waits for completion. ``ProfilingError`` without profiling."""

    def release_event(self, event: NativeEvent) -> None: ...

    # ------------------------------------------------------------------ memory

    def allocate(
        self, context: NativeContext, device: NativeDevice | None, kind: UsmKind, nbytes: int, alignment: int = 0
    ) -> int:
        """Address of new memory; ``MemoryAllocationError`` if there is not enough. ``nbytes`` is at least 1."""

    def allocate_pitched(
        self, context: NativeContext, device: NativeDevice, width_in_bytes: int, height: int, element_size: int
    ) -> tuple[int, int]:
        """Address and row pitch in bytes of device memory for a two-dimensional image."""

    def free(self, context: NativeContext, address: int) -> None: ...

    def pointer_info(self, context: NativeContext, address: int) -> PointerRecord: ...

    def copy(
        self, queue: NativeQueue, dst: int, src: int, nbytes: int, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent:
        """Copies between any two of device, host, shared and ordinary host memory."""

    def fill(
        self, queue: NativeQueue, dst: int, pattern: bytes, count: int, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent:
        """Writes ``count`` copies of a pattern of 1, 2, 4, 8 or 16 bytes."""

    def prefetch(
        self, queue: NativeQueue, address: int, nbytes: int, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent: ...

    def advise(
        self, queue: NativeQueue, address: int, nbytes: int, advice: int, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent: ...

    # ------------------------------------------------------------------ image memory and handles

    def allocate_image(self, context: NativeContext, device: NativeDevice, desc: ImageDescriptor) -> int:
        """Raw handle of new image memory of any type."""

    def free_image(self, context: NativeContext, handle: int, desc: ImageDescriptor) -> None: ...

    def image_info(self, context: NativeContext, handle: int) -> ImageRecord: ...

    def image_level(self, context: NativeContext, handle: int, level: int) -> int:
        """Raw handle of one level of a mipmap, borrowed from it."""

    def create_unsampled_image(
        self, context: NativeContext, device: NativeDevice, handle: int, desc: ImageDescriptor
    ) -> int: ...

    def create_sampled_image(
        self,
        context: NativeContext,
        device: NativeDevice,
        handle: int,
        desc: ImageDescriptor,
        sampler: BindlessImageSampler,
    ) -> int: ...

    def create_sampled_image_usm(
        self,
        context: NativeContext,
        device: NativeDevice,
        address: int,
        pitch: int,
        desc: ImageDescriptor,
        sampler: BindlessImageSampler,
    ) -> int:
        """Over linear memory; ``pitch`` is ignored in one dimension."""

    def destroy_image(self, context: NativeContext, handle: int, sampled: bool) -> None:
        """Destroys an image, not its memory."""

    def copy_image(self, queue: NativeQueue, region: CopyRegion, waits: Sequence[NativeEvent] = ()) -> NativeEvent:
        """Copies between images, or between an image and memory."""

    def prepare_copy(self, queue: NativeQueue, region: CopyRegion) -> PreparedCopy | None:
        """A copy that C code submits, repeatedly and with other arrays of the same shape; None where each submission
        takes Python.
        """

    def image_call(self, queue: NativeQueue, call: ImageCall, waits: Sequence[NativeEvent] = ()) -> NativeEvent:
        """Runs a device function over arrays that the device can reach."""

    def prepare_image_call(self, queue: NativeQueue, call: ImageCall) -> PreparedCommand | None:
        """A device function that C code submits, repeatedly and with other arrays of the same shapes and dtypes; None
        where each submission takes Python.

        ``places`` holds one entry for each of ``ARRAYS``: the position of the 8 bytes of the array's address, which C
        code may replace before each submission, or None where the call has no such array. ``sizes`` is 8 for each
        array, 0 for others.

        The kernel of a call depends on the alignment of its arrays. An address that replaces another is a multiple of
        ``ALIGNMENT``, or has the same remainder.
        """

    # ------------------------------------------------------------------ modules and kernels

    def load_module(
        self,
        context: NativeContext,
        device: NativeDevice,
        source: bytes,
        *,
        specialization: Mapping[int, bytes] | None = None,
        options: str = "",
    ) -> NativeModule:
        """Builds a module of the driver's own languages; ``BuildError`` with the log if it does not."""

    def describe_module(self, source: bytes) -> ModuleDescription:
        """Description of a source, without a build; ``BuildError`` if it is in none of the driver's languages."""

    def module_log(self, module: NativeModule) -> str:
        """Log of the driver's compiler for a module; often empty."""

    def release_module(self, module: NativeModule) -> None: ...

    def kernel_names(self, module: NativeModule) -> tuple[str, ...]: ...

    def get_kernel(self, module: NativeModule, name: str) -> NativeKernel: ...

    def kernel_info(self, kernel: NativeKernel) -> KernelRecord: ...

    def launch(
        self,
        queue: NativeQueue,
        kernel: NativeKernel,
        global_size: tuple[int, ...],
        local_size: tuple[int, ...] | None,
        arguments: Sequence[bytes | int],
        waits: Sequence[NativeEvent] = (),
    ) -> NativeEvent:
        """Runs a kernel; sizes are in the native order, dimension 0 varying fastest.

        Parameters
        ----------
        global_size : tuple[int, ...]
            work-items by dimension, every one at least 1.
        local_size : tuple[int, ...] | None
            work-group, or None for the backend's choice.
        arguments : Sequence[bytes | int]
            The bytes of a value, or the size of a local-memory argument as an int.
        """

    def prepare_launch(
        self,
        queue: NativeQueue,
        kernel: NativeKernel,
        global_size: tuple[int, ...],
        local_size: tuple[int, ...] | None,
        arguments: Sequence[bytes | int],
    ) -> PreparedCommand | None:
        """A launch that C code submits, repeatedly and with other arguments; None where each submission takes Python.

        Parameters
        ----------
        arguments : Sequence[bytes | int]
            As of ``launch``. C code writes other values of the same sizes; null pointers stay.

        This is the one exception to the rule on threads: the caller does not submit the command from two threads at
        once, nor after the release of the module or the queue.
        """

    # ------------------------------------------------------------------ streams of other libraries

    def make_stream_wait(
        self, context: NativeContext, device: NativeDevice, stream: int, waits: Sequence[NativeEvent]
    ) -> None:
        """Makes later work of a stream, which another library created with the same driver, wait for events.

        Returns at once. ``FeatureNotSupportedError`` where the driver has no streams.
        """

    def wait_for_stream(self, queue: NativeQueue, stream: int) -> NativeEvent:
        """Makes later commands of a queue wait for the present work of such a stream; returns at once."""

    # ------------------------------------------------------------------ native handles

    def native_handle(self, native: object) -> int:
        """The driver's own handle of an object of this backend."""
