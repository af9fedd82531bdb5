"""Catalogue of the built-in kernel modules: source, macros, kernels and their arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType

from bindless.compiler.prelude.geometry import CLASSES, CUBE, LAYERED, LINEAR, STANDARD, Geometry


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel, in OpenCL C."""

    type: str
    name: str


@dataclass(frozen=True)
class Kernel:
    name: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Module:
    """One artifact per target: a source compiled with a set of macros, and its kernels.

    Each module has one kernel, so that a driver translates only what is used (and llc 22 refuses SPIR-V modules in
    which several kernels convert handles).
    """

    name: str
    source: str
    defines: dict[str, str]
    kernels: tuple[Kernel, ...]
    targets: tuple[str, ...] = ("ptx", "spirv", "opencl_c")
    large: bool = False
    """Whether kernels are larger than LLVM inlines; their SPIR-V gets its image instructions after llc."""
    registers: int = 0
    """Most registers of a work-item in PTX; 0: as many as there are."""
    sm_90: bool = False
    """Whether the PTX has instructions of compute capability 9.0 and PTX 8.1."""


IMAGE = Argument("ulong", "image")
COORDS = Argument("global const void*", "coords")
LAYERS = (Argument("global const uint*", "layers"), Argument("uint", "layer"))
LEVEL = (Argument("global const float*", "level"), Argument("float", "lod"))
GRADIENTS = (Argument("global const float*", "dx"), Argument("global const float*", "dy"))
MATRIX = tuple(Argument("double", f"m{row}{column}") for row in range(3) for column in range(3))
UNITS = tuple(Argument("float", f"{name}_{axis}") for name in ("scale", "bias") for axis in "xy")
PICTURE = (Argument("global void*", "values"), Argument("uint", "width"), Argument("uint", "height"))
LEVELS = (Argument("ulong", "source"), Argument("ulong", "first"), Argument("ulong", "second"))
EXTENT = (Argument("uint", "width"), Argument("uint", "height"), Argument("uint", "depth"))
AREA = (
    Argument("global const void*", "source"), *(Argument("uint", name) for name in ("from", "channels")),
    *(Argument("uint", f"length_{axis}") for axis in "xy"), Argument("global void*", "means"),
    *(Argument("uint", name) for name in ("to", "result_channels", "size_x", "size_y", "size_z")),
    *(Argument("uint", f"{name}_{axis}") for axis in "xyz" for name in ("whole", "total")),
    Argument("uint", "lowest"), Argument("ulong", "divisor"),
)  # fmt: skip
PACK = (
    Argument("global const void*", "source"), Argument("uint", "from"),
    *(Argument("long", name) for name in ("plane", "row", "pixel", "channel")),
    *(Argument("uint", name) for name in ("rows", "pixels", "channels")),
    Argument("global void*", "target"), *(Argument("uint", name) for name in ("to", "target_channels")),
    Argument("ulong", "count"),
    *(Argument("float", f"{name}_{axis}") for name in ("scale", "bias") for axis in "xyz"),
)  # fmt: skip
SPLINE = (Argument("global const float*", "source"), Argument("global float*", "target"))
SPLINE_ROWS = (
    *SPLINE, *(Argument("uint", name) for name in ("width", "height", "depth")),
    *(Argument("uint", f"margin_{axis}") for axis in "xyz"),
    *(Argument("uint", name) for name in ("channels", "boundary", "fills")),
    *(Argument("float", name) for name in ("fill", "pole", "gain")), Argument("ulong", "rows"),
)  # fmt: skip
SPLINE_COLUMNS = (
    *SPLINE, Argument("ulong", "inner"), *(Argument("uint", name) for name in ("length", "segment", "boundary")),
    *(Argument("float", name) for name in ("pole", "gain", "end_part")), Argument("ulong", "count"),
)  # fmt: skip
LUT3D = (
    Argument("global const void*", "pixels"), Argument("global const float4*", "table"), Argument("uint", "size"),
    *(Argument("float", f"{name}_{axis}") for name in ("first", "scale") for axis in "xyz"),
    Argument("global const float*", "shaper"), Argument("uint", "shaper_size"),
    *(Argument("float", f"shaper_{name}_{axis}") for name in ("first", "scale") for axis in "xyz"),
    Argument("global void*", "values"), Argument("ulong", "count"),
    *(Argument("uint", name) for name in ("format", "mode")),
)  # fmt: skip
LINE_INTEGRALS = (
    Argument("global const float*", "texels"), *(Argument("uint", f"size_{axis}") for axis in "xyz"),
    Argument("global const float*", "starts"), Argument("uint", "start_step"),
    Argument("global const float*", "ends"), Argument("uint", "end_step"),
    Argument("global float*", "means"), Argument("global float*", "derivatives"), Argument("uint", "samples"),
    Argument("ulong", "count"),
)  # fmt: skip
VOLUME = (Argument("global const void*", "texels"), *(Argument("uint", f"size_{axis}") for axis in "xyz"))
DETECTOR = (
    *(Argument("float", f"{row}_{axis}") for row in ("source", "first", "column", "row") for axis in "xyz"),
    *(Argument("float", f"m{row}{column}") for row in range(3) for column in range(4)),
)
POSES = Argument("global const float*", "poses")
PROJECTION = (*(Argument("uint", name) for name in ("width", "height", "samples")),)
GRAD_VALUES = (
    Argument("global const float*", "grad_values"),
    *(Argument("ulong", f"grad_{axis}") for axis in ("pose", "row", "column")),
)
PROJECTIONS = {
    "projections": (
        *VOLUME, POSES, *DETECTOR, *PROJECTION, Argument("global float*", "values"),
        Argument("global float*", "derivatives"), Argument("uint", "mode"),
    ),
    "projections_texels": (
        Argument("global float*", "gradients"), *VOLUME[1:], POSES, *DETECTOR, *PROJECTION, *GRAD_VALUES,
        Argument("uint", "mode"),
    ),
    "projections_sums": (
        *GRAD_VALUES, Argument("global const float*", "derivatives"),
        *PROJECTION[:2], Argument("global double*", "sums"),
    ),
    "projections_poses": (
        Argument("global const double*", "sums"), Argument("uint", "groups"), POSES, *DETECTOR,
        Argument("global float*", "gradients"), Argument("uint", "mode"),
    ),
}  # fmt: skip
_VIEWS = (
    *(Argument("uint", f"size_{axis}") for axis in "xyz"), Argument("global const float4*", "views"),
    *(Argument("uint", name) for name in ("num_views", "columns", "rows")),
    *(Argument("float", name) for name in ("angle", "foot_column", "foot_row")),
)  # fmt: skip
_OF_VALUES = (Argument("global const float*", "values"), *_VIEWS, Argument("global float*", "volume"))
PROJECTOR = {
    "projector_forward": (Argument("global const float*", "volume"), *_VIEWS, Argument("global float*", "values")),
    "projector_scale": (_OF_VALUES[0], *_VIEWS[3:], Argument("global float*", "scaled")),
    "projector_adjoint": _OF_VALUES,
    "projector_back": (*_OF_VALUES, Argument("uint", "power")),
    "projector_filter": (
        Argument("global const float*", "values"), Argument("uint", "columns"), Argument("uint", "rows"),
        Argument("global const float*", "turn_weights"), Argument("uint", "turn_step"),
        Argument("global const float*", "pixel_weights"), Argument("global const float*", "response"),
        Argument("uint", "width"), Argument("uint", "before"), Argument("global float*", "filtered"),
    ),
}  # fmt: skip
_TURNED = (Argument("global const float*", "turned"), *_VIEWS[:-3])
_IS_HALF = Argument("uint", "is_half")
PROJECTOR_TURNED = {
    "projector_turn": (
        Argument("global const uchar*", "source"), *(Argument("uint", name) for name in ("columns", "rows", "slabs")),
        *(Argument("uint", name) for name in ("row_step", "slab_step", "slabs_before")), _VIEWS[3],
        Argument("uint", "is_scaled"), Argument("global float*", "turned"), _IS_HALF,
    ),
    "projector_turned_forward": (*_TURNED, Argument("global uchar*", "values"), _IS_HALF),
    "projector_turned_adjoint": (*_TURNED, Argument("global uchar*", "volume"), _IS_HALF),
    "projector_turned_back": (*_TURNED, Argument("global uchar*", "volume"), Argument("uint", "power"), _IS_HALF),
}  # fmt: skip
LEVEL_OF_TEXELS = (
    *(Argument("uint", f"size_{axis}") for axis in "xyz"), Argument("uint", "channels"), Argument("ulong", "images"),
    Argument("uint", "mode"),
)  # fmt: skip
FOOTPRINTS = (
    *(Argument("float", f"size_{axis}") for axis in "xyz"), Argument("ulong", "count"), Argument("uint", "mode"),
)  # fmt: skip
STEPS = Argument("global const float*", "steps")
TEXTURE_LEVELS = {
    "pyramid_means": (Argument("global const void*", "texels"), Argument("global void*", "means"), *LEVEL_OF_TEXELS),
    "pyramid_gradients": (
        Argument("global const void*", "own"), Argument("global const void*", "next"),
        Argument("global void*", "gradients"), *LEVEL_OF_TEXELS,
    ),
    "footprint_levels": (
        STEPS, Argument("global const float*", "bias"), Argument("global float*", "levels"), *FOOTPRINTS,
    ),
    "footprint_gradients": (
        STEPS, Argument("global const float*", "grad_levels"), Argument("global float*", "gradients"), *FOOTPRINTS,
    ),
}  # fmt: skip
MATRICES = Argument("global const float*", "matrices")
PIXELS = tuple(Argument("uint", name) for name in ("size_x", "size_y", "pixels", "mode"))
MAPPINGS = {
    "mapping_coords": (MATRICES, Argument("global float*", "coords"), *PIXELS),
    "mapping_sums": (
        MATRICES, Argument("global const float*", "grad_coords"), Argument("global double*", "sums"),
        Argument("global float*", "gradients"), *PIXELS,
    ),
    "mapping_totals": (
        Argument("global const double*", "sums"), Argument("global float*", "gradients"), Argument("uint", "groups"),
        Argument("uint", "mode"),
    ),
}  # fmt: skip
FORMAT = (Argument("uint", "format"),)
POSITIONS = (
    *(Argument("double", f"m{row}{column}") for row in range(4) for column in range(4)), Argument("double", "centre"),
    Argument("global const void*", "coords"), Argument("long", "step"), Argument("long", "component"),
    *(Argument("uint", f"first_{axis}") for axis in "xyz"),
)  # fmt: skip
WINDOW = (
    *(Argument("int", f"{name}_{axis}") for name in ("origin", "whole") for axis in "xyz"),
    Argument("double", "fill"),
)
UNITS_3D = (*(Argument("float", f"{name}_{axis}") for name in ("scale", "bias") for axis in "xyz"), *WINDOW)
SOURCE = (*(Argument("int", f"size_{axis}") for axis in "xyz"), *WINDOW)
RESAMPLED = (Argument("global void*", "values"), *EXTENT, *FORMAT, Argument("uint", "mode"))
PLANES = (
    *(Argument("int", f"{name}_{axis}") for name in ("size", "chroma") for axis in "xy"),
    *(Argument("float", f"{name}_{axis}") for name in ("scale", "bias") for axis in "xy"),
    *(Argument("float", f"{name}{of}") for name in ("red", "green", "blue") for of in ("_y", "_u", "_v", "")),
    Argument("uint", "fills"), WINDOW[-1],
)  # fmt: skip
ARRAY = (
    Argument("global const void*", "texels"),
    *(Argument("long", f"step_{name}") for name in (*"xyz", "channel", "layer")),
    *POSITIONS[:12], POSITIONS[16], COORDS, Argument("long", "first_coord"), Argument("long", "component"), *SOURCE[:3],
    SOURCE[-1], *RESAMPLED,
)  # fmt: skip
TEXTURE_UNIT = (
    Argument("global const void*", "texels"), Argument("uint", "pitch"), Argument("global const void*", "coords"),
    *LAYERS, *LEVEL, Argument("global void*", "values"), Argument("ulong", "count"), *FORMAT,
    *(Argument("uint", name) for name in ("mode", "width", "height", "depth", "num_layers", "num_levels")),
    *(Argument("uint", name) for name in ("low", "high", "border_x", "border_y", "border_z", "border_w")),
)  # fmt: skip
LANES = (Argument("global const ulong*", "images"), Argument("global const uint*", "which"))
COUNT, RESULTS = Argument("uint", "count"), Argument("global float4*", "out")
LANES_KERNELS = {
    **dict.fromkeys(("memory", "volume", "layers", "mipmap", "shuffle", "local"), (*LANES, RESULTS)),
    "steps": (*LANES, Argument("float", "at"), Argument("float", "step"), Argument("global float*", "out")),
    "differences": (
        *LANES,
        Argument("global const float*", "places"),
        *(Argument("float", name) for name in ("origin", "unit")),
        Argument("global float*", "out"),
    ),
    "divergent": (*LANES, Argument("global const ulong*", "volumes"), RESULTS),
    **dict.fromkeys(("loop", "chain"), (*LANES, COUNT, RESULTS)),
    "arguments": (*(Argument("ulong", name) for name in "abcd"), LANES[1], RESULTS),
    "widths": (*LANES, Argument("global const uint*", "channels"), RESULTS),
    "structures": (Argument("global const void*", "entries"), LANES[1], RESULTS),
    "write": (*LANES, Argument("global const ulong*", "targets"), COUNT),
}
REST = (Argument("global void*", "values"), Argument("ulong", "count"), *FORMAT, Argument("uint", "row"))

