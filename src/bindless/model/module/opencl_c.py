"""Signatures of kernels in OpenCL C: names, parameters, required work-group size (CL C, "Kernel functions").

Drivers report these of programs that they built. The parser serves drivers that do not.
"""

from __future__ import annotations

import re

from .description import KernelSignature, Parameter

__all__ = ["entries", "parameter"]

_SIZES = {
    "char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "long": 8, "ulong": 8, "half": 2, "float": 4,
    "double": 8, "bool": 1, "size_t": 8, "ptrdiff_t": 8, "intptr_t": 8, "uintptr_t": 8, "unsigned char": 1,
    "unsigned short": 2, "unsigned int": 4, "unsigned long": 8,
}  # fmt: skip
_VECTOR = re.compile(r"([a-z_ ]+?)(2|3|4|8|16)?")
_POINTER_SIZE = 8

_IGNORED = re.compile(
    r"""//[^\n]*|/\*.*?\*/                                                # comments
    |^[ \t]*\#(?:\\\n|[^\n])*                                             # lines of the preprocessor
    |\b__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)       # attributes
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_KERNEL = re.compile(r"\b(?:(?:__)?kernel\s+(?:\w+\s+)*?void|void\s+(?:__)?kernel)\s+(\w+)\s*\(([^()]*)\)")
# Keywords, which may have two leading underscores.
_DROPPED = ("const", "restrict", "restrict__", "volatile", "private", "read_only")
_SPACES = ("global", "constant", "local")
_WRITTEN = ("write_only", "read_write")
_WITHOUT_SIZE = re.compile(r"image\w+_t|sampler_t|void")
# Integer types; their words may appear in any order.
_INTEGERS = {
    frozenset(words.split()): type_
    for type_, spelled in (
        ("char", ("signed char",)),
        ("uchar", ("unsigned char",)),
        ("short", ("short int", "signed short", "signed short int")),
        ("ushort", ("unsigned short", "unsigned short int")),
        ("int", ("signed", "signed int")),
        ("uint", ("unsigned", "unsigned int")),
        ("long", ("long int", "signed long", "signed long int")),
        ("ulong", ("unsigned long", "unsigned long int")),
    )
    for words in spelled
}


def parameter(name: str, type_: str, space: str, access: str = "") -> Parameter:
    """Build a parameter from its parts.

    Parameters
    ----------
    name
        Name of the parameter.
    type_
        As drivers report it, without qualifiers: ``uint``, ``float4*``, ``image2d_t``.
    space
        ``global``, ``constant`` or ``local`` of a pointer; else empty.
    access
        ``write_only`` or ``read_write`` of an image that the kernel writes; it then precedes its type.
    """
    if space == "local":
        return Parameter(name, type_, "local", 0)
    if type_.startswith("image"):
        return Parameter(name, f"{access} {type_}".strip(), "image", _POINTER_SIZE)
    if type_ == "sampler_t":
        return Parameter(name, type_, "sampler", _POINTER_SIZE)
    if space:
        return Parameter(name, type_, "pointer", _POINTER_SIZE)
    return Parameter(name, type_, "value", _size(type_))


def _size(type_: str) -> int:
    """Return the bytes of a number or vector; 0 for any other type."""
    vector = _VECTOR.fullmatch(type_)
    if vector is None or vector[1] not in _SIZES:
        return 0
    width = int(vector[2] or 1)
    return _SIZES[vector[1]] * (4 if width == 3 else width)


def _parse_parameter(text: str) -> Parameter | None:
    """Parse a parameter's declaration; None where its type is defined elsewhere in the text."""
    words = [word.removeprefix("__") for word in re.findall(r"\w+|[*\[]", text)]
    space = next((word for word in words if word in _SPACES), "")
    access = next((word for word in words if word in _WRITTEN), "")
    rest = [word for word in words if word not in (*_DROPPED, *_SPACES, *_WRITTEN)]
    names = [word for word in rest if word not in ("*", "[")]
    if len(names) < 2:
        return None
    *base, name = names
    own = len(base) == 2 and base[0] in ("struct", "union", "enum")
    type_ = " ".join(base) if own else _builtin_type(base)
    if type_ is None:
        return None
    if space:
        return parameter(name, f"{type_}*", space) if len(rest) > len(names) else None
    return parameter(name, type_, "", access)


def _builtin_type(words: list[str]) -> str | None:
    """Return a built-in type as drivers report it; None for any other."""
    if len(words) == 1 and (_size(words[0]) or _WITHOUT_SIZE.fullmatch(words[0])):
        return words[0]
    return _INTEGERS.get(frozenset(words)) if len(words) == len(set(words)) else None


def entries(source: bytes) -> dict[str, KernelSignature]:
    """Parse the kernels of a text by name, without those declared twice, of which the preprocessor keeps one."""
    text = _IGNORED.sub(" ", source.decode("utf-8", "replace"))
    signatures: dict[str, KernelSignature] = {}
    duplicates: set[str] = set()
    for name, declaration in _KERNEL.findall(text):
        parts = [] if declaration.strip() in ("", "void") else declaration.split(",")
        parameters = [one for part in parts if (one := _parse_parameter(part)) is not None]
        if name in signatures:
            duplicates.add(name)
        signatures[name] = KernelSignature(name, tuple(parameters) if len(parameters) == len(parts) else None)
    return {name: signature for name, signature in signatures.items() if name not in duplicates}
