"""Time limit of a build: ``BINDLESS_BUILD_TIMEOUT``."""

from __future__ import annotations

import os
import time

from ...model.errors import BuildError, InvalidError

__all__ = ["VARIABLE", "Deadline", "build_limit"]

VARIABLE = "BINDLESS_BUILD_TIMEOUT"
_DEFAULT = 300.0
_MOST = 1e6  # seconds; the system's timers take no more than a few years


def build_limit() -> float:
    """Return the time limit of a build in seconds.

    Raises
    ------
    InvalidError
        The variable is no number of seconds.
    """
    text = os.environ.get(VARIABLE, "")
    if not text:
        return _DEFAULT
    try:
        limit = float(text)
    except ValueError:
        limit = 0.0
    if not 0 < limit <= _MOST:
        raise InvalidError(
            f"{VARIABLE}={text!r}: it is a number of seconds above 0, at most {_MOST:.0f}; unset, it is {_DEFAULT:.0f}"
        )
    return limit


class Deadline:
    """The end of a build that begins now.

    Attributes
    ----------
    limit
        Seconds from the start.
    """

    def __init__(self) -> None:
        self.limit = build_limit()
        self._end = time.monotonic() + self.limit

    def left(self, step: str) -> float:
        """Return the remaining seconds.

        Parameters
        ----------
        step
            What is about to begin, for the message.

        Raises
        ------
        BuildError
            None remain.
        """
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise self.error(step)
        return seconds

    def error(self, step: str) -> BuildError:
        """Return the error of a build that takes longer."""
        return BuildError(
            f"the build takes longer than {self.limit:g} seconds, and was ended in this step: {step}. "
            f"{VARIABLE} sets the time limit in seconds"
        )