PTX_ONLY = ("ptx",)
ALL = ("ptx", "spirv", "opencl_c")
TEXTS = ("ptx", "opencl_c")  # llc 22 crashes on the SPIR-V of maps


def _class_modules(
    operation: str,
    geometry: Geometry,
    arguments: tuple[Argument, ...],
    targets: tuple[str, ...],
    source: str | None = None,
    defines: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Module]:
    """Yield one operation on one geometry in the three value classes."""
    for values in CLASSES:
        name = f"{operation}_{geometry.name}_{values.letter}"
        all_defines = {
            "GEOMETRY": geometry.name,
            "DIMENSIONS": str(geometry.dimensions),
            "LAYERED": str(int(geometry.layered)),
            "CUBE": str(int(geometry is CUBE)),
            "CLASS": values.letter,
            f"CLASS_{values.letter.upper()}": "1",
            "COLOR": values.opencl,
            **defines,
        }
        kernels = (Kernel(f"bindless_{name}", arguments),)
        yield Module(name, f"{source or operation}.cl", all_defines, kernels, targets)


def _image_modules(
    operation: str, geometries: Iterable[Geometry], own: tuple[Argument, ...] = (), targets: tuple[str, ...] = ALL
) -> Iterator[Module]:
    """Yield one operation over arrays of coordinates, on each geometry."""
    for geometry in geometries:
        arguments = (IMAGE, COORDS, *(LAYERS if geometry.layered else ()), *own, *REST)
        yield from _class_modules(operation, geometry, arguments, targets)


