"""A driver under a test of native objects: it makes them, looks at them, and destroys them without the package."""

from __future__ import annotations

import gc
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

import bindless as bl

__all__ = ["ITEMS", "MAKE", "OTHER", "SCALE", "Refusal", "Rig", "base"]

OTHER = "kernel void other(global float *data) { data[get_global_id(0)] = 1; }"
SCALE = "kernel void scale(global float *data, float factor) { data[get_global_id(0)] *= factor; }"
ITEMS = 64  # of a buffer: float32, 0 to 63
MAKE: dict[str, Any] = {
    "context": bl.make_context,
    "queue": bl.make_queue,
    "event": bl.make_event,
    "bundle": bl.make_kernel_bundle,
    "kernel": bl.make_kernel,
    "buffer": bl.make_buffer,
}


def base(kind: str) -> str:
    """``queue`` of ``queue.immediate``."""
    return kind.partition(".")[0]


@dataclass(frozen=True)
class Refusal:
    """A refused call: the kind of object, the error, values that its message names, the arguments of ``make_*``."""

    kind: str
    error: type[bl.Error]
    names: object
    arguments: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)


class Rig(ABC):
    """A device of a driver, a native context of the program, and that context as one of the package.

    Attributes
    ----------
    types
        Native types of a platform, where there is one, and of a device.
    kinds
        Native type of each kind of object; ``queue.immediate`` is a form of ``queue``.
    gates
        Whether a new event stays incomplete until ``open``.
    retains
        Whether the package adds a reference of its own by default, as OpenCL says, and does not take the caller's.
    """

    backend: ClassVar[str]
    types: ClassVar[tuple[str, ...]]
    kinds: ClassVar[dict[str, str]]
    gates: ClassVar[bool] = True
    retains: ClassVar[bool] = False
    lists_kernels: bool = True  # of a module
    device: bl.Device
    native: Any
    context: bl.Context
    cast: ClassVar[Callable[[str, int], Any]]  # a number as a C type
    with_context: ClassVar[tuple[str, ...]] = ()  # kinds whose objects tell their context
    bundle: bl.KernelBundle | None = None  # of the kernel that new() made last
    spares: list[Any]
    null: Any  # NULL of the driver's bindings
    wrong: Any  # a native object that is no context
    other: bl.Context | None  # another context of the device, which the driver tells from the first

    @abstractmethod
    def new(self, kind: str, text: str = SCALE) -> Any:
        """A native object: an empty queue, an incomplete event, a buffer of 0 to 63, a module of a text, a kernel of
        SCALE."""

    @abstractmethod
    def release(self, *natives: Any) -> None:
        """Destroy objects; the driver must still know them."""

    @abstractmethod
    def open(self, event: Any) -> None:
        """Complete an event."""

    @abstractmethod
    def wait(self, handle: bl.NativeHandle) -> None:
        """Wait for an event of the package by the driver's function."""

    @abstractmethod
    def read(self, memory: Any) -> npt.NDArray[np.float32]:
        """The contents of a buffer."""

    @abstractmethod
    def close(self) -> None:
        """Destroy the context, and check that nothing else is left."""

    @abstractmethod
    def number(self, native: Any) -> int:
        """The value of a handle."""

    def is_alive(self, native: Any) -> bool | None:
        """Whether the driver still knows an object, or None if it cannot tell."""
        return None

    def references(self, native: Any) -> int:
        """Number of references to an object, in drivers that count them."""
        return 0

    def copy(self, queue: Any, to: int, source: int, nbytes: int) -> bool:
        """Copy memory by a command of the program on a queue, and wait; or return False."""
        return False

    @abstractmethod
    def type_of(self, native: Any) -> str:
        """The C type of a handle."""

    @abstractmethod
    def load(self, state: str = "executable") -> bl.KernelBundle:
        """SCALE as a bundle of the package."""

    def refusals(self) -> list[Refusal]:
        """Calls that this back end alone refuses, or refuses with values of its own."""
        return []

    def spare(self, kind: str, text: str = SCALE) -> Any:
        """A native object that lives until the end of the test."""
        native = self.new(kind, text)
        self.spares.append(native)
        return native

    # ------------------------------------------------------------------ objects of the package

    def arguments(self, kind: str) -> tuple[Any, ...]:
        """Arguments of ``make_*`` after the native object."""
        own = {"context": (self.device,), "kernel": (self.bundle,), "buffer": (self.context, "float32")}
        return own.get(base(kind), (self.context,))

    def adopt(self, kind: str, native: Any, ownership: str | None = None, **options: Any) -> Any:
        """A native object as one of the package."""
        return MAKE[base(kind)](self.backend, native, *self.arguments(kind), ownership=ownership, **options)

    @staticmethod
    def handle(item: Any) -> bl.NativeHandle:
        """The only native handle of an object of the package."""
        native = bl.get_native(item)
        if not isinstance(native, bl.NativeHandle):
            (native,) = native
        return native

    def stays(self, ownership: str | None) -> bool:
        """Whether the native object stays the program's."""
        return ownership == "keep" or (ownership is None and self.retains)

    @contextmanager
    def owner(self, native: Any, ownership: str | None) -> Iterator[None]:
        """Check after the body that an object lives if it is the program's, and no longer if it was transferred."""
        before = self.references(native)
        yield
        gc.collect()
        if self.stays(ownership):
            assert self.is_alive(native) is not False
            assert self.references(native) == before
            self.release(native)
        else:
            assert not self.is_alive(native)
