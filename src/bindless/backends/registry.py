"""The back ends of this process: the list of them, the working ones, and the failures of the rest.

A back end is one row of the table: the module and the class that implement ``BackendProtocol``. The first request
imports the module and opens its driver; each back end is created once per process.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from ..core.fork_guard import after_fork
from ..core.lock import Lock
from ..model.enums import Backend, coerce
from ..model.errors import Error, PlatformError, SyclRuntimeError
from .contract import BackendProtocol

__all__ = ["ORDER", "available_backends", "backend", "failures", "fork_error", "note_failure", "require_unforked"]

_TABLE: dict[Backend, tuple[str, str]] = {
    Backend.cuda: ("bindless.backends.cuda.backend", "CudaBackend"),
    Backend.level_zero: ("bindless.backends.level_zero.backend", "LevelZeroBackend"),
    Backend.opencl: ("bindless.backends.opencl.backend", "OpenCLBackend"),
    Backend.reference: ("bindless.backends.reference.backend", "ReferenceBackend"),
}

# The order of devices in lists, and of preference.
ORDER = (Backend.cuda, Backend.level_zero, Backend.opencl, Backend.reference)

_lock = Lock()
_backends: dict[Backend, BackendProtocol] = {}
_failed: dict[Backend, Error] = {}
_forked: set[Backend] = set()


def _after_fork_in_child() -> None:
    """Mark opened back ends: a driver opened before a fork has no threads and no valid connection in the child."""
    global _lock
    _lock = Lock()
    _forked.update(_backends)
    for name in _backends:
        _failed.pop(name, None)
    _backends.clear()


after_fork(_after_fork_in_child)


def require_unforked(name: Backend) -> None:
    """Raise ``SyclRuntimeError`` in the child of a fork if the back end was in use before."""
    if name in _forked:
        raise SyclRuntimeError(
            f"the {name} backend was in use when this process was forked, and a driver does not survive a fork: "
            "start processes with multiprocessing.get_context('spawn'), or fork before the first device is used",
            backend=str(name),
        )


def _make(name: Backend) -> BackendProtocol:
    require_unforked(name)
    if name not in _TABLE:
        names = ", ".join(str(row) for row in ORDER if row in _TABLE)
        raise PlatformError(f"this version has no {name} backend; it has {names}", backend=str(name))
    module, cls = _TABLE[name]
    try:
        driver: BackendProtocol = getattr(importlib.import_module(module), cls)()
        driver.devices()
    except Error:
        raise
    except (ImportError, OSError) as reason:
        raise PlatformError(
            f"the {name} backend cannot be loaded: {reason}; 'bindless doctor' lists what is missing", backend=str(name)
        ) from reason
    return driver


def backend(name: Backend | str) -> BackendProtocol:
    """The back end of this name, created on first use.

    Raises
    ------
    InvalidError
        no back end has this name.
    Error
        its driver is missing, too old or does not start; every call raises the same error.
    """
    name = coerce(Backend, name, "backend")
    driver = _backends.get(name)
    if driver is not None:
        return driver
    with _lock:
        if name in _backends:
            return _backends[name]
        if name in _failed:
            raise _failed[name].with_traceback(None)
        try:
            _backends[name] = _make(name)
        except Error as error:
            _failed[name] = error
            raise
        return _backends[name]


def available_backends() -> tuple[Backend, ...]:
    """The back ends with a working driver, in the order of preference."""
    names = []
    for name in ORDER:
        if name in _TABLE:
            try:
                backend(name)
            except Error as error:
                # Kept for ``failures`` without its traceback, whose frames would keep the callers' objects alive.
                error.__traceback__ = None
                continue
            names.append(name)
    return tuple(names)


def failures() -> Mapping[Backend, Error]:
    """The error of each unavailable back end of the table."""
    available_backends()
    with _lock:
        return dict(_failed)


def note_failure(name: Backend, error: Error) -> None:
    """Record the error of a back end that was created but no longer works, for ``failures``."""
    with _lock:
        _failed[name] = error


def fork_error() -> Error | None:
    """The error of all back ends that were opened before the fork, in its child; None without any."""
    opened = [str(name) for name in ORDER if name in _forked]
    if not opened:
        return None
    return SyclRuntimeError(
        f"the drivers of {', '.join(opened)} were opened before this process was forked, and a driver does not "
        "survive a fork: use multiprocessing.get_context('spawn'), or fork before devices are first listed"
    )
