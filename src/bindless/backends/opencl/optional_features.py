"""Optional features of OpenCL that sources need (CL, "SYCL support of non-core OpenCL features")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ...model.errors import BuildError, KernelNotSupportedError
from ...model.module import spirv
from .device import Device

__all__ = ["explain_missing_features"]


@dataclass(frozen=True)
class _Feature:
    """A feature, by its extensions.

    Attributes
    ----------
    words
        regular expression for a compiler's message that refuses the feature.
    capability
        SPIR-V capability of the feature; none if any module may declare it.
    aspect
        aspect of the feature; empty if there is none.
    """

    extensions: frozenset[str]
    words: str
    capability: int | None = None
    aspect: str = ""


_FEATURES = (
    _Feature(frozenset({"cl_khr_fp16"}), r"half\d*|cl_khr_fp16|fp16", 9, "fp16"),
    _Feature(frozenset({"cl_khr_fp64"}), r"double\d*|cl_khr_fp64|fp64", 10, "fp64"),
    _Feature(
        frozenset({"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"}),
        r"atom_\w+|cl_khr_int64_(?:base|extended)_atomics",
        12,
        "atomic64",
    ),
    _Feature(frozenset({"cl_khr_3d_image_writes"}), "image3d_t|write_image[fiu]*|cl_khr_3d_image_writes"),
)


def _is_refused(feature: _Feature, source: bytes, log: str) -> bool:
    """Whether a source that did not build needs a feature."""
    if spirv.is_spirv(source):
        return feature.capability is not None and feature.capability in spirv.capabilities(source)
    return re.search(rf"(?im)^.*\b(?:error|unsupported)\b.*\b(?:{feature.words})\b", log) is not None


@contextmanager
def explain_missing_features(device: Device, source: bytes) -> Iterator[None]:
    """Raise an error that names the missing features if a source does not build without them.

    Raises
    ------
    KernelNotSupportedError
        replaces the ``BuildError``, which is its cause.
    """
    try:
        yield
    except BuildError as error:
        for feature in _FEATURES:
            missing = sorted(feature.extensions - device.extensions)
            if missing and _is_refused(feature, source, error.log):
                ask = f"ask device.has(Aspect.{feature.aspect}) first" if feature.aspect else "leave it out there"
                raise KernelNotSupportedError(
                    f"{device.name} lacks {' and '.join(missing)}, which the kernels need: {ask}. {error}",
                    backend="opencl",
                    native_code=error.native_code,
                    native_name=error.native_name,
                ) from error
        raise
