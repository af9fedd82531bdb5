"""``Filter`` and ``CoordinateMap``: which texels a sample reads, with what weights, and what lies outside.

Every front end translates the options of its library to these two values, by the constructors below; every road that
computes samples reads them. Both are checked once, hashable, and equal by their fields.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from .enums import AddressingMode, Boundary, FilteringMode, Interpolation, LevelFilter, Precision, coerce
from .errors import ArgumentError, FeatureNotSupportedError, InvalidError
from .message_values import shown
from .sampler import BindlessImageSampler
from .string_enum import StringEnum

__all__ = [
    "ADDRESSING",
    "SPLINE_MARGIN",
    "Boundaries",
    "CoordinateMap",
    "Filter",
    "boundary_of_addressing",
    "fold",
    "name_of_boundary",
    "spline_margins",
]

Boundaries = tuple[Boundary, Boundary, Boundary]

_E = TypeVar("_E", bound=StringEnum)

SPLINE_MARGIN = 12
"""Texels by which an image is extended along axes that have no period, before the filter of B-splines: scipy's number.
The filter of the edge of cubic ones decays to 2e-7 in them, that of quintic ones to 4e-5."""

ADDRESSING: dict[str, Boundary] = {
    "clamp_to_edge": Boundary.edge,
    "repeat": Boundary.repeat,
    "mirrored_repeat": Boundary.mirrored_repeat,
    "mirror": Boundary.mirror,
    "border": Boundary.border,
    "extent": Boundary.extent,
    "clamp": Boundary.border,
    "clamp_to_border": Boundary.border,
    "ext_oneapi_clamp_to_border": Boundary.border,
}
"""Names that ``addressing`` takes; the last three are the specifications' names of ``border``."""

_OF_SAMPLERS = {
    AddressingMode.repeat: Boundary.repeat,
    AddressingMode.mirrored_repeat: Boundary.mirrored_repeat,
    AddressingMode.clamp_to_edge: Boundary.edge,
    AddressingMode.ext_oneapi_clamp_to_border: Boundary.border,
    AddressingMode.mirror: Boundary.mirror,
    AddressingMode.extent: Boundary.extent,
    AddressingMode.none: Boundary.repeat,  # undefined by the specification: the mode of CUDA's number
}
_SAMPLERS = {boundary: mode for mode, boundary in _OF_SAMPLERS.items() if mode is not AddressingMode.none}
_OF_UNITS = (Boundary.repeat, Boundary.mirrored_repeat, Boundary.edge, Boundary.border)
_FILLED = (Boundary.border, Boundary.extent)
_SCIPY = {
    "reflect": Boundary.mirrored_repeat,
    "grid-mirror": Boundary.mirrored_repeat,
    "constant": Boundary.constant,
    "grid-constant": Boundary.border,
    "nearest": Boundary.edge,
    "mirror": Boundary.mirror,
    "grid-wrap": Boundary.repeat,
    "wrap": Boundary.wrap,
}
_ORDERS = (
    Interpolation.nearest,
    Interpolation.linear,
    Interpolation.quadratic,
    Interpolation.cubic,
    Interpolation.quartic,
    Interpolation.quintic,
)
_OTHER_SPLINES = (Interpolation.quadratic, Interpolation.quartic, Interpolation.quintic)
_TORCH = {"zeros": Boundary.border, "border": Boundary.edge, "reflection": Boundary.mirrored_repeat}
_TORCH_MODES = {
    "bilinear": Interpolation.linear,
    "nearest": Interpolation.nearest,
    "bicubic": Interpolation.bicubic,
}
_NVDIFFRAST = {
    "wrap": Boundary.repeat,
    "clamp": Boundary.edge,
    "zero": Boundary.border,
    "cube": Boundary.edge,
}
_NVDIFFRAST_MODES = {
    "nearest": (Interpolation.nearest, LevelFilter.none),
    "linear": (Interpolation.linear, LevelFilter.none),
    "linear-mipmap-nearest": (Interpolation.linear, LevelFilter.nearest),
    "linear-mipmap-linear": (Interpolation.linear, LevelFilter.linear),
}
_OPENCV = (Boundary.border, Boundary.edge, Boundary.mirrored_repeat, Boundary.repeat, Boundary.mirror)
_OPENCV_MODES = (Interpolation.nearest, Interpolation.linear, Interpolation.bicubic)
_PLAIN = (Interpolation.nearest, Interpolation.linear)
_CONVOLUTIONS = (Interpolation.catmull_rom, Interpolation.bicubic)
_EXTENDED = ("edge", "border")  # axes without a period
_CONTINUATIONS = {  # of lines of samples that B-splines are fitted to
    Boundary.repeat: Boundary.repeat,
    Boundary.mirrored_repeat: Boundary.mirrored_repeat,
    Boundary.edge: Boundary.mirrored_repeat,
}


