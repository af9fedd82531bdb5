"""From a driver's result code to the package's error: one table of names and explanations a driver."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bindless.model.enums import Errc
from bindless.model.errors import Error, error_of

from ._loader import Driver

__all__ = ["Checker", "Explanation"]

# (error code of the package, what the driver's code means)
Explanation = tuple[Errc, str]


class Checker:
    """Makes the errors of one driver.

    Args:
        driver: the library, for functions that it lacks.
        explanations: by the name of the code, every error code of the API.
        version: the loaded library's version.
        absent: the codes that a wrapper returns without a function to call.
        words: the driver's own sentence about the last failure with a code, which then replaces the explanation.
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
        """The driver's own name of a code, or None when these bindings do not know it."""
        return self._names.get(result)

    def check(self, result: int, call: str) -> None:
        """Raise the package's error for a result code that is not success.

        Args:
            result: what the function returned; where the API keeps a sentence for it, that is this thread's last one.
            call: the function's name, optionally followed by its arguments; it appears in the message.

        Raises:
            Error: the subclass that belongs to the code, with ``native_code`` and ``native_name``.
        """
        if result:
            raise self.error(result, call)

    def error(self, result: int, call: str, words: str = "") -> Error:
        """The error for a result code, to be raised by the caller (asynchronous errors); arguments as for ``check``.

        ``words``: the driver's own sentence, where the caller has it; it replaces the explanation.
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
