"""Inference of address spaces in optimised LLVM IR for SPIR-V, whose code generator does not infer them.

A generic pointer that comes from pointers of one address space alone becomes one of that space: casts of arguments and
variables, addresses computed from them, selections and loop variables. Where something needs the generic pointer, such
as a call, the cast stays.
"""

from __future__ import annotations

import re

__all__ = ["with_memory_spaces"]

_FUNCTION = re.compile(r"^define [^\n]*\{\n.*?^\}", re.MULTILINE | re.DOTALL)
_GENERIC = "ptr addrspace(4)"
_NAME = r'%(?:"[^"\n]*"|[\w.$-]+)'
_PLACE = r"@[\w.$\"-]+|getelementptr [\w ]*\((?:[^()]|\([13]\))*\)"  # a variable of the module, or a part of one
_VARIABLE = rf"addrspacecast \(ptr addrspace\(([13])\) ({_PLACE}) to ptr addrspace\(4\)\)"
_PART = re.compile(
    r"(getelementptr [\w ]*)\((\w+|\[[^\]]*\]|%[\w.]+), ptr addrspace\(4\) addrspacecast \(ptr addrspace\(([13])\) "
    r"(@[\w.$\"-]+) to ptr addrspace\(4\)\)((?:, [\w ]+)+)\)"
)
_CAST = re.compile(rf"^  ({_NAME}) = addrspacecast ptr(?: addrspace\(([13])\))? (\S+) to ptr addrspace\(4\)$")
_STEP = re.compile(rf"^  ({_NAME}) = (getelementptr|select|phi|freeze|bitcast) (.*)$")
_USES = re.compile(rf"ptr addrspace\(4\) ({_NAME}|{_VARIABLE}|null|undef|poison)")
_ATTRIBUTES = r"(?P<attributes>(?: (?:[a-z]+(?:\([^()\n]*\))?|align \d+))*?)"  # of an argument of a call
_ARGUMENT = re.compile(rf"ptr addrspace\(4\){_ATTRIBUTES} (?P<name>{_NAME})")
_PHI = re.compile(rf"\[ ({_NAME}|{_VARIABLE}|null|undef|poison), {_NAME} \]")
_ACCESS = re.compile(r"^  (?:\S+ = )?(?:load|store|atomicrmw|cmpxchg|icmp|ptrtoint)\b")
_NOTHING = ("null", "undef", "poison")


def with_memory_spaces(text: str) -> str:
    """Return the module with pointers of known address spaces."""
    if _GENERIC not in text:
        return text
    text = _PART.sub(r"addrspacecast (ptr addrspace(\3) \1(\2, ptr addrspace(\3) \4\5) to ptr addrspace(4))", text)
    return _FUNCTION.sub(lambda match: _Function(match[0].split("\n")).text(), text)


class _Function:
    """One function: the address space of each generic pointer, and the lines that use them.

    Attributes
    ----------
    origins
        Pointers that each pointer is computed from.
    spaces
        Known address spaces; 0 for variables of a work-item.
    casts
        The original pointer of each cast.
    """

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.origins: dict[str, list[str]] = {}
        self.spaces: dict[str, int] = {}
        self.casts: dict[str, str] = {}
        self.number = 0  # of casts back
        for line in lines:
            cast, step = _CAST.match(line), _STEP.match(line)
            if cast is not None:
                self.casts[cast[1]] = cast[3]
                self.spaces[cast[1]] = int(cast[2] or 0)
            elif step is not None:
                origins = self._origins(step[2], step[3])
                if origins is not None:
                    self.origins[step[1]] = origins
        self._infer()

    def _origins(self, verb: str, rest: str) -> list[str] | None:
        """Return the pointers that a pointer is computed from; None for other values."""
        if verb == "phi":
            return [match[1] for match in _PHI.finditer(rest)] if rest.startswith(_GENERIC) else None
        if verb == "getelementptr":
            match = _USES.search(rest)
            return [match[1]] if match is not None else None
        origins = [match[1] for match in _USES.finditer(rest)]
        return origins or None

    def _infer(self) -> None:
        """Find the pointers of one space: assume it for all, and drop those with other origins."""
        changed = True
        while changed:  # forward, until loops are closed
            changed = False
            for name, origins in self.origins.items():
                if name not in self.spaces:
                    spaces = {self._space(origin) for origin in origins} - {None}
                    if len(spaces) == 1:
                        self.spaces[name] = int(spaces.pop() or 0)
                        changed = True
        changed = True
        while changed:
            changed = False
            for name, origins in self.origins.items():
                if name in self.spaces and any(
                    origin not in _NOTHING and self._space(origin) != self.spaces[name] for origin in origins
                ):
                    del self.spaces[name]
                    changed = True

    def _space(self, pointer: str) -> int | None:
        variable = re.fullmatch(_VARIABLE, pointer)
        return int(variable[1]) if variable is not None else self.spaces.get(pointer)

    def text(self) -> str:
        if not self.spaces:
            return "\n".join(self.lines)
        lines: list[str] = []
        for line in self.lines:
            cast, step = _CAST.match(line), _STEP.match(line)
            if cast is not None:
                lines.append(line)  # unused casts vanish with the next clean-up
            elif step is not None and step[1] in self.spaces:
                lines += self._step(step[1], step[2], step[3], line)
            elif step is None and _ACCESS.match(line):
                lines.append(self._access(line))
            else:
                lines += self._other(line)
        return "\n".join(lines)

    def _type(self, space: int) -> str:
        return f"ptr addrspace({space})" if space else "ptr"

    def _plain(self, pointer: str, space: int) -> str:
        """Return the pointer in its own address space."""
        variable = re.fullmatch(_VARIABLE, pointer)
        if variable is not None:
            return variable[2]
        return self.casts.get(pointer, pointer)

    def _step(self, name: str, verb: str, rest: str, line: str) -> list[str]:
        space = self.spaces[name]
        type_ = self._type(space)
        if verb == "phi":
            rest = _PHI.sub(lambda match: match[0].replace(match[1], self._plain(match[1], space), 1), rest)
            return [f"  {name} = phi {rest.replace(_GENERIC, type_, 1)}"]
        rest = _USES.sub(lambda match: f"{type_} {self._plain(match[1], space)}", rest)
        return [f"  {name} = {verb} {rest}"]

    def _access(self, line: str) -> str:
        """Rewrite the address of an access; a generic pointer that is stored itself stays."""

        def rewrite(match: re.Match[str]) -> str:
            space = self._space(match[1])
            return match[0] if space is None else f"{self._type(space)} {self._plain(match[1], space)}"

        if line.lstrip().startswith("store ptr addrspace(4)"):
            return "\n".join(self._other(line))
        if " icmp " in line:
            return "\n".join(self._other(line))
        return _USES.sub(rewrite, line)

    def _other(self, line: str) -> list[str]:
        """Cast pointers back that this instruction needs as generic ones."""
        before: list[str] = []

        def back(match: re.Match[str]) -> str:
            name = match["name"]
            if name in self.casts or name not in self.spaces:
                return match[0]
            self.number += 1
            cast = f"%bindless.generic.{self.number}"
            before.append(f"  {cast} = addrspacecast {self._type(self.spaces[name])} {name} to {_GENERIC}")
            return f"{_GENERIC}{match['attributes']} {cast}"

        if not line.startswith("  "):
            return [line]
        changed = _ARGUMENT.sub(back, line)
        return [*before, changed]
