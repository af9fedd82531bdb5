"""Kernels that compare their ids with the sizes of the range: the text, and what NVIDIA's assembler says of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bindless.compiler.ptx.range_guard import with_range
from tests.compiler.ptxas import assemble

HEAD = ".version 6.3\n.target sm_75\n.address_size 64\n"
SUM = """
.visible .entry add(
	.param .u64 .ptr .global .align 4 values, // a comment with { a brace
	.param .f32 factor
)
.maxntid 256, 1, 1
{
	.reg .f32 %f<3>;
	.reg .b64 %rd<4>;
	.reg .b32 %r<4>;
	.local .align 8 .b8 depot[16];
	ld.param.u64 %rd1, [values];
	ld.param.f32 %f1, [factor];
	{
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	}
	mad.lo.u32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd1, %rd1, %rd2;
	ld.global.f32 %f2, [%rd1];
	add.f32 %f2, %f2, %f1;
	st.global.f32 [%rd1], %f2;
	ret;
}
"""
NOTHING = "\n.visible .entry nothing { ret; }\n"
SUMS_OF_GROUPS = """
.visible .entry groups(.param .u64 out)
{
	.reg .b32 %r<2>;
	mov.u32 %r1, %nctaid.x;
	bar.sync 0;
	ret;
}
"""


def test_the_kernel_has_one_more_parameter_and_stands_alone(tmp_path: Path) -> None:
    text = with_range(HEAD + NOTHING + SUM + SUMS_OF_GROUPS, "add")
    assert text is not None
    assert re.findall(r"\.entry (\w+)", text) == ["add"]
    (parameters,) = re.findall(r"\.entry add\(([^)]*)\)", text)
    assert [part.split()[-1] for part in parameters.split(",")] == ["values", "factor", "bindless_range[24]"]
    body = text[text.index("{") :]
    assert body.count("@bl_beyond ret;") == 3
    assert body.index("@bl_beyond ret;") < body.index("ld.global.f32")
    assemble(text, tmp_path)


def test_a_kernel_without_parameters_gets_one(tmp_path: Path) -> None:
    text = with_range(HEAD + NOTHING, "nothing")
    assert text is not None
    assert ".entry nothing(\n.param .align 8 .b8 bindless_range[24]\n)" in text
    assemble(text, tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "mov.u32 %r1, %nctaid.x;",
        "bar.sync 0;",
        "barrier.sync 0;",
        "mov.u32 %r1, %laneid;",
        "activemask.b32 %r1;",
        "vote.sync.any.pred %p1, %p1, -1;",
        ".shared .align 4 .b8 part[64];",
    ],
)
def test_kernels_that_could_see_the_difference_stay(line: str) -> None:
    assert with_range(HEAD + SUM.replace("\tret;", f"\t{line}\n\tret;"), "add") is None


@pytest.mark.parametrize(
    "declaration",
    [
        ".visible .global .align 4 .u32 counter;",
        ".global .align 4 .u32 counter = 3;",
        ".visible .const .align 4 .f32 factor;",
        ".extern .func (.param .b32 result) vprintf (.param .b64 text, .param .b64 values);",
        ".section .debug_info { .b8 1 }",
    ],
)
def test_modules_whose_memory_or_functions_are_elsewhere_stay(declaration: str) -> None:
    assert with_range(f"{HEAD}{declaration}\n{SUM}", "add") is None


def test_tables_of_constants_are_kept(tmp_path: Path) -> None:
    text = with_range(f"{HEAD}.const .align 4 .b8 table[4] = {{1, 2, 3, 4}};\n{SUM}", "add")
    assert text is not None
    assert "table[4] = {1, 2, 3, 4}" in text
    assemble(text, tmp_path)


def test_an_unknown_kernel_and_a_binary_have_no_guarded_form() -> None:
    assert with_range(HEAD + SUM, "other") is None
    assert with_range("", "add") is None