def boundary_of_addressing(mode: object) -> Boundary:
    """The boundary of a name that ``addressing`` takes.

    Raises
    ------
    ArgumentError
        The name is none of them.
    """
    boundary = ADDRESSING.get(str(mode)) if isinstance(mode, str) else None
    if boundary is None:
        names = ", ".join(list(ADDRESSING)[:6])
        raise ArgumentError(f"addressing={shown(mode)} is none of {names}, nor a sequence of them, x first")
    return boundary


def interpolation_of_order(order: Any) -> Interpolation:
    """The interpolation of an order of splines, 0 to 5.

    Raises
    ------
    ArgumentError
        No order of scipy.
    """
    if isinstance(order, bool) or not hasattr(order, "__index__") or order.__index__() not in range(6):
        raise ArgumentError(f"order={shown(order)} is no order of a spline: 0 to 5 are")
    return _ORDERS[order.__index__()]


def name_of_boundary(boundary: Boundary) -> str:
    """The name that ``addressing`` takes for a boundary."""
    return "clamp_to_edge" if boundary is Boundary.edge else str(boundary)


@dataclass(frozen=True)
class Filter:
    """Computation of values between, and beyond, the texels of an image.

    Attributes
    ----------
    interpolation : Interpolation
        Interpolation of texels within a level. ``cubic``, ``quadratic``, ``quartic`` and ``quintic`` read coefficients
        of B-splines.
    boundary : tuple[Boundary, Boundary, Boundary]
        What lies outside, along (x, y, z).
    fill : float
        Value outside, with the boundaries ``border``, ``constant`` and ``extent``.
    precision : Precision
        Arithmetic, as the user asked for it.
    ignore_nan : bool
        Whether NaN texels have no weight: the other weights are divided by their sum, and no weights give NaN.
    levels : LevelFilter
        Interpolation between the levels of a mipmap; ``none`` reads the first.
    ties_to_even : bool
        Whether nearest rounds positions halfway between two texels to the even one, instead of up.
    double_sums : bool
        Whether weights and sums of integers have double precision, of exact precision.
    """

    interpolation: Interpolation = Interpolation.linear
    boundary: Boundaries = (Boundary.edge,) * 3
    fill: float = 0.0
    precision: Precision = Precision.hardware
    ignore_nan: bool = False
    levels: LevelFilter = LevelFilter.none
    ties_to_even: bool = False
    double_sums: bool = False

    @classmethod
    def of(
        cls,
        interpolation: Interpolation | str = Interpolation.linear,
        boundary: Boundary | str | Iterable[Boundary | str] = Boundary.edge,
        fill: object = 0.0,
        precision: Precision | str = Precision.hardware,
        *,
        ignore_nan: bool = False,
        levels: LevelFilter | str = LevelFilter.none,
        ties_to_even: bool = False,
        double_sums: bool = False,
        fill_name: str = "fill",
    ) -> Filter:
        """A filter of names; one boundary for all axes, or one for each, x first.

        Raises
        ------
        ArgumentError
            A name or a number has no meaning, or the interpolation is scipy's alone.
        """
        member = _member(Interpolation, _plain(interpolation), "filtering")
        if member in _OTHER_SPLINES:
            raise ArgumentError(f"filtering={member.value!r}: B-splines are cubic, and bindless.ndimage has the others")
        modes = (boundary,) if isinstance(boundary, str) else tuple(boundary)
        if len(modes) not in (1, 2, 3):
            raise ArgumentError(f"boundary={shown(boundary)}: one is needed, or one for each axis, x first")
        along = [_member(Boundary, mode, "boundary") for mode in modes]
        x, y, z = along * 3 if len(along) == 1 else [*along, Boundary.edge][:3]
        return cls(
            member,
            (x, y, z),
            _number(fill_name, fill),
            _member(Precision, precision, "precision"),
            bool(ignore_nan),
            _member(LevelFilter, levels, "levels"),
            bool(ties_to_even),
            bool(double_sums),
        )

    @property
    def has_even_ties(self) -> bool:
        """Whether ``ties_to_even`` counts: texture units round as they do."""
        return self.ties_to_even and self.precision is Precision.exact

    # ------------------------------------------------------------------ other libraries' names

    @classmethod
    def from_addressing(
        cls,
        addressing: object,
        filtering: Interpolation | FilteringMode | str,
        *,
        fill: object = 0.0,
        precision: Precision | str = Precision.hardware,
        ignore_nan: bool = False,
        levels: LevelFilter | str = LevelFilter.none,
    ) -> Filter:
        """The filter of this package's own options.

        Parameters
        ----------
        addressing : str | Sequence[str]
            Of ``ADDRESSING``: one for all axes, or one for each, x first.
        """
        modes: tuple[object, ...]
        try:
            modes = (addressing,) if isinstance(addressing, str) else tuple(addressing)  # type: ignore[arg-type]
        except TypeError:
            modes = (addressing,)
        if len(modes) not in (1, 2, 3):
            raise ArgumentError(f"addressing={shown(addressing)} has {len(modes)} modes: one, or one for each axis")
        boundary = [boundary_of_addressing(mode) for mode in modes]
        return cls.of(filtering, boundary, fill, precision, ignore_nan=ignore_nan, levels=levels)

    @classmethod
    def from_sampler(
        cls,
        sampler: BindlessImageSampler,
        *,
        fill: float = 0.0,
        precision: Precision = Precision.hardware,
        normalized: bool | None = None,
    ) -> Filter:
        """The filter of a sampler, within a level. Texels are repeated along normalized coordinates only.

        Parameters
        ----------
        normalized : bool, optional
            Whether the unit takes normalized coordinates; default: as the sampler says. Mipmaps and cubemaps always do.
        """
        boundary = [_OF_SAMPLERS[mode] for mode in sampler.addressing]
        if not (sampler.is_normalized if normalized is None else normalized):
            boundary = [mode if mode in _FILLED else Boundary.edge for mode in boundary]
        return cls.of(str(sampler.filtering), boundary, fill, precision)

    @classmethod
    def from_scipy(cls, order: object, mode: object, cval: object, precision: Precision | str) -> Filter:
        """The filter of the options of ``scipy.ndimage``.

        Raises
        ------
        ArgumentError
            An option is none of scipy's.
        FeatureNotSupportedError
            An order that only exact precision has.
        """
        interpolation = interpolation_of_order(order)
        boundary = _SCIPY.get(mode) if isinstance(mode, str) else None
        if boundary is None:
            raise ArgumentError(f"mode={shown(mode)} is none of {', '.join(_SCIPY)}")
        filter_ = cls.of(Interpolation.nearest, boundary, cval, precision, fill_name="cval")
        if interpolation in _OTHER_SPLINES and filter_.precision is not Precision.exact:
            raise FeatureNotSupportedError(f"order={order} with precision={filter_.precision} (exact is)")
        return replace(filter_, interpolation=interpolation)

    @classmethod
    def from_torch(cls, mode: str, padding_mode: str, align_corners: bool, precision: Precision | str) -> Filter:
        """The filter of the options of ``torch.nn.functional.grid_sample``, which rounds halves to even.

        Raises
        ------
        ArgumentError
            A name is none of torch's.
        """
        if mode not in _TORCH_MODES:
            raise ArgumentError(f"mode={shown(mode)} is none of {', '.join(_TORCH_MODES)}")
        if padding_mode not in _TORCH:
            raise ArgumentError(f"padding_mode={shown(padding_mode)} is none of {', '.join(_TORCH)}")
        boundary = _TORCH[padding_mode]
        if align_corners and boundary is Boundary.mirrored_repeat:
            boundary = Boundary.mirror
        return cls.of(_TORCH_MODES[mode], boundary, precision=precision, ties_to_even=True)

    @classmethod
    def from_opencv(
        cls, interpolation: int, border: int, fill: float, *, ties_to_even: bool = True, double_sums: bool = False
    ) -> Filter:
        """The filter of OpenCV's numbers of interpolations and border modes."""
        return cls.of(
            _OPENCV_MODES[interpolation], _OPENCV[border], fill, Precision.exact,
            ties_to_even=ties_to_even, double_sums=double_sums,
        )  # fmt: skip

    @classmethod
    def from_nvdiffrast(cls, filter_mode: str, boundary_mode: str) -> Filter:
        """The filter of the options of nvdiffrast's ``texture``, but ``filter_mode="auto"``.

        Raises
        ------
        ArgumentError
            A name is none of nvdiffrast's.
        """
        if boundary_mode not in _NVDIFFRAST:
            raise ArgumentError(f"boundary_mode={shown(boundary_mode)} is none of {', '.join(_NVDIFFRAST)}")
        if filter_mode not in _NVDIFFRAST_MODES:
            raise ArgumentError(f"filter_mode={shown(filter_mode)} is none of auto, {', '.join(_NVDIFFRAST_MODES)}")
        interpolation, levels = _NVDIFFRAST_MODES[filter_mode]
        return cls.of(interpolation, _NVDIFFRAST[boundary_mode], precision=Precision.exact, levels=levels)

    # ------------------------------------------------------------------ what the roads ask

    @property
    def is_spline(self) -> bool:
        """Whether texels are coefficients of B-splines."""
        return self.interpolation is Interpolation.cubic or self.interpolation in _OTHER_SPLINES

    @property
    def spline_order(self) -> int:
        """The degree of the B-splines that weights are of: 0, nearest, to 5, quintic."""
        return _ORDERS.index(self.interpolation)

    @property
    def is_plain(self) -> bool:
        """Whether a texture unit has such a filter: a handle and its precision are all that samples need."""
        return self.interpolation in _PLAIN and self.fill == 0 and not self.ignore_nan and self._has_unit_modes

    @property
    def is_computed(self) -> bool:
        """Whether a texture unit has no part in samples of one level."""
        return self.precision is Precision.exact or not self.is_plain

    @property
    def arithmetic(self) -> Precision:
        """The precision that is computed: what a texture unit lacks is exact."""
        lacks = self.interpolation in _CONVOLUTIONS or self.fill != 0 or not self._has_unit_modes
        return Precision.exact if self.precision is Precision.hardware and lacks else self.precision

    @property
    def has_unit_boundary(self) -> bool:
        """Whether texture units have these boundaries, with this value outside."""
        borders = Boundary.border in self.boundary and self.fill != 0
        return not borders and self._has_unit_modes

    @property
    def _has_unit_modes(self) -> bool:
        """Whether texture units have these boundaries, with 0 outside."""
        return all(mode in _OF_UNITS for mode in self.boundary)

    @property
    def addressing(self) -> tuple[AddressingMode, AddressingMode, AddressingMode]:
        """Addressing modes of a sampler with these boundaries; ``clamp_to_edge`` for those that samplers lack."""
        x, y, z = (_SAMPLERS.get(mode, AddressingMode.clamp_to_edge) for mode in self.boundary)
        return x, y, z

    @property
    def sampler_filtering(self) -> FilteringMode:
        """Filtering of a sampler; B-splines are made of linear samples."""
        return FilteringMode.nearest if self.interpolation is Interpolation.nearest else FilteringMode.linear

    @property
    def spline_margin(self) -> tuple[int, int, int]:
        """Texels by which the image of coefficients exceeds the image at each end, along (x, y, z)."""
        x, y, z = spline_margins(self.boundary)
        return x, y, z

    @property
    def spline_lines(self) -> Boundaries:
        """Continuation of lines of samples, with their margins, that B-splines are fitted to, along (x, y, z)."""
        x, y, z = (_CONTINUATIONS.get(mode, Boundary.mirror) for mode in self.boundary)
        return x, y, z

    def with_boundary(self, boundary: Boundary) -> Filter:
        """This filter with one boundary for all axes."""
        return replace(self, boundary=(boundary,) * 3)


