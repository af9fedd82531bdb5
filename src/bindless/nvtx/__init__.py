"""Ranges of NVTX around the calls of this package, for the timeline of Nsight Systems and other profilers.

Needs the package ``nvtx`` (``pip install 'bindless[nvtx]'``). The environment variable ``BINDLESS_NVTX=1`` turns the
ranges on for a whole program.
"""

from .ranges import disable, enable

__all__ = ["disable", "enable"]


def __dir__() -> list[str]:
    return sorted(__all__)
