"""``bindless cuda-driver``: where the CUDA driver of this package is."""

from __future__ import annotations

from pathlib import Path

from ..model.errors import FeatureNotSupportedError

__all__ = ["driver_folder", "tell_folder"]

_FOLDER = "libcuda"
_NAME = "libcuda.so.1"


def driver_folder() -> Path:
    """The folder of the CUDA driver over the reference driver, for ``LD_LIBRARY_PATH``.

    Raises
    ------
    FeatureNotSupportedError
        This installation has none: it is built on Linux only.
    """
    from ..drivers.cuda import _bindings

    # An editable install keeps compiled files in another folder than the sources.
    folder = Path(_bindings.__file__).parents[1] / _FOLDER
    if not (folder / _NAME).is_file():
        raise FeatureNotSupportedError(
            f"{folder / _NAME} does not exist: only wheels for 64-bit Linux hold the CUDA driver"
        )
    return folder


def tell_folder() -> int:
    """Prints the folder and nothing else, for ``LD_LIBRARY_PATH=$(bindless cuda-driver --path)``."""
    print(driver_folder())
    return 0
