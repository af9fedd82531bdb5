"""``bindless ze-driver``: where the Level Zero driver of this package is."""

from __future__ import annotations

from pathlib import Path

from ..model.errors import FeatureNotSupportedError

__all__ = ["driver_path", "tell_path"]

_NAME = "libze_bindless.so"


def driver_path() -> Path:
    """The Level Zero driver over the reference driver, for the Level Zero loader's variable ``ZE_ENABLE_ALT_DRIVERS``.

    Raises
    ------
    FeatureNotSupportedError
        This installation has none: it is built on Linux only.
    """
    from ..drivers.level_zero import _bindings

    # An editable install keeps compiled files in another folder than the sources.
    path = Path(_bindings.__file__).parents[1] / _NAME
    if not path.is_file():
        raise FeatureNotSupportedError(
            f"{path} does not exist: only wheels for 64-bit Linux hold the Level Zero driver"
        )
    return path


def tell_path() -> int:
    """Prints the path and nothing else, for ``ZE_ENABLE_ALT_DRIVERS=$(bindless ze-driver --path)``."""
    print(driver_path())
    return 0
