"""Search and loading of a driver library of the system, with an explanation of every failure.

The order is: the path given to ``load``, else the path in the driver's ``BINDLESS_LIB*`` variable, else the library's
names on this system. The current directory is never searched, and a requested path is never replaced by another one. On
Linux ``_search`` looks the names up, and ``load`` opens the files that it finds.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bindless.model.errors import Error, FeatureNotSupportedError, InvalidError, PlatformError

from . import library_search
from .cffi_types import FFI, CData, DriverLibrary
from .complete_types import complete_types

__all__ = ["Attempt", "Driver", "system_names"]

_MESSAGE_SIZE = 1024


@dataclass(frozen=True)
class Attempt:
    """A library that could not be used.

    Attributes
    ----------
    path
        The path or name given to the system.
    reason
        The cause, from the system or from this package.
    """

    path: str
    reason: str


def system_names(names: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the names for this operating system, from a table keyed by ``linux``, ``win32`` and ``darwin``."""
    platform = "linux" if sys.platform.startswith("linux") else sys.platform
    return tuple(names.get(platform, ()))


@dataclass
class Driver:
    """One driver library, opened at most once per process.

    Attributes
    ----------
    backend
        Name of the backend, stored in errors.
    title
        The library's name in messages.
    variable
        Environment variable that holds its path.
    names
        The library's names on this system, best first; the system searches a name without a folder.
    required
        Symbols that every supported version exports.
    advice
        How to install a missing library.
    missing_advice
        The way out for a missing function, if it is not a newer library.
    """

    backend: str
    title: str
    variable: str
    names: tuple[str, ...]
    required: tuple[str, ...]
    advice: str
    lib: DriverLibrary
    ffi: FFI
    missing_advice: str = ""
    _path: str | None = field(default=None, repr=False)
    _attempts: list[Attempt] = field(default_factory=list, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    _indices: dict[str, int] = field(default_factory=dict, repr=False)
    _loaded_as: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        complete_types(self.ffi, self.lib)

    def load(self, path: str | os.PathLike[str] | None = None) -> None:
        """Open the library; a second call does nothing. From then on ``lib`` calls it.

        Parameters
        ----------
        path
            Absolute path of the library; None means that in the driver's variable, else the system's.

        Raises
        ------
        PlatformError
            No library could be opened; the message lists attempts and reasons.
        InvalidError
            Another library of this driver is already open in this process.
        """
        with self._lock:
            name = None if path is None else os.fspath(path)
            if self._path is not None:
                self._require_same(name)
                return
            name = name or os.environ.get(self.variable) or None
            self._attempts = []
            for candidate in self.names if name is None else (name,):
                if name is None and sys.platform == "linux" and not os.path.isabs(candidate):
                    if self._find(candidate):
                        return
                    continue
                reason = self._refusal(candidate, name is not None) or self._open(candidate)
                if reason is None:
                    return
                self._attempts.append(Attempt(candidate, reason))
            raise PlatformError(self._failure(name), backend=self.backend)

    def path(self) -> str | None:
        """The file of the open library, or None."""
        return self._path

    def attempts(self) -> list[Attempt]:
        """The failed attempts of the last ``load``, with reasons."""
        return list(self._attempts)

    def available(self) -> bool:
        """Return whether the library is open or can be opened; the API's own calls find its devices."""
        try:
            self.load()
        except PlatformError:
            return False
        return True

    def has(self, function: str) -> bool:
        """Return whether the open library exports a function; False while none is open."""
        index = self._index(function)
        return index is not None and bool(self.lib.bindless_function_available(index))

    def has_for(self, function: str, owner: CData) -> bool:
        """Return whether an object's driver has a function; for OpenCL extensions this may differ from ``has``.

        Parameters
        ----------
        function
            Its name.
        owner
            An object of the driver: platform, device, context, queue, memory, program, kernel, event.
        """
        index = self._index(function)
        return index is not None and bool(self.lib.bindless_function_offered(index, owner))

    def missing_functions(self) -> list[str]:
        """Return the names of functions that the open library lacks, in header order."""
        return [name for name in self._names() if not self.has(name)]

    def missing_error(self, call: str, code: int, name: str, version: Callable[[], str]) -> Error | None:
        """Return the error for a call of a missing function, or None when ``call`` is not one."""
        match = re.match(r"\w+", call)
        function = match[0] if match else ""
        index = self._index(function)
        if index is None or self.has(function):
            return None
        if self._path is None:
            text = f"{name}: {function} was called before the {self.title} was loaded; call load() first"
            return PlatformError(text, backend=self.backend, native_code=code, native_name=name)
        symbol = self._text(self.lib.bindless_function_symbol(index))
        exported = "" if symbol == function else f" (exported as {symbol})"
        text = (
            f"{name}: {function}{exported} is missing from {self._path}, version {version()}; "
            f"{self.missing_advice or f'a newer {self.title} is needed for this call'}"
        )
        return FeatureNotSupportedError(text, backend=self.backend, native_code=code, native_name=name)

    def _require_same(self, path: str | None) -> None:
        if path is None or path in {self._path, self._loaded_as}:
            return
        open_path = self._path or ""
        if os.path.exists(path) and os.path.exists(open_path) and os.path.samefile(path, open_path):
            return
        raise InvalidError(
            f"{self.title}: {path!r} was asked for, but {self._path!r} is already open and its objects may be in use; "
            f"start a new process, or set {self.variable} before the first load",
            backend=self.backend,
        )

    def _find(self, name: str) -> bool:
        """Open the first usable file of a name; False if there is none."""
        is_bound = False
        for path in library_search.candidates(name):
            is_bound = True
            reason = self._open(path)
            if reason is None:
                return True
            self._attempts.append(Attempt(path, reason))
        if not is_bound:
            self._attempts.append(Attempt(name, _missing(name)))
        return False

    def _refusal(self, candidate: str, chosen: bool) -> str | None:
        """Return the reason to skip a candidate without opening it, or None."""
        if not chosen:
            return None if os.path.isabs(candidate) else self._shadowed(candidate)
        if "\0" in candidate:
            return "the path contains a zero byte"
        if not os.path.isabs(candidate):
            return "not an absolute path, and the current directory is never searched"
        if not os.path.exists(candidate):
            return "no such file"
        if os.path.isdir(candidate):
            return "a folder, not a library"
        return None

    @staticmethod
    def _shadowed(name: str) -> str | None:
        """Return the reason why the system's search would include the current directory, or None; not on Linux."""
        variable = "DYLD_LIBRARY_PATH" if sys.platform == "darwin" else "LD_LIBRARY_PATH"
        value = os.environ.get(variable)
        if not value or os.name != "posix":
            return None
        for element in re.split("[:;]", value):
            if not os.path.isabs(element) and os.path.exists(os.path.join(element or os.curdir, name)):
                return (
                    f"{variable} has the relative element {element!r}, which would take the library from the current "
                    "directory; make the element absolute"
                )
        return None

    def _open(self, candidate: str) -> str | None:
        """Open a candidate; None on success, else the reason of the failure."""
        message = self.ffi.new("char[]", _MESSAGE_SIZE)
        if not self.lib.bindless_open(os.fsencode(candidate), message, _MESSAGE_SIZE):
            return self._text(message)
        lacking = [symbol for symbol in self.required if not self.has(symbol)]
        if lacking:
            self.lib.bindless_close()
            shown = ", ".join(lacking[:5]) + (f" and {len(lacking) - 5} more" if len(lacking) > 5 else "")
            if len(lacking) == len(self.required):
                return f"not the {self.title}: it exports none of its functions (looked for {shown})"
            return f"too old for this package, or incomplete: it lacks {shown}"
        location = self.ffi.new("char[]", 4096)
        has_path = self.lib.bindless_path(location, 4096)
        self._loaded_as = candidate
        self._path = self._text(location) if has_path else candidate
        return None

    def _failure(self, path: str | None) -> str:
        tried = "\n".join(f"  {attempt.path}: {attempt.reason}" for attempt in self._attempts)
        if not self._attempts:
            tried = f"  nothing: no name of it is known on {sys.platform}"
        way_out = (
            f"Set {self.variable} to the absolute path of the library, or unset it to search the system."
            if path is not None
            else f"{self.advice} Or set {self.variable} to the absolute path of the library."
        )
        return f"the {self.title} could not be loaded. Tried:\n{tried}\n{way_out}"

    def _names(self) -> list[str]:
        self._index("")
        return list(self._indices)[: self.lib.bindless_function_count()]

    def _index(self, function: str) -> int | None:
        """Return the index of a function in the table, by its name or symbol."""
        if not self._indices:
            count = self.lib.bindless_function_count()
            names = {self._text(self.lib.bindless_function_name(index)): index for index in range(count)}
            for index in range(count):
                names.setdefault(self._text(self.lib.bindless_function_symbol(index)), index)
            self._indices = names
        return self._indices.get(function)

    def _text(self, characters: object) -> str:
        return self.ffi.string(characters).decode("utf-8", "replace")


def _missing(name: str) -> str:
    ignored = library_search.ignored_elements()
    if ignored:
        return (
            f"LD_LIBRARY_PATH has the relative element {ignored[0]!r}, which is not searched; make the element an "
            "absolute path"
        )
    return "no such library in LD_LIBRARY_PATH, the loader's cache and the system's library folders"
