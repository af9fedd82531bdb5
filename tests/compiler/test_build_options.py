"""Options, errors and tools of ``bindless.build``, and its command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.cli import main
from bindless.compiler.build import build
from bindless.compiler.llvm.find_toolchain import kernels_available
from bindless.compiler.llvm.llvm_tools import LLVMTools
from bindless.compiler.llvm.toolchain import include_folder
from tests.support.error_checks import raises

_MISSING = not kernels_available()
# Kernels may have been compiled beforehand (tests/support/precompiled_kernels.py).
pytestmark = pytest.mark.skipif(
    _MISSING and not os.environ.get("BINDLESS_TEST_KERNELS"),
    reason="needs a kernel compiler: pip install 'bindless[kernels]'",
)
needs_llvm = pytest.mark.skipif(_MISSING, reason="needs a kernel compiler: pip install 'bindless[kernels]'")
needs_tools = pytest.mark.skipif(LLVMTools.on_path() is None, reason="needs LLVM's tools: apt install clang-22 llvm-22")


def test_defines_includes_and_levels(queue: bl.Queue, tmp_path: Path) -> None:
    (tmp_path / "three.h").write_text("#define THREE 3\n")
    source = tmp_path / "kernel.cl"
    source.write_text(
        '#include "three.h"\n#include "local.h"\nkernel void k(global int *o) { o[0] = THREE * N + LOCAL; }'
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "local.h").write_text("#define LOCAL 5\n")
    out = bl.usm_empty((1,), np.int32, queue)
    for level in (0, 1, 2, 3):
        file = bl.build(source, defines={"N": 7}, includes=[tmp_path / "sub"], optimization=level)
        assert file.source == "kernel.cl" and "-DN=7" in file.options
        queue.single_task(bl.load_kernel_bundle(file, queue).get_kernel("k"), out).wait()
        assert out.numpy(queue)[0] == 26


def test_warnings_are_kept_and_errors_are_clang_s_own_words() -> None:
    warned = bl.build("kernel void k(global int *o)\n{ int unused; o[0] = 1; }", targets="spirv")
    assert "unused variable 'unused'" in warned.log and warned.languages == ("spirv",)
    with raises(bl.BuildError, names=("source.cl:2:8: error", "'nothing'")) as caught:
        bl.build("kernel void k(global int *o)\n{ o[0]=nothing; }")
    assert caught.value.log.startswith("source.cl") or "source.cl:2:8: error" in caught.value.log
    with raises(bl.BuildError, match="unused variable"):
        bl.build("kernel void k(global int *o)\n{ int unused; o[0] = 1; }", options=["-Werror"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"targets": ()}, "one or more of ptx, spirv|one or more of"),
        ({"targets": "metal"}, "targets='metal'"),
        ({"optimization": 4}, "optimization=4.*0, 1, 2.*3"),
        ({"architecture": "sm_60"}, "architecture='sm_60'.*sm_75"),
        ({"defines": ["1A"]}, "'1A'.*NAME"),
        ({"includes": ["/nowhere/at/all"]}, "'/nowhere/at/all'"),
        ({"options": ["-o"]}, "chosen by the build itself"),
        ({"options": ["x.cl"]}, "no option of clang"),
        ({"options": ["@file"]}, "no option of clang"),
        ({"options": ["-"]}, "no option of clang"),
        ({"options": ["-DX=\0"]}, "command line"),
        ({"options": ["-DX=\ud800"]}, "command line"),
        ({"defines": {"X": "\ud800"}}, "command line"),
        ({"includes": ["\0"]}, "command line"),
        *[
            ({"options": [option]}, "chosen by the build itself")
            for option in (
                "--version",
                "--help",
                "-help",
                "-E",
                "-M",
                "-MM",
                "-MFelsewhere",
                "-MJelsewhere",
                "-S",
                "-c",
                "-oelsewhere",
                "--output=elsewhere",
                "--preprocess",
                "-fsyntax-only",
                "-###",
                "-dumpversion",
                "-print-search-dirs",
                "--print-targets",
                "-Wp,-MD,elsewhere",
                "-fplugin=x.so",
                "-save-temps",
                "-ftime-trace",
                "-emit-ast",
                "-xc",
                "--target=x86_64-linux-gnu",
                "--config=file",
                "-flto",
            )
        ],
    ],
)
def test_arguments_that_are_refused(arguments: dict[str, Any], message: str) -> None:
    with raises(bl.InvalidError, match=message):
        bl.build("kernel void k(void)\n{}", **arguments)


@needs_llvm
def test_sources_that_are_refused(tmp_path: Path) -> None:
    with raises(bl.InvalidError, names="nothing.cl'"):
        bl.build(tmp_path / "nothing.cl")
    for text in ("void k(void);\nvoid k(void) {}", "void k(void) {}"):  # a brace makes a line a text
        with raises(bl.BuildError):
            bl.build(text)
    with raises(bl.BuildError, names="outside"):
        bl.build("int outside(int);\nkernel void k(global int *o) { *o = outside(1); }", targets="spirv")


@needs_llvm
@pytest.mark.parametrize("toolchain", ["path", "pip"])
def test_options_by_which_clang_writes_nothing(toolchain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the compiler proper, which no list of options can name all."""
    monkeypatch.setenv("BINDLESS_LLVM", toolchain)
    for option in ("-ast-dump", "-init-only", "-verify-pch"):
        with raises(bl.BuildError):
            bl.build("kernel void k(global int *out) { out[0] = 1; }", options=["-Xclang", option], targets="spirv")


