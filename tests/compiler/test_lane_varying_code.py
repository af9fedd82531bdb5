"""Machine code for handles that differ between lanes: ``ptxas`` for each architecture, read by ``nvdisasm``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bindless as bl
from bindless import kernels
from bindless.compiler.ptx.handle_rounds import in_rounds, with_rounds
from tests.compiler.ptxas import nvdisasm, ptxas, ptxas_version
from tests.support.image_instructions import disassemble, image_instructions

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121")

needs_assembler = pytest.mark.skipif(
    ptxas() is None or nvdisasm() is None,
    reason="needs ptxas and nvdisasm: pip install nvidia-cuda-nvcc nvidia-cuda-nvdisasm",
)


def machine_code(ptx: str | bytes, architecture: str, folder: Path) -> str:
    data = ptx.encode() if isinstance(ptx, str) else ptx
    try:
        return disassemble(data, architecture, str(ptxas()), str(nvdisasm()), folder)
    except AssertionError as error:
        if "is not defined for option 'gpu-name'" in str(error):
            pytest.skip(f"this ptxas has no {architecture}")
        raise


@needs_assembler
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_each_lane_uses_its_own_handle(architecture: str, tmp_path: Path) -> None:
    ptx = kernels.source("lanes", "ptx").rstrip(b"\0")
    written = len(re.findall(rb"(?m)^\s*(?:tex|suld|sust)\.", ptx))
    found = image_instructions(machine_code(ptx, architecture, tmp_path))
    assert len(found) == written > 25
    shared = [item for item in found if item.uniform and not item.selected]
    assert shared == []
    if ptxas_version() >= (13, 0):
        assert [item for item in found if not item.per_lane] == []


@needs_assembler
@pytest.mark.parametrize("architecture", ("sm_75", "sm_90", "sm_120"))
def test_handles_of_a_whole_group_are_recognised(architecture: str, tmp_path: Path) -> None:
    """The check sees the difference: a parameter is one handle for all lanes, an element at the item's index is not."""
    ptx = kernels.source("sample_2d_f", "ptx").rstrip(b"\0")
    found = image_instructions(machine_code(ptx, architecture, tmp_path))
    assert found and all(item.uniform and not item.selected and not item.per_lane for item in found)


# What ptxas of CUDA 12.9 made for sm_120 of a sample whose coordinates are a kernel's argument.
_LOST_RESULT = """
.text.steps:
        /*01f0*/                   LDG.E R8, desc[UR4][R4.64] ;
.L_x_1:
        /*0200*/                   {coordinate}
        /*0210*/                   PLOP3.LUT P0, PT, P0, P1, PT, 0xf2, 0x2f ;
        /*0220*/              @P1  R2UR P0, UR6, R6 ;
        /*0230*/                   PLOP3.LUT P0, PT, P0, P1, PT, 0xf2, 0x2f ;
        /*0240*/              @P1  R2UR.OR P0, UR7, R7 ;
        /*0250*/              @!P0 TEX RZ, R9, R8, UR6, 3D, 0x1 ;
        /*0260*/              @P1  PLOP3.LUT P1, PT, P0, PT, PT, 0x80, 0x8 ;
        /*0270*/                   PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x8 ;
        /*0280*/              @P1  BRA.U.ANY `(.L_x_1) ;
        /*0290*/                   EXIT ;
"""


@pytest.mark.parametrize(
    ("coordinate", "lost"),
    [
        ("LDC R9, c[0x0][0x388] ;", ("R9",)),  # the register of the result, written in each round
        ("FADD R8, R8, 1 ;", ("R8",)),  # a coordinate that moves on in each round
        ("LDC R10, c[0x0][0x388] ;", ()),
        ("MOV R10, R4 ;", ()),
        ("@!P0 LDC R9, c[0x0][0x388] ;", ()),  # for the lanes of the round only
    ],
)
def test_registers_that_a_round_overwrites(coordinate: str, lost: tuple[str, ...]) -> None:
    text = _LOST_RESULT.replace("{coordinate}", coordinate)
    (found,) = image_instructions(text)
    assert (found.kernel, found.uniform, found.selected) == ("steps", True, True)
    assert found.overwritten == lost and found.per_lane == (not lost)


def test_a_uniform_register_outside_a_loop_is_one_handle_for_all() -> None:
    text = ".text.k:\n/*00f0*/ R2UR UR4, R4 ;\n/*0100*/ TEX R14, R12, R6, UR4, 2D ;\n/*0110*/ EXIT ;\n"
    (found,) = image_instructions(text)
    assert found.uniform and not found.selected and not found.per_lane


PARAMETER_AND_MEMORY = """.version 6.3
.target sm_75
.address_size 64
.visible .entry images(.param .u64 images_param_0, .param .u64 images_param_1)
{
.reg .b32 %r<12>;
.reg .b64 %rd<5>;
.reg .pred %p<2>;
ld.param.b64 %rd1, [images_param_0];
ld.param.b64 %rd2, [images_param_1];
ld.global.b64 %rd3, [%rd2];
ld.global.b32 %r1, [%rd2+8];
setp.ne.b32 %p1, %r1, 0;
tex.1d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%rd1, {%r1}];
@%p1 tex.1d.v4.f32.f32 {%r6, %r7, %r8, %r9}, [%rd3, {%r1}];
suld.b.1d.b32.zero {%r10}, [%rd3, {%r1}];
sust.b.1d.b32.zero [%rd3, {%r1}], {%r2};
st.global.b32 [%rd2], %r6;
st.global.b32 [%rd2+4], %r10;
ret;
}
"""


