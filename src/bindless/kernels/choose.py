"""The choice of a kernel: from a call and a target to a name."""

from __future__ import annotations

import numpy as np

from ..model.arrays import DType
from ..model.enums import ImageType, Precision
from ..model.errors import FeatureNotSupportedError, InvalidError
from ..model.image_call import ImageCall
from ..model.image_descriptor import ImageDescriptor
from .manifest import PREFIX, Target, manifest

__all__ = [
    "area_means",
    "computed_samples",
    "geometry_of",
    "gradients",
    "image_call",
    "image_kernel",
    "is_available",
    "memory_picture",
    "mipmap_levels",
    "pack",
    "planes",
    "resampling",
    "warp",
]

_PRECISIONS = {Precision.reproducible: "texture_unit", Precision.exact: "texture_exact"}


def is_available(name: str, target: Target) -> bool:
    """Whether a kernel exists for a target."""
    module = manifest()["modules"].get(name.removeprefix(PREFIX))
    return module is not None and target in module["targets"]


def geometry_of(desc: ImageDescriptor) -> str:
    """The geometry in a kernel's name, of every image but cubemaps."""
    return f"{desc.dimensions}d" + ("_array" if desc.type is ImageType.array else "")


def image_kernel(operation: str, geometry: str, kind: str) -> str:
    """The kernel of an operation on images of a geometry, whose channels are of a kind (``f``, ``i`` or ``u``)."""
    return f"{PREFIX}{operation}_{geometry}_{kind}"


# ---------------------------------------------------------------------- device functions


def image_call(call: ImageCall, target: Target, backend: str) -> str:
    """The kernel of a device function over arrays of coordinates.

    Parameters
    ----------
    call : ImageCall
        The call.
    target : Target
        Language of the kernel.
    backend : str
        The back end that errors name.

    Raises
    ------
    InvalidError
        An image of this kind has no such function.
    FeatureNotSupportedError
        The devices of this target have no such function.
    """
    geometry = _cuda_geometry(call, backend) if target == "ptx" else geometry_of(call.descriptor)
    return image_kernel(_operation_of(call, backend), geometry, call.descriptor.channel.kind)


def _operation_of(call: ImageCall, backend: str) -> str:
    operation: str = call.operation
    if operation == "fetch" and call.sampled:
        return "fetch_sampled"
    if operation == "write" and call.sampled:
        raise InvalidError("write of a sampled image: only unsampled images are written", backend=backend)
    if operation.startswith("sample") and not call.sampled:
        raise InvalidError(f"{operation} of an unsampled image: create it with a sampler, or fetch", backend=backend)
    return operation


def _cuda_geometry(call: ImageCall, backend: str) -> str:
    """The geometry on CUDA, which has functions of its own for two kinds of images. Faces of an unsampled cubemap are
    layers.
    """
    desc = call.descriptor
    if desc.type is ImageType.cubemap:
        if call.operation == "write" or not call.sampled:
            return "2d_array"
        if call.operation in ("sample", "sample_lod"):
            return "cube"
        raise InvalidError(
            f"{call.operation} of a sampled cubemap: it is sampled by directions; fetch faces through an unsampled "
            "image",
            backend=backend,
        )
    if call.usm and desc.dimensions == 1:
        if call.operation != "fetch":
            raise FeatureNotSupportedError(
                f"{call.operation} of a one-dimensional image over USM: NVIDIA's linear textures are only fetched. Use "
                "a pitched 2D image of height 1 (height=1 in the descriptor); ask aspect "
                "ext_oneapi_bindless_images_sample_1d_usm first",
                backend=backend,
            )
        return "1d_linear"
    return geometry_of(desc)


def warp(desc: ImageDescriptor, kind: str, *, gradients: bool) -> str:
    """The kernel that follows a map of the plane, with footprints (``gradients``) or without."""
    geometry = "2d_array" if desc.type is ImageType.array else "2d"
    return image_kernel("warp_grad" if gradients else "warp", geometry, kind)


# ---------------------------------------------------------------------- pictures and samples


def resampling(desc: ImageDescriptor, precision: Precision, target: Target, *, in_usm: bool) -> str:
    """The kernel that resamples an image to a picture, by the texture unit or by filters of fetched texels."""
    operation = "resample" if precision is Precision.hardware else "resample_fetch"
    # On CUDA a texture over linear memory has its own instruction.
    is_linear = in_usm and desc.dimensions == 1 and target == "ptx"
    return image_kernel(operation, "1d_linear" if is_linear else geometry_of(desc), desc.channel.kind)


def planes() -> str:
    """The kernel that resamples the two images of a video frame to a picture in colours."""
    return image_kernel("resample_planes", "2d", "f")


def memory_picture(dimensions: int, texel: DType) -> str:
    """The kernel that resamples an array in memory to a picture."""
    return image_kernel("resample_memory", f"{dimensions}d", "u" if texel.kind == "b" else texel.kind)


def computed_samples(precision: Precision, target: Target, *, has_doubles: bool) -> str:
    """The kernel that computes samples of packed texels."""
    name = PREFIX + _PRECISIONS[precision]
    if precision is Precision.reproducible and target == "opencl_c" and has_doubles:
        return f"{name}_f64"  # the same numbers, sooner on processors
    return name


def gradients(operation: str, geometry: str, form: int | str) -> str:
    """The kernel of samples of textures in memory and their derivatives.

    Parameters
    ----------
    operation : str
        ``forward``, ``backward`` or ``backward_backward``.
    geometry : str
        ``1d``, ``2d``, ``3d`` or ``cube``.
    form : int | str
        Texels along each axis, or the form of a linear filter: ``linear``, ``single``, ``tiles`` or ``vectors``.
    """
    return f"{PREFIX}gradients_{operation}_{geometry}_{form}"


# ---------------------------------------------------------------------- pixels


def mipmap_levels(dimensions: int, target: Target) -> str | None:
    """The kernel that makes levels of a mipmap; None for targets without."""
    name = image_kernel("downsample", f"{dimensions}d", "u")  # moves bits, whatever they mean
    return name if is_available(name, target) else None


def area_means(dtype: DType, *, has_doubles: bool) -> str | None:
    """The kernel that computes means of areas of packed pixels; None where the sums have no type."""
    if dtype.kind == "f":
        return f"{PREFIX}area_reals" if has_doubles else None
    return f"{PREFIX}area_codes" if dtype.itemsize <= 2 else None


def pack(dtype: DType) -> str:
    """The kernel that brings elements of a type into contiguous memory."""
    return f"{PREFIX}pack_f64" if dtype == np.float64 else f"{PREFIX}pack"