def _launch_module() -> Module:
    four = (Argument("global ulong*", "out"), Argument("ulong", "a"), Argument("uint", "b"), Argument("float", "c"))
    return Module("launch", "launch.cl", {}, (Kernel("bindless_empty", ()), Kernel("bindless_four_arguments", four)))


def _picture_modules() -> Iterator[Module]:
    """Yield the modules that make whole pictures, for devices with text kernels; other devices leave it to the
    processor.
    """
    flat, layered = STANDARD[1], LAYERED[1]
    for geometry, layer in ((flat, ()), (layered, LAYERS[1:])):
        arguments = (IMAGE, *layer, *MATRIX, *UNITS, *PICTURE, *FORMAT)
        yield from _class_modules("warp", geometry, arguments, TEXTS)
        if geometry is flat:
            yield from _class_modules("warp_grad", geometry, arguments, PTX_ONLY, "warp", {"GRADIENTS": "1"})


def _resampling_modules() -> Iterator[Module]:
    """Yield the modules that resample images to pictures: by the texture unit, and by filters of fetched texels."""
    for operation, own in (("resample", UNITS_3D), ("resample_fetch", SOURCE)):
        linear = [LINEAR] if operation == "resample_fetch" else []
        for geometry in (*STANDARD, *LAYERED, *linear):
            arguments = (IMAGE, *(LAYERS[1:] if geometry.layered else ()), *POSITIONS, *own, *RESAMPLED)
            for module in _class_modules(operation, geometry, arguments, PTX_ONLY if geometry is LINEAR else ALL):
                yield replace(module, large=True)
    for geometry in STANDARD:
        for module in _class_modules("resample_memory", geometry, ARRAY, ALL):
            yield replace(module, large=True)
    arguments = (IMAGE, Argument("ulong", "chroma"), *POSITIONS, *PLANES, *RESAMPLED)
    for module in _class_modules("resample_planes", STANDARD[1], arguments, ALL):
        if module.defines["CLASS"] == "f":  # planes are normalized
            yield replace(module, large=True)


