"""Images as arguments of kernels, in finished modules of SPIR-V for OpenCL devices.

OpenCL has no handles that are numbers. A parameter that only the image functions of
``compiler.prelude.spirv_image_arguments`` use becomes an image, followed by a sampler where it is sampled, with the
names that the OpenCL back end joins to one argument again.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...model.errors import FeatureNotSupportedError
from ..prelude.opencl_c_images import IMAGE, SAMPLER
from .rewriter import Instruction, Rewriter, imports, instructions, text_words

__all__ = ["with_image_arguments"]

_NAME, _ENTRY_POINT, _DECORATE = 5, 15, 71
_TYPE_VOID, _TYPE_INT, _TYPE_FLOAT, _TYPE_IMAGE, _TYPE_SAMPLER, _TYPE_SAMPLED_IMAGE, _TYPE_FUNCTION = (
    19, 21, 22, 25, 26, 27, 33,
)  # fmt: skip
_CONSTANT_NULL, _FUNCTION, _FUNCTION_PARAMETER, _FUNCTION_END, _FUNCTION_CALL = 46, 54, 55, 56, 57
_SAMPLED_IMAGE, _SAMPLE, _READ, _WRITE, _QUERY_ORDER, _QUERY_SIZE_LOD = 86, 88, 98, 99, 102, 103
_LOD = 2
_READ_ONLY, _WRITE_ONLY, _READ_WRITE = 0, 1, 2
_IMAGE_BASIC, _IMAGE_READ_WRITE, _SAMPLED_1D = 13, 14, 43
_OURS = re.compile(r"__bindless_argument_(sample|read|write|size|order)_([123])d(_array)?(?:_[fiu])?")
_OTHERS = re.compile(r"__bindless_(sample_lod|sample_grad|sample_cube|gather)_")
# Where the ids are among the operands of an instruction that has no result, or literals: from the first to the last.
_OPERANDS: dict[int, tuple[int, int | None]] = {
    8: (0, 0),  # OpLine
    12: (4, None),  # OpExtInst
    54: (0, 0),  # OpFunction
    55: (0, 0),  # OpFunctionParameter
    59: (0, 0),  # OpVariable
    61: (2, 3),  # OpLoad
    62: (0, 2),  # OpStore
    63: (0, 2),  # OpCopyMemory
    64: (0, 3),  # OpCopyMemorySized
    79: (2, 4),  # OpVectorShuffle
    81: (2, 3),  # OpCompositeExtract
    82: (2, 4),  # OpCompositeInsert
    228: (0, None),  # OpAtomicStore
    246: (0, 0),  # OpLoopMerge
    247: (0, 0),  # OpSelectionMerge
    248: (0, 0),  # OpLabel
    249: (0, 0),  # OpBranch
    250: (0, 1),  # OpBranchConditional
    251: (0, 1),  # OpSwitch
    254: (0, None),  # OpReturnValue
}
_MISSING = {
    "sample_lod": "mipmaps", "sample_grad": "mipmaps", "sample_cube": "cubemaps", "gather": "gathers of pixels",
}  # fmt: skip
_ADVICE = "run it on another device, or give it the layers of one array of images"


@dataclass
class _Image:
    """A parameter that is an image.

    Attributes
    ----------
    shape
        Dimensions, and whether it has layers.
    uses
        Of its functions, without queries.
    sampler
        Id of the sampler's parameter, or 0.
    type
        Id of the image's type.
    """

    shape: tuple[int, bool]
    uses: set[str] = field(default_factory=set)
    sampler: int = 0
    type: int = 0

    @property
    def access(self) -> int:
        if "write" not in self.uses:
            return _READ_ONLY
        return _READ_WRITE if len(self.uses) > 1 else _WRITE_ONLY


def with_image_arguments(data: bytes, parameters: Sequence[tuple[str, bool]]) -> bytes:
    """Replace the handles of a module with one kernel by images and samplers.

    Parameters
    ----------
    parameters
        Of the kernel: the name in the source, and whether it is a handle.

    Raises
    ------
    FeatureNotSupportedError
        A handle is no parameter, or OpenCL has no such image.
    """
    words = struct.unpack(f"<{len(data) // 4}I", data)
    code = instructions(words)
    functions = imports(code)
    forms = {number: match for number, name in functions.items() if (match := _OURS.fullmatch(name))}
    for name in functions.values():
        if (other := _OTHERS.match(name)) is not None:
            raise FeatureNotSupportedError(f"OpenCL has no {_MISSING[other[1]]}: run the kernel on another device")
    if not forms and not any(is_handle for _, is_handle in parameters):
        return data
    return _Rewriter(words, code, forms, parameters).result()


class _Rewriter(Rewriter):
    """One module during the replacement.

    Parameters
    ----------
    forms
        The function of each id: operation, dimensions and layers.
    """

    def __init__(
        self,
        words: Sequence[int],
        code: list[Instruction],
        forms: dict[int, re.Match[str]],
        parameters: Sequence[tuple[str, bool]],
    ) -> None:
        super().__init__(words, code)
        self.forms = forms
        entry = next(rest[1] for op, rest in code if op == _ENTRY_POINT)
        start = next(at for at, (op, rest) in enumerate(code) if op == _FUNCTION and rest[1] == entry)
        self.function = code[start][1]
        self.parameters = [rest for op, rest in code[start + 1 : self._end(start)] if op == _FUNCTION_PARAMETER]
        self.names = {rest[1]: name for rest, (name, _) in zip(self.parameters, parameters)}
        self.images = self._images()
        handles = {rest[1] for rest, (_, is_handle) in zip(self.parameters, parameters) if is_handle}
        self._require_no_other_use(handles | self.images.keys())

    def _end(self, start: int) -> int:
        return next(at for at in range(start, len(self.code)) if self.code[at][0] == _FUNCTION_END)

    def _zero(self, kind: int) -> int:
        """Return the id of the number 0 of a type."""
        for op, rest in (*self.code, *self.new_types):
            if op == _CONSTANT_NULL and rest[0] == kind:
                return rest[1]
        number = self._new()
        self.new_types.append((_CONSTANT_NULL, (kind, number)))
        return number

    def _images(self) -> dict[int, _Image]:
        """Return the parameters that are images, by id; new ids for their samplers."""
        images: dict[int, _Image] = {}
        parameters = {rest[1] for rest in self.parameters}
        for op, rest in self.code:
            if op != _FUNCTION_CALL or rest[2] not in self.forms:
                continue
            what, dimensions, layered = self.forms[rest[2]].groups()
            handle, shape = rest[3], (int(dimensions), layered is not None)
            if handle not in parameters:
                raise FeatureNotSupportedError(
                    "an image is found in memory, or chosen while the kernel runs; on OpenCL devices, which have no "
                    f"image handles, it is an argument of the kernel itself: {_ADVICE}"
                )
            image = images.setdefault(handle, _Image(shape))
            if image.shape != shape:
                raise FeatureNotSupportedError(
                    f"{self.names[handle]} is used with coordinates of different numbers of dimensions"
                )
            if what not in ("size", "order"):
                image.uses.add(what)
        for image in images.values():
            dimensions, layers = image.shape
            image.type = self._type(
                _TYPE_IMAGE, self._type(_TYPE_VOID), dimensions - 1, 0, int(layers), 0, 0, 0, image.access
            )
            image.sampler = self._new() if "sample" in image.uses else 0
        return images

    def _require_no_other_use(self, images: set[int]) -> None:
        """Raise the error of a handle that is a number, too."""
        start = next(at for at, (op, _) in enumerate(self.code) if op == _FUNCTION)
        for op, rest in self.code[start:]:
            first, last = _OPERANDS.get(op, (2, None))
            operands = rest[4:] if op == _FUNCTION_CALL and rest[2] in self.forms else rest[first:last]
            if number := next((one for one in operands if one in images), 0):
                raise FeatureNotSupportedError(
                    f"{self.names[number]} is used as a number; on OpenCL devices an image is no number: {_ADVICE}"
                )

    def _call(self, result_type: int, result: int, function: int, arguments: Sequence[int]) -> list[Instruction]:
        """Return the instructions for a call."""
        what, handle = self.forms[function][1], arguments[0]
        image = self.images[handle]
        if what == "order":
            return [(_QUERY_ORDER, (result_type, result, handle))]
        if what == "size":
            zero = self._zero(self._type(_TYPE_INT, 32, 0))
            return [(_QUERY_SIZE_LOD, (result_type, result, handle, zero))]
        if what == "read":
            return [(_READ, (result_type, result, handle, arguments[1]))]
        if what == "write":
            return [(_WRITE, (handle, *arguments[1:]))]
        sampled_image, kind = self._new(), self._type(_TYPE_SAMPLED_IMAGE, image.type)
        level = self._zero(self._type(_TYPE_FLOAT, 32))
        return [
            (_SAMPLED_IMAGE, (kind, sampled_image, handle, image.sampler)),
            (_SAMPLE, (result_type, result, sampled_image, arguments[1], _LOD, level)),
        ]

    def result(self) -> bytes:
        sampler = self._type(_TYPE_SAMPLER) if any(image.sampler for image in self.images.values()) else 0
        kinds: list[int] = []
        for kind, number in self.parameters:
            image = self.images.get(number)
            kinds += [kind] if image is None else [image.type, *([sampler] if image.sampler else [])]
        void = self.function[0]
        function = self._type(_TYPE_FUNCTION, void, *kinds)
        body: list[Instruction] = []
        for op, rest in self._without(self.forms, self.images):
            if rest is self.function:
                body.append((op, (*rest[:3], function)))
            elif op == _FUNCTION_PARAMETER and rest[1] in self.images:
                image = self.images[rest[1]]
                body.append((op, (image.type, rest[1])))
                body += [(op, (sampler, image.sampler))] if image.sampler else []
            elif op == _FUNCTION_CALL and rest[2] in self.forms:
                body += self._call(rest[0], rest[1], rest[2], rest[3:])
            else:
                body.append((op, rest))
        return self._pack_module(body)

    def _pack_module(self, body: list[Instruction]) -> bytes:
        first = next(at for at, (op, _) in enumerate(body) if op == _FUNCTION)
        body[first:first] = self.new_types
        names: list[Instruction] = []
        for number, image in self.images.items():
            name = f"p{number}"  # unique, while two elements of a tuple may have one name
            names.append((_NAME, (number, *text_words(f"{name}{IMAGE}"))))
            names += [(_NAME, (image.sampler, *text_words(f"{name}{SAMPLER}")))] if image.sampler else []
        place = next(at for at, (op, _) in enumerate(body) if op == _DECORATE or _TYPE_VOID <= op < _DECORATE)
        body[place:place] = names
        shapes = {image.shape[0] for image in self.images.values()}
        capabilities = [_IMAGE_BASIC, *([_SAMPLED_1D] if 1 in shapes else [])]
        if any(image.access == _READ_WRITE for image in self.images.values()):
            capabilities.append(_IMAGE_READ_WRITE)
        return self._module(body, capabilities)