def spline_margins(boundary: Iterable[Boundary | str]) -> tuple[int, ...]:
    """Texels by which an image of coefficients of B-splines exceeds the image at each end, along each axis."""
    return tuple([SPLINE_MARGIN if mode in _EXTENDED else 0 for mode in boundary])


def fold(index: Any, size: int, boundary: Boundary | str) -> Any:
    """The texels whose values an image has at indices, inside and outside.

    Parameters
    ----------
    index : ArrayLike
        Integers: of Python, or an array of any library.
    size : int
        Texels along the axis.
    boundary : Boundary | str
        Positions outside of ``constant`` and ``extent``, and texels outside of ``border``, have the fill value. A
        name: compilers of other libraries do not know members of enumerations.
    """
    last = size - 1
    if boundary == "repeat":
        return index % size
    if boundary == "wrap":
        return index % max(last, 1) + last * (index == last)
    if boundary == "mirrored_repeat":
        return (2 * size - 1 - abs(2 * (index % (2 * size)) - (2 * size - 1))) // 2
    if boundary in ("mirror", "constant", "extent"):  # of B-splines at an extent
        return last - abs(index % max(2 * last, 1) - last)
    return (abs(index) - abs(index - last) + last) // 2


def _member(enum: type[_E], value: object, name: str) -> _E:
    """``coerce`` of an argument."""
    try:
        return coerce(enum, value, name)
    except InvalidError as error:
        raise ArgumentError(str(error)) from None


