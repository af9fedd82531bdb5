"""Code of the built-in kernels, and ``Library``: the kernels of a context, each built on first use."""

from __future__ import annotations

import re
import struct
import threading
import zlib
from collections.abc import Callable, Hashable
from functools import cache
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar

from ..model.create_once import create_once
from ..model.errors import FeatureNotSupportedError
from .manifest import FOLDER, Target, manifest, module_of, parameters_of
from .spirv_specialise import with_constant_argument

if TYPE_CHECKING:
    from zipfile import ZipInfo

__all__ = ["SUFFIXES", "Code", "Library", "code_of", "source", "specialised", "split_variant", "variant_of"]

SUFFIXES: dict[Target, str] = {"ptx": ".ptx", "spirv": ".spv", "opencl_c": ".cl"}
"""Of files in the archives."""

_LOCAL_HEADER = struct.Struct("<26x2H")  # of an archive's entry: the lengths of its name and of the extra field
_CONSTANTS = {"format": 0, "mode": 1}  # numbers of the specialization constants in OpenCL C

_Kernel = TypeVar("_Kernel")


# ---------------------------------------------------------------------- text


@cache
def _directory(target: Target) -> dict[str, ZipInfo]:
    """The entries of a target's archive."""
    from zipfile import ZipFile  # takes longer than all the rest

    with ZipFile(FOLDER / manifest()["archives"][target]["file"]) as archive:
        return {entry.filename: entry for entry in archive.infolist()}


def _read(target: Target, name: str) -> bytes:
    """One entry of an archive. ``ZipFile`` would read the directory again."""
    entry = _directory(target)[name]
    with (FOLDER / manifest()["archives"][target]["file"]).open("rb") as file:
        file.seek(entry.header_offset)
        file.seek(sum(_LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))), 1)
        return zlib.decompress(file.read(entry.compress_size), -zlib.MAX_WBITS, entry.file_size)


@cache
def source(name: str, target: Target) -> bytes:
    """Return the code of a module: PTX with a terminating zero byte, SPIR-V, or OpenCL C 1.2.

    In OpenCL C ``image`` is the parameter ``image__bindless_image``, followed by ``image__bindless_sampler`` for a
    sampled image; ``sample_lod`` needs OpenCL C 2.0 and cl_khr_mipmap_image.

    Raises
    ------
    KeyError
        No module has this name.
    ValueError
        The module does not exist for the target.
    """
    entries = manifest()["modules"]
    if name not in entries:
        raise KeyError(f"no built-in module is named {name!r}; bindless.kernels.modules() lists all of them")
    targets = entries[name]["targets"]
    if target not in targets:
        raise ValueError(
            f"the built-in module {name!r} does not exist for target {target!r}, only for {', '.join(targets)}"
        )
    data = _read(target, name + SUFFIXES[target])
    return data + b"\0" if target == "ptx" else data


def _place_of(kernel_name: str, parameter: str) -> int:
    """The index of a parameter."""
    names = [each.name for each in parameters_of(kernel_name)]
    if parameter not in names:
        raise ValueError(
            f"the built-in kernel {kernel_name!r} has no argument {parameter!r}: {', '.join(names) or 'none'}"
        )
    return names.index(parameter)


def specialised(
    kernel_name: str, format_word: int | None, target: Literal["ptx", "spirv"] = "ptx", mode_word: int | None = None
) -> bytes:
    """Return a kernel's module with a constant ``format`` argument; PTX has a terminating zero byte.

    The driver then compiles no code for other formats: the kernel is several times shorter and needs half the
    registers. It takes the same arguments, and ignores ``format``.

    Parameters
    ----------
    kernel_name
        Name of the kernel.
    format_word
        Its argument ``format``; None for kernels without.
    target
        Language of the module.
    mode_word
        Its argument ``mode``, which also becomes a constant; None for kernels without.

    Raises
    ------
    KeyError
        No kernel has this name.
    ValueError
        The kernel lacks the target or the argument.
    """
    text = source(module_of(kernel_name), target)
    for argument, word in (("format", format_word), ("mode", mode_word)):
        if word is None:
            continue
        place = _place_of(kernel_name, argument)
        if target == "spirv":
            text = with_constant_argument(text, kernel_name, place, word)
        else:
            text = _with_constant_parameter(text, f"{kernel_name}_param_{place}", word)
    return text


