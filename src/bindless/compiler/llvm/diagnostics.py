"""clang's messages about a source, without the macros of the package's headers.

A call that fits no device function of ``bindless/device.h`` gives a note for each overload, with ten lines of macros
each. They become the lines of the header's documentation that name the function.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

__all__ = ["shortened"]

_HEAD = re.compile(
    r"^(?P<file>[^\n:]*(?::\\[^\n:]*)?):(?P<line>\d+):(?P<column>\d+): (?P<kind>error|warning|note|fatal error): "
)
_FUNCTION = re.compile(r"call to '(\w+)'")
_DOCUMENTED = re.compile(r"^ \*   ((?:T4?|void|size_t|DataT) (\w+)\([^\n]*\))$", re.MULTILINE)
_TYPES = "(?:float|half|int|uint|short|ushort|char|uchar)[234]?"
_GENERATED = "<scratch space>"


def shortened(text: str, headers: Path) -> str:
    """Return the messages without notes that lie in the package's headers.

    Parameters
    ----------
    text
        clang's output.
    headers
        The folder of ``bindless/device.h``.
    """
    own = str(headers / "bindless")
    lines: list[str] = []
    keeping, missing = True, ""
    for line in text.splitlines():
        match = _HEAD.match(line)
        if match is not None:
            own_note = match["file"].startswith((own, _GENERATED))
            if match["kind"] != "note":
                lines += _documentation(missing, headers)
                function = _FUNCTION.search(line)
                missing = function[1] if function is not None else ""
                own_note = False
            keeping = not own_note
        if keeping:
            lines.append(line)
    if lines and re.match(r"\d+ (?:error|warning)s? ", lines[-1]):
        return "\n".join([*lines[:-1], *_documentation(missing, headers), lines[-1]])
    return "\n".join([*lines, *_documentation(missing, headers)])


def _documentation(name: str, headers: Path) -> list[str]:
    """Return the forms of a device function, as the header documents them."""
    return [f"    {form}" for form, plain in _documented(headers) if re.fullmatch(_pattern(plain), name)]


def _pattern(plain: str) -> str:
    return re.sub(r"_T4?$", f"_{_TYPES}", plain)


@functools.cache
def _documented(headers: Path) -> tuple[tuple[str, str], ...]:
    text = (headers / "bindless" / "device.h").read_text(encoding="utf-8")
    return tuple((match[1], match[2]) for match in _DOCUMENTED.finditer(text.partition("*/")[0]))
