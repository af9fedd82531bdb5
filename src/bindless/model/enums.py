"""Enumerations of the specifications, as string enums with the specifications' spellings.

Every parameter of an enum type also accepts the plain string: ``filtering="linear"``.
"""

from __future__ import annotations

from functools import cache
from typing import TypeVar, cast

from .errc import Errc
from .errors import InvalidError
from .message_values import shown
from .string_enum import AliasedEnum, StringEnum

__all__ = [
    "AccessMode",
    "AddressingMode",
    "Backend",
    "Boundary",
    "BundleState",
    "CoordinateNormalizationMode",
    "CubemapFilteringMode",
    "DeviceType",
    "Errc",
    "EventStatus",
    "FilteringMode",
    "ImageChannelType",
    "ImageType",
    "Interpolation",
    "LevelFilter",
    "Ownership",
    "Precision",
    "StringEnum",
    "Target",
    "UsmKind",
    "coerce",
]


_E = TypeVar("_E", bound=StringEnum)


@cache
def _members(enum: type[StringEnum]) -> dict[str, StringEnum]:
    """Return the members by value and by name; the two differ for older names."""
    return {member.value: member for member in enum} | dict(enum.__members__)


def _short(enum: type[StringEnum], member: StringEnum) -> str:
    """Return the member's name without the prefix of extensions, if that is also one of its names."""
    name = str(member.value).removeprefix("ext_oneapi_")
    return name if _members(enum).get(name) is member else str(member.value)


def coerce(enum: type[_E], value: object, name: str) -> _E:
    """Return the member for a member or a plain string.

    Raises
    ------
    InvalidError
        The value is neither; the message lists the allowed ones.
    """
    if isinstance(value, enum):
        return value
    if isinstance(value, str):
        member = _members(enum).get(str(value))
        if member is not None:
            return cast(_E, member)
    allowed = ", ".join(repr(_short(enum, member)) for member in enum)
    raise InvalidError(f"{name}={shown(value)} is not known; it is one of {allowed}")


class Ownership(StringEnum):
    """Owner of a native object that a package object wraps: the package or the caller (ZE section 4.4)."""

    transfer = "transfer"
    keep = "keep"


class Backend(AliasedEnum):
    """Driver APIs; ``ext_oneapi_level_zero`` is the specification's name of ``level_zero``."""

    cuda = "cuda"
    level_zero = "level_zero"
    opencl = "opencl"
    reference = "reference"
    ext_oneapi_level_zero = "level_zero"


class DeviceType(StringEnum):
    """Kinds of devices."""

    cpu = "cpu"
    gpu = "gpu"
    accelerator = "accelerator"
    custom = "custom"


class UsmKind(StringEnum):
    """Kinds of unified shared memory (SYCL 2020 section 4.8)."""

    device = "device"
    host = "host"
    shared = "shared"
    unknown = "unknown"


class AccessMode(StringEnum):
    """Access of a command group to a buffer: reads, writes, or both."""

    read = "read"
    write = "write"
    read_write = "read_write"


class Target(StringEnum):
    """Target of a command group's access to a buffer (SYCL 2020 section 4.7.6.9)."""

    device = "device"
    constant_buffer = "constant_buffer"
    host_task = "host_task"


class EventStatus(StringEnum):
    """Execution status of a command (SYCL 2020 section 4.6.6)."""

    submitted = "submitted"
    running = "running"
    complete = "complete"


class BundleState(StringEnum):
    """Build state of a kernel bundle (SYCL 2020 section 4.11.7)."""

    input = "input"
    object = "object"
    executable = "executable"


class ImageChannelType(StringEnum):
    """Type of one channel of a pixel in memory (Image descriptor).

    Those after ``fp32`` are this package's own, and samplers alone read them: words of 32 bits with red in the lowest
    ten, codes of sRGB, which are read as linear values, and blocks of 4 x 4 pixels (``bc1_unorm`` to ``bc7_srgb``).
    """

    snorm_int8 = "snorm_int8"
    snorm_int16 = "snorm_int16"
    unorm_int8 = "unorm_int8"
    unorm_int16 = "unorm_int16"
    signed_int8 = "signed_int8"
    signed_int16 = "signed_int16"
    signed_int32 = "signed_int32"
    unsigned_int8 = "unsigned_int8"
    unsigned_int16 = "unsigned_int16"
    unsigned_int32 = "unsigned_int32"
    fp16 = "fp16"
    fp32 = "fp32"
    unorm_10_10_10_2 = "unorm_10_10_10_2"
    unorm_int8_srgb = "unorm_int8_srgb"
    bc1_unorm = "bc1_unorm"
    bc1_srgb = "bc1_srgb"
    bc2_unorm = "bc2_unorm"
    bc2_srgb = "bc2_srgb"
    bc3_unorm = "bc3_unorm"
    bc3_srgb = "bc3_srgb"
    bc4_unorm = "bc4_unorm"
    bc4_snorm = "bc4_snorm"
    bc5_unorm = "bc5_unorm"
    bc5_snorm = "bc5_snorm"
    bc6h_ufloat = "bc6h_ufloat"
    bc6h_sfloat = "bc6h_sfloat"
    bc7_unorm = "bc7_unorm"
    bc7_srgb = "bc7_srgb"


