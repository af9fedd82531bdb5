"""Registration of the custom call's handlers with XLA, and of the functions that they call."""

from __future__ import annotations

from functools import cache

import jax

from ..drivers import cuda, reference
from ..gradients.cuda import code
from ..gradients.programs import HOST_FUNCTION
from ..model.errors import FeatureNotSupportedError
from . import _ffi

__all__ = ["TARGET", "add_kernels", "prepare"]

TARGET = "bindless_gradients"
"""Name of the custom call."""


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
        function = reference.ffi.addressof(reference.lib, HOST_FUNCTION)
        _ffi.register_function(HOST_FUNCTION, int(reference.ffi.cast("uintptr_t", function)))
        _register(_ffi.host_handler(), "cpu")
    else:
        if cuda.available():  # else executables are made for another machine
            functions = [cuda.ffi.addressof(cuda.lib, name) for name in _ffi.cuda_functions()]
            _ffi.use_cuda(tuple(int(cuda.ffi.cast("uintptr_t", function)) for function in functions))
        handler = _ffi.cuda_handler()
        _register({"initialize": handler, "execute": handler}, "CUDA")


@cache
def add_kernels(names: tuple[str, ...]) -> None:
    """Add the code of CUDA kernels, which the handler loads before an executable runs."""
    for name in names if cuda.available() else ():
        _ffi.register_kernel(name, code(name))


def _register(handler: object, platform: str) -> None:
    try:
        jax.ffi.register_ffi_target(TARGET, handler, platform=platform)
    except Exception as error:
        raise FeatureNotSupportedError(
            f"jaxlib {jax.lib.__version__} does not accept bindless' custom calls, which use version 0.1 to 0.3 of "
            f"XLA's interface: {error}"
        ) from error
