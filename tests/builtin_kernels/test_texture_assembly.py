"""Texture and surface instructions in inline assembly equal those that LLVM emits for handle parameters."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bindless as bl
from bindless.compiler.llvm.llvm_tools import LLVMTools
from bindless.compiler.llvm.pip_tools import PipTools
from bindless.compiler.llvm.texture_assembly import with_assembly
from bindless.compiler.llvm.toolchain import TARGETS
from bindless.compiler.prelude import ptx_images

pytestmark = pytest.mark.skipif(
    not bl.kernels_available(), reason="needs a kernel compiler: pip install 'bindless[kernels]'"
)

CHOICE = """
#include <bindless/device.h>
typedef struct { sampled_image_handle first, second; } both_t;
kernel void choose(sampled_image_handle a, sampled_image_handle b, unsampled_image_handle c, unsampled_image_handle d,
                   global const both_t *both, global float4 *out, int n)
{
    const int i = (int)get_global_id(0);
    const sampled_image_handle from = i < n ? a : b;
    const unsampled_image_handle to = i < n ? d : c;
    write_image(to, i, sample_image_float4(from, (float)i) + fetch_image_float4(to, i + 1));
    out[i] = sample_mipmap_float4(i & 1 ? both[i].first : both[i].second, (float2)(i, n), 0.5f);
}
"""


def _instructions(module: str, folder: Path) -> list[str]:
    """Return instructions on images, without the numbers of their registers."""
    source = folder / "module.ll"
    source.write_text(module)
    tools = LLVMTools.on_path()
    assert tools is not None
    with tools:
        text = tools.translate(source, folder / "module.ptx", TARGETS["ptx"]).decode()
    lines = (line.strip() for line in text.splitlines())
    return [re.sub(r"\s+", " ", re.sub(r"%\w+", "R", line)) for line in lines if re.match(r"(tex|suld|sust)\.", line)]


@pytest.mark.skipif(LLVMTools.on_path() is None, reason="needs LLVM's tools: apt install clang-22 llvm-22")
def test_every_instruction_is_llvm_s(tmp_path: Path) -> None:
    module = ptx_images.module()
    hidden = re.sub(r"i64 %image(?=[,)])(?![^\n]*\{)", "i64 %hidden", module)
    hidden = re.sub(r"(define [^\n]*i64 %image[^\n]*\{\n)", r"\1  %hidden = xor i64 %image, 5\n", hidden)
    own = _instructions(with_assembly(hidden), tmp_path)
    assert len(own) > 100 and own == _instructions(module, tmp_path)


def test_handles_that_are_parameters_stay_llvm_s() -> None:
    assert with_assembly(ptx_images.module()) == ptx_images.module()


@pytest.mark.skipif(bool(PipTools.what_is_missing()), reason="needs pip install 'bindless[kernels]'")
def test_handles_that_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BINDLESS_LLVM", "pip")
    data = bl.build(CHOICE, targets="ptx").sections[0].data.decode()
    assert len(re.findall(r"\btex\.\w+|\btex\.level", data)) == 2
    assert "suld.b.1d.v4.b32.zero" in data and "sust.b.1d.v4.b32.zero" in data
