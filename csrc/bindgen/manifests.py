"""Manifests: for each driver the headers to read, and the map from names to exported symbols."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["MANIFESTS", "Manifest", "Pass"]


@dataclass(frozen=True)
class Pass:
    """One run of the preprocessor over the headers.

    Attributes:
        name: what the functions that only this pass declares are called in the report.
        defines: macros defined on the command line.
        rename_suffix: appended to a function of this pass whose plain name already means a newer symbol.
    """

    name: str
    defines: tuple[str, ...] = ()
    rename_suffix: str = ""


@dataclass(frozen=True)
class Manifest:
    """The description of one driver's API.

    Attributes:
        name: of the driver; generated files start with it.
        title: the API in words, for the report.
        includes: what a C program writes between the angle brackets.
        owned: regular expression of the header paths whose declarations are generated.
        passes: the first one gives the public names; later ones add functions, structs and constants.
        function: regular expression of the API's function names.
        alias: regular expression of the macro names that stand for a function.
        result: the C type of the result code, as it appears in the signatures.
        missing: constant returned by a function that the loaded library lacks.
        unloaded: constant returned by any function before a library is loaded.
        error_parameter: name of the trailing parameter that receives the result code of functions returning a handle.
        extensions: regular expression of functions that may have to be asked of the platform (OpenCL).
        initialiser: pattern of functions whose success makes `needs_initialiser` callable.
        needs_initialiser: functions that crash some loaders before a successful initialisation.
        uninitialised: constant they return instead.
        flags: regular expression of the enum names that become IntFlag.
        comment_enums: read enum groups of macros from the header's own group headings.
        comment_groups: headings that do not name a type, with the class they fill.
        structure_type: prefix of the constants that go into a struct's `stype`, or "".
        structure_types: structs whose constant does not follow from their name; "" for those without one.
        skipped_macros: macros whose value means nothing outside C, with the reason.
        tables: header of the tables between a loader and its drivers, "" for none.
        not_generated: parts of the headers and other headers left out on purpose, with the reason, for the report.
    """

    name: str
    title: str
    includes: tuple[str, ...]
    owned: str
    function: str
    result: str
    missing: str
    unloaded: str
    passes: tuple[Pass, ...] = (Pass("public"),)
    alias: str = ""
    error_parameter: str = ""
    extensions: str = ""
    initialiser: str = ""
    needs_initialiser: tuple[str, ...] = ()
    uninitialised: str = ""
    flags: str = r"(_flags?|_flags?_t|_flags_enum)$"
    comment_enums: bool = False
    comment_groups: Mapping[str, str] = field(default_factory=dict)
    structure_type: str = ""
    structure_types: Mapping[str, str] = field(default_factory=dict)
    tables: str = ""
    skipped_macros: Mapping[str, str] = field(default_factory=dict)
    not_generated: Mapping[str, str] = field(default_factory=dict)


CUDA = Manifest(
    name="cuda",
    title="CUDA driver API (cuda.h)",
    includes=("cuda.h",),
    owned=r"/cuda\.h$",
    function=r"^cu[A-Z]\w*$",
    alias=r"^cu[A-Z]\w*$",
    result="CUresult",
    missing="CUDA_ERROR_NOT_SUPPORTED",
    unloaded="CUDA_ERROR_NOT_INITIALIZED",
    passes=(
        Pass("public"),
        Pass("superseded", ("__CUDA_API_VERSION_INTERNAL",), "_v1"),
        Pass("per-thread default stream", ("CUDA_API_PER_THREAD_DEFAULT_STREAM",)),
    ),
    not_generated={
        "cudaGL.h, cudaEGL.h, cudaVDPAU.h, cudaProfiler.h": "separate headers for graphics and profiling",
    },
)

LEVEL_ZERO = Manifest(
    name="level_zero",
    title="Level Zero core and extensions (ze_api.h) with the loader's own functions (loader/ze_loader.h)",
    includes=("level_zero/ze_api.h", "level_zero/loader/ze_loader.h"),
    owned=r"/level_zero/(ze_api|loader/ze_loader)\.h$",
    function=r"^zel?[A-Z]\w*$",
    result="ze_result_t",
    missing="ZE_RESULT_ERROR_UNSUPPORTED_FEATURE",
    unloaded="ZE_RESULT_ERROR_UNINITIALIZED",
    initialiser=r"^zeInit(Drivers)?$",
    needs_initialiser=("zeDriverGet",),
    uninitialised="ZE_RESULT_ERROR_UNINITIALIZED",
    flags=r"_flags?_t$",
    tables="level_zero/ze_ddi.h",
    structure_type="ZE_STRUCTURE_TYPE_",
    structure_types={
        "ze_base_cb_params_t": "",
        "ze_base_desc_t": "",
        "ze_base_properties_t": "",
        # Constants whose words have another order or are shortened.
        "ze_command_list_append_launch_kernel_param_cooperative_desc_t": "COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC",
        "ze_context_power_saving_hint_exp_desc_t": "POWER_SAVING_HINT_EXP_DESC",
        "ze_device_cache_line_size_ext_t": "DEVICE_CACHELINE_SIZE_EXT",
        "ze_device_pitched_alloc_exp_properties_t": "PITCHED_ALLOC_DEVICE_EXP_PROPERTIES",
        "ze_event_pool_counter_based_exp_desc_t": "COUNTER_BASED_EVENT_POOL_EXP_DESC",
        "ze_external_memory_export_win32_handle_t": "EXTERNAL_MEMORY_EXPORT_WIN32",
        "ze_external_memory_import_win32_handle_t": "EXTERNAL_MEMORY_IMPORT_WIN32",
        "ze_image_bindless_exp_desc_t": "BINDLESS_IMAGE_EXP_DESC",
        "ze_image_memory_properties_exp_t": "IMAGE_MEMORY_EXP_PROPERTIES",
        "ze_image_pitched_exp_desc_t": "PITCHED_IMAGE_EXP_DESC",
        "ze_kernel_allocation_exp_properties_t": "KERNEL_ALLOCATION_PROPERTIES",
        "ze_kernel_max_group_size_properties_ext_t": "KERNEL_MAX_GROUP_SIZE_EXT_PROPERTIES",
        "ze_validate_runtime_requirements_output_t": "RUNTIME_REQUIREMENTS_OUTPUT",
    },
    not_generated={
        "zes_api.h, zet_api.h, zer_api.h": "system management, tools and runtime interfaces: other APIs",
    },
)

OPENCL = Manifest(
    name="opencl",
    title="OpenCL 3.0 (cl.h, cl_platform.h, cl_version.h) with all extensions of cl_ext.h",
    includes=("CL/cl.h", "CL/cl_ext.h"),
    owned=r"/CL/(cl|cl_ext|cl_platform|cl_version)\.h$",
    function=r"^cl[A-Z]\w*$",
    result="cl_int",
    missing="CL_INVALID_OPERATION",
    unloaded="CL_PLATFORM_NOT_FOUND_KHR",
    error_parameter="errcode_ret",
    extensions=r"(KHR|EXT|INTEL|ARM|IMG|QCOM|PoCL|APPLE|OCLICD)$",
    flags=r"^$",
    comment_enums=True,
    comment_groups={
        "error codes": "cl_result",
        "command execution status": "cl_command_execution_status",
    },
    skipped_macros={"CL_PROGRAM_STRING_DEBUG_INFO": "names the file and line where it is written"},
    not_generated={
        "CL_ENABLE_BETA_EXTENSIONS": "provisional command buffers and mutable dispatch, whose interface still changes",
        "cl_gl.h, cl_egl.h, cl_d3d10.h, cl_d3d11.h, cl_dx9_media_sharing.h, cl_va_api_media_sharing_intel.h": (
            "sharing with graphics interfaces that need their own headers"
        ),
        "__m128 and other vector register members of cl_float4 and the like": "a compiler's view of the same bytes",
    },
)

REFERENCE = Manifest(
    name="reference",
    title="the reference driver (bindless/reference.h)",
    includes=(
        "bindless/reference.h",
        "bindless/reference_colours.h",
        "bindless/reference_projections.h",
        "bindless/reference_pyramids.h",
    ),
    owned=r"/bindless/reference(_colours|_projections|_pyramids)?\.h$",
    function=r"^blr[A-Z]\w*$",
    result="blr_result_t",
    missing="BLR_RESULT_UNSUPPORTED",
    unloaded="BLR_RESULT_UNKNOWN",
)

MANIFESTS: dict[str, Manifest] = {manifest.name: manifest for manifest in (CUDA, LEVEL_ZERO, OPENCL, REFERENCE)}

# The compiler that preprocesses the headers and compiles the probe.
COMPILER = os.environ.get("CC", "cc")
