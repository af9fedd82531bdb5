"""The primitives of ``bindless/device.h`` in OpenCL C, for devices that compile kernels themselves.

OpenCL has no image handles: where the other preludes take a number, these take an image, followed by a sampler for a
sampled handle. Reads outside an image give zeros and writes there are dropped, as on the other targets.
"""

from __future__ import annotations

import re

from .geometry import CLASSES, CUBE, LAYERED, LINEAR, STANDARD, Geometry, ValueClass

__all__ = ["IMAGE", "SAMPLER", "definition", "image_type", "parse", "words"]

IMAGE, SAMPLER = "__bindless_image", "__bindless_sampler"
"""Suffixes of the parameters of a handle."""

_GEOMETRIES = {geometry.name: geometry for geometry in (*STANDARD, *LAYERED)}
_CLASSES = {values.letter: values for values in CLASSES}
_FUNCTIONS = {"f": "f", "i": "i", "u": "ui"}
_SAMPLED = ("fetch_sampled", "sample", "sample_lod", "sample_grad")
_NAME = re.compile(
    r"__bindless_(fetch_sampled|sample_lod|sample_grad|sample|read|write)_"
    r"(1d_array|2d_array|1d_linear|1d|2d|3d|cube)_([fiu])"
)
_GATHER = re.compile(r"__bindless_gather_2d_[fiu]")
_NO_IMAGES = (CUBE.name, LINEAR.name, "gather")
_QUERIES = {"x": "width", "y": "height", "z": "depth", "layer": "array_size"}
_WORK_ITEMS = {
    "global_id": "get_global_id",
    "global_size": "get_global_size",
    "local_id": "get_local_id",
    "local_size": "get_local_size",
    "group_id": "get_group_id",
    "group_count": "get_num_groups",
}


def parse(name: str) -> tuple[str, str, bool] | None:
    """Operation, geometry, and need for a sampler, of a primitive that takes a handle."""
    if _GATHER.fullmatch(name):
        return "gather", "gather", True
    match = _NAME.fullmatch(name)
    return (match[1], match[2], match[1] in _SAMPLED) if match else None


def image_type(geometry: str) -> str | None:
    """OpenCL C's image type, or None without such images."""
    return f"image{geometry}_t" if geometry not in _NO_IMAGES else None


def words(name: str) -> str | None:
    """The definition of a work-item primitive."""
    if name == "__bindless_barrier":
        return f"static inline void {name}(void) {{ barrier(CLK_LOCAL_MEM_FENCE); }}"
    match = re.fullmatch(r"__bindless_(\w+)_(\d)", name)
    if match is None or match[1] not in _WORK_ITEMS:
        return None
    return f"static inline ulong {name}(void) {{ return {_WORK_ITEMS[match[1]]}({match[2]}); }}"


def _place(geometry: Geometry) -> list[str]:
    return [*geometry.axes, *(["layer"] if geometry.layered else [])]


def _vector(scalar: str, parts: list[str]) -> str:
    """Coordinates in the form of read_image and write_image: never three."""
    if len(parts) == 1:
        return parts[0]
    components = [*parts, "0"] if len(parts) == 3 else parts
    return f"({scalar}{len(components)})({', '.join(components)})"


def _bounds(geometry: Geometry) -> str:
    return " && ".join(f"(uint){part} < (uint)get_image_{_QUERIES[part]}(image)" for part in _place(geometry))


# Coordinates that a driver supports: below 2^31 pixels, and not NaN. Larger coordinates are equally far outside; for
# repeated images they are an even number of repetitions, as floats of that size are even integers.
_BOUNDED = """static inline float __bindless_bounded(float at, int size)
{ const float most = (float)max(1 << (clz(size) - 1), 2 * size); return fmin(fmax(at, -most), most); }"""