@needs_llvm
def test_options_of_optimisation_and_language_are_taken() -> None:
    options = ["-cl-fast-relaxed-math", "-cl-std=CL3.0", "-ferror-limit=3", "-Wno-unused", "--std=CL3.0", "-g0", "-v"]
    assert bl.build("kernel void k(global int *out) { out[0] = 1; }", options=options).languages


def test_sources_that_are_no_text_and_no_regular_file(tmp_path: Path) -> None:
    with raises(bl.InvalidError):
        bl.build("kernel void k(global int *out) { out[0] = 1; } // \udc80\n")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        for path in (tmp_path / "pipe", "/dev/zero", tmp_path):
            with raises(bl.InvalidError):
                bl.build(path)
            with raises(bl.InvalidError):
                bl.load_kernel_bundle(path, bl.Queue("reference"))
            with raises(bl.InvalidError):
                bl.KernelFile.load(path)


@needs_llvm
@pytest.mark.skipif(os.name != "posix", reason="Windows keeps the current folder")
def test_a_current_folder_that_was_deleted(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os, sys\nimport bindless as bl\nos.mkdir(sys.argv[1])\nos.chdir(sys.argv[1])\nos.rmdir(sys.argv[1])\n"
        "text = 'kernel void k(global int *out) { out[0] = 1; }'\n"
        "for tools in ('', 'pip'):\n    os.environ['BINDLESS_LLVM'] = tools\n"
        "    assert bl.build(text).languages == ('spirv', 'ptx', 'opencl_c')\n"
    )
    command = [sys.executable, str(program), str(tmp_path / "gone")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


@needs_llvm
@pytest.mark.parametrize("space", ["local", "private"])
@pytest.mark.parametrize("length", ["(1UL << 32) + 8", "1UL << 40"])
def test_arrays_longer_than_those_of_spirv(space: str, length: str) -> None:
    """A length of 32 bits would make 8 elements of them."""
    with raises(bl.BuildError):
        bl.build(
            f"kernel void k(global char *out, long i) {{ {space} char t[{length}]; t[i] = 3; barrier(1); "
            "out[0] = t[i + out[1]]; }",
            targets="spirv",
        )


HANGING = {
    "a pipe": '#include "pipe"\n',
    "macros": "#define A0 1+\n"
    + "".join(f"#define A{number} {' '.join([f'A{number - 1}'] * 4)}\n" for number in range(1, 16))
    + "constant int large = A15 1;\n",
}


@needs_llvm
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
@pytest.mark.parametrize("toolchain", ["path", "pip"])
@pytest.mark.parametrize("what", HANGING)
def test_builds_without_end(what: str, toolchain: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BINDLESS_BUILD_TIMEOUT", "2")
    monkeypatch.setenv("BINDLESS_LLVM", toolchain)
    os.mkfifo(tmp_path / "pipe")
    with raises(bl.BuildError, names="BINDLESS_BUILD_TIMEOUT"):
        bl.build(HANGING[what] + "kernel void k(global int *out) { out[0] = 1; }", includes=tmp_path, targets="spirv")


@needs_llvm
def test_missing_tools_are_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("BINDLESS_LLVM", str(tmp_path))
        with raises(bl.FeatureNotSupportedError, names=("clang, llvm-link, opt, llc", "bindless[kernels]")):
            bl.build("kernel void k(void)\n{}")
        for tool in ("clang", "llvm-link", "opt", "llc"):
            (tmp_path / tool).write_text("#!/bin/sh\necho Some LLVM version 14.0.6\n")
            (tmp_path / tool).chmod(0o755)
        with raises(bl.FeatureNotSupportedError, names="LLVM 20"):
            bl.build("kernel void k(void)\n{}")
    with monkeypatch.context() as patch:
        patch.setenv("BINDLESS_LIBCLC", str(tmp_path / "nothing.bc"))
        with raises(bl.FeatureNotSupportedError, names="nothing.bc"):
            bl.build("kernel void k(global float *o)\n{ *o = sin(*o); }", targets="ptx")


@needs_tools
def test_tools_of_a_folder_are_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tools = LLVMTools.on_path()
    assert tools is not None
    for tool, path in tools.tools.items():
        (tmp_path / f"{tool}-22").symlink_to(path)
    monkeypatch.setenv("BINDLESS_LLVM", str(tmp_path))
    assert all(Path(path).parent == tmp_path for path in LLVMTools.of_folder(tmp_path).tools.values())
    assert bl.build("kernel void k(global int *o)\n{ *o = 1; }", targets="spirv").tools["clang"].count("22.") == 1


@needs_tools
def test_other_versions_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BINDLESS_LLVM", "path")
    monkeypatch.setenv("BINDLESS_CACHE", "0")
    other = {tool: f"LLVM version 21.1.{number}" for number, tool in enumerate(("clang", "llvm-link", "opt", "llc"))}
    assert "LLVM" not in build("kernel void k(void)\n{}", targets="spirv").log
    monkeypatch.setattr(LLVMTools, "versions", lambda self: other)
    monkeypatch.setattr(LLVMTools, "major", 21)
    log = build("kernel void k(void)\n{}", targets="spirv").log
    assert "'LLVM version 21.1.3'; kernels are tested with LLVM 22 alone" in log and "BINDLESS_LLVM" in log


def test_a_file_without_the_device_s_language(queue: bl.Queue) -> None:
    other = "spirv" if queue.device.backend is bl.Backend.cuda else "ptx"
    file = bl.build("kernel void lonely(global int *o)\n{ *o = 1; }", targets=other)
    with raises(bl.BuildError, names=(other, "lonely(int* o)", "--target")):
        bl.load_kernel_bundle(file, queue)


def test_a_newer_architecture(queue: bl.Queue) -> None:
    file = bl.build("kernel void k(global int *o)\n{ *o = 1; }", targets="ptx", architecture="sm_90")
    assert [str(section) for section in file.sections] == ["ptx for sm_90"] and b"sm_90" in file.sections[0].data


@needs_llvm
@pytest.mark.parametrize(("level", "unrolled"), [(1, False), (2, True), (3, True)])
def test_loops_of_ptx_are_unrolled(level: int, unrolled: bool) -> None:
    source = """kernel void horner(global float *out, float x, int n)
{
    float value = 0;
    for (int k = 0; k < n; k++)
        value = value * x + 0.5f;
    *out = value;
}"""
    text = build(source, targets="ptx", optimization=level).sections[0].data.decode()
    assert (text.count("mul.rn.f32") > 1) == unrolled, text


@needs_llvm
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], queue: bl.Queue) -> None:
    source = tmp_path / "twice.cl"
    source.write_text("kernel void twice(global int *data) { int unused; data[get_global_id(0)] *= TWO; }")
    assert main(["build", str(source), "-DTWO=2", "-O3"]) == 0
    said = capsys.readouterr()
    assert "twice(int* data)" in said.out and "unused variable" in said.err
    data = bl.usm_empty(10, "int32", queue).copy_from(np.arange(10, dtype=np.int32))
    kernel = bl.load_kernel_bundle(tmp_path / "twice.blk", queue).get_kernel("twice")
    queue.parallel_for(10, kernel, data).wait()
    assert data.numpy(queue).tolist() == list(range(0, 20, 2))
    assert main(["build", str(tmp_path / "twice.blk"), "--list"]) == 0
    assert "ptx for sm_75" in capsys.readouterr().out
    assert main(["build", str(source)]) == 1
    assert "use of undeclared identifier 'TWO'" in capsys.readouterr().err
    assert main(["build", str(source), "-o", str(source)]) == 1


