"""Types of a SPIR-V module, for the parameters of kernels: kinds and sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .description import Parameter

__all__ = ["LEAST", "Types"]

_INT, _FLOAT, _VECTOR, _IMAGE, _SAMPLER, _SAMPLED_IMAGE = 21, 22, 23, 25, 26, 27
_ARRAY, _STRUCT, _POINTER, _CONSTANT, _DECORATE = 28, 30, 32, 43, 71
_FUNC_PARAM_ATTR, _BY_VALUE, _CPACKED = 38, 2, 10
_FUNCTION_STORAGE, _WORKGROUP = 7, 4
_POINTER_SIZE = 8
# Types of OpenCL C by bytes, for modules without source names; SPIR-V integers are not signed or unsigned.
_INTS = {1: "char", 2: "short", 4: "int", 8: "long"}
_FLOATS = {2: "half", 4: "float", 8: "double"}

LEAST = {_VECTOR: 3, _IMAGE: 1, _SAMPLER: 1, _SAMPLED_IMAGE: 1, _ARRAY: 3, _STRUCT: 1, _POINTER: 3, _CONSTANT: 3}
"""Minimum number of operands of an instruction."""


class Types:
    """Sizes, alignments and kinds of the types that the instructions of a module declare."""

    def __init__(self) -> None:
        self._layouts: dict[int, tuple[int, int]] = {}  # bytes and alignment
        self._pointers: dict[int, tuple[int, int]] = {}  # storage class, and the type pointed to
        self._opaque: dict[int, str] = {}
        self._constants: dict[int, int] = {}
        self._by_value: set[int] = set()
        self._packed: set[int] = set()
        self._names: dict[int, str] = {}

    def take(self, code: int, operands: Sequence[int]) -> None:
        """Read one instruction; instructions come in the order of the module, so that a type's parts are known."""
        if code == _DECORATE:
            if tuple(operands[1:3]) == (_FUNC_PARAM_ATTR, _BY_VALUE):
                self._by_value.add(operands[0])
            elif operands[1] == _CPACKED:
                self._packed.add(operands[0])
        elif code in (_INT, _FLOAT):
            size = operands[1] // 8
            self._layouts[operands[0]] = size, max(size, 1)
            self._names[operands[0]] = (_INTS if code == _INT else _FLOATS).get(size, "")
        elif code == _VECTOR and operands[1] in self._layouts:
            size = self._layouts[operands[1]][0] * (4 if operands[2] == 3 else operands[2])
            self._layouts[operands[0]] = size, max(size, 1)
            if self._names.get(operands[1]):
                self._names[operands[0]] = f"{self._names[operands[1]]}{operands[2]}"
        elif code in (_IMAGE, _SAMPLED_IMAGE):
            self._opaque[operands[0]] = "image"
            self._names[operands[0]] = _image_name(operands) if code == _IMAGE else ""
        elif code == _SAMPLER:
            self._opaque[operands[0]] = "sampler"
        elif code == _CONSTANT:
            self._constants[operands[1]] = operands[2]
        elif code == _ARRAY and operands[1] in self._layouts and operands[2] in self._constants:
            size, alignment = self._layouts[operands[1]]
            self._layouts[operands[0]] = size * self._constants[operands[2]], alignment
        elif code == _STRUCT:
            self._struct(operands[0], operands[1:])
        elif code == _POINTER:
            self._pointers[operands[0]] = operands[1], operands[2]
            self._layouts[operands[0]] = _POINTER_SIZE, _POINTER_SIZE

    def _struct(self, number: int, members: Sequence[int]) -> None:
        if not all(member in self._layouts for member in members):
            return
        end, widest = 0, 1
        for member in members:
            size, alignment = self._layouts[member]
            if number in self._packed:
                alignment = 1
            end += -end % alignment + size
            widest = max(widest, alignment)
        self._layouts[number] = end + -end % widest, widest

    def parameters(
        self, types: Sequence[tuple[int, int]], names: Mapping[int, str], words: Mapping[str, Sequence[str]]
    ) -> tuple[Parameter, ...] | None:
        """Return the parameters of a kernel; None if one of them has an unknown type.

        Parameters
        ----------
        listed
            Type and id of each.
        names
            By id.
        words
            Names and types in the source, by the compiler's names of these lists.
        """
        result = []
        for index, (type_, number) in enumerate(types):
            shape = self._shape(type_, number)
            if shape is None:
                return None
            texts_of = {what: texts[index] for what, texts in words.items() if len(texts) == len(types)}
            name = texts_of.get("kernel_arg_name") or names.get(number, "")
            result.append(Parameter(name, texts_of.get("kernel_arg_type") or self._names.get(type_, ""), *shape))
        return tuple(result)

    def _shape(self, type_: int, number: int) -> tuple[str, int] | None:
        """Return kind and size of a parameter."""
        if type_ in self._opaque:
            return self._opaque[type_], _POINTER_SIZE
        if type_ in self._pointers:
            storage, target = self._pointers[type_]
            if storage == _FUNCTION_STORAGE or number in self._by_value:
                return ("value", self._layouts[target][0]) if target in self._layouts else None
            return ("local" if storage == _WORKGROUP else "pointer"), _POINTER_SIZE
        return ("value", self._layouts[type_][0]) if type_ in self._layouts else None


def _image_name(operands: Sequence[int]) -> str:
    """Return OpenCL C's name of an image type, with its access unless kernels only read it; empty for other images."""
    if len(operands) < 9 or operands[2] > 2 or operands[3] or operands[5]:
        return ""
    access = {1: "write_only ", 2: "read_write "}.get(operands[8], "")
    return f"{access}image{operands[2] + 1}d_{'array_' if operands[4] else ''}t"
