"""``require``: the refusal of a command whose extra is not installed."""

from __future__ import annotations

import importlib.util

from ..model.errors import InvalidError

__all__ = ["require"]


def require(module: str, why: str, extra: str) -> None:
    """Refuses a command whose extra is not installed, with the command that installs it.

    Raises
    ------
    InvalidError
        The module cannot be found.
    """
    if importlib.util.find_spec(module) is None:
        raise InvalidError(f"{why}, which is not installed: pip install 'bindless[{extra}]'")
