"""The exceptions of the package (DESIGN: Errors; SYCL 2020 section 4.13).

Error(Exception)                            .code  .backend  .native_code  .native_name
├─ InvalidError(ValueError)                 Errc.invalid
│  └─ ArgumentError(RuntimeError)           Errc.invalid
├─ AccessorError                            Errc.accessor
├─ NdRangeError(ValueError)                 Errc.nd_range
├─ EventError                               Errc.event
├─ KernelError                              Errc.kernel
│  └─ DeviceLostError                       Errc.kernel
├─ KernelArgumentError(ValueError)          Errc.kernel_argument
├─ BuildError                               Errc.build            .log
├─ MemoryAllocationError(MemoryError)       Errc.memory_allocation
├─ PlatformError                            Errc.platform
├─ ProfilingError                           Errc.profiling
├─ FeatureNotSupportedError(NotImplementedError)  Errc.feature_not_supported
├─ KernelNotSupportedError                  Errc.kernel_not_supported
├─ BackendMismatchError                     Errc.backend_mismatch
├─ SyclRuntimeError(RuntimeError)           Errc.runtime
│  └─ WaitTimeoutError(TimeoutError)        Errc.runtime
└─ ExceptionList                            several asynchronous errors at once, .errors
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .errc import Errc

__all__ = [
    "AccessorError",
    "ArgumentError",
    "BackendMismatchError",
    "BuildError",
    "CopyError",
    "DeviceLostError",
    "Error",
    "EventError",
    "ExceptionList",
    "FeatureNotSupportedError",
    "InvalidError",
    "KernelArgumentError",
    "KernelError",
    "KernelNotSupportedError",
    "MemoryAllocationError",
    "NdRangeError",
    "PlatformError",
    "ProfilingError",
    "SamplerWarning",
    "ShapeWarning",
    "SyclRuntimeError",
    "WaitTimeoutError",
    "error_of",
]


class Error(Exception):
    """Base of every error that the package raises.

    Attributes
    ----------
    code
        The SYCL error code.
    backend
        Name of the backend whose driver refused, or None.
    native_code
        The driver's own code, or None.
    native_name
        The driver's own name of that code, or None.
    """

    code: Errc = Errc.runtime

    def __init__(
        self,
        message: str,
        *,
        backend: str | None = None,
        native_code: int | None = None,
        native_name: str | None = None,
    ) -> None:
        super().__init__(message)
        self.backend = backend
        self.native_code = native_code
        self.native_name = native_name


class InvalidError(Error, ValueError):
    """A value that the specification or the device does not allow."""

    code = Errc.invalid


class ArgumentError(InvalidError, RuntimeError):
    """An argument of a function that computes pictures or samples, which has no meaning there.

    It is a ``RuntimeError`` too, as which scipy and torch raise it.
    """


class CopyError(InvalidError, TypeError):
    """A copy or pickle of an object with a single owner."""


class AccessorError(Error):
    """An accessor used outside its command group, or for another kind of access."""

    code = Errc.accessor


class NdRangeError(Error, ValueError):
    """A range of work-items that the kernel or the device cannot run."""

    code = Errc.nd_range


class EventError(Error):
    """An operation that the state of an event does not allow."""

    code = Errc.event


class KernelError(Error):
    """A kernel failed while it ran."""

    code = Errc.kernel


class DeviceLostError(KernelError):
    """A command failed in a way that invalidated its native context: every further use raises this error."""


class KernelArgumentError(Error, ValueError):
    """A kernel argument of the wrong kind."""

    code = Errc.kernel_argument


class BuildError(Error):
    """A kernel bundle did not build; ``log`` holds the compiler's output."""

    code = Errc.build

    def __init__(
        self,
        message: str,
        *,
        log: str = "",
        backend: str | None = None,
        native_code: int | None = None,
        native_name: str | None = None,
    ) -> None:
        super().__init__(message, backend=backend, native_code=native_code, native_name=native_name)
        self.log = log


class MemoryAllocationError(Error, MemoryError):
    """Memory could not be allocated or freed."""

    code = Errc.memory_allocation


class PlatformError(Error):
    """A platform or its driver could not be used."""

    code = Errc.platform


class ProfilingError(Error):
    """Profiling information that is not available."""

    code = Errc.profiling


class FeatureNotSupportedError(Error, NotImplementedError):
    """A feature that the device lacks; the message names the aspect to query first."""

    code = Errc.feature_not_supported


class KernelNotSupportedError(Error):
    """A kernel that this device cannot run."""

    code = Errc.kernel_not_supported


class BackendMismatchError(Error):
    """An object of one backend passed to another."""

    code = Errc.backend_mismatch


class SyclRuntimeError(Error, RuntimeError):
    """The runtime or a driver failed."""

    code = Errc.runtime


class WaitTimeoutError(SyclRuntimeError, TimeoutError):
    """A wait ended at its timeout before completion; the work continues."""


class ExceptionList(Error):
    """Several asynchronous errors, in the order of detection (``errors``)."""

    code = Errc.runtime

    def __init__(self, errors: Sequence[Error]) -> None:
        self.errors = tuple(errors)
        lines = "\n".join(f"  {index + 1}. {error}" for index, error in enumerate(self.errors))
        super().__init__(f"{len(self.errors)} asynchronous errors:\n{lines}")

    def __iter__(self) -> Iterator[Error]:
        return iter(self.errors)

    def __len__(self) -> int:
        return len(self.errors)


class SamplerWarning(UserWarning):
    """A sampler setting that is valid but acts differently from its name."""


class ShapeWarning(UserWarning):
    """An array whose shape is valid but looks like another kind of image."""


_CLASS_OF_CODE: dict[Errc, type[Error]] = {
    cls.code: cls
    for cls in (
        InvalidError,
        AccessorError,
        NdRangeError,
        EventError,
        KernelError,
        KernelArgumentError,
        BuildError,
        MemoryAllocationError,
        PlatformError,
        ProfilingError,
        FeatureNotSupportedError,
        KernelNotSupportedError,
        BackendMismatchError,
        SyclRuntimeError,
    )
}


def error_of(
    code: Errc,
    message: str,
    *,
    backend: str | None = None,
    native_code: int | None = None,
    native_name: str | None = None,
) -> Error:
    """Return the exception for an error code."""
    return _CLASS_OF_CODE[code](message, backend=backend, native_code=native_code, native_name=native_name)
