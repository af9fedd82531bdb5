"""Kernel bundles and kernels of the package made of Level Zero's modules and kernels."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from tests.interop.native_level_zero.level_zero_objects import BOTH, SCALE, code
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


@BOTH
def test_a_kernel_bundle_of_a_native_module(raw: Raw, kept: bl.Context, ownership: str) -> None:
    native = raw.module(code(SCALE))
    bundle = bl.make_kernel_bundle("level_zero", native, kept, ownership=ownership)
    assert bl.get_native(bundle) == (int(ffi.cast("uintptr_t", native)),)
    assert bl.get_native(bundle)[0].type == "ze_module_handle_t"
    assert bundle.state is bl.BundleState.executable
    assert (bundle.kernel_names, bundle.devices) == (("scale",), (raw.facade,))
    assert bundle.specialization_constants == {} and not bundle.contains_specialization_constants
    queue = bl.Queue(raw.facade, kept)
    data = bl.usm_empty(8, "float32", queue, kind="shared")
    data.copy_from(np.arange(8, dtype="float32"))
    kernel = bundle.get_kernel("scale")
    assert bl.get_native(kernel).type == "ze_kernel_handle_t"
    queue.parallel_for(8, kernel, data, np.float32(1.5))
    bundle.close()  # after the command
    assert np.array_equal(data.numpy(), np.arange(8) * np.float32(1.5))
    with raises(bl.InvalidError):
        bl.get_native(bundle)
    with raises(bl.InvalidError):
        bl.get_native(kernel)
    data.close()
    queue.close()
    del bundle, kernel
    assert raw.is_alive(native) is (ownership == "keep")
    if ownership == "keep":
        raw.destroy(native)


def test_modules_that_are_refused_stay_the_callers(raw: Raw, kept: bl.Context, device: bl.Device) -> None:
    native, unlinked = raw.module(code(SCALE)), raw.module(assembled(UNLINKED))
    with raises(bl.BuildError, names="zeModuleDynamicLink"):
        bl.make_kernel_bundle("level_zero", unlinked, kept)
    with raises(bl.FeatureNotSupportedError, names="state='object'"):
        bl.make_kernel_bundle("level_zero", native, kept, "object")
    with pytest.raises(bl.Error, match="INVALID"):
        bl.make_kernel_bundle("level_zero", int(ffi.cast("uintptr_t", raw.context)), kept)
    bundle = bl.make_kernel_bundle("level_zero", native, kept)
    with raises(bl.InvalidError):
        bl.make_kernel_bundle("level_zero", native, kept)
    with raises(bl.InvalidError):
        bundle.get_specialization_constant(1)
    bundle.close()
    assert not raw.is_alive(native)
    own = bl.load_kernel_bundle(code(SCALE), device, kept)
    with raises(bl.InvalidError):
        bl.make_kernel_bundle("level_zero", bl.get_native(own)[0], kept)
    own.close()
    raw.destroy(unlinked)


@BOTH
def test_a_kernel_of_a_native_one(raw: Raw, kept: bl.Context, ownership: str) -> None:
    module = raw.module(code(SCALE))
    native = raw.kernel(module, "scale")
    bundle = bl.make_kernel_bundle("level_zero", module, kept, ownership=ownership)
    kernel = bl.make_kernel("level_zero", native, bundle, kept, ownership=ownership)
    assert bl.get_native(kernel) == int(ffi.cast("uintptr_t", native))
    assert (kernel.name, kernel.bundle) == ("scale", bundle)
    with raises(bl.InvalidError) if ownership == "transfer" else _nothing():
        again = bl.make_kernel("level_zero", native, bundle)
        assert ownership == "keep" and again.name == "scale"
        native = raw.kernel(module, "scale")  # that one is the package's now
    queue = bl.Queue(raw.facade, kept)
    data = bl.usm_empty(8, "float32", queue, kind="shared")
    data.copy_from(np.ones(8, "float32"))
    queue.parallel_for(8, kernel, data, np.float32(4)).wait()
    assert list(data.numpy()) == [4] * 8
    data.close()
    queue.close()
    bundle.close()
    assert raw.is_alive(native) is (ownership == "keep")
    if ownership == "keep":
        raw.destroy(native, module)


class _nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def test_kernels_that_are_refused_stay_the_callers(raw: Raw, kept: bl.Context, device: bl.Device) -> None:
    module, stranger = raw.module(code(SCALE)), raw.module(code(OTHER))
    native, other = raw.kernel(module, "scale"), raw.kernel(stranger, "other")
    bundle = bl.make_kernel_bundle("level_zero", module, kept, ownership="keep")
    with raises(bl.InvalidError, names="kernel 'other'"):
        bl.make_kernel("level_zero", other, bundle)
    with raises(bl.InvalidError, names="KernelBundle"):
        bl.make_kernel("level_zero", native, module)
    with raises(bl.InvalidError):
        bl.make_kernel("level_zero", native, bundle, bl.Context(device))
    with raises(bl.InvalidError):
        bl.make_kernel("level_zero", int(ffi.cast("uintptr_t", module)), bundle)
    unbuilt = bl.load_kernel_bundle(code(SCALE), device, kept, state="input")
    with raises(bl.InvalidError):
        bl.make_kernel("level_zero", native, unbuilt)
    with raises(bl.InvalidError):
        bl.get_native(unbuilt)
    reference = bl.Device("reference:*:*")
    foreign = bl.load_kernel_bundle(code(SCALE), reference, bl.Context(reference))
    with raises(bl.BackendMismatchError):
        bl.make_kernel("level_zero", native, foreign)
    bundle.close()
    with raises(bl.InvalidError):
        bl.make_kernel("level_zero", native, bundle)
    raw.destroy(native, other, module, stranger)