def test_rounds_are_made_for_handles_that_may_differ() -> None:
    made = with_rounds(PARAMETER_AND_MEMORY)
    assert made.count("BL_ROUND:") == 3
    assert in_rounds("suld.b.1d.b32.zero {%r10}, [%rd3, {%r1}];", "%rd3") in made
    assert "\ntex.1d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%rd1, {%r1}];\n" in made
    assert with_rounds("// a module without images\n") == "// a module without images\n"


def test_parameters_of_functions_may_differ() -> None:
    sample = "tex.1d.v4.f32.f32 {%a, %b, %c, %d}, [%rd1, {%x}];\n}\n"
    text = f"\n.func called(.param .b64 a)\n{{\nld.param.b64 %rd1, [a];\n{sample}"
    assert with_rounds(text).count("BL_ROUND:") == 1
    both = f"{text}\n.visible .entry k(.param .b64 k_param_0)\n{{\nld.param.b64 %rd1, [k_param_0];\n{sample}"
    assert with_rounds(both).count("BL_ROUND:") == 1
    changed = both.replace("[k_param_0];\n", "[k_param_0];\nadd.s64 %rd1, %rd1, %rd2;\n")
    assert with_rounds(changed).count("BL_ROUND:") == 2


@needs_assembler
@pytest.mark.parametrize("architecture", ("sm_75", "sm_90", "sm_120"))
def test_rounds_are_assembled(architecture: str, tmp_path: Path) -> None:
    lanes = kernels.source("lanes", "ptx").rstrip(b"\0").decode()
    for ptx in (PARAMETER_AND_MEMORY, lanes):
        made = with_rounds(ptx)
        found = image_instructions(machine_code(made, architecture, tmp_path))
        assert len(found) == len(re.findall(r"(?m)^\s*(?:@%p1 )?(?:tex|suld|sust)\.", ptx))


REGISTERS = {"f": ("f32", "%f"), "r": ("b32", "%r"), "l": ("b64", "%rd"), "h": ("b16", "%h")}


def wrapped(code: bl.InlinePtx) -> str:
    """Return a kernel whose registers are the operands of inline assembly."""
    names, text = [], code.assembly
    for number, constraint in enumerate(code.constraints.split(",")):
        type_, prefix = REGISTERS[constraint.lstrip("=")]
        names.append((f"{prefix}{number}", type_))
    for number in reversed(range(len(names))):
        text = text.replace(f"${number}", names[number][0])
    declared = "\n".join(f".reg .{type_} {name};" for name, type_ in names)
    return f".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k()\n{{\n{declared}\n{text}\nret;\n}}\n"


def every_form() -> list[dict[str, object]]:
    forms: list[dict[str, object]] = []
    for name in ("sample_image", "sample_mipmap", "fetch_sampled_image", "fetch_image", "write_image"):
        forms += [{"function": name, "dimensions": dims} for dims in (1, 2, 3)]
    forms += [{"function": "sample_mipmap", "dimensions": dims, "gradients": True} for dims in (1, 2, 3)]
    for name in ("sample_image_array", "fetch_sampled_image_array", "fetch_image_array", "write_image_array"):
        forms += [{"function": name, "dimensions": dims} for dims in (1, 2)]
    forms += [{"function": "sample_cubemap", "dimensions": 3}]
    forms += [{"function": "sample_image", "dimensions": 2, "dtype": dtype} for dtype in ("int32", "uint32")]
    forms += [{"function": "sample_image", "dimensions": 3, "channel": channel} for channel in range(4)]
    forms += [{"function": "fetch_sampled_image", "dimensions": 1, "dtype": "int32", "channel": 2}]
    for dtype in ("uint8", "int16", "float16", "float32"):
        for channels in (1, 2, 4):
            forms += [
                {"function": f"{verb}_image", "dtype": dtype, "channels": channels} for verb in ("fetch", "write")
            ]
    return [{**form, "per_lane": rounds} for form in forms for rounds in (False, True)]


@needs_assembler
@pytest.mark.parametrize("architecture", ("sm_75", "sm_120"))
def test_inline_assembly_is_assembled(architecture: str, tmp_path: Path) -> None:
    for form in every_form():
        code = bl.inline_ptx(**form)  # type: ignore[arg-type]
        assert len(code.constraints.split(",")) == len(code.results) + len(code.arguments), form
        machine_code(wrapped(code), architecture, tmp_path)


@pytest.mark.parametrize(
    "form",
    [
        {"function": "sample"},
        {"function": "sample_image", "dimensions": 4},
        {"function": "sample_image_array", "dimensions": 3},
        {"function": "sample_cubemap", "dimensions": 2},
        {"function": "sample_image", "dtype": "float16"},
        {"function": "sample_image", "gradients": True},
        {"function": "sample_image", "channels": 1},
        {"function": "sample_image", "channel": 4},
        {"function": "fetch_image", "channel": 0},
        {"function": "fetch_image", "channels": 3},
        {"function": "fetch_image", "dtype": "float64"},
    ],
)
def test_unknown_forms_are_refused(form: dict[str, object]) -> None:
    with pytest.raises(bl.InvalidError) as caught:
        bl.inline_ptx(**form)  # type: ignore[arg-type]
    assert str(next(reversed(form.values()))) in str(caught.value)
