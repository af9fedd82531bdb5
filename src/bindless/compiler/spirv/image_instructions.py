"""Image instructions of SPIR-V that LLVM does not translate, or not in modules with several kernels.

LLVM lacks samples with gradients and of cubes, and refuses images in modules with several kernels. The functions under
``bindless/device.h`` then stay undefined; this module replaces their calls in the finished module by the instructions,
and removes their declarations.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...model.errors import BuildError
from .rewriter import Instruction, Rewriter, imports, instructions, text_words

__all__ = ["with_image_instructions"]

_CAPABILITY, _EXTENSION = 17, 10
_TYPE_VOID, _TYPE_INT, _TYPE_FLOAT, _TYPE_VECTOR, _TYPE_IMAGE, _TYPE_SAMPLED_IMAGE = 19, 21, 22, 23, 25, 27
_FUNCTION, _FUNCTION_CALL = 54, 57
_COMPOSITE_CONSTRUCT, _SAMPLE_EXPLICIT_LOD, _GATHER, _READ, _WRITE, _CONVERT_TO_FLOAT = 80, 88, 96, 98, 99, 112
_CONVERT_TO_IMAGE, _CONVERT_TO_SAMPLED_IMAGE = 6529, 6531
_LOD, _GRAD = 2, 4
_CONSTANT, _DIMENSION_CUBE = 43, 3
_CAPABILITY_BINDLESS, _CAPABILITY_SAMPLED_1D, _CAPABILITY_IMAGES = 6528, 43, 13
_CAPABILITY_SHADER = 1  # SPIR-V requires it for cubes and gathers
_OURS = re.compile(
    r"__bindless_(?:(sample_grad|sample_lod|sample|read|fetch_sampled|write|gather)_([123])d(_array)?|sample_cube)_[fiu]"
)
_CUBE = 0  # in place of a number of dimensions


@dataclass(frozen=True)
class _Form:
    """A function's operation (read, write, gather or a form of sampling) and its image dimensions, 0 for cubes."""

    what: str
    dimensions: int
    layered: bool

    @property
    def needs_shader(self) -> bool:
        """Return whether its instruction or image type requires the capability Shader."""
        return self.dimensions == _CUBE or self.what == "gather"

    @classmethod
    def of(cls, match: re.Match[str]) -> _Form:
        return cls(match[1] or "sample_cube", int(match[2] or _CUBE), match[3] is not None)


def with_image_instructions(data: bytes, driver_prefix: str | None = None) -> bytes:
    """Replace the calls of undefined functions of ``device.h`` by instructions.

    Parameters
    ----------
    driver_prefix
        Of the names of functions that the driver defines; they stay undefined.

    Raises
    ------
    BuildError
        The module declares other functions, which SPIR-V does not have.
    """
    words = struct.unpack(f"<{len(data) // 4}I", data)
    code = instructions(words)
    functions = {
        number: name
        for number, name in imports(code).items()
        if driver_prefix is None or not name.startswith(driver_prefix)
    }
    if not functions:
        return data
    unknown = [name for name in functions.values() if not _OURS.fullmatch(name)]
    if unknown:
        raise BuildError(
            f"{', '.join(unknown)}: SPIR-V has no such function of OpenCL C; define it in the source, or do without it"
        )
    forms = {number: _Form.of(match) for number, name in functions.items() if (match := _OURS.fullmatch(name))}
    return _Rewriter(words, code, forms).result()