# The layer coordinate, at most the last layer. BINDLESS_SCALED_LAYERS is defined for drivers that multiply it by the
# number of layers if coordinates are normalized (PoCL up to 3.1): the lowest bit of their samplers says whether they
# are.
_LAYER = """#ifdef BINDLESS_SCALED_LAYERS
static inline float __bindless_layer(uint layer, uint count, sampler_t how)
{
    const float at = (float)min(layer, count - 1);
    return (__builtin_astype(how, ulong) & 1) != 0 ? (at + 0.25f) / count : at;
}
#else
static inline float __bindless_layer(uint layer, uint count, sampler_t how) { return (float)min(layer, count - 1); }
#endif"""


def _sampled_at(geometry: Geometry) -> str:
    """The coordinates of a sample."""
    parts = [f"__bindless_bounded({axis}, get_image_{_QUERIES[axis]}(image))" for axis in geometry.axes]
    layer = ["__bindless_layer(layer, (uint)get_image_array_size(image), how)"] if geometry.layered else []
    return _vector("float", [*parts, *layer])


def _channels(values: ValueClass) -> str:
    """Channels that the image lacks are 0; OpenCL gives 1 for alpha."""
    body = "if (order == CLK_R || order == CLK_RG || order == CLK_RGB) color.w = 0; return color;"
    return _function(values.opencl, "__bindless_channels", [f"{values.opencl} color", "int order"], body)


def _extension(name: str, function: str | None = None) -> str:
    missing = f'#else\n#error "{function} needs {name}, which this device does not have"\n' if function else ""
    return f"#ifdef {name}\n#pragma OPENCL EXTENSION {name} : enable\n{missing}#endif"


def definition(name: str, access: str) -> tuple[list[str], str]:
    """The required definitions, each once, and a primitive that takes an image of an access qualifier."""
    match = _NAME.fullmatch(name)
    assert match is not None
    operation, geometry, values = match[1], _GEOMETRIES[match[2]], _CLASSES[match[3]]
    function, before = _FUNCTIONS[values.letter], []
    scalar = "float" if operation.startswith("sample") else "int"
    sampler = ["sampler_t how"] if operation in _SAMPLED else []
    layer = ["uint layer"] if geometry.layered else []
    at = [*layer, *(f"{scalar} {axis}" for axis in geometry.axes)]
    parameters = [f"{access} {image_type(geometry.name)} image", *sampler, *at]
    if operation == "write":
        parameters.append(f"{values.opencl} color")
        if geometry.name == "3d":
            before.append(_extension("cl_khr_3d_image_writes"))
        body = f"if ({_bounds(geometry)}) write_image{function}(image, {_vector('int', _place(geometry))}, color);"
        return before, _function("void", name, parameters, body)
    before.append(_channels(values))
    if scalar == "int":
        read = f"read_image{function}(image, {_vector('int', _place(geometry))})"
        zeros = f"({values.opencl})(0)"
        body = f"return {_bounds(geometry)} ? __bindless_channels({read}, get_image_channel_order(image)) : {zeros};"
        return before, _function(values.opencl, name, parameters, body)
    before.append(_BOUNDED)
    if geometry.layered:
        before.append(_LAYER)
    more = ""
    if operation != "sample":
        before.append(_extension("cl_khr_mipmap_image", "sample_mipmap"))
        dims = geometry.dimensions
        names = ["lod"] if operation == "sample_lod" else [f"{d}{axis}" for d in ("dx", "dy") for axis in geometry.axes]
        parameters += [f"float {extra}" for extra in names]
        if operation == "sample_lod":
            more = ", lod"
        else:
            more = "".join(f", {_vector('float', names[k * dims : (k + 1) * dims])}" for k in range(2))
    read = f"read_image{function}(image, how, {_sampled_at(geometry)}{more})"
    return before, _function(
        values.opencl, name, parameters, f"return __bindless_channels({read}, get_image_channel_order(image));"
    )


def _function(result: str, name: str, parameters: list[str], body: str) -> str:
    attributes = "__attribute__((overloadable, always_inline))"
    return f"static inline {attributes} {result} {name}({', '.join(parameters)})\n{{ {body} }}"
