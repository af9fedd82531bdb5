"""Functions of OpenCL C that neither clang nor an installed libclc has for NVIDIA GPUs, generated on use."""

from __future__ import annotations

from pathlib import Path

from ...model.errors import BuildError
from ..llvm.toolchain import TargetSettings, Toolchain
from ..llvm.undefined_functions import Declaration, undefined
from ..prelude.ptx_images import DATA_LAYOUT, TRIPLE
from . import atomics, conversion_functions, group_functions, half, scalar_functions

__all__ = ["definitions", "features"]

_SUPPORTED = (
    "__opencl_c_atomic_order_acq_rel", "__opencl_c_atomic_order_seq_cst", "__opencl_c_atomic_scope_device",
    "__opencl_c_atomic_scope_all_devices", "__opencl_c_work_group_collective_functions", "__opencl_c_subgroups",
    "cl_khr_subgroups", "cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics", "cl_ext_float_atomics",
)  # fmt: skip
_MACROS = (
    "cl_ext_float_atomics", "cl_khr_subgroup_extended_types", "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_ballot", "cl_khr_subgroup_non_uniform_arithmetic", "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative", "cl_khr_subgroup_clustered_reduce", "cl_khr_subgroup_rotate",
    "__opencl_subgroup_builtins",
    *(f"__opencl_c_ext_fp{bits}_{space}_atomic_{what}" for bits in (32, 64) for space in ("global", "local")
      for what in ("add", "min_max")),
)  # fmt: skip
# clang needs no pragma for SPIR-V.
_HEADER = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"

_IMPOSSIBLE = {
    "get_work_dim": "a launch on an NVIDIA GPU always has three dimensions, and does not know how many were asked for: "
    "pass the number as an argument",
    "printf": "kernels for NVIDIA GPUs have no printf here: write to memory",
}
_SPACES = {
    "__to_global": "global void *__to_global(void *p) { return __nvvm_isspacep_global(p) ? (global void *)p : 0; }",
    "__to_local": "local void *__to_local(void *p) { return __nvvm_isspacep_shared(p) ? (local void *)p : 0; }",
    "__to_private": "private void *__to_private(void *p) { return __nvvm_isspacep_local(p) ? (private void *)p : 0; }",
}
_MORE = {
    "get_fence": "uint FUNCTION get_fence(QUALIFIED void *p) { return __nvvm_isspacep_shared((void *)p) ? 1 : 2; }",
    "work_group_barrier": "void FUNCTION work_group_barrier(uint flags, memory_scope scope) { barrier(flags); }",
}


def features(folder: Path) -> tuple[str, ...]:
    """Write a header and return clang options that enable the same features of OpenCL C for PTX as for SPIR-V."""
    header = folder / "features.h"
    header.write_text(_HEADER)
    extensions = ",".join(f"+{name}" for name in _SUPPORTED)
    return ("-Xclang", f"-cl-ext={extensions}", *(f"-D{name}=1" for name in _MACROS), "-include", str(header))


def definitions(
    text: str, name: str, settings: TargetSettings, toolchain: Toolchain, folder: Path, *, libclc: bool
) -> list[Path]:
    """Write LLVM IR modules with the functions that a module calls; half functions also need float ones.

    Parameters
    ----------
    text
        The module.
    name
        Name of its source, for errors.
    settings
        The target.
    folder
        Folder for the modules.
    libclc
        Whether libclc provides the functions that it has.

    Raises
    ------
    BuildError
        The module uses a function that cannot exist on NVIDIA GPUs.
    """
    calls: list[str] = []
    helpers: list[str] = []
    functions: list[str] = []
    for function in undefined(text):
        if function.function in _IMPOSSIBLE:
            raise BuildError(
                f"{name} uses {function.function}: {_IMPOSSIBLE[function.function]}, or leave the target ptx out"
            )
        call = atomics.definition(function, legacy=not libclc)
        if call is not None:
            calls.append(call)
            continue
        definition = _in_opencl(function, libclc)
        if definition is not None:
            helpers += definition[0]
            functions.append(definition[1])
    modules: list[Path] = []
    if calls:
        modules.append(folder / "atomics.ll")
        head = f'target datalayout = "{DATA_LAYOUT}"\ntarget triple = "{TRIPLE}"\n'
        modules[-1].write_text("\n".join([head, *calls, ""]))
    if functions:
        source = folder / "functions.cl"
        source.write_text("\n".join([group_functions.helpers(helpers), *functions, ""]))
        modules.append(toolchain.compile(source, folder / "functions.ll", settings, [], {}, (*features(folder), "-w")))
        modules[-1].write_text(_with_scratch(modules[-1].read_text()))
    return modules


def _in_opencl(function: Declaration, libclc: bool) -> tuple[list[str], str] | None:
    if function.symbol in _SPACES:
        return [], _SPACES[function.symbol]
    if function.function in _MORE:
        return [], _MORE[function.function].replace("QUALIFIED", "const" if "K" in function.letters else "")
    result = group_functions.definition(function) or half.definition(function)
    if result is not None or libclc:
        return result
    return conversion_functions.definition(function) or scalar_functions.definition(function)


def _with_scratch(text: str) -> str:
    """Add the exchange memory of a work-group's sub-groups, if the module uses it."""
    if "@__bindless_group_scratch" not in text:
        return text
    lines = [
        line for line in text.splitlines() if not (line.startswith("declare") and "@__bindless_group_scratch" in line)
    ]
    return "\n".join([*lines, group_functions.SCRATCH])