def _area_modules() -> Iterator[Module]:
    """Yield the means of areas of packed pixels."""
    for name, defines in (("area_codes", {}), ("area_reals", {"REALS": "1"})):
        yield Module(name, "area.cl", {"NAME": f"bindless_{name}", **defines}, (Kernel(f"bindless_{name}", AREA),))


def _pack_modules() -> Iterator[Module]:
    """Yield the modules that bring pixels and coordinates of any layout into contiguous memory."""
    for name, defines in (("pack", {}), ("pack_f64", {"DOUBLES": "1"})):
        kernels = (Kernel(f"bindless_{name}", PACK),)
        yield Module(name, "pack.cl", {"NAME": f"bindless_{name}", **defines}, kernels)


def _colour_modules() -> Iterator[Module]:
    """Yield the kernel that maps colours by a table."""
    yield Module("lut3d", "lut3d.cl", {}, (Kernel("bindless_lut3d", LUT3D),))


def _spline_modules() -> Iterator[Module]:
    """Yield the filter of B-splines, along rows and along columns."""
    for name, arguments in (("spline_rows", SPLINE_ROWS), ("spline_columns", SPLINE_COLUMNS)):
        yield Module(name, f"{name}.cl", {}, (Kernel(f"bindless_{name}", arguments),))


