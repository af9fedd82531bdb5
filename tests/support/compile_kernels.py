"""Compile the tests' OpenCL C for the device under test: SPIR-V, or PTX for CUDA, from the same source.

    queue.parallel_for(n, load(queue, "simple").get_kernel("axpy"), ...)     # of tests/support/kernel_sources/simple.cl

BINDLESS_TEST_KERNELS names a folder of compiled modules, which another machine can use without LLVM.

Kernels that use images are loaded one by one, because llc accepts only one such kernel per module:
``load(queue, "images", "gather")``.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import bindless as bl
from bindless.compiler.llvm.find_toolchain import find_toolchain
from bindless.compiler.llvm.llvm_tools import LLVMTools
from bindless.compiler.llvm.toolchain import TARGETS, Toolchain
from bindless.compiler.prelude import ptx_images, spirv_images, spirv_work_items
from bindless.compiler.spirv.atomics import with_atomics
from bindless.compiler.spirv.constant_offsets import with_instructions
from bindless.compiler.spirv.printf import with_plain_printf
from tests.support.needs import spirv_tool

__all__ = ["assembled", "compiled", "compiled_text", "load"]

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent

_PRELUDES = {"ptx": ptx_images.module, "spirv": spirv_images.module}
_KERNEL = re.compile(r"^\s*(?:__)?kernel\s.*?\bvoid\s+(?:__attribute__\(\(.*?\)\)\s*)?(\w+)\s*\(", re.MULTILINE)


@functools.cache
def _toolchain() -> Toolchain:
    return find_toolchain()


@functools.cache
def compiled_text(text: str, target: str, only: str = "", passes: str = "", extensions: str = "") -> bytes:
    """Compile a module from OpenCL C source text.

    Parameters
    ----------
    text
        The source; it may include ``bindless/device.h``.
    target
        ``spirv`` or ``ptx``.
    only
        Kernels and functions that stay visible, separated by commas; all kernels by default.
    passes
        Passes of LLVM's optimiser. By default those of the built-in kernels, which inline every call.
    extensions
        Names of additional SPIR-V extensions that LLVM may use.
    """
    folder = os.environ.get("BINDLESS_TEST_KERNELS")
    if not folder:
        return _compile(text, target, only, passes, extensions)
    parts = (text, target, only, passes, extensions) if extensions else (text, target, only, passes)
    name = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    kept = Path(folder) / f"{name}.{target}"
    if not kept.is_file():
        kept.write_bytes(_compile(text, target, only, passes, extensions))
    return kept.read_bytes()


def _compile(text: str, target: str, only: str, passes: str, extensions: str) -> bytes:
    tools = _toolchain()
    settings = TARGETS[target]
    if extensions:
        allowed = ",".join(f"+{name}" for name in ("SPV_INTEL_bindless_images", *extensions.split()))
        settings = replace(settings, options=(f"--spirv-ext={allowed}",))
    names = only.split(",") if only else _KERNEL.findall(text)
    assert names, "the source has no kernel"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "source.cl"
        source.write_text(text)
        includes = [REPOSITORY / "include", HERE / "kernel_sources"]
        parts = [tools.compile(source, folder / "compiled.ll", TARGETS[target], includes, {})]
        if target == "spirv":
            parts[0].write_text(with_plain_printf(with_atomics(parts[0].read_text())))
        if "__bindless_" in parts[0].read_text():
            prelude = folder / "prelude.ll"
            prelude.write_text(_PRELUDES[target]())
            parts.append(prelude)
        if target == "spirv" and spirv_work_items.is_needed(parts[0].read_text()):
            parts.append(folder / "opencl.ll")
            parts[-1].write_text(spirv_work_items.module())
        linked = tools.link(parts, folder / "linked.ll")
        optimised = folder / "optimised.ll"
        if passes:
            _transform(tools, linked, optimised, names, passes)
        else:
            tools.optimise(linked, optimised, names)
        if target == "spirv":
            optimised.write_text(with_instructions(optimised.read_text()))
        return tools.translate(optimised, folder / "artifact", settings)


def _transform(tools: Toolchain, linked: Path, output: Path, kernels: list[str], passes: str) -> None:
    """Run given optimiser passes instead of an optimisation level."""
    if isinstance(tools, LLVMTools):
        keep = f"--internalize-public-api-list={','.join(kernels)}"
        opt = [tools.tools["opt"], f"-passes=internalize,globaldce,{passes}", keep, "-S", str(linked)]
        subprocess.run([*opt, "-o", str(output)], check=True, timeout=120)
    else:
        script = [sys.executable, str(HERE / "llvm_passes.py"), str(linked), str(output), ",".join(kernels), passes]
        subprocess.run(script, check=True, timeout=120)


@functools.cache
def assembled(text: str) -> bytes:
    """Assemble a SPIR-V module with SPIRV-Tools."""
    command = [spirv_tool("spirv-as"), "--target-env", "spv1.6", "-", "-o", "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def compiled(name: str, target: str, only: str = "") -> bytes:
    """Compile a module from ``source/{name}.cl``."""
    return compiled_text((HERE / "kernel_sources" / f"{name}.cl").read_text(), target, only)


def load(queue: bl.Queue, name: str, only: str = "") -> bl.KernelBundle:
    """Load ``source/{name}.cl``, compiled for the queue's device; with BINDLESS_TEST_KERNELS, also for GPUs."""
    if queue.device.backend is bl.Backend.opencl:
        return bl.load_kernel_bundle(bl.build(HERE / "kernel_sources" / f"{name}.cl", targets="opencl_c"), queue)
    target = "ptx" if queue.device.backend is bl.Backend.cuda else "spirv"
    if os.environ.get("BINDLESS_TEST_KERNELS"):
        compiled(name, "ptx", only)
    return bl.load_kernel_bundle(compiled(name, target, only), queue)
