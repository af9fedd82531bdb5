"""The kernel file of ``bindless build``: the modules of a source for several targets, and their description.

    offset  bytes  contents
    0       8      89 42 4C 4B 0D 0A 1A 0A: a copy as text would change it
    8       4      version of the format, 1
    12      4      bytes of the manifest
    16      8      bytes of the whole file
    24      32     SHA-256 of everything from byte 56 on
    56      ...    the manifest: JSON in UTF-8
    ...     ...    the sections, concatenated in the order of the manifest

Numbers are little-endian. The manifest is an object with ``source`` (its name), ``source_sha256``, ``tools`` (name to
version), ``options``, ``kernels`` and ``sections``. A section has ``language`` (``spirv``, ``ptx``, ``cubin`` or
``opencl_c``), ``architecture`` (``sm_75``; empty unless it is NVIDIA's), ``kernels`` (their names), ``size`` and
``sha256``. A kernel has ``name``, ``parameters`` (each ``name``, ``type``, ``kind`` and ``size``, as in the source; the
OpenCL C text shows the parameters that replace handles), ``required_work_group_size`` and ``work_group_size_hint``
(null, or numbers in the native order), and ``group_function``, if it calls one of ``bindless.device``, which needs the
work-groups of an ``NdRange``. The hashes detect damage; they are no signature.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import BuildError, InvalidError
from ..regular_file import read_regular_file
from ..whole_files import write_whole
from .description import KernelSignature, Parameter

__all__ = ["KernelFile", "Section", "is_kernel_file"]

_MAGIC = b"\x89BLK\r\n\x1a\n"
_VERSION = 1
_HEADER = struct.Struct("<8sIIQ32s")
_LANGUAGES = ("spirv", "ptx", "cubin", "opencl_c")
_KINDS = ("value", "pointer", "local", "image", "sampler")


@dataclass(frozen=True)
class Section:
    """A module in one language.

    Attributes
    ----------
    language
        ``spirv``, ``ptx``, ``cubin`` or ``opencl_c``.
    architecture
        The oldest GPU for PTX, or the GPU of a cubin, such as ``sm_75``; else empty.
    kernels
        Their names.
    data
        The module.
    """

    language: str
    architecture: str
    kernels: tuple[str, ...]
    data: bytes = field(repr=False)

    def __str__(self) -> str:
        return f"{self.language}{f' for {self.architecture}' if self.architecture else ''}"


@dataclass(frozen=True)
class KernelFile:
    """Kernels compiled for several targets.

    Attributes
    ----------
    kernels
        Signatures of all kernels.
    sections
        Modules; one language may have several, with different kernels.
    source
        Name of the source.
    source_sha256
        Its hash, in hexadecimal digits.
    tools
        Versions of the compilers and linkers, by name.
    options
        Compiler options.
    log
        Warnings of the compiler, if this process built the file.
    """

    kernels: tuple[KernelSignature, ...]
    sections: tuple[Section, ...]
    source: str = ""
    source_sha256: str = ""
    tools: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    log: str = field(default="", compare=False)

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages of the sections, each once."""
        return tuple(dict.fromkeys(section.language for section in self.sections))

    def describe(self) -> str:
        """Return a summary in one line."""
        sections = ", ".join(dict.fromkeys(map(str, self.sections)))
        return f"{sections}: {', '.join(map(str, self.kernels))}"

    def to_bytes(self) -> bytes:
        """Return the file's bytes."""
        manifest = json.dumps(
            {
                "source": self.source,
                "source_sha256": self.source_sha256,
                "tools": dict(self.tools),
                "options": list(self.options),
                "kernels": [_kernel_entry(kernel) for kernel in self.kernels],
                "sections": [
                    {
                        "language": section.language,
                        "architecture": section.architecture,
                        "kernels": list(section.kernels),
                        "size": len(section.data),
                        "sha256": hashlib.sha256(section.data).hexdigest(),
                    }
                    for section in self.sections
                ],
            },
            indent=1,
        ).encode()
        body = b"".join([manifest, *(section.data for section in self.sections)])
        header = _HEADER.pack(_MAGIC, _VERSION, len(manifest), _HEADER.size + len(body), hashlib.sha256(body).digest())
        return header + body

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the file; the replacement of an existing file is atomic.

        A symbolic link keeps its place: the file that it names is replaced. Devices and pipes, such as ``/dev/null``
        and ``/dev/stdout``, are written to.

        Raises
        ------
        InvalidError
            The file cannot be written.
        """
        place = Path(path)
        try:
            write_whole(place, self.to_bytes())
        except OSError as error:
            raise InvalidError(f"{place} cannot be written: {error}") from error
        return place

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the kernel file") -> KernelFile:
        """Parse the bytes of a file.

        Parameters
        ----------
        data
            The file's bytes.
        name
            Name of the file, for messages.

        Raises
        ------
        BuildError
            The bytes are not a kernel file, truncated, damaged, or of a newer version.
        """
        manifest, rest = _split(data, name)
        try:
            return _read(manifest, rest)
        except (KeyError, TypeError, ValueError) as error:
            reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
            raise BuildError(f"{name} has a manifest that is not right: {reason}; build it again") from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> KernelFile:
        """Read a file.

        Raises
        ------
        InvalidError
            The file cannot be read.
        BuildError
            As for ``from_bytes``.
        """
        try:
            data = read_regular_file(path)
        except (OSError, ValueError) as error:
            raise InvalidError(f"{os.fspath(path)} cannot be read: {error}") from error
        return cls.from_bytes(data, os.fspath(path))


def is_kernel_file(data: bytes) -> bool:
    """Return whether the bytes start with the magic number of a kernel file."""
    return data[:4] == _MAGIC[:4]


def _kernel_entry(kernel: KernelSignature) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "parameters": None
        if kernel.parameters is None
        else [{"name": p.name, "type": p.type, "kind": p.kind, "size": p.size} for p in kernel.parameters],
        "required_work_group_size": kernel.required_work_group_size,
        "work_group_size_hint": kernel.work_group_size_hint,
        **({"group_function": kernel.group_function} if kernel.group_function else {}),
    }


def _split(data: bytes, name: str) -> tuple[Any, bytes]:
    """Check a file's header and hash; return its manifest and its sections."""
    again = "build it again, or copy it as a binary file"
    if len(data) < _HEADER.size:
        raise BuildError(
            f"{name} is cut off: it has {len(data)} bytes, and its header alone has {_HEADER.size}; {again}"
        )
    magic, version, manifest_size, size, digest = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        raise BuildError(f"{name} begins with {data[:8]!r}: it is no file of `bindless build`, or was changed; {again}")
    if version != _VERSION:
        raise BuildError(
            f"{name} has version {version} of the format; this package reads version {_VERSION}: update it, or {again}"
        )
    if size != len(data):
        raise BuildError(f"{name} has {len(data)} bytes and should have {size}: it is cut off or was changed; {again}")
    body = data[_HEADER.size :]
    if hashlib.sha256(body).digest() != digest:
        raise BuildError(f"{name} is damaged: its contents do not have the hash in its header; {again}")
    if manifest_size > len(body):
        raise BuildError(f"{name} has a manifest of {manifest_size} bytes, and only {len(body)} in all; {again}")
    try:
        return json.loads(body[:manifest_size]), body[manifest_size:]
    except (ValueError, RecursionError) as error:
        raise BuildError(f"{name} has a manifest that cannot be read: {error}; {again}") from error


