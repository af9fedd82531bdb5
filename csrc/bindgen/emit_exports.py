"""Write the functions that this project's CUDA driver exports: cuda_exports.h and .c.

Each exported symbol has a default, a weak one that returns NOT_SUPPORTED; a definition of the same name in the driver
replaces it. A variant for per-thread default streams calls the function without its suffix.
"""

from __future__ import annotations

import re

from api import Api, Function
from emit_c import heading, signature

__all__ = ["exports_c", "exports_h"]

PER_THREAD = ("_ptsz", "_ptds")

# Versions of CUDA with which each symbol of a function appeared: NAME, NAME_v2, and so on, as cudaTypedefs.h has them.
# Functions that are not listed have one symbol, or are given by their newest.
BY_VERSIONS: dict[tuple[int, ...], str] = {
    (2000, 3020): "cuDeviceTotalMem cuModuleGetGlobal cuMemGetInfo cuMemAlloc cuMemAllocPitch cuMemFree "
    "cuMemGetAddressRange cuMemAllocHost cuMemcpyHtoD cuMemcpyDtoH cuMemcpyDtoD cuMemcpyDtoA cuMemcpyAtoD "
    "cuMemcpyHtoA cuMemcpyAtoH cuMemcpyAtoA cuMemcpy2D cuMemcpy2DUnaligned cuMemcpy3D cuMemcpyHtoDAsync "
    "cuMemcpyDtoHAsync cuMemcpyDtoDAsync cuMemcpyHtoAAsync cuMemcpyAtoHAsync cuMemcpy2DAsync cuMemcpy3DAsync "
    "cuMemsetD8 cuMemsetD16 cuMemsetD32 cuMemsetD2D8 cuMemsetD2D16 cuMemsetD2D32 cuArrayCreate cuArrayGetDescriptor "
    "cuArray3DCreate cuArray3DGetDescriptor cuTexRefSetAddress cuTexRefGetAddress cuGraphicsResourceGetMappedPointer "
    "cuMemHostGetDevicePointer",
    (2000, 4000): "cuCtxDestroy cuCtxPushCurrent cuCtxPopCurrent cuStreamDestroy cuEventDestroy",
    (2000, 13000): "cuCtxGetDevice cuCtxSynchronize",
    (2000, 3020, 11040, 12050): "cuCtxCreate",
    (2000, 12080): "cuEventElapsedTime",
    (2020, 3020, 4010): "cuTexRefSetAddress2D",
    (3000, 6050): "cuGraphicsResourceSetMapFlags",
    (4000, 6050): "cuMemHostRegister",
    (4010, 11000): "cuIpcOpenMemHandle",
    (5050, 6050): "cuLinkCreate cuLinkAddData cuLinkAddFile",
    (7000, 11000): "cuDevicePrimaryCtxRelease cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxReset",
    (8000, 11070): "cuStreamWaitValue32 cuStreamWriteValue32 cuStreamBatchMemOp",
    (8000, 12020): "cuMemPrefetchAsync cuMemAdvise",
    (9000, 11070): "cuStreamWaitValue64 cuStreamWriteValue64",
    (9020, 11040): "cuDeviceGetUuid",
    (9020, 12050): "cuStreamGetCtx",
    (10000, 10010): "cuStreamBeginCapture",
    (10000, 11000): "cuGraphInstantiate",
    (10000, 12000): "cuGraphAddKernelNode cuGraphKernelNodeGetParams cuGraphKernelNodeSetParams",
    (10000, 12030): "cuGraphGetEdges cuGraphNodeGetDependencies cuGraphNodeGetDependentNodes cuGraphAddDependencies "
    "cuGraphRemoveDependencies",
    (10010, 11030, 12030): "cuStreamGetCaptureInfo",
    (10010, 12000): "cuGraphExecKernelNodeSetParams",
    (10020, 12000): "cuGraphExecUpdate",
    (11030, 12000): "cuGetProcAddress",
    (11030, 12030): "cuStreamUpdateCaptureDependencies",
    (12020, 12030): "cuGraphAddNode",
    (12080, 13000): "cuMemcpyBatchAsync cuMemcpy3DBatchAsync",
}
VERSIONS = {name: versions for versions, names in BY_VERSIONS.items() for name in names.split()}
# A name that a symbol of another name implements since a version.
RENAMED = {"cuGraphInstantiate": (12000, "cuGraphInstantiateWithFlags")}


# Functions of cudaProfiler.h.
PROFILER = ("cuProfilerStart", "cuProfilerStop")


