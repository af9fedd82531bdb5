"""Pictures and volumes of any size: bricks of a multi-resolution source in image memory of a bounded size.

Kernels in Python read them by ``bindless.device.sample_bricks``.
"""

from .store import BrickStore, Missing

__all__ = ["BrickStore", "Missing"]


def __dir__() -> list[str]:
    return sorted(__all__)
