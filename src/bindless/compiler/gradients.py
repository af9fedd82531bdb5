"""Samples with gradients and of cubes in SPIR-V.

LLVM translates no instruction for them. The functions of ``bindless/device.h`` that do are left
without a definition; here their calls in the finished module become the instructions, and their declarations go.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence

from ..model.errors import BuildError

__all__ = ["with_gradients"]

_CAPABILITY, _EXTENSION, _NAME, _DECORATE = 17, 10, 5, 71
_TYPE_VOID, _TYPE_FLOAT, _TYPE_VECTOR, _TYPE_IMAGE, _TYPE_SAMPLED_IMAGE = 19, 22, 23, 25, 27
_FUNCTION, _FUNCTION_PARAMETER, _FUNCTION_END, _FUNCTION_CALL = 54, 55, 56, 57
_COMPOSITE_CONSTRUCT, _SAMPLE_EXPLICIT_LOD, _CONVERT_HANDLE = 80, 88, 6531
_LINKAGE_ATTRIBUTES, _IMPORT = 41, 1
_LOD, _GRAD = 2, 4
_CONSTANT, _DIMENSION_CUBE = 43, 3
_CAPABILITY_LINKAGE, _CAPABILITY_BINDLESS, _CAPABILITY_SAMPLED_1D = 5, 6528, 43
_CAPABILITY_SHADER = 1  # what the grammar asks for cubes
_HEADER = 5
_OURS = re.compile(r"__bindless_sample_(?:grad_([123])d|cube)_[fiu]")
_CUBE = 0  # as a number of dimensions

Instruction = tuple[int, tuple[int, ...]]


def with_gradients(data: bytes) -> bytes:
    """A module whose calls of the functions of ``device.h`` that it only declares are instructions.

    Raises:
        BuildError: it declares other functions, which SPIR-V does not have.
    """
    words = struct.unpack(f"<{len(data) // 4}I", data)
    code = _instructions(words)
    imported = _imports(code)
    if not imported:
        return data
    unknown = [name for name in imported.values() if not _OURS.fullmatch(name)]
    if unknown:
        raise BuildError(
            f"{', '.join(unknown)}: SPIR-V has no such function of OpenCL C; define it in the source, or do without it"
        )
    dimensions = {
        number: int(match[1] or _CUBE) for number, name in imported.items() if (match := _OURS.fullmatch(name))
    }
    return _Rewriter(words, code, dimensions).result()


class _Rewriter:
    """One module while its calls are replaced.

    Args:
        dimensions: of the images that each function samples, by its id; 0 for cubes.
    """

    def __init__(self, words: Sequence[int], code: list[Instruction], dimensions: dict[int, int]) -> None:
        self.header = list(words[:_HEADER])
        self.code = code
        self.dimensions = dimensions
        self.new_types: list[Instruction] = []
        self.float_type = self._declared(lambda op, rest: op == _TYPE_FLOAT and rest[1] == 32)
        self.void_type = self._declared(lambda op, rest: op == _TYPE_VOID)

    def _declared(self, wanted: Callable[[int, tuple[int, ...]], bool]) -> int:
        return next(rest[0] for op, rest in self.code if wanted(op, rest))

    def _new(self) -> int:
        self.header[3] += 1
        return self.header[3] - 1

    def _type(self, op: int, *operands: int) -> int:
        """The id of a type, which a module has once."""
        for found, rest in (*self.code, *self.new_types):
            if found == op and rest[1:] == operands:
                return rest[0]
        number = self._new()
        self.new_types.append((op, (number, *operands)))
        return number

    def _constant_zero(self) -> int:
        number = self._new()
        self.new_types.append((_CONSTANT, (self.float_type, number, 0)))
        return number

    def _point(self, components: Sequence[int], out: list[Instruction]) -> int:
        if len(components) == 1:
            return components[0]
        number = self._new()
        vector = self._type(_TYPE_VECTOR, self.float_type, len(components))
        out.append((_COMPOSITE_CONSTRUCT, (vector, number, *components)))
        return number

    def _sample(self, dimensions: int, result_type: int, result: int, arguments: Sequence[int]) -> list[Instruction]:
        """Arguments: the handle, and the components of the coordinate, and but for cubes of both gradients."""
        kind = _DIMENSION_CUBE if dimensions == _CUBE else dimensions - 1
        image = self._type(_TYPE_IMAGE, self.void_type, kind, 0, 0, 0, 0, 0, 0)
        sampled = self._type(_TYPE_SAMPLED_IMAGE, image)
        out: list[Instruction] = []
        number = self._new()
        out.append((_CONVERT_HANDLE, (sampled, number, arguments[0])))
        if dimensions == _CUBE:
            largest = self._constant_zero()
            at = self._point(arguments[1:], out)
            out.append((_SAMPLE_EXPLICIT_LOD, (result_type, result, number, at, _LOD, largest)))
            return out
        at, dx, dy = (
            self._point(arguments[1 + part * dimensions : 1 + (part + 1) * dimensions], out) for part in range(3)
        )
        out.append((_SAMPLE_EXPLICIT_LOD, (result_type, result, number, at, _GRAD, dx, dy)))
        return out

    def result(self) -> bytes:
        body: list[Instruction] = []
        dropped = set(self.dimensions)
        within = False  # a declaration that goes
        for op, rest in self.code:
            if op == _FUNCTION:
                within = rest[1] in self.dimensions
            if within:
                if op == _FUNCTION_PARAMETER:
                    dropped.add(rest[1])
                within = op != _FUNCTION_END
            elif op == _FUNCTION_CALL and rest[2] in self.dimensions:
                body += self._sample(self.dimensions[rest[2]], rest[0], rest[1], rest[3:])
            else:
                body.append((op, rest))
        body = [(op, rest) for op, rest in body if not (op in (_NAME, _DECORATE) and rest[0] in dropped)]
        linkage = any(op == _DECORATE and rest[1] == _LINKAGE_ATTRIBUTES for op, rest in body)
        body = [line for line in body if linkage or line != (_CAPABILITY, (_CAPABILITY_LINKAGE,))]
        first = next(at for at, (op, _) in enumerate(body) if op == _FUNCTION)
        body[first:first] = self.new_types
        self._declare(body)
        words = list(self.header)
        for op, rest in body:
            words += [(len(rest) + 1) << 16 | op, *rest]
        return struct.pack(f"<{len(words)}I", *words)

    def _declare(self, body: list[Instruction]) -> None:
        """Capabilities and the extension, where they are not declared yet."""
        extension = (_EXTENSION, _string("SPV_INTEL_bindless_images"))
        if extension not in body:
            place = next(at for at, (op, _) in enumerate(body) if op not in (_CAPABILITY, _EXTENSION))
            body.insert(place, extension)
        wanted = [
            _CAPABILITY_BINDLESS,
            *([_CAPABILITY_SAMPLED_1D] if 1 in self.dimensions.values() else []),
            *([_CAPABILITY_SHADER] if _CUBE in self.dimensions.values() else []),
        ]
        for capability in wanted:
            if (_CAPABILITY, (capability,)) not in body:
                body.insert(0, (_CAPABILITY, (capability,)))


def _instructions(words: Sequence[int]) -> list[Instruction]:
    found: list[Instruction] = []
    at = _HEADER
    while at < len(words):
        length = words[at] >> 16
        found.append((words[at] & 0xFFFF, tuple(words[at + 1 : at + length])))
        at += length
    return found


def _imports(code: Sequence[Instruction]) -> dict[int, str]:
    """Names of the functions that are declared only, by id."""
    functions = {rest[1] for op, rest in code if op == _FUNCTION}  # built-in variables are imported too
    return {
        rest[0]: struct.pack(f"<{len(rest) - 3}I", *rest[2:-1]).partition(b"\0")[0].decode("utf-8", "replace")
        for op, rest in code
        if op == _DECORATE and rest[1] == _LINKAGE_ATTRIBUTES and rest[-1] == _IMPORT and rest[0] in functions
    }


def _string(text: str) -> tuple[int, ...]:
    data = text.encode() + b"\0"
    data += bytes(-len(data) % 4)
    return struct.unpack(f"<{len(data) // 4}I", data)
