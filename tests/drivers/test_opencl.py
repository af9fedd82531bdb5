"""Extension functions dispatch to the platform that owns their first argument; helpers for OpenCL's idioms."""

from __future__ import annotations

import pytest

from .conftest import Compile, Run
from .test_loader import exporting, required

# Two platforms with their own dispatch tables, in the layout of cl_khr_icd. Each has its own extension function; the
# second has one that the first lacks, and the library alone exports a third.
LIBRARY = """
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "opencl_types.h"

struct _cl_platform_id { const void *dispatch; };
struct _cl_context { const void *dispatch; };
static const int tables[2];
static struct _cl_platform_id platforms[2] = {{&tables[0]}, {&tables[1]}};
struct _cl_context contexts[2] = {{&tables[0]}, {&tables[1]}};

static cl_int free_first(cl_context context, void *pointer) { (void)context; (void)pointer; return 101; }
static cl_int free_second(cl_context context, void *pointer) { (void)context; (void)pointer; return 102; }
static cl_int blocking_second(cl_context context, void *pointer) { (void)context; (void)pointer; return 202; }
cl_int clTerminateContextKHR(cl_context context) { (void)context; return 300; }

cl_int clGetPlatformIDs(cl_uint entries, cl_platform_id *out, cl_uint *count)
{
  for (cl_uint i = 0; out && i < entries && i < 2; i++) out[i] = &platforms[i];
  if (count) *count = 2;
  return CL_SUCCESS;
}

void *clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
  if (!strcmp(name, "clMemFreeINTEL")) return platform == &platforms[0] ? (void *)free_first : (void *)free_second;
  if (!strcmp(name, "clMemBlockingFreeINTEL") && platform == &platforms[1]) return (void *)blocking_second;
  return NULL;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t size, void *value, size_t *needed)
{
  const char *text = platform == &platforms[0] ? "OpenCL 1.2 first" : "OpenCL 3.0 second";
  if (what != CL_PLATFORM_VERSION) return CL_INVALID_VALUE;
  if (needed) *needed = strlen(text) + 1;
  if (value) { if (size < strlen(text) + 1) return CL_INVALID_VALUE; strcpy(value, text); }
  return CL_SUCCESS;
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint entries, cl_device_id *out, cl_uint *count)
{
  (void)type; (void)entries;
  if (platform == &platforms[0]) return CL_DEVICE_NOT_FOUND;
  if (out) out[0] = (cl_device_id)(uintptr_t)0x2000;
  if (count) *count = 1;
  return CL_SUCCESS;
}
"""
DEFINED = ("clGetPlatformIDs", "clGetExtensionFunctionAddressForPlatform", "clGetPlatformInfo", "clGetDeviceIDs")


@pytest.fixture
def library(compile_library: Compile) -> str:
    others = exporting(*(name for name in required("opencl") if name not in DEFINED))
    return str(compile_library(LIBRARY + others, "libOpenCL.so.1", "-Wno-pedantic"))


PRELUDE = """
        import ctypes
        from bindless.drivers import opencl
        opencl.load({library!r})
        ffi, lib = opencl.ffi, opencl.lib
        base = ctypes.addressof(ctypes.c_char.in_dll(ctypes.CDLL({library!r}), "contexts"))
        first, second = (ffi.cast("cl_context", base + 8 * i) for i in range(2))
"""


def test_extension_functions_belong_to_the_platform_of_their_argument(library: str, run_python: Run) -> None:
    output = run_python(
        PRELUDE.format(library=library)
        + """
        print(lib.clMemFreeINTEL(first, ffi.NULL), lib.clMemFreeINTEL(second, ffi.NULL))
        print(opencl.has("clMemFreeINTEL"), opencl.has("clMemBlockingFreeINTEL"), opencl.has("clSVMAllocARM"))
        print(opencl.has_for("clMemBlockingFreeINTEL", first), opencl.has_for("clMemBlockingFreeINTEL", second))
        print(opencl.has_for("clGetPlatformIDs", first), opencl.has_for("clFinish", first))
        print(lib.clMemBlockingFreeINTEL(first, ffi.NULL), lib.clMemBlockingFreeINTEL(second, ffi.NULL))
        print(lib.clTerminateContextKHR(first))
        code = ffi.new("cl_int *")
        print(lib.clCreateSemaphoreWithPropertiesKHR(second, ffi.NULL, code) == ffi.NULL, code[0])
        """
    )
    assert output.splitlines() == [
        "101 102",
        "True True False",
        "False True",
        "True False",
        "-59 202",
        "300",
        "True -59",
    ]


def test_a_missing_extension_function_is_explained(library: str, run_python: Run) -> None:
    output = run_python(
        PRELUDE.format(library=library)
        + """
        code = ffi.new("cl_int *")
        lib.clCreateSemaphoreWithPropertiesKHR(second, ffi.NULL, code)
        try:
            opencl.check(code[0], "clCreateSemaphoreWithPropertiesKHR")
        except NotImplementedError as error:
            print(error)
        """
    )
    assert output.startswith("CL_INVALID_OPERATION: clCreateSemaphoreWithPropertiesKHR is missing from ")
    assert "version 3.0" in output


def test_helpers(library: str, run_python: Run) -> None:
    output = run_python(
        PRELUDE.format(library=library)
        + """
        platforms = opencl.platforms()
        print(len(platforms), [opencl.get_text("clGetPlatformInfo", p, lib.CL_PLATFORM_VERSION) for p in platforms])
        print(opencl.get_info("clGetPlatformInfo", platforms[0], lib.CL_PLATFORM_VERSION))
        for platform in platforms:
            devices = opencl.get_all("cl_device_id", "clGetDeviceIDs", platform, lib.CL_DEVICE_TYPE_ALL)
            print([hex(int(ffi.cast("uintptr_t", device))) for device in devices])
        print(opencl.version())
        try:
            opencl.get_text("clGetPlatformInfo", platforms[0], lib.CL_PLATFORM_NAME)
        except ValueError as error:
            print(error)
        """
    )
    assert output.splitlines() == [
        "2 ['OpenCL 1.2 first', 'OpenCL 3.0 second']",
        "b'OpenCL 1.2 first\\x00'",
        "[]",
        "['0x2000']",
        "(3, 0)",
        "CL_INVALID_VALUE: an argument is out of range, or NULL where a pointer is needed (in clGetPlatformInfo)",
    ]


def test_before_load_there_is_no_platform(run_python: Run) -> None:
    output = run_python(
        """
        from bindless.drivers import opencl
        try:
            opencl.platforms()
        except Exception as error:
            print(type(error).__name__, error)
        print(opencl.lib.clMemFreeINTEL(opencl.ffi.NULL, opencl.ffi.NULL))
        """
    )
    assert output.splitlines()[0].startswith(
        "PlatformError CL_PLATFORM_NOT_FOUND_KHR: clGetPlatformIDs was called before"
    )
    assert output.splitlines()[1] == "-1001"
