"""Compiled kernels: from the disk cache, or from the compiler's process."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..device.declaration import LaunchFacts
from ..model.errors import BuildError, FeatureNotSupportedError
from ..model.module.disk_cache import cache
from ..model.module.kernel_file import KernelFile
from .argument_type import ArgumentType
from .expansion import ParameterPath
from .function_digest import digest_of_request
from .function_source import FunctionSource

__all__ = ["Compiled", "compiled_kernel", "installed_compilers"]

_ARCHITECTURE = "sm_75"  # the oldest that the package supports; drivers translate PTX for newer ones
_LENGTH = struct.Struct("<I")
_COMPILERS = ("numba", "llvmlite")
_VERSION = re.compile(r"""version(?:_version)?["']?\s*[:=]\s*["']([^"']+)""")
_SOURCES = ("python_kernels", "device", "compiler")


@dataclass(frozen=True)
class Compiled:
    """A kernel for types.

    Attributes
    ----------
    file
        Its module and signature.
    paths
        Where the value of each parameter comes from.
    """

    file: KernelFile
    paths: Sequence[ParameterPath]


def compiled_kernel(
    source: FunctionSource, digest: bytes, launch: LaunchFacts, arguments: tuple[ArgumentType, ...]
) -> Compiled:
    """Return a kernel for types: from the cache on disk, else compiled.

    Raises
    ------
    BuildError
        The function cannot be compiled for the types.
    FeatureNotSupportedError
        The packages that compile are missing.
    """
    asked = digest_of_request(digest, launch, arguments, _ARCHITECTURE)
    key = b"python kernel", asked, _own_digest()
    kept = cache()
    data = kept.get(*key) if kept is not None else None
    found = _read(data, asked) if data is not None else None
    if found is not None:
        return found
    from .compiler_process import compile_in_process

    answer = compile_in_process(
        launch.language,
        {"source": source, "arguments": arguments, "launch": launch, "architecture": _ARCHITECTURE},
        source.name,
    )
    if "missing" in answer:
        raise FeatureNotSupportedError(f"kernel {source.name!r}: {answer['missing']}")
    if "error" in answer:
        raise BuildError(answer["error"], log=answer.get("log", ""))
    if answer["digest"] != asked:
        raise BuildError(f"kernel {source.name!r}: the compiler answered for another kernel; launch it again")
    head = json.dumps(
        {"digest": answer["digest"].hex(), "paths": answer["paths"], "versions": answer["versions"]}
    ).encode()
    data = b"".join((_LENGTH.pack(len(head)), head, answer["file"]))
    if kept is not None:
        kept.put(data, *key)
    return Compiled(KernelFile.from_bytes(answer["file"]), json.loads(json.dumps(answer["paths"])))


def _read(data: bytes, asked: bytes) -> Compiled | None:
    """Return an entry of the cache; None for a damaged one, for one of another compiler than the installed one, and for
    one whose compiler was asked for another kernel.
    """
    try:
        (length,) = _LENGTH.unpack_from(data)
        head = json.loads(data[_LENGTH.size : _LENGTH.size + length])
        if head["digest"] != asked.hex():
            return None
        installed = installed_compilers()
        if any(installed.get(name, version) != version for name, version in head["versions"].items()):
            return None
        return Compiled(KernelFile.from_bytes(data[_LENGTH.size + length :]), head["paths"])
    except (BuildError, ValueError, KeyError, TypeError, AttributeError, struct.error):
        return None


@functools.cache
def installed_compilers() -> dict[str, str]:
    """Return the versions of the installed compilers, without importing them."""
    found: dict[str, str] = {}
    for name in _COMPILERS:
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            continue
        try:
            text = Path(next(iter(spec.submodule_search_locations)), "_version.py").read_text()
        except OSError:
            continue
        match = _VERSION.search(text)
        if match is not None:
            found[name] = match[1]
    return found


@functools.cache
def _own_digest() -> bytes:
    """Return a hash of the files that compile kernels."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for folder in _SOURCES:
        for path in sorted((package / folder).rglob("*")):
            if path.suffix in (".py", ".h"):
                digest.update(path.name.encode())
                digest.update(path.read_bytes())
    return digest.digest()
