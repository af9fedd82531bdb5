"""Conversion of a driver's result codes to the package's errors, by a table of explanations per driver."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bindless.model.enums import Errc
from bindless.model.errors import Error, error_of

from .loader import Driver

__all__ = ["Checker", "Explanation"]

# (error code of the package, explanation of the driver's code)
Explanation = tuple[Errc, str]


class Checker:
    """Creates the errors of one driver.

    Parameters
    ----------
    driver
        The library, for errors about missing functions.
    explanations
        Every error code of the API, by name.
    version
        Returns the loaded library's version.
    absent
        The codes that a wrapper returns for a missing function.
    words
        Returns the driver's own message about the last failure with a code; it replaces the explanation.
    """

    def __init__(
        self,
        driver: Driver,
        explanations: Mapping[str, Explanation],
        version: Callable[[], tuple[int, ...]],
        absent: tuple[str, ...],
        words: Callable[[int], str] | None = None,
    ) -> None:
        self._driver = driver
        self._explanations = explanations
        self._version = version
        self._absent = absent
        self._words = words
        self._names = {int(getattr(driver.lib, name)): name for name in reversed(list(explanations))}

    def name(self, result: int) -> str | None:
        """Return the driver's name of a code, or None for an unknown code."""
        return self._names.get(result)

    def check(self, result: int, call: str) -> None:
        """Raise the package's error for a result code that is not success.

        Parameters
        ----------
        result
            The function's result; an API with error messages uses this thread's last one.
        call
            The function's name, optionally followed by its arguments; part of the message.

        Raises
        ------
        Error
            The subclass for the code, with ``native_code`` and ``native_name``.
        """
        if result:
            raise self.error(result, call)

    def error(self, result: int, call: str, words: str = "") -> Error:
        """Return the error for a result code, for callers that raise it later (asynchronous errors).

        Parameters
        ----------
        result, call
            As for ``check``.
        words
            The driver's own message; it replaces the explanation.
        """
        detail = words or (self._words(result) if self._words is not None else "")
        name = self._names.get(result)
        backend = self._driver.backend
        if name is None:
            text = f"{call} failed with {result}, a code that these bindings do not know"
            return error_of(Errc.runtime, f"{text}: {detail}" if detail else text, backend=backend, native_code=result)
        if name in self._absent:
            missing = self._driver.missing_error(call, result, name, self._version_text)
            if missing is not None:
                return missing
        code, meaning = self._explanations[name]
        text = f"{name}: {detail or meaning} (in {call})"
        return error_of(code, text, backend=backend, native_code=result, native_name=name)

    def _version_text(self) -> str:
        return ".".join(map(str, self._version())) or "unknown"