def _line_modules() -> Iterator[Module]:
    """Yield integrals of volumes along lines: CUDA's, and SPIR-V that the reference device runs in tests."""
    name = "line_integrals"
    yield Module(name, f"{name}.cl", {}, (Kernel(f"bindless_{name}", LINE_INTEGRALS),), ("ptx", "spirv"))
    for number, (name, arguments) in enumerate(PROJECTIONS.items()):
        kernels = (Kernel(f"bindless_{name}", arguments),)
        yield Module(name, "projections.cl", {"PASS": str(number)}, kernels, ("ptx", "spirv"), large=True)


def _with_halves(name: str, arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """The arguments of a kernel for volumes and projections of both precisions, but for the scaled ones."""
    stored = ("volume",) if name == "projector_adjoint" else ("volume", "values")
    either = {"global const float*": "global const uchar*", "global float*": "global uchar*"}
    return (
        *(
            replace(argument, type=either.get(argument.type, argument.type))
            if argument.name in stored else argument
            for argument in arguments
        ),
        Argument("uint", "halves"),
    )  # fmt: skip


def _projector_modules() -> Iterator[Module]:
    """Yield sums of volumes along the rays of scans, their transpose, and back projection."""
    for number, (name, arguments) in enumerate(PROJECTOR.items()):
        yield Module(name, "projector.cl", {"PASS": str(number)}, (Kernel(f"bindless_{name}", arguments),))
        kernels = (Kernel(f"bindless_{name}_half", _with_halves(name, arguments)),)
        yield Module(f"{name}_half", "projector.cl", {"PASS": str(number), "HALF": "1"}, kernels)
    for number, (name, arguments) in enumerate(PROJECTOR_TURNED.items()):
        yield Module(name, "projector_turned.cl", {"PASS": str(number)}, (Kernel(f"bindless_{name}", arguments),))


def _texture_level_modules() -> Iterator[Module]:
    """Yield mipmaps of textures in memory, and levels of detail of footprints, with their transposes."""
    for name, arguments in TEXTURE_LEVELS.items():
        source, _, part = name.partition("_")
        number = str(int(part == "gradients"))
        yield Module(name, f"{source}.cl", {"PASS": number}, (Kernel(f"bindless_{name}", arguments),), ("ptx", "spirv"))


def _mapping_modules() -> Iterator[Module]:
    """Yield coordinates of pixels seen through matrices, and gradients of the matrices."""
    for number, (name, arguments) in enumerate(MAPPINGS.items()):
        kernels = (Kernel(f"bindless_{name}", arguments),)
        yield Module(name, "mapping.cl", {"PASS": str(number)}, kernels, ("ptx", "spirv"))


def _texture_unit_modules() -> Iterator[Module]:
    """Yield the modules that compute samples of images of every kind, by the arithmetic of texture units or exactly."""
    common = {"DIMENSIONS": "1", "LAYERED": "0", "CUBE": "0", "CLASS_U": "1", "COLOR": "uint4"}
    for name, own, targets in (
        ("texture_unit", {}, ALL),
        ("texture_unit_f64", {"DOUBLES": "1"}, ("opencl_c",)),  # processors add doubles faster than long integers
        ("texture_exact", {"EXACT": "1"}, ALL),
    ):
        defines = {"NAME": f"bindless_{name}", **own, **common}
        yield Module(name, "texture_unit.cl", defines, (Kernel(f"bindless_{name}", TEXTURE_UNIT),), targets, large=True)


def _lanes_module() -> Module:
    """Return the kernels whose work-items use different images; OpenCL C has no handles in memory."""
    kernels = tuple(Kernel(f"bindless_lanes_{name}", arguments) for name, arguments in LANES_KERNELS.items())
    return Module("lanes", "lanes.cl", {}, kernels, ("ptx", "spirv"), large=True)


def _gradient_modules() -> Iterator[Module]:
    """Yield samples of textures in memory and their derivatives, for each number of axes and of texels along each."""
    arguments = (Argument("struct call", "call"), Argument("uint", "mode"))
    for number, operation in enumerate(("forward", "backward", "backward_backward")):
        for geometry, taps in (*product((*STANDARD,), (1, 2, 4)), (CUBE, 1), (CUBE, 2)):
            name = f"gradients_{operation}_{geometry.name}_{taps}"
            axes = 2 if geometry is CUBE else geometry.dimensions
            defines = {"OPERATION": str(number), "DIMENSIONS": str(axes), "TAPS": str(taps)}
            defines["CUBE"] = str(int(geometry is CUBE))
            kernels = (Kernel(f"bindless_{name}", arguments),)
            yield Module(name, "gradients.cl", {"NAME": f"bindless_{name}", **defines}, kernels, PTX_ONLY, large=True)
    for operation, axes in product(("forward", "backward"), (2, 3)):
        number = str(int(operation == "backward"))
        common = {"OPERATION": number, "DIMENSIONS": str(axes), "CUBE": "0", "SINGLE": "0"}
        name = f"gradients_{operation}_{axes}d"
        for kind, defines, registers in (
            ("linear", {}, 0),
            ("single", {"SINGLE": "1"}, 0),
            ("tiles", {}, 64),
            ("vectors", {}, 0),
        ):
            if kind in ("single", "tiles") and operation == "forward":
                continue
            kernels = (Kernel(f"bindless_{name}_{kind}", arguments),)
            source = f"gradients_{'linear' if kind == 'single' else kind}.cl"
            defines = {"NAME": f"bindless_{name}_{kind}", **common, **defines}
            newer = kind == "vectors" and operation == "backward"
            targets = ("ptx", "spirv")
            yield Module(f"{name}_{kind}", source, defines, kernels, targets, True, registers, newer)
    settle = tuple(Argument("ulong", name) for name in ("sums", "gradients", "largest", "count"))
    yield Module(
        "gradients_settle", "gradients_settle.cl", {}, (Kernel("bindless_gradients_settle", settle),), PTX_ONLY
    )


def _modules() -> Iterator[Module]:
    plain = (*STANDARD, *LAYERED)
    yield _launch_module()
    yield from _pack_modules()
    for operation in ("fetch", "fetch_sampled", "sample", "write"):
        yield from _image_modules(operation, plain)
    yield from _image_modules("sample_lod", plain, LEVEL)
    yield from _image_modules("sample_grad", plain, GRADIENTS, PTX_ONLY)
    yield from _image_modules("fetch_sampled", [LINEAR], targets=PTX_ONLY)
    yield from _image_modules("sample", [CUBE], targets=PTX_ONLY)
    yield from _image_modules("sample_lod", [CUBE], LEVEL, PTX_ONLY)
    yield from _picture_modules()
    yield from _resampling_modules()
    yield from _area_modules()
    yield from _colour_modules()
    yield from _spline_modules()
    yield from _texture_unit_modules()
    yield _lanes_module()
    yield from _gradient_modules()
    yield from _line_modules()
    yield from _projector_modules()
    yield from _texture_level_modules()
    yield from _mapping_modules()
    for geometry in STANDARD:  # mipmaps exist where kernels are PTX; pixels are moved as bits, whatever their class
        modules = _class_modules("downsample", geometry, (*LEVELS, *EXTENT, *FORMAT), PTX_ONLY)
        yield from (module for module in modules if module.defines["CLASS"] == "u")


MODULES = list(_modules())