class ImageType(StringEnum):
    """Kind of image (Image descriptor)."""

    standard = "standard"
    mipmap = "mipmap"
    array = "array"
    cubemap = "cubemap"


class ImageMemoryHandleType(StringEnum):
    """Kind of memory behind an image (``image_memory_handle_type``)."""

    opaque_handle = "opaque_handle"
    usm_pointer = "usm_pointer"


class AddressingMode(AliasedEnum):
    """Result of a read outside the image (Image sampler struct).

    ``clamp`` is SYCL 2020's older name of ``ext_oneapi_clamp_to_border``: both are one member. ``mirror``, mirrored at
    the centres of the outermost texels, and ``extent``, the border beyond the outermost texels' edges, are this
    package's own: texture units lack them, and ``Precision.exact`` alone computes them.
    """

    none = "none"
    repeat = "repeat"
    mirrored_repeat = "mirrored_repeat"
    clamp_to_edge = "clamp_to_edge"
    ext_oneapi_clamp_to_border = "ext_oneapi_clamp_to_border"
    clamp = "ext_oneapi_clamp_to_border"
    clamp_to_border = "ext_oneapi_clamp_to_border"
    mirror = "mirror"
    extent = "extent"

    @property
    def is_computed(self) -> bool:
        """Whether texture units lack it."""
        return self.value in ("mirror", "extent")


class CoordinateNormalizationMode(StringEnum):
    """Range of coordinates: 0..1, or pixels."""

    normalized = "normalized"
    unnormalized = "unnormalized"


class FilteringMode(StringEnum):
    """Interpolation of texels."""

    nearest = "nearest"
    linear = "linear"


class Interpolation(StringEnum):
    """Interpolation of texels by the built-in functions.

    ``cubic`` is the interpolating cubic B-spline, of coefficients that a filter computes first. ``catmull_rom`` and
    ``bicubic`` are cubic convolutions with a = -0.5 and a = -0.75. ``quadratic``, ``quartic`` and ``quintic`` are
    B-splines of other degrees, for ``bindless.ndimage`` alone.
    """

    nearest = "nearest"
    linear = "linear"
    cubic = "cubic"
    catmull_rom = "catmull_rom"
    bicubic = "bicubic"
    quadratic = "quadratic"
    quartic = "quartic"
    quintic = "quintic"


class Precision(StringEnum):
    """Arithmetic of filters.

    ``hardware`` is the device's texture unit: weights of 8 bits. ``exact`` fetches texels, and computes weights and
    sums in single precision. ``reproducible`` computes the recorded arithmetic of a texture unit: every device gives
    the same bits.
    """

    hardware = "hardware"
    exact = "exact"
    reproducible = "reproducible"


class Boundary(StringEnum):
    """Values outside of an image, where the built-in functions compute them. Scipy's name of each mode:

    ``border`` (grid-constant): texels outside have the fill value. ``constant`` (constant): as ``mirror``, but
    positions beyond the centres of the outermost texels give the fill value. ``edge`` (nearest): the outermost texel.
    ``repeat`` (grid-wrap): with the period n. ``mirrored_repeat`` (reflect): mirrored at the outermost texels' edges.
    ``mirror`` (mirror): mirrored at their centres. ``wrap`` (wrap): with the period n - 1. ``extent`` (ITK's, not
    scipy's): for linear filters as ``edge``, for others as ``mirror``, but positions beyond the outermost texels' edges
    give the fill value.
    """

    border = "border"
    constant = "constant"
    edge = "edge"
    repeat = "repeat"
    mirrored_repeat = "mirrored_repeat"
    mirror = "mirror"
    wrap = "wrap"
    extent = "extent"


class LevelFilter(StringEnum):
    """Interpolation between the levels of a mipmap; ``none`` reads the first."""

    none = "none"
    nearest = "nearest"
    linear = "linear"


class CubemapFilteringMode(StringEnum):
    """Whether filtering crosses the borders of cube faces."""

    disjointed = "disjointed"
    seamless = "seamless"
