"""Result codes of driver calls as the package's exceptions, shared by all drivers."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any, NoReturn

from ...model.enums import Errc
from ...model.errors import DeviceLostError, Error, error_of

__all__ = ["DEVICE_LOST", "Results"]

# The meaning of a lost device, for drivers without a message of their own.
DEVICE_LOST = (
    "the device hung or was reset, and everything made on it is lost: every further call of this process fails the "
    "same way. Check the coordinates, addresses and sizes given to kernels, and start a new process"
)


class Results:
    """The result codes of one driver.

    Parameters
    ----------
    driver
        module of its bindings.
    backend
        back end, for errors.
    success
        result of a successful call.
    lost
        results that make a context unusable.
    gone
        results for an object that was destroyed with its context or with the driver.
    advice
        meaning of a lost device, and the way out.
    is_absent
        function that detects results of a function that the driver does not have, for any arguments.
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
        """The exception for a result: the driver's name of it, its meaning, and the values concerned.

        Parameters
        ----------
        result
            result of the call.
        call
            driver function.
        details
            values concerned and the way out.
        code
            instead of the code that belongs to the result; a lost device and functions that the driver lacks
            keep theirs.
        words
            driver's own message, which replaces the meaning of the result's name.
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
        """Raise the exception for a result."""
        raise self.error(result, call, details, code)

    def check(self, result: int, call: str, details: object = "", code: Errc | None = None) -> None:
        """Raise an exception unless the result is success."""
        if result != self._success:
            raise self.error(result, call, details, code)

    def release(self, result: int, call: str) -> None:
        """``check`` for calls that release an object: an object that is already gone is not a failure."""
        if result not in self._released:
            raise self.error(result, call)