def _read(manifest: Any, rest: bytes) -> KernelFile:
    """Build the file from a manifest; ValueError, TypeError or KeyError for an invalid manifest."""
    _require(isinstance(manifest, dict), "it is no object")
    kernels = tuple(_kernel(entry) for entry in _list(manifest["kernels"], "kernels"))
    names = {kernel.name for kernel in kernels}
    sections = []
    begin = 0
    for entry in _list(manifest["sections"], "sections"):
        size = _number(entry["size"], "size")
        data = rest[begin : begin + size]
        _require(len(data) == size, f"a section of {size} bytes goes beyond the file's end")
        _require(hashlib.sha256(data).hexdigest() == entry["sha256"], "a section does not have its hash")
        members = tuple(_text(kernel, "kernels") for kernel in _list(entry["kernels"], "kernels"))
        _require(set(members) <= names, f"a section has kernels {', '.join(members)}, which are not described")
        language = _text(entry["language"], "language")
        _require(language in _LANGUAGES, f"language {language!r} is not known")
        sections.append(Section(language, _text(entry["architecture"], "architecture"), members, data))
        begin += size
    _require(begin == len(rest), f"its sections have {begin} bytes together, and {len(rest)} are there")
    tools = manifest["tools"]
    _require(isinstance(tools, dict), "tools is no object")
    return KernelFile(
        kernels,
        tuple(sections),
        _text(manifest["source"], "source"),
        _text(manifest["source_sha256"], "source_sha256"),
        {_text(key, "tools"): _text(value, "tools") for key, value in tools.items()},
        tuple(_text(option, "options") for option in _list(manifest["options"], "options")),
    )


def _kernel(entry: Any) -> KernelSignature:
    parameters = entry["parameters"]
    return KernelSignature(
        _text(entry["name"], "name"),
        None if parameters is None else tuple(_parameter(parameter) for parameter in _list(parameters, "parameters")),
        _sizes(entry["required_work_group_size"]),
        _sizes(entry["work_group_size_hint"]),
        _text(entry.get("group_function", ""), "group_function"),
    )


def _parameter(entry: Any) -> Parameter:
    kind = _text(entry["kind"], "kind")
    _require(kind in _KINDS, f"a parameter of kind {kind!r}")
    return Parameter(_text(entry["name"], "name"), _text(entry["type"], "type"), kind, _number(entry["size"], "size"))


def _sizes(value: Any) -> tuple[int, ...] | None:
    if value is None:
        return None
    sizes = tuple(_number(size, "a work-group") for size in _list(value, "a work-group"))
    _require(len(sizes) == 3 and all(sizes), f"a work-group of {sizes}")
    return sizes


def _list(value: Any, what: str) -> Sequence[Any]:
    _require(isinstance(value, list), f"{what} is no list")
    items: Sequence[Any] = value
    return items


def _text(value: Any, what: str) -> str:
    _require(isinstance(value, str), f"{what} is no text")
    return str(value)


def _number(value: Any, what: str) -> int:
    _require(type(value) is int and 0 <= value < 2**40, f"{what} is no number of bytes or work-items")
    return int(value)


def _require(condition: bool, why: str) -> None:
    if not condition:
        raise ValueError(why)
