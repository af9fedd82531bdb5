"""Kernels as OpenCL C for devices without handles: generated parameters, and refused sources."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import bindless as bl
from bindless.compiler.llvm.find_toolchain import find_toolchain
from bindless.compiler.source.items import items
from tests.support.error_checks import raises

pytestmark = pytest.mark.skipif(
    not bl.kernels_available(), reason="needs a kernel compiler: pip install 'bindless[kernels]'"
)

HEAD = "#include <bindless/device.h>\n"


def _text(source: str, **options: object) -> str:
    file = bl.build(HEAD + source, targets="opencl_c", **options)  # type: ignore[arg-type]
    assert file.languages == ("opencl_c",)
    return file.sections[0].data.decode()


def _parameters(text: str, function: str) -> list[list[str]]:
    """Return the parameters of each function definition."""
    found = re.findall(rf"\b{function}\(([^()]*)\)\s*\{{", text)
    return [[" ".join(part.split()) for part in listed.split(",")] for listed in found]


def test_a_sampled_handle_is_an_image_and_a_sampler_wherever_it_goes() -> None:
    text = _text(
        "float4 outer(float x, const sampled_image_handle picture);\n"
        "static float4 inner(sampled_image_handle image, float2 at) { return sample_image_float4(image, at); }\n"
        "float4 outer(float x, const sampled_image_handle picture) { return inner(picture, (float2)(x, 0.5f)); }\n"
        "kernel void f(global float4 *out, sampled_image_handle a, float x, sampled_image_handle b)\n"
        "{ out[0] = outer(x, a) + sample_image_array_float4(b, 0.5f, 2); }"
    )
    pair = ["read_only image2d_t {}__bindless_image", "sampler_t {}__bindless_sampler"]
    assert _parameters(text, "inner") == [[*(word.format("image") for word in pair), "float2 at"]]
    assert _parameters(text, "outer") == [["float x", *(word.format("picture") for word in pair)]]
    assert _parameters(text, "f") == [
        [
            "global float4 *out", *(word.format("a") for word in pair), "float x",
            "read_only image1d_array_t b__bindless_image", "sampler_t b__bindless_sampler",
        ]
    ]  # fmt: skip
    assert len(re.findall(r"\bouter\([^()]*\);", text)) == 1  # the declaration follows the definition


def test_access_is_what_the_kernel_does() -> None:
    text = _text(
        "static float get(unsampled_image_handle image, int3 at) { return fetch_image_float(image, at); }\n"
        "kernel void read(unsampled_image_handle in, global float *out) { *out = get(in, (int3)(0)); }\n"
        "kernel void write(unsampled_image_handle out) { write_image(out, (int3)(0), 1.0f); }\n"
        "kernel void add(unsampled_image_handle both) { write_image(both, (int3)(0), get(both, (int3)(0)) + 1); }\n"
        "kernel void none(unsampled_image_handle nothing, global int *out) { *out = 1; }"
    )
    image = "image3d_t"
    assert _parameters(text, "read")[0] == [f"read_only {image} in__bindless_image", "global float *out"]
    assert _parameters(text, "write") == [[f"write_only {image} out__bindless_image"]]
    assert _parameters(text, "add") == [[f"read_write {image} both__bindless_image"]]
    assert _parameters(text, "none") == [["unsampled_image_handle nothing", "global int *out"]]
    accesses = {parameters[0].split()[0] for parameters in _parameters(text, "get")}
    assert accesses == {"read_only", "read_write"}


def test_overloads_are_told_apart() -> None:
    text = _text(
        "#define OVERLOADED __attribute__((overloadable))\n"
        "OVERLOADED float4\nlook(sampled_image_handle image, float2 at)\n{ return sample_image_float4(image, at); }\n"
        "OVERLOADED float4\nlook(sampled_image_handle image, float3 at)\n{ return sample_image_float4(image, at); }\n"
        "kernel void f(sampled_image_handle flat, sampled_image_handle deep, global float4 *out)\n"
        "{ *out = look(flat, (float2)(1)) + look(deep, (float3)(2)); }"
    )
    assert [parameters[0].split()[1] for parameters in _parameters(text, "look")] == ["image2d_t", "image3d_t"]


@pytest.mark.parametrize("standard", ["CL1.2", "CL2.0", "CL3.0"])
def test_the_text_stands_alone_and_holds_what_is_used(standard: str, tmp_path: Path) -> None:
    file = tmp_path / "alone.cl"
    file.write_text(
        _text(
            "#define PICTURE image\ntypedef struct { float2 at; int image; } place_t;\n"
            "kernel void f(sampled_image_handle PICTURE, global const place_t *places, global float4 *out)\n"
            "{ const size_t i = bindless_item_id(0, 1); global const place_t *p = places + i;\n"
            "  out[i] = sample_image_float4(image, p->at) * p->image; }\n"
            "static void unused(global float4 *out) { *out = 0; }"
        )
    )
    tools = find_toolchain()
    command = [
        *tools.clang,
        *tools.headers,
        "-x",
        "cl",
        f"-cl-std={standard}",
        "-fsyntax-only",
        "-Werror",
        "-target",
        "spir64",
        str(file),
    ]
    subprocess.run(command, check=True, timeout=120)
    text = file.read_text()
    assert "sample_image_half" not in text and "fetch_" not in text and "unused" not in text
    assert "__builtin_convertvector" not in text and len(text) < 3000


def test_constants_are_macros_of_the_device_s_compiler() -> None:
    text = _text(
        "kernel void f(global float *out)\n"
        "{ out[0] = bindless_constant_int(0x10, 3) + bindless_constant_float(2u, 0.5f)\n"
        "  + bindless_constant_int(16, 3); }"
    )
    assert set(re.findall(r"/\* (BINDLESS_CONSTANT_\d+ \w+ \d.*) \*/", text)) == {
        "BINDLESS_CONSTANT_16 int 4 = 3",
        "BINDLESS_CONSTANT_2 float 4 = 0.5",
    }
    shown = [*find_toolchain().clang, "-x", "cl", "-E", "-P", "-cl-no-stdinc", "-DBINDLESS_CONSTANT_16=7", "-"]
    done = subprocess.run(shown, input=text, capture_output=True, text=True, check=True, timeout=120).stdout
    assert re.search(r"= \(\(int\)7\) \+ \(\(float\)\(0\.5f\)\)\s*\+ \(\(int\)7\);", done)
    with raises(bl.BuildError, names=("bindless_constant_int(one...)", "'f'")):
        _text("enum { one = 1 };\nkernel void f(global int *out) { *out = bindless_constant_int(one, 3); }")


REFUSED = {
    "an array": (
        "kernel void tile(global const sampled_image_handle *atlas, global const uint *which, global float4 *out)\n"
        "{ size_t i = get_global_id(0); out[i] = sample_image_float4(atlas[which[i]], 0.5f); }",
        "kernel 'tile' uses a handle that is no parameter of its own but comes from .*'atlas'.*opencl_c",
    ),
    "a structure": (
        "typedef struct { float x; sampled_image_handle image; } view_t;\n"
        "kernel void see(view_t view, global float4 *out) { *out = sample_image_float4(view.image, view.x); }",
        "kernel 'see' uses a handle .* comes from 'view'",
    ),
    "a function's array": (
        "static float4 get(global const ulong *list) { return sample_image_float4(list[1], 0.5f); }\n"
        "kernel void f(global const ulong *handles, global float4 *out) { *out = get(handles); }",
        "function 'get' uses a handle .* comes from 'list'",
    ),
    "a choice": (
        "kernel void f(sampled_image_handle a, sampled_image_handle b, int x, global float4 *out)\n"
        "{ *out = sample_image_float4(x ? a : b, 0.5f); }",
        "kernel 'f' uses a handle .* comes from .*'a' or 'b'",
    ),
    "a copy": (
        "kernel void f(sampled_image_handle a, global float4 *out)\n"
        "{ const sampled_image_handle same = a; *out = sample_image_float4(same, 0.5f); }",
        "'f' does more with the handle 'a' than to pass it to functions",
    ),
    "two shapes": (
        "kernel void f(sampled_image_handle a, global float4 *out)\n"
        "{ *out = sample_image_float4(a, 0.5f) + sample_image_float4(a, (float2)(0.5f)); }",
        "parameter 'a' of 'f' is used for images of different shapes, 1d and 2d",
    ),
    "two kinds": (
        "kernel void f(unsampled_image_handle a, global float4 *out)\n"
        "{ *out = sample_image_float4(a, 0.5f) + fetch_image_float4(a, 1); }",
        "parameter 'a' of 'f' is used both as a sampled and as an unsampled image",
    ),
    "a cubemap": (
        "kernel void f(sampled_image_handle sky, global float4 *out)\n"
        "{ *out = sample_cubemap_float4(sky, (float3)(1)); }",
        "'sky' of 'f' is used for a cubemap, which OpenCL has not",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_opencl_cannot_express_is_refused_by_name(name: str) -> None:
    source, words = REFUSED[name]
    with raises(bl.BuildError, match=re.compile(words, re.DOTALL)):
        _text(source)


def test_by_default_such_a_file_is_for_the_other_devices() -> None:
    file = bl.build(HEAD + REFUSED["an array"][0])
    assert file.languages == ("spirv", "ptx") and "nothing for OpenCL devices" in file.log and "'atlas'" in file.log
    assert bl.build(HEAD + "kernel void f(global int *o) { *o = 1; }").languages == ("spirv", "ptx", "opencl_c")


def test_kernels_of_one_target_alone() -> None:
    file = bl.build(
        HEAD + "kernel void all(global int *o) { *o = 1; }\n"
        "#ifdef BINDLESS_OPENCL_C\nkernel void here(sampled_image_handle i, global float4 *o)\n"
        "{ *o = sample_image_float4(i, 0.5f); }\n#endif",
        targets=["spirv", "opencl_c"],
    )
    assert [(section.language, section.kernels) for section in file.sections] == [
        ("spirv", ("all",)),
        ("opencl_c", ("all", "here")),
    ]
    assert bl.KernelFile.from_bytes(file.to_bytes()) == file


def test_items_of_a_source() -> None:
    found = items(
        '# 1 "file.cl"\n#pragma unroll\ntypedef struct __attribute__((packed)) { float x[2]; } s_t;\n'
        "constant float table[] = { (float)1, 2 };\n"
        "__attribute__((reqd_work_group_size(8, 1, 1)))\n"
        "kernel void f(global s_t *a, int (b)) { if (b) { a->x[0] = ')'; } }\n"
        "static int g(void);\n"
    )
    assert [(item.name, item.body >= 0, [p.name for p in item.parameters]) for item in found] == [
        ("", False, []),
        ("", False, []),
        ("", False, []),
        ("f", True, ["a", "b"]),
        ("g", False, []),
    ]
    assert [item.is_kernel for item in found] == [False, False, False, True, False]
    assert found[3].lines_before == 1