def by_symbol(api: Api) -> dict[str, Function]:
    """Every exported symbol and a function with its signature."""
    symbols = {function.symbol: function for function in api.functions}
    return symbols | {name: Function(name, name, "CUresult", "int", (), "profiler") for name in PROFILER}


def base(symbol: str) -> str:
    """A symbol without the suffix of per-thread default streams."""
    return symbol.removesuffix("_ptsz").removesuffix("_ptds")


def exports_h(api: Api) -> str:
    """Write the prototypes of the symbols, and the tables."""
    prototypes = "".join(f"{signature(function, symbol)};\n" for symbol, function in by_symbol(api).items())
    return (
        heading("cuda") + "#ifndef BINDLESS_CUDA_EXPORTS_H\n#define BINDLESS_CUDA_EXPORTS_H\n\n" + prototypes + "\n"
        "/* A function that cuGetProcAddress returns under a name, since a version, and its variant for per-thread\n"
        " * default streams, or NULL. Rows of a name follow each other, in the order of their versions. */\n"
        "struct bcu_export {\n  const char *name;\n  int version;\n  void (*function)(void);\n"
        "  void (*per_thread)(void);\n};\n"
        "extern const struct bcu_export bcu_exports[];\nextern const unsigned bcu_export_count;\n\n"
        "/* Results by their numbers, in ascending order. */\n"
        "struct bcu_result_name {\n  int result;\n  const char *name;\n};\n"
        "extern const struct bcu_result_name bcu_result_names[];\nextern const unsigned bcu_result_count;\n\n#endif\n"
    )


def exports_c(api: Api) -> str:
    """Write the defaults, the variants for per-thread default streams, and the tables."""
    symbols = by_symbol(api)
    parts = [
        heading("cuda"),
        '#include "cuda_driver/core/exports.h"\n\n',
        '#define EXPORT __attribute__((visibility("default")))\n#define DEFAULT EXPORT __attribute__((weak))\n\n',
    ]
    for symbol, function in symbols.items():
        arguments = ", ".join(parameter.name for parameter in function.parameters)
        if symbol.endswith(PER_THREAD) and base(symbol) in symbols:
            parts.append(
                f"EXPORT {signature(function, symbol)}\n{{\n  bool before = bcu_default_per_thread(true);\n"
                f"  {function.result} result = {base(symbol)}({arguments});\n  bcu_default_per_thread(before);\n"
                "  return result;\n}\n"
            )
        else:
            unused = "".join(f"(void){parameter.name}; " for parameter in function.parameters).strip()
            line = f"  {unused}\n" if unused else ""
            parts.append(
                f'DEFAULT {signature(function, symbol)}\n{{\n{line}  return bcu_not_offered("{symbol}");\n}}\n'
            )
    rows = []
    for name, version, symbol in lookups(list(symbols)):
        thread = next((symbol + suffix for suffix in PER_THREAD if symbol + suffix in symbols), None)
        pointer = f"(void (*)(void)){thread}" if thread else "NULL"
        rows.append(f'  {{"{name}", {version}, (void (*)(void)){symbol}, {pointer}}},\n')
    parts.append(f"\nconst struct bcu_export bcu_exports[] = {{\n{''.join(rows)}}};\n")
    parts.append("const unsigned bcu_export_count = sizeof bcu_exports / sizeof bcu_exports[0];\n\n")
    results = next(enumeration for enumeration in api.enumerations if enumeration.name == "CUresult")
    names = {value: name for name, value in reversed(results.members)}
    rows = [f'  {{{value}, "{names[value]}"}},\n' for value in sorted(names)]
    parts.append(f"const struct bcu_result_name bcu_result_names[] = {{\n{''.join(rows)}}};\n")
    parts.append("const unsigned bcu_result_count = sizeof bcu_result_names / sizeof bcu_result_names[0];\n")
    return "".join(parts)


def lookups(symbols: list[str]) -> list[tuple[str, int, str]]:
    """(name, version, symbol) of every row of the table, sorted by name and version."""
    variants: dict[str, list[str]] = {}
    for symbol in symbols:
        if base(symbol) == symbol:
            variants.setdefault(re.sub(r"_v\d+$", "", symbol), []).append(symbol)
    rows = []
    for name, own in variants.items():
        own.sort(key=lambda symbol: int((re.search(r"_v(\d+)$", symbol) or [0, 1])[1]))
        versions = VERSIONS.get(name, (0,))
        rows.extend((name, version, symbol) for version, symbol in zip(versions, own[-len(versions) :], strict=True))
        if name in RENAMED:
            rows.append((name, *RENAMED[name]))
    return sorted(rows)