def _with_constant_parameter(text: bytes, parameter: str, word: int) -> bytes:
    load = re.compile(rf"ld\.param\.b32(\s+%r\d+), \[{parameter}\];".encode())
    text, loads = load.subn(rf"mov.b32\1, {word & 0xFFFFFFFF:#x};".encode(), text)
    if not loads:
        raise ValueError(f"the PTX of the built-in kernels does not load {parameter}: it was built otherwise")
    return text


class Code(NamedTuple):
    """The code of one kernel, as a driver builds it.

    Attributes
    ----------
    name
        Name of the kernel.
    text
        Its module.
    constants
        Specialization constants by number; in PTX and SPIR-V they are in the text.
    """

    name: str
    text: bytes
    constants: dict[int | str, int]


def code_of(name: str, target: Target, *, format: int | None = None, mode: int | None = None) -> Code:
    """Return the code of a kernel for a target.

    Parameters
    ----------
    name
        Name of the kernel.
    target
        Language of the code.
    format, mode
        Its arguments of these names, where they become constants. The kernel still takes and ignores them.

    Raises
    ------
    KeyError
        No kernel has this name.
    ValueError
        The kernel lacks the target or an argument.
    """
    if target != "opencl_c":
        return Code(name, specialised(name, format, target, mode), {})
    words = {"format": format, "mode": mode}
    constants: dict[int | str, int] = {_CONSTANTS[key]: word for key, word in words.items() if word is not None}
    return Code(name, source(module_of(name), target), constants)


# ---------------------------------------------------------------------- variants


def variant_of(name: str, **words: int | None) -> str:
    """Return the name of a kernel with constant arguments: ``bindless_sample_2d_f@format=335545348``."""
    constants = ",".join([f"{key}={int(word)}" for key, word in words.items() if word is not None])
    return f"{name}@{constants}" if constants else name


def split_variant(variant: str) -> tuple[str, dict[str, int]]:
    """Return the kernel of a variant and the words that are constant."""
    name, _, constants = variant.partition("@")
    pairs = [constant.split("=") for constant in constants.split(",") if constant]
    return name, {key: int(word) for key, word in pairs}


# ---------------------------------------------------------------------- kernels


class Library(Generic[_Kernel]):
    """The built-in kernels of one context: each is built on first use and then shared by all threads.

    Parameters
    ----------
    target : Target
        Language of the code that the context's driver builds.
    backend : str | None, default None
        The back end that errors name.
    """

    __slots__ = ("_backend", "_kernels", "_lock", "target")

    def __init__(self, target: Target, backend: str | None = None) -> None:
        self.target: Target = target
        self._backend = backend
        self._kernels: dict[Hashable, _Kernel] = {}
        self._lock = threading.RLock()

    def load(
        self,
        name: str,
        place: Hashable,
        build: Callable[[Code], _Kernel],
        *,
        format: int | None = None,
        mode: int | None = None,
    ) -> _Kernel:
        """Return a kernel.

        Parameters
        ----------
        name : str
            Name of the kernel.
        place : Hashable
            What else the kernel depends on: usually a device of the context.
        build : Callable[[Code], Kernel]
            Builds the code there.
        format, mode : int | None
            As of ``code_of``.

        Raises
        ------
        FeatureNotSupportedError
            There is no such kernel for the target.
        """
        kernel = self._kernels.get((name, place, format, mode))
        if kernel is not None:
            return kernel
        return self.create((name, place, format, mode), lambda: build(self._code_of(name, format=format, mode=mode)))

    def create(self, key: Hashable, make: Callable[[], _Kernel]) -> _Kernel:
        """Return the kernel of a key; ``make`` assembles and builds it on first use."""
        return create_once(self._kernels, self._lock, key, make)

    def drain(self) -> list[_Kernel]:
        """Remove all kernels from the library and return them."""
        kernels = list(self._kernels.values())
        self._kernels.clear()
        return kernels

    def _code_of(self, name: str, *, format: int | None, mode: int | None) -> Code:
        try:
            return code_of(name, self.target, format=format, mode=mode)
        except (KeyError, ValueError) as error:
            raise FeatureNotSupportedError(
                f"there is no built-in kernel for this call: {error.args[0]}", backend=self._backend
            ) from None
