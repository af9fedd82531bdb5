"""Lengths of arrays in SPIR-V: LLVM writes them in 32 bits, and would drop the bits above."""

from __future__ import annotations

import re

from ...model.errors import BuildError

__all__ = ["require_array_lengths"]

_LENGTH = re.compile(r"\[(\d{10,}) x ")
_MOST = 2**32 - 1


def require_array_lengths(text: str, name: str) -> None:
    """Check a module in LLVM IR.

    Parameters
    ----------
    name
        Of its source, for the message.

    Raises
    ------
    BuildError
        An array is longer than SPIR-V's.
    """
    for match in _LENGTH.finditer(text):
        if int(match[1]) > _MOST:
            raise BuildError(f"{name} has an array of {match[1]} elements: in SPIR-V an array has at most {_MOST}")