def _plain(filtering: object) -> object:
    """The name of a member of another enumeration with equal names."""
    return str(filtering) if isinstance(filtering, str) else filtering


def _number(name: str, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{name}={shown(value)} is not a number") from None


Rows = tuple[float, ...]

_IDENTITY: Rows = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class CoordinateMap:
    """Map from places, such as the indices of picture elements or the coordinates of samples, to positions in an image.

    With (x, y, z) = place + ``shift``, each row of the matrix gives a x + (b y + (c z + d)), every step rounded. Where
    the last row is not (0, 0, 0, 1), the first three are divided by the fourth.

    Attributes
    ----------
    matrix : tuple[float, ...]
        Sixteen numbers, by rows; axes that the image lacks are those of the identity.
    shift : float
        Added to the components of a place.
    centre : float
        Position of the centre of texel 0: 0.5, or 0.0.
    """

    matrix: Rows = _IDENTITY
    shift: float = 0.0
    centre: float = 0.0

    @classmethod
    def pictures(cls, matrix: Rows = _IDENTITY, centre: float = 0.5) -> CoordinateMap:
        """The map of a picture: elements and texels have their centres at their indices plus ``centre``."""
        return cls(matrix, centre, centre)

    @classmethod
    def scaled(cls, scale: Iterable[float] = (), offset: Iterable[float] = (), shift: float = 0.0) -> CoordinateMap:
        """The map (place + shift) * scale + offset, with one number for each axis x, y, z; () is 1 and 0."""
        rows = list(_IDENTITY)
        for axis, number in enumerate(scale):
            rows[5 * axis] = float(number)
        for axis, number in enumerate(offset):
            rows[4 * axis + 3] = float(number)
        return cls(tuple(rows), float(shift), 0.0)

    @property
    def scale(self) -> tuple[float, float, float]:
        """The diagonal of the matrix."""
        return self.matrix[0], self.matrix[5], self.matrix[10]

    @property
    def offset(self) -> tuple[float, float, float]:
        """The constants of the matrix."""
        return self.matrix[3], self.matrix[7], self.matrix[11]

    @property
    def flat(self) -> CoordinateMap:
        """The same map of places whose z is 0, with zeros in the column of z but for the row of z."""
        rows: tuple[float, ...] = ()
        for start in range(0, 16, 4):
            a, b, c, d = self.matrix[start : start + 4]
            rows += (a, b, 0.0, c * self.shift + d) if c and start != 8 else (a, b, c, d)
        return replace(self, matrix=rows)

    @property
    def plane(self) -> tuple[float, ...]:
        """Nine numbers: the rows of x, y and the divisor, without z."""
        a, b, _, c, d, e, _, f, _, _, _, _, g, h, _, i = self.matrix
        return a, b, c, d, e, f, g, h, i

    @property
    def is_affine(self) -> bool:
        """Whether nothing is divided."""
        return self.matrix[12:] == (0.0, 0.0, 0.0, 1.0)
