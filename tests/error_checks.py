"""Errors of the package in tests: the class, the code, and the values that a message has to name.

The sentences of messages are kept in one place, tests/error_messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

import bindless as bl

__all__ = ["raises"]

E = TypeVar("E", bound=bl.Error)


@contextmanager
def raises(
    kind: type[E], code: bl.Errc | None = None, *, match: str | re.Pattern[str] | None = None
) -> Iterator[pytest.ExceptionInfo[E]]:
    """``pytest.raises`` for an error of the package, which has a code, too.

    Parameters
    ----------
    kind
        The class of the error.
    code
        Its ``code``. By default the code that belongs to ``kind``; ``bl.Error``, the base of all, has none.
    match
        A regular expression for values that the message names: numbers, names of arguments, aspects or functions.
    """
    __tracebackhide__ = True
    if code is None and kind is bl.Error:
        raise TypeError("bl.Error has no code of its own: name the code that is expected")
    with pytest.raises(kind, match=match) as caught:
        yield caught
    expected = kind.code if code is None else code
    assert caught.value.code is expected, f"code {caught.value.code}, {expected} expected: {caught.value}"
