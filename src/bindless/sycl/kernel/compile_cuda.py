"""``compile_cuda``: kernels in CUDA C++, compiled on the spot for one device by NVIDIA's own compiler."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from ...compiler.get_include import get_include
from ...model.errors import FeatureNotSupportedError, InvalidError
from ...model.module import ptx
from ...model.module.kernel_file import KernelFile, Section
from ...model.regular_file import read_regular_file
from .bundle import KernelBundle, load_kernel_bundle
from .bundle_source import where_to_load

__all__ = ["compile_cuda"]


def compile_cuda(source: str | os.PathLike[str], *where: object, options: Sequence[str] = ()) -> KernelBundle:
    """Compiles kernels in CUDA C++ with NVRTC, and loads them on a CUDA device.

    Kernels are ``extern "C" __global__`` functions, so that their names are those of the source. Image handles are
    ``cudaTextureObject_t`` (sampled) and ``cudaSurfaceObject_t`` (unsampled), or numbers for the functions of
    ``<bindless/cuda.h>``, which is found by itself. The last dimension of a range is ``x``.

    Parameters
    ----------
    source : str | os.PathLike[str]
        The text, or the path of a file: a string without line breaks and braces is a path.
    where : object
        A queue; or a device and a context.
    options : Sequence[str], default ()
        Of NVRTC, such as ``"--std=c++17"``, ``"-DN=4"`` or ``"--use_fast_math"``.

    Returns
    -------
    KernelBundle
        A bundle in state ``executable``.

    Raises
    ------
    FeatureNotSupportedError
        The device is not of the cuda backend, or NVRTC is missing; the message says how to install it, or the way
        without.
    BuildError
        It does not compile; ``log`` holds the compiler's words.
    InvalidError
        The file cannot be read, or an argument is none of these.
    """
    from ...drivers import nvrtc  # deferred: opens a driver library

    devices, _ = where_to_load(where)
    device = devices[0]
    if "ptx" not in device._backend.traits.module_languages:
        raise FeatureNotSupportedError(
            f"compile_cuda: {device.name!r} is of the {device.backend} backend, which runs no CUDA C++; `bindless "
            "build` compiles OpenCL C for every backend",
            backend=str(device.backend),
        )
    text, name = _read(source)
    words = [options] if isinstance(options, str) else list(options)
    for word in words:
        if not isinstance(word, str) or not word.startswith("-"):
            raise InvalidError(f"options: {word!r} is no option of NVRTC; they begin with a minus")
    architecture = _architecture(device._record.version, nvrtc.architectures())
    if device.vendor == "bindless":  # the driver for processors runs PTX alone
        architecture = architecture.replace("sm", "compute")
    program = nvrtc.compile_program(text, name, architecture, [*words, f"-I{get_include()}"])
    signatures = ptx.entries(program.ptx.rstrip(b"\0"))
    section = Section("cubin", architecture, tuple(signatures), program.cubin)
    if not program.cubin:
        section = Section("ptx", architecture.replace("compute", "sm"), tuple(signatures), program.ptx.rstrip(b"\0"))
    file = KernelFile(tuple(signatures.values()), (section,), name, log=program.log)
    return load_kernel_bundle(file, *where)


def _architecture(capability: str, architectures: Sequence[int]) -> str:
    """The target of the compiler: the device's own architecture, or PTX of the newest that is older than the device."""
    own = int(capability.replace(".", ""))
    if own in architectures:
        return f"sm_{own}"
    older = [number for number in architectures if number < own]
    if not older:
        raise FeatureNotSupportedError(
            f"the installed NVRTC compiles for sm_{min(architectures)} and newer, and the device is sm_{own}: an older "
            "NVRTC is needed (BINDLESS_LIBNVRTC), or `bindless build`",
            backend="cuda",
        )
    return f"compute_{max(older)}"


def _read(source: object) -> tuple[str, str]:
    """The text and its name."""
    if isinstance(source, str) and re.search(r"[\n{]", source):
        return source, "kernel.cu"
    if not isinstance(source, (str, os.PathLike)):
        raise InvalidError(f"source: a {type(source).__name__} is neither a path nor the text of kernels")
    try:
        return read_regular_file(source).decode(), os.path.basename(os.fspath(source))
    except (OSError, ValueError) as error:
        raise InvalidError(
            f"source={os.fspath(source)!r} cannot be read: {error}; a text has line breaks or braces, a path has none"
        ) from error
