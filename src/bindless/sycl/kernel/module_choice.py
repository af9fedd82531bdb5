"""Choice of the modules for a device: from a file of ``bindless build``, or the source itself."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...backends.contract import BackendProtocol
from ...model.errors import BuildError, InvalidError
from ...model.module import ptx
from ...model.module.kernel_file import KernelFile, Section, is_kernel_file
from ...model.module.spirv import is_spirv
from ...model.regular_file import read_regular_file

if TYPE_CHECKING:
    from ..device.device import Device

__all__ = ["choose_modules", "read_source"]

_ELF = b"\x7fELF"
_TEXTS = (("CUDA C++", re.compile(rb"\b__global__\b")), ("OpenCL C", re.compile(rb"\b(__)?kernel\s[^;{]*\bvoid\b")))
_BINARY = {_ELF: "a cubin", b"\x50\xed\x55\xba": "a fat binary of CUDA"}


def read_source(source: object) -> bytes | KernelFile:
    """A source, or that in the file of this name.

    Raises
    ------
    InvalidError
        The file cannot be read, it is empty, or it is neither.
    BuildError
        It is a file of ``bindless build`` that is damaged.
    """
    name = "the kernel file"
    if isinstance(source, KernelFile):
        return source
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
    elif isinstance(source, (str, os.PathLike)):
        name = os.fsdecode(source)
        try:
            data = read_regular_file(source)
        except (OSError, ValueError) as error:
            raise InvalidError(f"source={os.fspath(source)!r} cannot be read: {error}") from error
    else:
        raise InvalidError(f"source: a {type(source).__name__} is neither a path, nor bytes, nor a KernelFile")
    if not data:
        raise InvalidError("source is empty: it is a file of `bindless build`, PTX or cubin on cuda, SPIR-V elsewhere")
    return KernelFile.from_bytes(data, name) if is_kernel_file(data) else data


def choose_modules(
    source: bytes | KernelFile, backend: BackendProtocol, devices: Sequence[Device]
) -> tuple[bytes, ...]:
    """The modules that all these devices run.

    Raises
    ------
    BuildError
        There are none; the message lists the modules of the source.
    """
    if isinstance(source, KernelFile):
        return _of_file(source, backend, devices)
    language = _language(source)
    traits, name = backend.traits, backend.backend
    if language in traits.driver_binaries:
        return (source,)  # the driver tells whether it is one of its binaries
    if language is not None and language not in traits.module_formats:
        formats = _alternatives(traits.module_formats)
        raise BuildError(
            f"the source is {language}; the {name} backend takes {formats}: `bindless build` makes one file for all",
            backend=str(name),
        )
    return (source,)


def _of_file(file: KernelFile, backend: BackendProtocol, devices: Sequence[Device]) -> tuple[bytes, ...]:
    languages, name = backend.traits.module_languages, backend.backend
    for language in languages:
        sections = [section for section in file.sections if section.language == language]
        if sections and all(_runs(section, device) for section in sections for device in devices):
            return tuple(section.data for section in sections)
    other_generation = any(section.architecture for section in file.sections if section.language in languages)
    names = ", ".join(f"{device.name} ({device._record.version})" for device in devices)
    raise BuildError(
        f"the kernel file holds {file.describe()}; {names} of the {name} backend runs {_alternatives(languages)}"
        f"{' for its own or an older generation' if other_generation else ''}: build it for that target "
        f"(bindless build --target {backend.traits.build_target})",
        backend=str(name),
    )


def _alternatives(names: Sequence[str]) -> str:
    """Names as a message lists them: ``a, b or c``."""
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _runs(section: Section, device: Device) -> bool:
    """Whether a GPU is of a section's generation or newer; versions of CUDA devices are compute capabilities."""
    needs = re.match(r"sm_(\d+)(\d)([af]?)$", section.architecture)
    has = re.match(r"(\d+)\.(\d+)$", device._record.version)
    if needs is None or has is None:
        return True
    minimum, own = (int(needs[1]), int(needs[2])), (int(has[1]), int(has[2]))
    if needs[3]:
        return own == minimum
    # A binary runs on later GPUs of its own generation, PTX on all later ones.
    return own >= minimum and (section.language != "cubin" or own[0] == minimum[0])


def _language(source: bytes) -> str | None:
    if is_spirv(source):
        return "SPIR-V"
    language = _BINARY.get(source[:4]) or ("PTX" if ptx.is_ptx(source) else None)
    if language is not None or b"\0" in source:
        return language
    return next((name for name, words in _TEXTS if words.search(source)), None)
