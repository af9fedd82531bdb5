"""Kernel bundles and kernels of the package made of Level Zero's modules and kernels."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from tests.interop.native_level_zero.level_zero_objects import SCALE, code
from tests.interop.raw_level_zero import Raw, ffi, lib
from tests.support.compile_kernels import assembled
from tests.support.error_checks import raises

pytestmark = [pytest.mark.level_zero, pytest.mark.on_level_zero]

OTHER = "kernel void other(global float *data) { data[get_global_id(0)] = 1; }"
# A module that calls what it does not have.
UNLINKED = """
               OpCapability Addresses
               OpCapability Kernel
               OpCapability Linkage
               OpMemoryModel Physical64 OpenCL
               OpEntryPoint Kernel %main "count"
               OpDecorate %twice LinkageAttributes "twice" Import
       %void = OpTypeVoid
       %uint = OpTypeInt 32 0
    %pointer = OpTypePointer CrossWorkgroup %uint
   %function = OpTypeFunction %uint %uint
       %type = OpTypeFunction %void %pointer
      %twice = OpFunction %uint None %function
      %given = OpFunctionParameter %uint
               OpFunctionEnd
       %main = OpFunction %void None %type
        %out = OpFunctionParameter %pointer
      %label = OpLabel
        %old = OpLoad %uint %out Aligned 4
        %new = OpFunctionCall %uint %twice %old
               OpStore %out %new Aligned 4
               OpReturn
               OpFunctionEnd
"""


def test_a_bundle_is_loaded_from_a_native_binary(raw: Raw, kept: bl.Context) -> None:
    """A module is SPIR-V or a binary of the driver; bytes that are neither are refused."""
    native = raw.module(code(SCALE))
    size = ffi.new("size_t *")
    assert lib.zeModuleGetNativeBinary(native, size, ffi.NULL) == 0
    binary = ffi.new("uint8_t[]", size[0])
    assert lib.zeModuleGetNativeBinary(native, size, binary) == 0
    queue = bl.Queue(raw.facade, kept)
    data = bl.usm_empty(8, "float32", queue, kind="shared").copy_from(np.arange(8, dtype="float32"))
    with bl.load_kernel_bundle(bytes(ffi.buffer(binary, size[0])), queue) as bundle:
        assert bundle.kernel_names == ("scale",)
        queue.parallel_for(8, bundle.get_kernel("scale"), data, np.float32(1.5)).wait()
    assert np.array_equal(data.numpy(), np.arange(8) * np.float32(1.5))
    for wrong in (b"\x7fELF" + bytes(60), b"blspirv\1" + bytes(60), b"nonsense"):
        with raises(bl.BuildError):
            bl.load_kernel_bundle(wrong, queue)
    data.close()
    queue.close()
    raw.destroy(native)


def test_modules_that_are_refused_stay_the_callers(raw: Raw, kept: bl.Context) -> None:
    native, unlinked = raw.module(code(SCALE)), raw.module(assembled(UNLINKED))
    with raises(bl.BuildError, names="zeModuleDynamicLink"):
        bl.make_kernel_bundle("level_zero", unlinked, kept)
    with pytest.raises(bl.Error, match="INVALID"):
        bl.make_kernel_bundle("level_zero", int(ffi.cast("uintptr_t", raw.context)), kept)
    bundle = bl.make_kernel_bundle("level_zero", native, kept)
    with raises(bl.InvalidError):
        bundle.get_specialization_constant(1)
    bundle.close()
    assert not raw.is_alive(native)
    raw.destroy(unlinked)
