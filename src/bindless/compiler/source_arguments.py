"""Arguments of ``build``: macros, folders of headers, clang's options, and the source."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..model.errors import InvalidError
from ..model.message_values import shown
from ..model.regular_file import read_regular_file

__all__ = ["clang_options", "read_source"]

# The build chooses the language, the target, the steps and the files that clang writes.
_CHOSEN = re.compile(
    r"-(?:[oxMB].*|[cESV]|###|cc1.*|emit-.*|target.*|save-.*|working-directory.*|W[pal],.*|analyze.*|dump.*|print-.*"
    r"|help.*|version|fsyntax-only|fdriver-only|fmodule.*|flto.*|ftime-.*|fcrash-.*|fproc-stat-.*|f(?:pass-)?plugin.*"
    r"|gen-.*|include-pch.*|index-.*|serialize-.*|rewrite-.*|i?vfsoverlay.*|dependency-.*)"
    r"|--(?!(?:std|param|pedantic|optimize|define-macro|undefine-macro|include-directory)\b).*"
)


def clang_options(
    defines: Mapping[str, object] | Sequence[str],
    includes: Sequence[str | os.PathLike[str]],
    options: Sequence[str],
) -> list[str]:
    """Return clang's options for macros, folders of headers, and others.

    Raises
    ------
    InvalidError
        One of them is none, or the build itself chooses it.
    """
    return [*_defines(defines), *_includes(includes), *_options(options)]


def read_source(source: str | os.PathLike[str]) -> tuple[bytes, str, Path | None]:
    """Return the text, its name, and its folder, if it has one.

    Raises
    ------
    InvalidError
        It is neither a text nor the path of a regular file.
    """
    if isinstance(source, str) and ("\n" in source or "{" in source):
        try:
            return source.encode(), "source.cl", None
        except UnicodeEncodeError as error:
            raise InvalidError(
                f"source: letter {error.start} is {source[error.start]!r}, half of a pair, which UTF-8 does not have"
            ) from error
    if not isinstance(source, (str, os.PathLike)):
        raise InvalidError(f"source: a {type(source).__name__} is neither a path nor the text of kernels")
    try:
        path = Path(os.path.abspath(source))
        return read_regular_file(path), path.name, path.parent
    except (OSError, ValueError) as error:
        raise InvalidError(
            f"source={os.fspath(source)!r} cannot be read: {error}; a text has line breaks or braces, a path has none"
        ) from error


def _defines(defines: Mapping[str, object] | Sequence[str]) -> list[str]:
    words = (
        [f"{name}={value}" for name, value in defines.items()]
        if isinstance(defines, Mapping)
        else _texts(defines, "defines")
    )
    for define in words:
        if not re.match(r"[A-Za-z_]\w*(\([^)]*\))?(=|$)", define):
            raise InvalidError(f"defines: {define!r} is no NAME or NAME=VALUE")
    return [_word(f"-D{define}", "defines") for define in words]


def _includes(includes: Sequence[str | os.PathLike[str]]) -> list[str]:
    folders = [includes] if isinstance(includes, (str, os.PathLike)) else list(includes)
    flags = []
    for folder in folders:
        try:
            name = _word(os.fsdecode(folder), "includes")
            if not os.path.isdir(name):
                raise InvalidError(f"includes: {name!r} is no folder")
            flags.append(f"-I{os.path.abspath(name)}")
        except (OSError, TypeError) as error:
            raise InvalidError(f"includes: {shown(folder)} is no folder: {error}") from error
    return flags


def _options(options: Sequence[str]) -> list[str]:
    words = options.split() if isinstance(options, str) else _texts(options, "options")
    for option in words:
        if not option.startswith("-") or option == "-":
            raise InvalidError(f"options: {option!r} is no option of clang")
        if _CHOSEN.fullmatch(option):
            raise InvalidError(
                f"options: {option!r} is chosen by the build itself: its language, target, files and output"
            )
        _word(option, "options")
    return words


def _texts(values: Sequence[str], what: str) -> list[str]:
    texts = [values] if isinstance(values, str) else list(values)
    for value in texts:
        if not isinstance(value, str):
            raise InvalidError(f"{what}: {value!r} is a {type(value).__name__}, no string")
    return texts


def _word(text: str, what: str) -> str:
    """Return a text that a command line can have."""
    try:
        if b"\0" not in os.fsencode(text):
            return text
    except UnicodeEncodeError:
        pass
    raise InvalidError(f"{what}: {text!r} has a zero character, or half of a pair, which no command line has")
