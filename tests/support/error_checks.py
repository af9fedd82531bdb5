"""Checks of the package's errors: the class, the code, and the values that a message must name.

tests/error_messages holds the full texts of the messages.
"""

from __future__ import annotations

import re
from typing import TypeVar

import pytest

import bindless as bl

__all__ = ["names_value", "raises"]

E = TypeVar("E", bound=bl.Error)


def raises(
    kind: type[E],
    code: bl.Errc | None = None,
    *,
    names: object = None,
    match: str | re.Pattern[str] | None = None,
) -> pytest.RaisesExc[E]:
    """``pytest.raises`` for an error of the package, with checks of its code and of values in its message.

    Parameters
    ----------
    kind
        The class of the error.
    code
        The expected ``code``. By default the code that belongs to ``kind``; ``bl.Error``, the base of all, has none.
    names
        A value that the message names, or a tuple of values: numbers, names of arguments, aspects or functions.
        None for an error without values.
    match
        A regular expression for the message, where the values alone do not tell the error from another.
    """
    if code is None and kind is bl.Error:
        raise TypeError("bl.Error has no code of its own: name the code that is expected")
    expected = kind.code if code is None else code
    values = names if isinstance(names, tuple) else () if names is None else (names,)

    def has_code_and_values(error: E) -> bool:
        lacking = [value for value in values if not names_value(str(error), value)]
        assert not lacking, f"{lacking} not in the message: {error}"
        return error.code is expected

    return pytest.raises(kind, match=match, check=has_code_and_values)


def names_value(message: str, value: object) -> bool:
    """Whether a message has a value: a number as a whole, a text also within another word."""
    if isinstance(value, int):
        return re.search(rf"(?<!\d)(?<!\d\.){value}(?!\d)", message) is not None
    return str(value) in message
