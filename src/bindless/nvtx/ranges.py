"""Ranges around public methods and functions, which are replaced while the ranges are on: off, they cost nothing."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from ..model.errors import FeatureNotSupportedError

__all__ = ["disable", "enable"]

# Methods by the public name of their class, and functions of the package.
_METHODS = {
    "Queue": (
        "parallel_for", "single_task", "submit", "memcpy", "copy", "memset", "fill", "prefetch", "ext_oneapi_copy",
        "wait", "wait_and_throw",
    ),
    "Image": ("__init__", "sample", "fetch", "resize", "warp", "remap", "update", "numpy"),
    "BoundLaunch": ("__call__",),
    "CommandGraph": ("__call__",),
    "PythonKernel": ("specialise",),
}  # fmt: skip
_FUNCTIONS = (
    "build", "load_kernel_bundle", "fetch_cubemap", "fetch_image", "fetch_image_array", "gather_image",
    "sample_cubemap", "sample_image", "sample_image_array", "sample_mipmap", "write_cubemap", "write_image",
    "write_image_array",
)  # fmt: skip
_ABSENT = object()
_replaced: list[tuple[object, str, object]] = []  # owners, names, and what the owner itself had


def _launched(name: str, arguments: tuple[object, ...]) -> str:
    """The name of a range: a launch has its kernel's, too."""
    at = {"Queue.parallel_for": 2, "Queue.single_task": 1}.get(name, len(arguments))
    kernel = getattr(arguments[at], "name", None) if at < len(arguments) else None
    return f"{name} {kernel}" if isinstance(kernel, str) else name


def _within(domain: Any, name: str, call: Callable[..., object]) -> Callable[..., object]:
    """A function that calls another one within a range."""
    attributes_of: dict[str, object] = {}

    @functools.wraps(call)
    def ranged(*arguments: object, **options: object) -> object:
        message = _launched(name, arguments)
        attributes = attributes_of.get(message)
        if attributes is None:
            attributes = attributes_of[message] = domain.get_event_attributes(message=message)
        domain.push_range(attributes)
        try:
            return call(*arguments, **options)
        finally:
            domain.pop_range()

    return ranged


def _replace(domain: Any, owner: object, name: str, shown: str) -> None:
    _replaced.append((owner, name, vars(owner).get(name, _ABSENT)))
    setattr(owner, name, _within(domain, shown, getattr(owner, name)))


def enable() -> None:
    """Put a range of NVTX around each submission, copy, image function, wait and compilation from now on.

    The ranges belong to the domain ``bindless`` and have the names of the calls, launches also that of their kernel. A
    range ends when its call returns: the profiler shows the device's work below it. Functions that were imported by
    ``from bindless import sample_image`` before this call have no ranges. A second call has no effect.

    Raises
    ------
    FeatureNotSupportedError
        The package ``nvtx`` is not installed.

    See Also
    --------
    disable

    Examples
    --------
    >>> bindless.nvtx.enable()
    >>> with bindless.Image(np.eye(3, dtype=np.float32)) as image:
    ...     values = image.sample([[1.5, 1.5]])  # within the range Image.sample
    >>> bindless.nvtx.disable()
    """
    if _replaced:
        return
    try:
        import nvtx
    except ImportError:
        raise FeatureNotSupportedError(
            "ranges need the package nvtx, which is not installed: pip install 'bindless[nvtx]'"
        ) from None
    package = sys.modules[__package__.partition(".")[0]]
    domain = nvtx.get_domain("bindless")
    for kind, names in _METHODS.items():
        for name in names:
            shown = kind if name in ("__init__", "__call__") else f"{kind}.{name}"
            _replace(domain, getattr(package, kind), name, shown)
    for name in _FUNCTIONS:
        getattr(package, name)  # the package loads it at its first use
        _replace(domain, package, name, name)


def disable() -> None:
    """Remove the ranges: calls are as before ``enable``, and cost what they did.

    Examples
    --------
    >>> bindless.nvtx.disable()  # no effect where they are off
    """
    while _replaced:
        owner, name, before = _replaced.pop()
        if before is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, before)