class _Rewriter(Rewriter):
    """One module during the replacement.

    Parameters
    ----------
    forms
        The operation of each function, by its id.
    """

    def __init__(self, words: Sequence[int], code: list[Instruction], forms: dict[int, _Form]) -> None:
        super().__init__(words, code)
        self.forms = forms
        self.zeros: dict[int, int] = {}
        self.void_type = self._find_declaration(lambda op, rest: op == _TYPE_VOID)

    @property
    def float_type(self) -> int:
        return self._type(_TYPE_FLOAT, 32)

    @property
    def int_type(self) -> int:
        return self._type(_TYPE_INT, 32, 0)

    def _find_declaration(self, is_match: Callable[[int, tuple[int, ...]], bool]) -> int:
        return next(rest[0] for op, rest in self.code if is_match(op, rest))

    def _zero(self, type_: int) -> int:
        if type_ not in self.zeros:
            self.zeros[type_] = self._new()
            self.new_types.append((_CONSTANT, (type_, self.zeros[type_], 0)))
        return self.zeros[type_]

    def _vector(self, scalar: int, components: Sequence[int], out: list[Instruction]) -> int:
        if len(components) == 1:
            return components[0]
        number = self._new()
        vector = self._type(_TYPE_VECTOR, scalar, len(components))
        out.append((_COMPOSITE_CONSTRUCT, (vector, number, *components)))
        return number

    def _position(self, form: _Form, arguments: Sequence[int], out: list[Instruction]) -> int:
        """Append the position: (x), (x, y) or (x, y, z or layer, 0), from the layer, if there is one, and the
        coordinates.
        """
        whole = form.what in ("read", "fetch_sampled", "write")
        scalar = self.int_type if whole else self.float_type
        components = list(arguments)
        if form.layered:
            layer = components.pop(0)
            if not whole:
                layer, number = self._new(), layer
                out.append((_CONVERT_TO_FLOAT, (scalar, layer, number)))
            components.append(layer)
        if len(components) == 3:
            components.append(self._zero(scalar))
        return self._vector(scalar, components, out)

    def _image(self, form: _Form) -> int:
        kind = _DIMENSION_CUBE if form.dimensions == _CUBE else form.dimensions - 1
        access = 1 if form.what == "write" else 0
        return self._type(_TYPE_IMAGE, self.void_type, kind, 0, int(form.layered), 0, 0, 0, access)

    def _instructions(self, form: _Form, result_type: int, result: int, arguments: Sequence[int]) -> list[Instruction]:
        """Return the instructions for one call, from the handle, the position, and the function's other arguments."""
        out: list[Instruction] = []
        image, number = self._image(form), self._new()
        if form.what in ("read", "fetch_sampled", "write"):
            out.append((_CONVERT_TO_IMAGE, (image, number, arguments[0])))
            end = 1 + form.dimensions + form.layered
            at = self._position(form, arguments[1:end], out)
            if form.what == "write":
                out.append((_WRITE, (number, at, *arguments[end:])))
            else:
                out.append((_READ, (result_type, result, number, at)))
            return out
        out.append((_CONVERT_TO_SAMPLED_IMAGE, (self._type(_TYPE_SAMPLED_IMAGE, image), number, arguments[0])))
        sample = (result_type, result, number)
        if form.what == "sample_grad":
            parts = (arguments[1 + part * form.dimensions : 1 + (part + 1) * form.dimensions] for part in range(3))
            at, dx, dy = (self._vector(self.float_type, part, out) for part in parts)
            out.append((_SAMPLE_EXPLICIT_LOD, (*sample, at, _GRAD, dx, dy)))
            return out
        if form.what == "gather":
            out.append((_GATHER, (*sample, self._vector(self.float_type, arguments[1:3], out), arguments[3])))
            return out
        if form.what == "sample_cube":
            at, level = self._vector(self.float_type, arguments[1:], out), self._zero(self.float_type)
        else:
            end = 1 + form.dimensions + form.layered
            at = self._position(form, arguments[1:end], out)
            level = arguments[end] if form.what == "sample_lod" else self._zero(self.float_type)
        out.append((_SAMPLE_EXPLICIT_LOD, (*sample, at, _LOD, level)))
        return out

    def result(self) -> bytes:
        body: list[Instruction] = []
        for op, rest in self._without(self.forms):
            if op == _FUNCTION_CALL and rest[2] in self.forms:
                body += self._instructions(self.forms[rest[2]], rest[0], rest[1], rest[3:])
            else:
                body.append((op, rest))
        first = next(at for at, (op, _) in enumerate(body) if op == _FUNCTION)
        body[first:first] = self.new_types
        extension = (_EXTENSION, text_words("SPV_INTEL_bindless_images"))
        if extension not in body:
            place = next(at for at, (op, _) in enumerate(body) if op not in (_CAPABILITY, _EXTENSION))
            body.insert(place, extension)
        capabilities = [
            _CAPABILITY_BINDLESS,
            _CAPABILITY_IMAGES,
            *([_CAPABILITY_SAMPLED_1D] if any(form.dimensions == 1 for form in self.forms.values()) else []),
            *([_CAPABILITY_SHADER] if any(form.needs_shader for form in self.forms.values()) else []),
        ]
        return self._module(body, capabilities)
