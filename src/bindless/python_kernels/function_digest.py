"""Digest of a kernel: of its code, its constants, and what it is compiled for.

Each value contributes its type and its bytes, with their length: texts of values would lose digits and the middle of
large arrays.
"""

from __future__ import annotations

import hashlib
import marshal
import struct
import types
from collections.abc import Callable
from dataclasses import fields

import numpy as np

from ..device.declaration import LaunchFacts
from .argument_type import ArgumentType
from .function_source import Constant, FunctionSource, ModuleNames, Named, TupleOfConstants, Unknown

__all__ = ["digest_of", "digest_of_request"]

_RECORDS = (ArgumentType, Constant, LaunchFacts, ModuleNames, Named, TupleOfConstants, Unknown)


def digest_of(source: FunctionSource) -> bytes:
    """Return a hash that is equal for equal functions, in every process of one version of Python."""
    return _digest(source)


def digest_of_request(
    digest: bytes, launch: LaunchFacts, arguments: tuple[ArgumentType, ...], architecture: str
) -> bytes:
    """Return a hash of all that a compiled kernel depends on, except the compiler.

    Parameters
    ----------
    digest
        Of the function.
    """
    return _digest((digest, launch, arguments, architecture))


def _digest(value: object) -> bytes:
    digest = hashlib.sha256()
    _feed(digest.update, value, set())
    return digest.digest()


def _feed(update: Callable[[bytes], object], value: object, seen: set[int]) -> None:
    kind = type(value)

    def word(data: bytes) -> None:
        update(len(data).to_bytes(8, "little"))
        update(data)

    word(f"{kind.__module__}.{kind.__qualname__}".encode(errors="surrogatepass"))
    if isinstance(value, FunctionSource):
        _feed(update, (value.name, value.cells), seen)
        if id(value) in seen:
            return
        seen.add(id(value))
        _feed(update, marshal.loads(value.code), seen)
        _feed(update, (value.names, value.defaults, value.keyword_defaults), seen)
    elif isinstance(value, _RECORDS):
        for field in fields(value):
            _feed(update, getattr(value, field.name), seen)
    elif isinstance(value, types.CodeType):
        _feed(update, _code_parts(value), seen)
    elif isinstance(value, dict):
        _feed(update, tuple(value.items()), seen)
    elif isinstance(value, (tuple, list)):
        word(str(len(value)).encode())
        for part in value:
            _feed(update, part, seen)
    elif isinstance(value, frozenset):
        _feed(update, sorted(map(_digest, value)), seen)
    elif isinstance(value, (np.ndarray, np.generic)):
        word(f"{value.dtype!r} {value.shape}".encode(errors="surrogatepass"))
        word(value.tobytes())
    elif isinstance(value, str):
        word(str.encode(value, errors="surrogatepass"))
    elif isinstance(value, bytes):
        word(bytes(value))
    elif isinstance(value, int):
        word(int.__repr__(value).encode())
    elif isinstance(value, float):
        word(struct.pack("<d", value))
    elif isinstance(value, complex):
        word(struct.pack("<dd", value.real, value.imag))
    else:  # None, an ellipsis, a slice, a dtype: their text is exact
        word(repr(value).encode(errors="surrogatepass"))


def _code_parts(code: types.CodeType) -> tuple[object, ...]:
    """Return what code does, and its lines, which errors name. marshal's bytes depend on the history of a process."""
    return (
        code.co_name, code.co_filename.replace("\\", "/").rpartition("/")[2], code.co_argcount,
        code.co_kwonlyargcount, code.co_flags, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars,
        code.co_code, tuple(code.co_lines()), code.co_consts,
    )  # fmt: skip