@needs_tools
@pytest.mark.usefixtures("needs_spirv")
def test_clang_alone_makes_the_same_results(queue: bl.Queue, tmp_path: Path) -> None:
    """The documented commands, without the tool."""
    source = tmp_path / "plain.cl"
    source.write_text("kernel void plain(global int *out) { out[get_global_id(0)] = (int)get_global_id(0) * 3; }")
    if queue.device.backend is bl.Backend.cuda:
        pytest.skip("PTX by clang alone has no get_global_id: docs/guide/kernels.md says so")
    found = LLVMTools.on_path()
    assert found is not None
    tools = found.tools
    subprocess.run(
        [tools["clang"], "-x", "cl", "-cl-std=CL3.0", "-O2", "-target", "spirv64-unknown-unknown", "-emit-llvm", "-S",
         f"-I{include_folder()}", str(source), "-o", str(tmp_path / "plain.ll")], check=True,
        timeout=120,
    )  # fmt: skip
    subprocess.run(
        [tools["llc"], "-O3", "-mtriple=spirv64-unknown-unknown", "-filetype=obj", str(tmp_path / "plain.ll"), "-o",
         str(tmp_path / "plain.spv")], check=True,
        timeout=120,
    )  # fmt: skip
    out = bl.usm_empty((5,), np.int32, queue)
    kernel = bl.load_kernel_bundle(tmp_path / "plain.spv", queue).get_kernel("plain")
    queue.parallel_for(5, kernel, out).wait()
    assert out.numpy(queue).tolist() == [0, 3, 6, 9, 12]
