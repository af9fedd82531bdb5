"""Registration of the custom call's handlers with XLA, and of the functions that they call."""

from __future__ import annotations

from functools import cache

import jax

from ..drivers import cuda, reference
from ..kernels.load import code_of, split_variant
from ..model.errors import FeatureNotSupportedError
from ..sampling.memory.programs import HOST_FUNCTION
from . import _ffi, hardware

__all__ = ["TARGET", "TEXTURE_TARGET", "add_kernels", "prepare"]

TARGET, TEXTURE_TARGET = "bindless_gradients", "bindless_textures"
"""Names of the custom calls. XLA records the first in CUDA graphs; the second copies images into textures of CUDA."""


@cache
def prepare(platform: str) -> None:
    """Register the handler of a platform, ``cpu`` or ``cuda``, and what it calls.

    Raises
    ------
    FeatureNotSupportedError
        The installed jaxlib has another version of XLA's interface.
    """
    if platform == "cpu":
        reference.load()
        for name in (HOST_FUNCTION, hardware.HOST_FUNCTION):
            function = reference.ffi.addressof(reference.lib, name)
            _ffi.register_function(name, int(reference.ffi.cast("uintptr_t", function)))
        _register(TARGET, _ffi.host_handler(), "cpu")
    else:
        if cuda.available():  # else executables are made for another machine
            functions = [cuda.ffi.addressof(cuda.lib, name) for name in _ffi.cuda_functions()]
            _ffi.use_cuda(tuple(int(cuda.ffi.cast("uintptr_t", function)) for function in functions))
        for target, handler in ((TARGET, _ffi.cuda_handler()), (TEXTURE_TARGET, _ffi.cuda_texture_handler())):
            _register(target, {"initialize": handler, "execute": handler}, "CUDA")


@cache
def add_kernels(variants: tuple[str, ...]) -> None:
    """Add the code of CUDA kernels, by their variants, which the handler loads before an executable runs."""
    for variant in variants if cuda.available() else ():
        name, words = split_variant(variant)
        _ffi.register_kernel(variant, code_of(name, "ptx", **words).text)


def _register(target: str, handler: object, platform: str) -> None:
    try:
        jax.ffi.register_ffi_target(target, handler, platform=platform)
    except Exception as error:
        raise FeatureNotSupportedError(
            f"jaxlib {jax.lib.__version__} does not accept bindless' custom calls, which use version 0.1 to 0.3 of "
            f"XLA's interface: {error}"
        ) from error
