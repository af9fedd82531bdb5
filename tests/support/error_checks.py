"""Checks of the package's errors: the class, the code, and the values that a message must name.

tests/error_messages holds the full texts of the messages.
"""

from __future__ import annotations

import re
from typing import TypeVar

import pytest

import bindless as bl

__all__ = ["raises"]

E = TypeVar("E", bound=bl.Error)


def raises(
    kind: type[E], code: bl.Errc | None = None, *, match: str | re.Pattern[str] | None = None
) -> pytest.RaisesExc[E]:
    """``pytest.raises`` for an error of the package, with a check of its code.

    Parameters
    ----------
    kind
        The class of the error.
    code
        The expected ``code``. By default the code that belongs to ``kind``; ``bl.Error``, the base of all, has none.
    match
        A regular expression for values that the message names: numbers, names of arguments, aspects or functions.
    """
    if code is None and kind is bl.Error:
        raise TypeError("bl.Error has no code of its own: name the code that is expected")
    expected = kind.code if code is None else code

    def has_the_code(error: E) -> bool:
        return error.code is expected

    return pytest.raises(kind, match=match, check=has_the_code)
