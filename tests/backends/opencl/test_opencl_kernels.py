"""Programs in every language that OpenCL drivers accept, and the arguments of their kernels."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import kernels
from bindless.backends.opencl import link
from bindless.backends.opencl import module as _module
from bindless.backends.opencl.kernel_signature import reflected_of
from bindless.backends.opencl.program_binary import binary_of
from bindless.drivers.opencl import ffi, lib
from bindless.model.module import opencl_c
from tests.support.compile_kernels import compiled
from tests.support.error_checks import raises

pytestmark = pytest.mark.opencl

TEXT = b"""
struct pair { int a; float b; };
kernel void scale(global float *data, const float factor, const uint4 ignored, local float *shared)
{
    size_t i = get_global_id(0), l = get_local_id(0);
    shared[l] = data[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[i] = shared[l] * factor + ignored.w;
}
kernel __attribute__((reqd_work_group_size(4, 2, 1))) void fixed(global uint *out)
{
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = get_local_size(0) * 10 + get_local_size(1);
}
kernel void of_struct(global float *out, struct pair value) { out[0] = value.a + value.b; }
/* BINDLESS_CONSTANT_3 int 4 = 5 */
/* BINDLESS_CONSTANT_7 float 4 */
#ifndef BINDLESS_CONSTANT_3
#define BINDLESS_CONSTANT_3 5
#endif
#ifndef BINDLESS_CONSTANT_7
#define BINDLESS_CONSTANT_7 0.0f
#endif
kernel void constants(global float *out) { out[0] = BINDLESS_CONSTANT_3; out[1] = BINDLESS_CONSTANT_7; }
"""

IMAGES = b"""
kernel void pick(read_only image2d_t picture__bindless_image, sampler_t picture__bindless_sampler,
                 write_only image2d_t result__bindless_image, global const float2 *at)
{
    int i = get_global_id(0);
    float4 found = read_imagef(picture__bindless_image, picture__bindless_sampler, at[i]);
    write_imagef(result__bindless_image, (int2)(i, 0), found);
}
kernel void plain(read_only image2d_t picture, sampler_t how, global float4 *out)
{
    out[0] = read_imagef(picture, how, (float2)(1.5f, 0.5f));
}
kernel void deep(read_only image3d_t picture, global float4 *out) { out[0] = read_imagef(picture, (int4)(0)); }
kernel void number(ulong picture, global ulong *out) { out[0] = picture; }
"""


def test_reflection_of_text(cl_queue: bl.Queue) -> None:
    bundle = bl.load_kernel_bundle(TEXT, cl_queue)
    assert bundle.kernel_names == ("constants", "fixed", "of_struct", "scale")
    told = bundle.get_kernel("scale").arguments
    assert told is not None
    assert [(part.name, part.kind, part.size, part.type) for part in told] == [
        ("data", "pointer", 8, "float*"),
        ("factor", "value", 4, "float"),
        ("ignored", "value", 16, "uint4"),
        ("shared", "local", 0, "float*"),
    ]
    assert bundle.get_kernel("of_struct").arguments is None  # the size of a structure is unknown
    assert bundle.get_kernel("fixed")._record.required_work_group_size == (4, 2, 1)


# Kernels without parameters next to kernels with parameters.
NOTHING = TEXT + b"kernel void nothing(void) {}\n"


class WithoutInformation:
    """A driver that neither builds nor links with argument information, like NVIDIA's for kernels without
    parameters."""

    def __init__(self) -> None:
        self.telling: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(lib, name)

    def clBuildProgram(self, program: Any, count: int, devices: Any, options: Any, *rest: Any) -> int:
        if b"-cl-kernel-arg-info" in ffi.string(options):
            return int(lib.CL_BUILD_PROGRAM_FAILURE)
        return int(lib.clBuildProgram(program, count, devices, options, *rest))

    def clCompileProgram(self, program: Any, count: int, devices: Any, options: Any, *rest: Any) -> int:
        if b"-cl-kernel-arg-info" in ffi.string(options):
            self.telling.append(program)
        return int(lib.clCompileProgram(program, count, devices, options, *rest))

    def clLinkProgram(self, *arguments: Any) -> Any:
        *_, count, programs, _, _, slot = arguments
        if any(programs[index] in self.telling for index in range(count)):
            slot[0] = lib.CL_LINK_PROGRAM_FAILURE
            return ffi.NULL
        return lib.clLinkProgram(*arguments)


@pytest.fixture(params=["told by the driver", "told by the text"])
def tells(request: pytest.FixtureRequest, cl: bl.Device, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether the driver builds programs with argument information."""
    if request.param == "told by the text":
        driver = WithoutInformation()
        monkeypatch.setitem(cl._record.native.__dict__, "takes_ptx", True)
        for module in (_module, link):
            monkeypatch.setattr(module, "lib", driver)
        monkeypatch.setattr(_module, "cache", lambda: None)
    return str(request.param)


@pytest.mark.parametrize("name", ["text", "images", "launch", "sample_2d_f", "fetch_3d_u", "write_1d_array_i"])
def test_the_text_tells_what_the_driver_tells(cl_queue: bl.Queue, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_module, "cache", lambda: None)  # drivers give no argument information for binaries
    text = {"text": TEXT, "images": IMAGES}.get(name) or kernels.source(name, "opencl_c")
    try:
        bundle = bl.load_kernel_bundle(text, cl_queue)
    except bl.BuildError as refused:
        pytest.skip(f"the device does not build it: {str(refused)[:200]}")
    (native,) = next(iter(bundle._natives.values()))
    told = {found: reflected_of(native.native, found) for found in bundle.kernel_names}
    entries = opencl_c.entries(text)
    if native.device.takes_ptx and any(entry.parameters == () for entry in entries.values()):
        assert all(found.parameters in ((), None) for found in told.values())  # test_driver_faults.py
    else:
        assert entries == told


def test_a_kernel_without_parameters(cl_queue: bl.Queue, tells: str) -> None:
    bundle = bl.load_kernel_bundle(NOTHING, cl_queue)
    assert bundle.kernel_names == ("constants", "fixed", "nothing", "of_struct", "scale")
    assert bundle.get_kernel("nothing").arguments == ()
    cl_queue.parallel_for(64, bundle.get_kernel("nothing")).wait()
    told = bundle.get_kernel("scale").arguments
    assert told is not None and [part.name for part in told] == ["data", "factor", "ignored", "shared"]
    data = bl.usm_empty(64, "f4", cl_queue).copy_from(np.arange(64, dtype="f4"))
    arguments = data, 2.5, np.array([0, 0, 0, 7], "u4"), bl.LocalAccessor(64)
    cl_queue.parallel_for(bl.NdRange(64, 16), bundle.get_kernel("scale"), *arguments).wait()
    assert np.array_equal(data.numpy(), np.arange(64, dtype="f4") * 2.5 + 7)


def test_a_kernel_without_parameters_is_linked(cl_queue: bl.Queue, tells: str) -> None:
    texts = (
        b"uint twice(uint value);\nkernel void nothing() {}\n"
        b"kernel void run(global uint *out, uint value) { out[0] = twice(value); }",
        b"uint twice(uint value) { return 2 * value; }",  # unsigned: rusticl does not link signed arithmetic
    )
    first, second = (bl.load_kernel_bundle(text, cl_queue, state="object") for text in texts)
    with first.link(second) as linked:
        told = linked.get_kernel("run").arguments
        assert told is not None and [str(part.name) for part in told] == ["out", "value"]
        out = bl.usm_empty(1, "u4", cl_queue)
        cl_queue.single_task(linked.get_kernel("nothing"))
        cl_queue.single_task(linked.get_kernel("run"), out, 21).wait()
        assert out.numpy().tolist() == [42]
    first.close()
    second.close()


def test_values_structures_and_local_memory(cl_queue: bl.Queue) -> None:
    bundle = bl.load_kernel_bundle(TEXT, cl_queue)
    data = bl.usm_empty(64, "f4", cl_queue).copy_from(np.arange(64, dtype="f4"))
    scale = bundle.get_kernel("scale")
    arguments = data, 2.5, np.array([0, 0, 0, 7], "u4"), bl.LocalAccessor(64)
    cl_queue.parallel_for(bl.NdRange(64, 16), scale, *arguments).wait()
    assert np.array_equal(data.numpy(), np.arange(64, dtype="f4") * 2.5 + 7)
    value = np.zeros((), [("a", "i4"), ("b", "f4")])
    value["a"], value["b"] = 3, 0.25
    cl_queue.single_task(bundle.get_kernel("of_struct"), data, value).wait()
    assert data.numpy()[0] == 3.25
    fixed = bl.usm_empty(64, "u4", cl_queue)
    cl_queue.parallel_for((8, 8), bundle.get_kernel("fixed"), fixed).wait()
    assert set(fixed.numpy().tolist()) == {42}
    with pytest.raises(bl.NdRangeError):
        cl_queue.parallel_for(bl.NdRange(64, 48), scale, *arguments)
    with raises(bl.InvalidError):
        cl_queue.parallel_for(bl.NdRange(64, 16), scale, *arguments[:3], bl.LocalAccessor(1 << 30))


def test_constants_of_text(cl_queue: bl.Queue) -> None:
    out = bl.usm_empty(2, "f4", cl_queue)
    for given, expected in (({}, [5, 0]), ({3: -8}, [-8, 0]), ({3: 2, 7: 0.75}, [2, 0.75])):
        bundle = bl.load_kernel_bundle(TEXT, cl_queue, specialization=given)
        cl_queue.single_task(bundle.get_kernel("constants"), out).wait()
        assert out.numpy().tolist() == expected
    with raises(bl.InvalidError, names="constant 4"):
        bl.load_kernel_bundle(TEXT, cl_queue, specialization={4: 1})


def test_a_handle_is_an_image_and_a_sampler(cl_queue: bl.Queue) -> None:
    bundle = bl.load_kernel_bundle(IMAGES, cl_queue)
    pick = bundle.get_kernel("pick")
    told = pick.arguments
    assert told is not None
    assert [(part.name, part.kind, part.size) for part in told] == [
        ("picture", "value", 8),
        ("result", "value", 8),
        ("at", "pointer", 8),
    ]
    desc = bl.ImageDescriptor(4, 3, num_channels=4, channel_type="fp32")
    pixels = np.random.default_rng(3).random(desc.shape, "f4")
    with bl.ImageMem(desc, cl_queue) as source, bl.ImageMem(desc, cl_queue) as target:
        cl_queue.ext_oneapi_copy(pixels, source).wait()
        sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
        sampled = bl.create_image(source, desc, cl_queue, sampler=sampler)
        plain = bl.create_image(target, desc, cl_queue)
        at = bl.usm_empty((3, 2), "f4", cl_queue).copy_from(np.float32([[0.5, 0.5], [1.0, 0.5], [9.0, 2.5]]))
        cl_queue.parallel_for(3, pick, sampled, plain, at).wait()
        found = np.zeros_like(pixels)
        cl_queue.ext_oneapi_copy(target, found).wait()
        expected = [pixels[0, 0], (pixels[0, 0] + pixels[0, 1]) / 2, pixels[2, 3]]
        assert np.allclose(found[0, :3], expected, atol=1e-6)
        out = bl.usm_empty(4, "f4", cl_queue)
        cl_queue.single_task(bundle.get_kernel("plain"), sampled, sampled, out).wait()
        assert np.allclose(out.numpy(), pixels[0, 1], atol=1e-6)
        with raises(bl.InvalidError):
            cl_queue.parallel_for(3, pick, plain, plain, at)
        with raises(bl.InvalidError, names=("image3d_t", "image2d_t")):
            cl_queue.single_task(bundle.get_kernel("deep"), plain, out)
        with raises(bl.InvalidError, match=r"argument 0 .*no image handles that are numbers.*image2d_t"):
            cl_queue.single_task(bundle.get_kernel("number"), plain, out)
        bl.destroy_image_handle(plain, cl_queue)
        with raises(bl.InvalidError):
            cl_queue.parallel_for(3, pick, sampled, plain, at)
        bl.destroy_image_handle(sampled, cl_queue)


def test_programs_that_do_not_build(cl_queue: bl.Queue) -> None:
    with raises(bl.BuildError, names="CL_BUILD_PROGRAM_FAILURE") as caught:
        bl.load_kernel_bundle(b"kernel void broken(global int *a) { a[0] = missing; }", cl_queue)
    assert "missing" in caught.value.log
    with raises(bl.BuildError, names="SPIR-V"):
        bl.load_kernel_bundle(b"\x00\x01 no program of anybody", cl_queue)
    if not cl_queue.device._record.native.takes_ptx:
        with raises(bl.BuildError, names=("PTX", "CUDA")):
            bl.load_kernel_bundle(b".version 7.0\n.target sm_75\n.address_size 64\n", cl_queue)
    with pytest.raises(bl.BuildError):
        bl.load_kernel_bundle(b"kernel void k(void) {}", cl_queue, options="-cl-std=CL47.11")


def test_a_program_without_kernels(cl_queue: bl.Queue) -> None:
    """Intel's driver reports such a program as not built."""
    bundle = bl.load_kernel_bundle(b"int twice(int x) { return 2 * x; }", cl_queue)
    assert bundle.kernel_names == () and not bundle.has_kernel("twice")
    with raises(bl.InvalidError, names="'twice'"):
        bundle.get_kernel("twice")


def test_spir_v_that_is_cut_off_anywhere_is_refused(cl_queue: bl.Queue) -> None:
    """Intel's compiler ends the process for some of these modules."""
    if not cl_queue.device._record.native.takes_il:
        with raises(bl.FeatureNotSupportedError, names="SPIR-V"):
            bl.load_kernel_bundle(kernels.source("fetch_2d_f", "spirv"), cl_queue)
        return
    whole = compiled("contract", "spirv")
    for end in range(4, len(whole), 52):
        with pytest.raises(bl.BuildError):
            bl.load_kernel_bundle(whole[:end], cl_queue)


def test_binaries_go_back_to_the_driver(cl_queue: bl.Queue) -> None:
    bundle = bl.load_kernel_bundle(TEXT, cl_queue)
    (native,) = next(iter(bundle._natives.values()))
    binary = binary_of(native.native, native.device)
    again = bl.load_kernel_bundle(binary, cl_queue)
    assert set(again.kernel_names) == set(bundle.kernel_names)
    out = bl.usm_empty(2, "f4", cl_queue)
    cl_queue.single_task(again.get_kernel("constants"), out).wait()
    assert out.numpy().tolist() == [5, 0]
    if binary.startswith(b"\x7fELF"):  # PoCL ends the process for a truncated binary of its own
        with pytest.raises(bl.BuildError):
            bl.load_kernel_bundle(binary[: len(binary) // 2], cl_queue)
    if binary.startswith(b"\1\0\0\0"):  # rusticl's, whose sections must match
        longer = binary + bytes(4)
        for part in (binary[:5], binary[:12], binary[:40], binary[: len(binary) // 2], binary[:-4], longer):
            counted = part[:4] + (len(part) - 12).to_bytes(4, "little", signed=True) + part[8:]
            for broken in (part, counted if part is not longer else part):
                with raises(bl.BuildError, names="SPIR-V"):
                    bl.load_kernel_bundle(broken, cl_queue)


def test_what_was_built_is_kept(cl_queue: bl.Queue, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BINDLESS_CACHE", "1")
    monkeypatch.setenv("BINDLESS_CACHE_DIR", str(tmp_path))
    out = bl.usm_empty(2, "f4", cl_queue)
    for _ in range(2):
        bundle = bl.load_kernel_bundle(TEXT, cl_queue, specialization={3: 6})
        assert len(list(tmp_path.glob("*.module"))) == 1
        told = bundle.get_kernel("scale").arguments
        assert told is not None and [part.name for part in told] == ["data", "factor", "ignored", "shared"]
        cl_queue.single_task(bundle.get_kernel("constants"), out).wait()
        assert out.numpy().tolist() == [6, 0]


def test_one_kernel_from_many_threads(cl_queue: bl.Queue) -> None:
    """Setting arguments and launching is atomic."""
    kernel = bl.load_kernel_bundle(TEXT, cl_queue).get_kernel("scale")
    failures: list[object] = []

    def run(number: int) -> None:
        try:
            data = bl.usm_empty(32, "f4", cl_queue).copy_from(np.ones(32, "f4"))
            for step in range(20):
                arguments = data, 1.0, np.array([0, 0, 0, number], "u4"), bl.LocalAccessor(32)
                cl_queue.parallel_for(bl.NdRange(32, 8), kernel, *arguments).wait()
                expected = 1 + (step + 1) * number
                assert data.numpy().tolist() == [expected] * 32
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
