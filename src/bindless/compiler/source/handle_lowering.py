"""OpenCL C for devices that compile kernels themselves and have no handles: each becomes an image and a sampler.

The source is preprocessed with ``bindless/device.h``, and unused functions are dropped. clang and LLVM find the
parameters that are handles and their image types (``handle_uses``). The text then has image parameters instead, and
sampler parameters for sampled images. A function that is called with images of different access gets one variant each.

    kernel void f(sampled_image_handle image, global float4 *out)
    kernel void f(read_only image2d_t image__bindless_image, sampler_t image__bindless_sampler, global float4 *out)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...model.errors import BuildError
from ..llvm.handle_dataflow import Function, FunctionCall, read_functions
from ..llvm.toolchain import TARGETS, Toolchain
from ..prelude import opencl_c_images
from ..prelude.opencl_c_images import IMAGE, SAMPLER
from .items import Item, items, text_of

__all__ = ["make_source"]

_TARGET = TARGETS["spirv"]
# clang's builtins, which other compilers of OpenCL C may lack, as standard functions.
_PLAIN = (
    "-DBINDLESS_OPENCL_C=1",
    *(f"-D__builtin_{name}f={name}" for name in ("rint", "floor", "fma", "fmin", "fmax", "fabs", "sqrt")),
    "-D__builtin_floor=floor",
    "-D__builtin_sqrt=sqrt",
    "-D__builtin_convertvector(V,T)=convert_##T(V)",
)
_ANALYSIS = ("-w", "-fno-discard-value-names", "-gline-tables-only")
_OURS = ("__bindless_", "bindless_constant_")
_CONSTANT = re.compile(r"bindless_constant_(\w+)")
_NUMBER = re.compile(r"(0[xX][\da-fA-F]+|\d+)[uUlL]*")
_VALUES = {
    "int": re.compile(r"(-?(?:0[xX][\da-fA-F]+|[1-9]\d*|0))[uU]?"),
    "uint": re.compile(r"(0[xX][\da-fA-F]+|[1-9]\d*|0)[uU]?"),
    "float": re.compile(r"(-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)[fF]?"),
}
_HEAD = "#pragma OPENCL FP_CONTRACT OFF\n"
_EXTENSIONS = {"half": "cl_khr_fp16", "double": "cl_khr_fp64"}


@dataclass
class _Handle:
    """A handle parameter.

    Attributes
    ----------
    geometries
        Image geometries of its uses, with the primitive of each.
    sampled
        Whether primitives sample it, with the primitive of each.
    accesses
        "read" and "write" of unsampled images.
    """

    geometries: dict[str, str] = field(default_factory=dict)
    sampled: dict[bool, str] = field(default_factory=dict)
    accesses: set[str] = field(default_factory=set)

    def join(self, other: _Handle) -> bool:
        """Merge another use; return whether anything is new."""
        before = (len(self.geometries), len(self.sampled), len(self.accesses))
        self.geometries.update(other.geometries)
        self.sampled.update(other.sampled)
        self.accesses |= other.accesses
        return before != (len(self.geometries), len(self.sampled), len(self.accesses))

    @property
    def access(self) -> str:
        return "read_write" if len(self.accesses) > 1 else f"{''.join(self.accesses) or 'read'}_only"


_Variant = tuple[str, ...]  # access of each handle parameter of a function


def make_source(
    source: Path, options: Sequence[str], toolchain: Toolchain, folder: Path, standard: str | None
) -> tuple[bytes, tuple[str, ...]]:
    """Convert a source that compiles for SPIR-V to the text for OpenCL devices; return the text and its kernel names.

    Parameters
    ----------
    options
        Clang options: macros, folders of headers.
    standard
        Version of OpenCL C for clang's check of the result, such as ``CL3.0``; None skips the check.

    Raises
    ------
    BuildError
        A handle is used other than as an argument, or for images that OpenCL lacks.
    """
    plain = toolchain.preprocess(source, folder / "plain.i", _TARGET, [*options, *_PLAIN])
    parts = items(plain.read_text())
    lines = {}
    text = ""
    for item in parts:
        lines[text.count("\n") + 1 + item.lines_before] = item
        text += f"{text_of(item)}\n"
    (folder / "plain.cl").write_text(text)
    count = len(toolchain.warnings)
    module = toolchain.compile(folder / "plain.cl", folder / "plain.ll", _TARGET, [], {}, _ANALYSIS)
    del toolchain.warnings[count:]
    functions = read_functions(toolchain.promote(module, folder / "promoted.ll").read_text())
    result = _Source(source.name, parts, {line: lines[line] for line in functions}, functions).text()
    if standard is not None:
        _check(result, source.name, toolchain, folder, standard)
    return result.encode(), tuple(sorted({item.name for item in parts if item.is_kernel}))


def _check(text: str, name: str, toolchain: Toolchain, folder: Path, standard: str) -> None:
    file = folder / "checked.cl"
    file.write_text(text)
    try:
        toolchain.check(file, _TARGET, (f"-cl-std={standard}", "-w"))
    except BuildError as error:
        raise BuildError(
            f"{name} does not compile as OpenCL C whose handles are images and samplers, which can only be "
            f"passed to functions. Change that, or leave the target opencl_c out. The compiler says:\n{error.log}",
            log=error.log,
        ) from error


class _Source:
    """The items of a source, the analysis of its functions, and the converted text."""

    def __init__(self, name: str, parts: list[Item], item_of: dict[int, Item], functions: dict[int, Function]) -> None:
        self._name = name
        self._items = parts
        self._functions = functions
        self._item_of = item_of
        self._line_of = {id(item): line for line, item in item_of.items()}
        self._handles: dict[int, dict[str, _Handle]] = {line: {} for line in functions}
        self._variants: dict[int, list[_Variant]] = {line: [] for line in functions}
        self._primitives: dict[tuple[str, str], None] = {}

    def text(self) -> str:
        """Return the source for OpenCL devices."""
        self._find_handles()
        for line, item in self._item_of.items():
            for name in self._handles[line] if item.is_kernel else ():
                self._image_type(line, name)
        self._find_variants()
        parts = self._own_items()
        body = "\n".join(text for item in parts for text in self._emitted(item))
        return "\n".join([self._prologue(parts, body), body, ""])

    # -------------------------------------------------------------- handles

    def _find_handles(self) -> None:
        """Propagate uses from primitives up to kernels, until nothing changes."""
        learning = True
        while learning:
            learning = False
            for line, function in self._functions.items():
                for call in function.calls:
                    for place, handle in self._uses_of(call):
                        name = self._parameter(line, call, place)
                        learning |= self._handles[line].setdefault(name, _Handle()).join(handle)

    def _uses_of(self, call: FunctionCall) -> Iterator[tuple[int, _Handle]]:
        """Yield the uses of the handles among a call's arguments."""
        if call.primitive:
            primitive = opencl_c_images.parse(call.primitive)
            assert primitive is not None
            operation, geometry, sampled = primitive
            accesses = set() if sampled else {operation}
            yield 0, _Handle({geometry: call.primitive}, {sampled: call.primitive}, accesses)
        else:
            function = self._functions[call.line]
            for name, handle in self._handles[call.line].items():
                yield function.parameters.index(name), handle

    def _parameter(self, line: int, call: FunctionCall, place: int) -> str:
        name = call.arguments[place]
        if name is not None:
            return name
        where = self._item_of[line]
        origins = call.origins[place]
        what = f"function {where.name!r}" if not where.is_kernel else f"kernel {where.name!r}"
        source = " or ".join(repr(origin) for origin in origins) or "a constant"
        raise BuildError(
            f"{self._name}: {what} uses a handle that is no parameter of its own but comes from {source}. OpenCL "
            "devices have images as arguments of kernels alone, not in arrays, in structures or in memory: pass it as "
            "a parameter (sampled_image_handle or unsampled_image_handle), or leave the target opencl_c out"
        )

    def _image_type(self, line: int, name: str) -> tuple[str, bool]:
        """Return the image type of a handle, and whether it is sampled."""
        handle, item = self._handles[line][name], self._item_of[line]
        who = f"{self._name}: parameter {name!r} of {item.name!r}"
        if len(handle.geometries) > 1:
            raise BuildError(
                f"{who} is used for images of different shapes, {' and '.join(handle.geometries)}: on OpenCL devices a "
                "parameter has one. Use a parameter for each, or leave the target opencl_c out"
            )
        if len(handle.sampled) > 1:
            raise BuildError(f"{who} is used both as a sampled and as an unsampled image: it can be but one of them")
        geometry = next(iter(handle.geometries))
        type_ = opencl_c_images.image_type(geometry)
        if type_ is None:
            raise BuildError(
                f"{who} is used for a {'cubemap' if geometry == 'cube' else geometry}, which OpenCL has not: leave the "
                "target opencl_c out, or the kernel where BINDLESS_OPENCL_C is defined"
            )
        return type_, next(iter(handle.sampled))

    # -------------------------------------------------------------- variants

    def _find_variants(self) -> None:
        """Propagate accesses from kernels down to primitives: the variants of each function."""
        pending: list[tuple[int, _Variant]] = []
        for line, item in self._item_of.items():
            if item.is_kernel or not self._handles[line]:
                pending.append((line, tuple(handle.access for handle in self._handles[line].values())))
        while pending:
            line, variant = pending.pop()
            if variant in self._variants[line]:
                continue
            self._variants[line].append(variant)
            access = dict(zip(self._handles[line], variant))
            for call in self._functions[line].calls:
                accesses = tuple(access[self._parameter(line, call, place)] for place, _ in self._uses_of(call))
                if call.primitive:
                    self._primitives[call.primitive, accesses[0]] = None
                else:
                    pending.append((call.line, accesses))

    # -------------------------------------------------------------- text

    def _own_items(self) -> list[Item]:
        """Return the items without functions that no kernel calls, and without declarations of defined functions."""
        definitions: dict[str, list[Item]] = {}
        for item in self._items:
            if item.body >= 0:
                definitions.setdefault(item.name, []).append(item)
        reachable: set[str] = set()
        pending = [item.name for item in self._items if item.is_kernel]
        while pending:
            name = pending.pop()
            if name not in reachable and name in definitions:
                reachable.add(name)
                pending += [used_name for item in definitions[name] for used_name in item.names()]

        def is_own(item: Item) -> bool:
            if not item.name:
                return bool(text_of(item)) and not text_of(item).startswith("#pragma OPENCL EXTENSION cl_khr_fp16")
            if item.body < 0:
                return not item.name.startswith((*_OURS, "__spirv_")) and item.name in reachable
            has_code = any(id(other) in self._line_of for other in definitions[item.name])
            return item.name in reachable and (id(item) in self._line_of or not has_code)

        return [item for item in self._items if is_own(item)]

    def _emitted(self, item: Item) -> Iterator[str]:
        """Yield the text of an item: of a function with handles, one text per variant."""
        line = self._line_of.get(id(item))
        if item.body < 0 and item.name:
            matches = [other for other in self._item_of.values() if other.name == item.name]
            if any(self._handles[self._line_of[id(other)]] for other in matches):
                for other in matches:
                    for text in self._emitted(other):
                        yield f"{text[: text.index('{')].strip()};"
                return
        if line is None or not self._handles[line]:
            yield text_of(item)
            return
        types = {name: self._image_type(line, name) for name in self._handles[line]}
        # Mesa 25.0 crashes for calls of image-reading functions inside conditional expressions.
        needs = [] if item.is_kernel else ["always_inline"]
        needs += ["overloadable"] if len(self._variants[line]) > 1 else []
        attributes = ", ".join(word for word in needs if word not in item.names())
        for variant in self._variants[line]:
            access = dict(zip(types, variant))
            tokens = list(item.tokens)
            for parameter in reversed(item.parameters):
                if parameter.name in types:
                    type_, sampled = types[parameter.name]
                    declaration = f"{access[parameter.name]} {type_} {parameter.name}{IMAGE}"
                    declaration += f", sampler_t {parameter.name}{SAMPLER}" if sampled else ""
                    tokens[parameter.begin : parameter.end] = [declaration]
            start = next(place for place, token in enumerate(tokens) if token == "{")
            tokens[start:] = _replace_handles(self._name, item, tokens[start:], types)
            text = "".join(tokens).strip()
            yield f"__attribute__(({attributes})) {text}" if attributes else text

    def _prologue(self, own_items: Iterable[Item], body: str) -> str:
        names = set().union(*(item.names() for item in own_items))
        parts: dict[str, None] = {}
        for type_, extension in _EXTENSIONS.items():
            if type_ in {re.sub(r"\d+$", "", name) for name in names}:
                parts[f"#ifdef {extension}\n#pragma OPENCL EXTENSION {extension} : enable\n#endif"] = None
        definitions = [words for name in sorted(names) if (words := opencl_c_images.words(name))]
        for name, access in self._primitives:
            if name in names:
                before, definition = opencl_c_images.definition(name, access)
                parts.update(dict.fromkeys(before))
                definitions.append(definition)
        head = f"/* {self._name} for OpenCL devices, made by `bindless build`. */\n{_HEAD}"
        return head + "\n".join([*parts, *definitions, *self._constants(own_items)])

    def _constants(self, parts: Iterable[Item]) -> Iterator[str]:
        """Yield macros for specialization constants: the device's compiler receives BINDLESS_CONSTANT_ and the number.

        A comment has the type, and the source's default value if it is a plain number.
        """
        for (type_, number), otherwise in self._constants_used(parts).items():
            name = f"BINDLESS_CONSTANT_{int(number.rstrip('uUlL'), 0)}"
            macro = f"BINDLESS_OR_{number}(otherwise)"
            value = _VALUES[type_].fullmatch(otherwise) if type_ in _VALUES else None
            default = f" = {value[1]}" if value else ""
            yield f"/* {name} {'float' if type_ == 'float' else 'int'} 4{default} */"
            yield f"#ifdef {name}\n#define {macro} {name}\n#else\n#define {macro} (otherwise)\n#endif"
            yield f"#define bindless_constant_{type_}(number, otherwise) (({type_})BINDLESS_OR_##number(otherwise))"

    def _constants_used(self, parts: Iterable[Item]) -> dict[tuple[str, str], str]:
        """Return their types and numbers, each once, and the default values at their first use."""
        constants: dict[tuple[str, str], str] = {}
        for item in parts:
            words = [token for token in item.tokens if token.strip()]
            for place, word in enumerate(words):
                match = _CONSTANT.fullmatch(word)
                if match is None or item.body < 0:
                    continue
                number = words[place + 2]
                if words[place + 1] != "(" or not _NUMBER.fullmatch(number) or words[place + 3] != ",":
                    raise BuildError(
                        f"{self._name}: {word}({number}...) in {item.name!r}: on OpenCL devices the number of a "
                        "specialization constant is a plain integer"
                    )
                constants.setdefault((match[1], number), "".join(words[place + 4 : words.index(")", place)]))
        return constants


def _replace_handles(source: str, item: Item, tokens: list[str], types: dict[str, tuple[str, bool]]) -> list[str]:
    """Return a body with images in place of handles, each followed by its sampler."""
    words = [place for place, token in enumerate(tokens) if token.strip()]
    result = list(tokens)
    for before, place, after in zip(words, words[1:], words[2:]):
        token = tokens[place]
        if token not in types or tokens[before] in (".", "->"):
            continue
        if tokens[before] not in ("(", ",") or tokens[after] not in (")", ","):
            raise BuildError(
                f"{source}: {item.name!r} does more with the handle {token!r} than to pass it to functions: on OpenCL "
                "devices it is an image, which cannot be copied, compared or chosen, and no other variable may have "
                "its name. Pass the parameter itself, or leave the target opencl_c out"
            )
        result[place] = f"{token}{IMAGE}, {token}{SAMPLER}" if types[token][1] else f"{token}{IMAGE}"
    return result
