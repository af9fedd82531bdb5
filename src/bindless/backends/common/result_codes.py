"""Results of a driver's calls as the package's exceptions: what is the same whatever the driver."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any, NoReturn

from ...model.enums import Errc
from ...model.errors import DeviceLostError, Error, error_of

__all__ = ["DEVICE_LOST", "Results"]

# What a lost device means, for drivers that do not tell more.
DEVICE_LOST = (
    "the device hung or was reset, and everything made on it is lost: every further call of this process fails the "
    "same way. Check the coordinates, addresses and sizes given to kernels, and start a new process"
)


class Results:
    """What the results of one driver mean.

    Args:
        driver: the module of its bindings.
        backend: for errors.
        success: the result of a call that did what it should.
        lost: results after which a context is of no use any more.
        gone: results that mean that an object to be released went away with its context or with the driver.
        advice: what a lost device means, and the way out.
        is_absent: whether a result and its exception mean that the driver does not have a function, whatever it was
            called with.
    """

    def __init__(
        self,
        driver: Any,
        backend: str,
        success: int,
        *,
        lost: Set[int],
        gone: Set[int],
        advice: str,
        is_absent: Callable[[int, Error], bool],
    ) -> None:
        self._driver = driver
        self._backend = backend
        self._success = success
        self._lost = lost
        self._released = gone | {success}
        self._advice = advice
        self._is_absent = is_absent

    def error(self, result: int, call: str, details: object = "", code: Errc | None = None, words: str = "") -> Error:
        """The exception for a result: the driver's name of it, what it means, and the values concerned.

        Args:
            result: what the call gave.
            call: the driver's function.
            details: the values concerned and the way out.
            code: instead of the code that belongs to the result; a lost device and functions that the driver lacks
                keep theirs.
            words: the driver's own sentence about the failure, instead of what its name means.
        """
        plain: Error = self._driver.error(result, call, words) if words else self._driver.error(result, call)
        backend, name = self._backend, plain.native_name
        if result in self._lost:
            return DeviceLostError(f"{plain}: {self._advice}", backend=backend, native_code=result, native_name=name)
        if code is None or self._is_absent(result, plain):
            code = plain.code
        message = f"{plain}: {details}" if details else str(plain)
        return error_of(code, message, backend=backend, native_code=result, native_name=name)

    def fail(self, result: int, call: str, details: object = "", code: Errc | None = None) -> NoReturn:
        """Raises the exception for a result."""
        raise self.error(result, call, details, code)

    def check(self, result: int, call: str, details: object = "", code: Errc | None = None) -> None:
        """Raises unless the result is success."""
        if result != self._success:
            raise self.error(result, call, details, code)

    def release(self, result: int, call: str) -> None:
        """Like ``check`` for calls that give something back: what is gone already is no failure."""
        if result not in self._released:
            raise self.error(result, call)
