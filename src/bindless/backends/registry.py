"""The backends of this process: which there are, which work, and why the others do not.

A backend is one row of the table: the module and the class that offer ``BackendProtocol``. The module is imported, and
its driver opened, when the backend is first asked for; it is made once per process.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Mapping

from ..core.fork_guard import after_fork
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

# The order in which devices are listed and preferred.
ORDER = (Backend.cuda, Backend.level_zero, Backend.opencl, Backend.reference)

_lock = threading.RLock()
_made: dict[Backend, BackendProtocol] = {}
_failed: dict[Backend, Error] = {}
_forked: set[Backend] = set()


def _after_fork_in_child() -> None:
    """A driver that was opened before a fork has no threads and no valid connection in the child."""
    global _lock
    _lock = threading.RLock()
    _forked.update(_made)
    for name in _made:
        _failed.pop(name, None)
    _made.clear()


after_fork(_after_fork_in_child)


def require_unforked(name: Backend) -> None:
    """Raises ``SyclRuntimeError`` in the child of a fork if the backend was in use before."""
    if name in _forked:
        raise SyclRuntimeError(
            f"the {name} backend was in use when this process was forked, and a driver does not survive a fork: "
            "start processes with multiprocessing.get_context('spawn'), or fork before the first device is used",
            backend=str(name),
        )


def _make(name: Backend) -> BackendProtocol:
    require_unforked(name)
    if name not in _TABLE:
        known = ", ".join(str(row) for row in ORDER if row in _TABLE)
        raise PlatformError(f"this version has no {name} backend; it has {known}", backend=str(name))
    module, cls = _TABLE[name]
    try:
        made: BackendProtocol = getattr(importlib.import_module(module), cls)()
        made.devices()
    except Error:
        raise
    except (ImportError, OSError) as reason:
        raise PlatformError(
            f"the {name} backend cannot be loaded: {reason}; 'bindless doctor' lists what is missing", backend=str(name)
        ) from reason
    return made


def backend(name: Backend | str) -> BackendProtocol:
    """The backend of this name, made on first use.

    Raises:
        InvalidError: no backend has this name.
        Error: its driver is missing, too old or refuses to work; the same error again for every call.
    """
    name = coerce(Backend, name, "backend")
    found = _made.get(name)
    if found is not None:
        return found
    with _lock:
        if name in _made:
            return _made[name]
        if name in _failed:
            raise _failed[name].with_traceback(None)
        try:
            _made[name] = _make(name)
        except Error as error:
            _failed[name] = error
            raise
        return _made[name]


def available_backends() -> tuple[Backend, ...]:
    """The backends whose driver could be opened, in the order of preference."""
    found = []
    for name in ORDER:
        if name in _TABLE:
            try:
                backend(name)
            except Error as error:
                # Kept for ``failures``; the frames that it came through would keep all that their callers hold.
                error.__traceback__ = None
                continue
            found.append(name)
    return tuple(found)


def failures() -> Mapping[Backend, Error]:
    """Why each missing backend of the table is missing."""
    available_backends()
    with _lock:
        return dict(_failed)


def note_failure(name: Backend, error: Error) -> None:
    """Keeps why a backend that could be made does not work any more, for ``failures``."""
    with _lock:
        _failed[name] = error


def fork_error() -> Error | None:
    """In the child of a fork, the error of all backends whose drivers were opened before; None without any."""
    opened = [str(name) for name in ORDER if name in _forked]
    if not opened:
        return None
    return SyclRuntimeError(
        f"the drivers of {', '.join(opened)} were opened before this process was forked, and a driver does not "
        "survive a fork: use multiprocessing.get_context('spawn'), or fork before devices are first listed"
    )
