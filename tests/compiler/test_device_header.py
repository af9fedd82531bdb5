"""User kernels with include/bindless/device.h: every function for every type, through the same tools."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bindless as bl
from bindless.compiler.llvm.find_toolchain import find_toolchain
from bindless.compiler.llvm.toolchain import TARGETS
from bindless.compiler.prelude import ptx_images, spirv_images
from tests.builtin_kernels.host_kernels import REPOSITORY

pytestmark = pytest.mark.skipif(
    not bl.kernels_available(),
    reason="needs a kernel compiler: pip install 'bindless[kernels]'",
)

SCALARS = ["float", "half", "int", "uint", "short", "ushort", "char", "uchar"]
TYPES = [scalar + width for scalar in SCALARS for width in ("", "2", "3", "4")]
PRELUDES = {"ptx": ptx_images.module, "spirv": spirv_images.module}
BYTES = {"float": 4, "half": 2, "int": 4, "uint": 4, "short": 2, "ushort": 2, "char": 1, "uchar": 1}

EVERYWHERE = """
#include <bindless/device.h>
kernel void all(sampled_image_handle s, unsampled_image_handle u, global T *out, global const float *p,
                global const int *q, uint n)
{
    float x = p[0]; float2 xy = (float2)(p[0], p[1]); float3 xyz = (float3)(p[0], p[1], p[2]);
    int i = q[0]; int2 ij = (int2)(q[0], q[1]); int3 ijk = (int3)(q[0], q[1], q[2]);
    *out++ = fetch_image_T(u, i); *out++ = fetch_image_T(u, ij); *out++ = fetch_image_T(u, ijk);
    *out++ = fetch_image_array_T(u, i, n); *out++ = fetch_image_array_T(u, ij, n); *out++ = fetch_cubemap_T(u, ij, n);
    *out++ = fetch_sampled_image_T(s, i); *out++ = fetch_sampled_image_T(s, ij); *out++ = fetch_sampled_image_T(s, ijk);
    *out++ = fetch_sampled_image_array_T(s, i, n); *out++ = fetch_sampled_image_array_T(s, ij, n);
    *out++ = sample_image_T(s, x); *out++ = sample_image_T(s, xy); *out++ = sample_image_T(s, xyz);
    *out++ = sample_image_array_T(s, x, n); *out++ = sample_image_array_T(s, xy, n);
    *out++ = sample_mipmap_T(s, x, 1.5f); *out++ = sample_mipmap_T(s, xy, 1.5f); *out++ = sample_mipmap_T(s, xyz, 1.5f);
    write_image(u, i, *out); write_image(u, ij, *out); write_image(u, ijk, *out);
    write_image_array(u, i, n, *out); write_image_array(u, ij, n, *out); write_cubemap(u, ij, n, *out);
"""
PTX_ALONE = """
    *out++ = sample_mipmap_T(s, x, p[3], p[4]); *out++ = sample_mipmap_T(s, xy, xy.yx, xy + 1);
    *out++ = sample_mipmap_T(s, xyz, xyz.zyx, xyz + 1); *out++ = sample_cubemap_T(s, xyz);
"""


def build(source: str, target: str, folder: Path) -> bytes:
    toolchain = find_toolchain()
    (folder / "user.cl").write_text(source)
    (folder / "prelude.ll").write_text(PRELUDES[target]())
    include = [REPOSITORY / "include"]
    compiled = toolchain.compile(folder / "user.cl", folder / "user.ll", TARGETS[target], include, {})
    linked = toolchain.link([compiled, folder / "prelude.ll"], folder / "linked.ll")
    optimised = toolchain.optimise(linked, folder / "optimised.ll", ["all"])
    return toolchain.translate(optimised, folder / "artifact", TARGETS[target])


@pytest.mark.parametrize("result", TYPES)
def test_every_function_becomes_an_instruction_on_ptx(result: str, tmp_path: Path) -> None:
    text = build(
        (EVERYWHERE + PTX_ALONE + "}").replace("T ", f"{result} ").replace("_T(", f"_{result}("), "ptx", tmp_path
    ).decode()
    assert ".extern" not in text and "call" not in text
    scalar = result.rstrip("234")
    width = BYTES[scalar] * {"": 1, "2": 2, "3": 4, "4": 4}[result[len(scalar) :]]
    blob = {1: "b8", 2: "b16", 4: "b32", 8: "v2.b32", 16: "v4.b32"}[width]
    kind = "f32" if scalar in ("float", "half") else "u32" if scalar.startswith("u") else "s32"
    used = re.findall(r"\b(?:tex|suld|sust)\.\S+", text)
    shapes = ["1d", "2d", "3d", "a1d", "a2d", "a2d"]
    expected = [f"suld.b.{shape}.{blob}.zero" for shape in shapes] + [f"sust.b.{shape}.{blob}.zero" for shape in shapes]
    expected += [f"tex.{shape}.v4.{kind}.s32" for shape in ("2d", "2d", "3d", "a1d", "a2d")]
    expected += [f"tex.{shape}.v4.{kind}.f32" for shape in ("1d", "2d", "3d", "a1d", "a2d", "cube")]
    expected += [f"tex.{form}.{shape}.v4.{kind}.f32" for form in ("level", "grad") for shape in ("1d", "2d", "3d")]
    assert sorted(used) == sorted(expected)


@pytest.mark.parametrize("result", TYPES)
def test_every_function_becomes_an_instruction_on_spirv(result: str, tmp_path: Path) -> None:
    data = build((EVERYWHERE + "}").replace("T ", f"{result} ").replace("_T(", f"_{result}("), "spirv", tmp_path)
    words = [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]
    opcodes: dict[int, int] = {}
    at = 5
    while at < len(words):
        opcodes[words[at] & 0xFFFF] = opcodes.get(words[at] & 0xFFFF, 0) + 1
        at += words[at] >> 16
    sample, read, write, call = 88, 98, 99, 57
    assert (opcodes[sample], opcodes[read], opcodes[write]) == (8, 11, 6)
    assert call not in opcodes


CUBIC = """
#include <bindless/device.h>
kernel void all(sampled_image_handle s, global T *out, global const float *p, uint n)
{
    float x = p[0]; float2 xy = (float2)(p[0], p[1]); float3 xyz = (float3)(p[0], p[1], p[2]);
    *out++ = sample_image_cubic_T(s, x); *out++ = sample_image_cubic_T(s, xy); *out++ = sample_image_cubic_T(s, xyz);
    *out++ = sample_image_cubic_T(s, x, 9.0f); *out++ = sample_image_cubic_T(s, xy, (float2)(9, 8));
    *out++ = sample_image_cubic_T(s, xyz, (float3)(9, 8, 7));
    *out++ = sample_image_cubic_array_T(s, x, n); *out++ = sample_image_cubic_array_T(s, xy, n);
    *out++ = sample_image_cubic_array_T(s, x, n, 9.0f); *out++ = sample_image_cubic_array_T(s, xy, n, (float2)(9, 8));
}
"""


@pytest.mark.parametrize("result", [name for name in TYPES if name.startswith(("float", "half"))])
def test_cubic_samples_are_linear_samples_on_ptx(result: str, tmp_path: Path) -> None:
    """2, 4 and 8 texture instructions for 1, 2 and 3 dimensions, in two forms of coordinates."""
    text = build(CUBIC.replace("T ", f"{result} ").replace("_T(", f"_{result}("), "ptx", tmp_path).decode()
    assert ".extern" not in text and "call" not in text and ".local" not in text
    used = re.findall(r"\btex\.(\S+)\.v4\.f32\.f32", text)
    assert {shape: used.count(shape) for shape in used} == {"1d": 4, "2d": 8, "3d": 16, "a1d": 4, "a2d": 8}


HANDLES = """
#include <bindless/device.h>
struct atlas { uint first; sampled_image_handle images[4]; };
kernel void all(global const sampled_image_handle *array, global const ulong *global const *pointers,
                struct atlas atlas, global float4 *out)
{
    size_t i = bindless_item_id(1, 2), n = bindless_item_range(0, 2);
    out[0] = sample_image_float4(array[i], (float2)(0.5f, 0.5f));
    out[1] = sample_image_float4(pointers[i][n], (float2)(0.5f, 0.5f));
    out[2] = sample_image_float4(atlas.images[i & 3], (float2)(0.5f, 0.5f));
    bindless_barrier();
}
"""


@pytest.mark.parametrize("target", ["ptx", "spirv"])
def test_handles_come_from_arrays_pointers_and_structures(target: str, tmp_path: Path) -> None:
    data = build(HANDLES, target, tmp_path)
    if target == "ptx":
        assert data.count(b"tex.2d.v4.f32.f32") == 3
        # In SYCL's order, the last of two dimensions is the first native one.
        assert b"%ctaid.x" in data and b"%nctaid.y" in data and b"%ctaid.y" not in data
        assert b"bar.sync" in data or b"barrier.sync" in data
    else:
        assert data[:4] == b"\x03\x02\x23\x07"
