"""LLVM IR as text: a module that collects functions and the functions that they call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class IrModule:
    """Always-inlined functions and the external functions they use, for one target."""

    def __init__(self, data_layout: str, triple: str, convention: str = "") -> None:
        self._header = f'target datalayout = "{data_layout}"\ntarget triple = "{triple}"\n'
        self._convention = convention
        self._functions: list[str] = []
        self._declarations: set[str] = set()

    def external(self, result: str, name: str, types: Iterable[str], attributes: str = "") -> str:
        """Declare an external function of the target; return the start of a call, `call RESULT @NAME`."""
        self._declarations.add(f"declare {self._convention}{result} @{name}({', '.join(types)}) {attributes}".rstrip())
        return f"call {self._convention}{result} @{name}"

    def function(
        self, name: str, result: str, parameters: Sequence[str], body: Sequence[str], attributes: str = ""
    ) -> None:
        """Define a function; parameters are `type %name`, body its instructions."""
        head = f"define {self._convention}{result} @{name}({', '.join(parameters)}) alwaysinline nounwind {attributes}"
        self._functions.append("\n".join([head.rstrip() + " {", *(f"  {line}" for line in body), "}"]))

    def text(self) -> str:
        return "\n".join([self._header, *self._functions, "", *sorted(self._declarations), ""])


def types_of(parameters: Iterable[str]) -> list[str]:
    """Types of `type %name` pairs; a vector or target type may hold spaces."""
    return [parameter[: parameter.rindex(" ")] for parameter in parameters]


def build_vector(scalar: str, elements: Sequence[str], width: int = 4) -> tuple[list[str], str]:
    """Instructions that combine `elements` into a <width x scalar> vector with zeros in the rest, and the vector's
    name.
    """
    lines: list[str] = []
    vector = "zeroinitializer"
    for index, element in enumerate(elements):
        lines.append(f"%v{index} = insertelement <{width} x {scalar}> {vector}, {scalar} {element}, i32 {index}")
        vector = f"%v{index}"
    return lines, vector
