"""Errors of Numba as a few lines: the place in the user's file, the expression, and the reason."""

from __future__ import annotations

import linecache
import re
import traceback
from typing import Any

import llvmlite
import numba
from numba.core import errors

from ..function_source import FunctionSource

__all__ = ["Unsupported", "explain", "versions"]


class Unsupported(errors.TypingError):
    """Something that no device can do."""


def versions() -> dict[str, str]:
    """Return the versions of the packages that compile."""
    return {"numba": numba.__version__, "llvmlite": llvmlite.__version__}


def explain(error: Exception, source: FunctionSource) -> dict[str, Any]:
    """Return the answer for an error of the compilation."""
    if not isinstance(error, errors.NumbaError):
        log = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        return {"error": f"kernel {source.name!r}: the compiler failed: {type(error).__name__}: {error}", "log": log}
    text = _plain(str(error))
    location = _location(error, text)
    reason = _reason(text)
    lines = [reason]
    if location is not None:
        file, line = location
        lines = [f"{file}:{line}: {reason}"]
        expression = linecache.getline(file, line).strip()
        if expression:
            lines.append(f"    {expression}")
    return {"error": "\n".join(lines)[:2000], "log": text}


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def _location(error: Any, text: str) -> tuple[str, int] | None:
    """Return the innermost place that Numba names: it lists the calls from the outside."""
    found = re.findall(r'File "([^"\n]+)", line (\d+)', text)
    found = [(file, int(line)) for file, line in found if "/numba/" not in file and "/bindless/" not in file]
    if found:
        return found[-1]
    place = getattr(error, "loc", None)
    return (str(place.filename), int(place.line)) if place is not None else None


def _reason(text: str) -> str:
    """Return the sentence that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for pattern in (
        r"^(?:\w+Error|Unsupported): (.*)",
        r"^(No implementation of function .*)",
        r"^(Unknown attribute .*)",
    ):
        for line in reversed(lines):
            match = re.match(pattern, line)
            if match is not None and "Failed in" not in match[1]:
                return match[1]
    kept = [line for line in lines if not line.startswith(("Failed in", "During:", "File ", "<source"))]
    return " ".join(kept[:3]) if kept else text
