"""SPIR-V's address spaces for LLVM IR whose pointers are all of address space 0, as Numba writes it.

Every pointer becomes a generic one (address space 4). Stack variables and constants of the module are cast to it.
LLVM then infers the address space of most accesses.
"""

from __future__ import annotations

import re

__all__ = ["with_generic_pointers"]

_POINTER = re.compile(r'(?<![\w%@."$-])ptr(?! addrspace|[\w."$])')
_ALLOCA = re.compile(r'^(?P<indent>\s*)(?P<name>%(?:"[^"\n]*"|[\w.$-]+)) = alloca (?P<rest>[^\n]*)$', re.MULTILINE)
_GLOBAL = re.compile(
    r'^(?P<name>@(?:"[^"\n]*"|[\w.$-]+)) = (?P<words>(?:(?!global|constant)\w+ )*)(?P<kind>global|constant) ',
    re.MULTILINE,
)
_INTRINSIC = re.compile(r'(?<=@)("?)llvm\.[\w.]*?\.p0[\w.]*("?)')


def with_generic_pointers(text: str) -> str:
    """Return a module in which no pointer is of address space 0, except those of the stack variables themselves."""
    names = {match["name"] for match in _GLOBAL.finditer(text)}
    text = _POINTER.sub("ptr addrspace(4)", text)
    text = _ALLOCA.sub(_stack, text)
    text = _INTRINSIC.sub(lambda match: match[0].replace(".p0", ".p4"), text)
    for name in names:
        text = _constant(text, name)
    return text


def _stack(match: re.Match[str]) -> str:
    name, indent = match["name"], match["indent"]
    own = f'{name[:-1]}.stack"' if name.endswith('"') else f"{name}.stack"
    return f"{indent}{own} = alloca {match['rest']}\n{indent}{name} = addrspacecast ptr {own} to ptr addrspace(4)"


def _constant(text: str, name: str) -> str:
    """Move a variable of the module to global memory, and cast its uses."""
    pattern = re.compile(rf"^{re.escape(name)} = [^\n]*$", re.MULTILINE)
    match = pattern.search(text)
    assert match is not None
    line = re.sub(r"\bcommon\b", "internal", match[0])
    line = re.sub(r" (global|constant) ", r" addrspace(1) \1 ", line, count=1)
    text = text[: match.start()] + "\0" + text[match.end() :]
    cast = f"addrspacecast (ptr addrspace(1) {name} to ptr addrspace(4))"
    text = re.sub(rf"(?<=ptr addrspace\(4\) ){re.escape(name)}(?![\w.$-])", cast, text)
    return text.replace("\0", line)
