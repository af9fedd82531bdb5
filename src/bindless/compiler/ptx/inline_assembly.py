"""Image functions as inline assembly, for kernels of other compilers: Triton, Numba, Pallas and LLVM."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.errors import InvalidError
from .handle_rounds import in_rounds

__all__ = ["InlinePtx", "inline_ptx"]

_SAMPLES = ("sample_image", "sample_image_array", "sample_mipmap", "sample_cubemap")
_FETCHES = ("fetch_sampled_image", "fetch_sampled_image_array")
_SURFACES = ("fetch_image", "fetch_image_array", "write_image", "write_image_array")
_FUNCTIONS = (*_SAMPLES, *_FETCHES, *_SURFACES)
_REGISTERS = {"float32": "f", "int32": "r", "uint32": "r", "uint64": "l"}
_TEXTURE_TYPES = {"float32": "f32", "int32": "s32", "uint32": "u32"}
_SMALL = {"int16": 16, "uint16": 16, "float16": 16, "int8": 8, "uint8": 8}


@dataclass(frozen=True)
class InlinePtx:
    """An image function of NVIDIA GPUs as inline assembly, in the notation of LLVM.

    Attributes
    ----------
    assembly : str
        PTX; ``$0`` is the first operand: results come first, then arguments.
    constraints : str
        A register constraint for each operand: ``=f,=f,=f,=f,l,f,f``.
    results : tuple of str
        numpy's names of the types of the results: the channels of a pixel, or nothing.
    arguments : tuple of str
        numpy's names of the types of the arguments: the handle, the layer of an array, the coordinates (x, y, z), and
        what the function takes besides: a level, gradients, or the channels to write.
    """

    assembly: str
    constraints: str
    results: tuple[str, ...]
    arguments: tuple[str, ...]


def inline_ptx(
    function: str,
    dimensions: int = 2,
    *,
    dtype: str = "float32",
    channels: int = 4,
    gradients: bool = False,
    channel: int | None = None,
    per_lane: bool = False,
) -> InlinePtx:
    """Return an image function as inline assembly, for kernels in Triton, Numba, Pallas and other languages over LLVM.

    The results have no conversions: a sample has the bits of the texture unit. Costs are those of one texture or
    surface instruction.

    Parameters
    ----------
    function : str
        ``sample_image``, ``sample_image_array``, ``sample_mipmap``, ``sample_cubemap``, ``fetch_sampled_image`` and
        ``fetch_sampled_image_array`` of sampled images, ``fetch_image``, ``fetch_image_array``, ``write_image`` and
        ``write_image_array`` of unsampled ones.
    dimensions : int
        1, 2 or 3; an array of images has 1 or 2, a cubemap 3 (its direction).
    dtype : str
        The type of a channel, as numpy names it. Samples and fetches of sampled images give float32 (also of fp16 and
        of normalized images), int32 or uint32. Unsampled images are bits: the type is the image's own, and of
        normalized images the codes (uint8 for unorm_int8).
    channels : int
        Of an unsampled image: 1, 2 or 4. Samples always give 4.
    gradients : bool
        Whether ``sample_mipmap`` takes gradients (dx, then dy, each with all axes) instead of a level.
    channel : int or None
        For samples and fetches of sampled images: 0 to 3 gives this channel only, None all four.
    per_lane : bool
        Whether handles differ between neighbouring lanes and the assembler may be ptxas of CUDA 12, which can lose
        results on GPUs from sm_90 on: a loop over the handles then has one handle at a time. Kernels of this package
        have the loop where the driver needs it.

    Returns
    -------
    InlinePtx
        Assembly, constraints and types.

    Raises
    ------
    InvalidError
        There is no such function, or not with these dimensions, this type or this number of channels.

    Examples
    --------
    >>> import bindless as bl
    >>> code = bl.inline_ptx("sample_image", 2)
    >>> code.assembly
    'tex.2d.v4.f32.f32 {$0, $1, $2, $3}, [$4, {$5, $6}];'
    >>> code.constraints
    '=f,=f,=f,=f,l,f,f'
    """
    if function not in _FUNCTIONS:
        raise InvalidError(f"function={function!r} is none of {', '.join(_FUNCTIONS)}")
    layered = function.endswith("_array")
    choices = (3,) if function == "sample_cubemap" else (1, 2) if layered else (1, 2, 3)
    if dimensions not in choices:
        raise InvalidError(f"dimensions={dimensions!r}: {function} takes {' or '.join(map(str, choices))}")
    if gradients and function != "sample_mipmap":
        raise InvalidError(f"gradients={gradients!r}: only sample_mipmap takes gradients, not {function}")
    surface = function in _SURFACES
    if channel is not None and (surface or channel not in range(4)):
        raise InvalidError(f"channel={channel!r}: 0 to 3 of a sampled image, or None; {function} has all of its pixel")
    if dtype not in _TEXTURE_TYPES and not (surface and dtype in _SMALL):
        dtypes = (*_TEXTURE_TYPES, *(_SMALL if surface else ()))
        raise InvalidError(f"dtype={dtype!r}: {function} has {', '.join(dtypes)}")
    if surface:
        if channels not in (1, 2, 4):
            raise InvalidError(f"channels={channels!r}: an unsampled image has 1, 2 or 4")
        return _surface(function, dimensions, layered, dtype, channels, per_lane)
    if channels != 4:
        raise InvalidError(f"channels={channels!r}: {function} gives 4; channel selects one of them")
    return _texture(function, dimensions, layered, dtype, gradients, channel, per_lane)


def _texture(
    function: str,
    dimensions: int,
    layered: bool,
    dtype: str,
    gradients: bool,
    channel: int | None,
    per_lane: bool,
) -> InlinePtx:
    whole = function in _FETCHES
    coordinate = "int32" if whole else "float32"
    extra = (2 * dimensions if gradients else 1) if function == "sample_mipmap" else 0
    arguments = ("uint64", *(("uint32",) if layered else ()), *[coordinate] * dimensions, *["float32"] * extra)
    count = 4 if channel is None else 1
    operands = [f"${count + number}" for number in range(len(arguments))]
    handle, where, rest = operands[0], operands[1 : 1 + layered + dimensions], operands[1 + layered + dimensions :]
    geometry = "cube" if function == "sample_cubemap" else f"{'a' if layered else ''}{dimensions}d"
    registers = [f".reg .{'f32' if dtype == 'float32' else 'b32'} other<4>; "] if channel is not None else []
    if whole and dimensions == 1:  # one-dimensional arrays are two-dimensional ones of height 1
        geometry = geometry.replace("1d", "2d")
        registers.append(".reg .b32 zero; mov.b32 zero, 0; ")
        where.append("zero")
    form = {0: "", 1: ".level"}.get(extra, ".grad")
    more = f", {rest[0]}" if extra == 1 else ""
    if extra > 1:
        more = f", {_vector(rest[:dimensions])}, {_vector(rest[dimensions:])}"
    texel = [f"${number}" for number in range(4)]
    if channel is not None:
        texel = ["$0" if number == channel else f"other{number}" for number in range(4)]
    name = f"tex{form}.{geometry}.v4.{_TEXTURE_TYPES[dtype]}.{'s32' if whole else 'f32'}"
    code = _rounds(f"{name} {_vector(texel)}, [{handle}, {_vector(where)}]{more};", handle, per_lane)
    text = f"{{ {''.join(registers)}{code} }}" if registers else code
    return _finish(text, (dtype,) * count, arguments)


def _surface(function: str, dimensions: int, layered: bool, dtype: str, channels: int, per_lane: bool) -> InlinePtx:
    bits = _SMALL.get(dtype, 32)
    write = function.startswith("write")
    results = () if write else (dtype,) * channels
    arguments = ("uint64", *(("uint32",) if layered else ()), *["int32"] * dimensions)
    if write:
        arguments += (dtype,) * channels
    operands = [f"${len(results) + number}" for number in range(len(arguments))]
    handle, where = operands[0], operands[1 : 1 + layered + dimensions]
    x = where[layered]
    where[layered] = "bytes"  # of the column
    values = operands[1 + layered + dimensions :] if write else [f"${number}" for number in range(channels)]
    texel = f"{{{', '.join(values)}}}"
    width = f".v{channels}" if channels > 1 else ""
    geometry = f"{'a' if layered else ''}{dimensions}d"
    place = f"[{handle}, {_vector(where)}]"
    name = f"{'sust' if write else 'suld'}.b.{geometry}{width}.b{bits}.zero"
    code = f"{name} {place}, {texel};" if write else f"{name} {texel}, {place};"
    bytes_ = channels * bits // 8
    text = f"{{ .reg .b32 bytes; mul.lo.s32 bytes, {x}, {bytes_}; {_rounds(code, handle, per_lane)} }}"
    return _finish(text, results, arguments)


def _rounds(code: str, handle: str, per_lane: bool) -> str:
    return in_rounds(code, handle) if per_lane else code


def _vector(operands: list[str]) -> str:
    """Three coordinates take the space of four."""
    components = [*operands, operands[-1]] if len(operands) == 3 else operands
    return f"{{{', '.join(components)}}}"


def _finish(code: str, results: tuple[str, ...], arguments: tuple[str, ...]) -> InlinePtx:
    constraints = [f"={_REGISTERS.get(type_, 'h')}" for type_ in results]
    constraints += [_REGISTERS.get(type_, "h") for type_ in arguments]
    return InlinePtx(code, ",".join(constraints), results, arguments)
