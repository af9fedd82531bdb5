"""The two toolchains, LLVM's tools and the packages of ``bindless[kernels]``: selection and results."""

from __future__ import annotations

import functools
import os
import signal
import stat
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.compiler.llvm import find_toolchain
from bindless.compiler.llvm.llvm_tools import LLVMTools
from bindless.compiler.llvm.pip_tools import PipTools
from bindless.compiler.llvm.toolchain import TARGETS
from tests.compiler.ptxas import ptxas

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((REPOSITORY / "docs" / "gallery" / "programs").glob("*.cl"))
needs_pip = pytest.mark.skipif(
    bool(PipTools.what_is_missing()), reason="needs ziglang and llvmlite: pip install 'bindless[kernels]'"
)
needs_path = pytest.mark.skipif(LLVMTools.on_path() is None, reason="needs LLVM's tools: apt install clang-22 llvm-22")
PTXAS = ptxas()
KERNEL = "kernel void k(global int *out) { out[get_global_id(0)] = 1; }"


KERNELS = """
#include <bindless/device.h>
kernel void reduce(global const float *in, global float *out, local float *part)
{
    const uint i = get_local_id(0);
    part[i] = fabs(in[get_global_id(0)]) + log1p(exp(in[get_global_id(0)]));
    for (uint half_of_it = get_local_size(0) / 2; half_of_it > 0; half_of_it /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < half_of_it) part[i] += part[i + half_of_it];
    }
    if (i == 0) out[get_group_id(0)] = part[0];
}
kernel void histogram(global const float *in, volatile global uint *counts)
{
    const int bin = clamp(convert_int_rtn(in[get_global_id(0)] * 4.0f) + 8, 0, 14);
    atomic_inc(counts + bin);
    atomic_max(counts + 15, popcount(as_uint(in[get_global_id(0)])));
}
kernel void attract(global const float4 *places, global float4 *forces, int count, float softness)
{
    const float3 here = places[get_global_id(0)].xyz;
    float3 sum = 0;
    for (int k = 0; k < count; ++k) {
        const float3 way = places[k].xyz - here;
        sum += way * places[k].w * pown(rsqrt(dot(way, way) + softness), 3);
    }
    forces[get_global_id(0)] = (float4)(sum, length(sum) * atan2(sum.y, sum.x) + pow(fabs(sum.z), 0.3f));
}
typedef struct { float4 from, to; int index; float weight; double unused; } ray_t;
kernel void trace(global const ray_t *rays, global float *out)
{
    const ray_t ray = rays[get_global_id(0)];
    int exponent;
    const float part = frexp(distance(ray.from, ray.to), &exponent);
    out[ray.index] = dot(normalize(ray.from), ray.to) + ldexp(part, exponent - 1) + smoothstep(0.0f, 9.0f, erf(part));
}
kernel void swirl(sampled_image_handle image, global float *out)
{
    const float2 at = (float2)(get_global_id(0), get_global_id(1)) / 24.0f - 0.5f;
    const float turn = 3.0f * hypot(at.x, at.y);
    const float2 from = (float2)(at.x * cos(turn) - at.y * sin(turn), at.x * sin(turn) + at.y * cos(turn)) + 0.5f;
    out[get_global_id(1) * 24 + get_global_id(0)] = sample_image_float(image, from);
}
"""


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BINDLESS_CACHE", "0")


@pytest.fixture(scope="module")
def queue() -> bl.Queue:
    return bl.Queue(next(d for d in bl.get_devices() if d.backend is bl.Backend.reference), in_order=True)


def _numbers(queue: bl.Queue, picture: npt.NDArray[np.float32]) -> list[npt.NDArray[Any]]:
    """Return the results of the kernels."""
    bundle = bl.load_kernel_bundle(bl.build(KERNELS), queue)

    def memory(values: npt.ArrayLike, type_: Any = np.float32) -> bl.UsmArray:
        given = np.ascontiguousarray(values, type_)
        made = bl.usm_empty(given.shape, given.dtype, queue)
        made.copy_from(given)
        return made

    x = np.random.default_rng(1).standard_normal(512).astype(np.float32)
    sums, counts = memory(np.zeros(8)), memory(np.zeros(16), np.uint32)
    places, forces = memory(x.reshape(-1, 4)), memory(np.zeros((128, 4)))
    queue.parallel_for(bl.NdRange(512, 64), bundle.get_kernel("reduce"), memory(x), sums, bl.LocalAccessor(256)).wait()
    queue.parallel_for(512, bundle.get_kernel("histogram"), memory(x), counts).wait()
    queue.parallel_for(128, bundle.get_kernel("attract"), places, forces, np.int32(128), 0.01).wait()
    rays = np.zeros(64, [("from", "f4", 4), ("to", "f4", 4), ("index", "i4"), ("weight", "f4"), ("unused", "f8")])
    rays["from"], rays["to"], rays["index"] = x[:256].reshape(64, 4), x[256:].reshape(64, 4), np.arange(64)
    hits = memory(np.zeros(64))
    queue.parallel_for(64, bundle.get_kernel("trace"), memory(rays.view(np.uint8), np.uint8), hits).wait()
    desc = bl.ImageDescriptor(16, 16, num_channels=1, channel_type="fp32")
    image = bl.ImageMem(desc, queue)
    queue.ext_oneapi_copy(picture, image).wait()
    sampler = bl.BindlessImageSampler("mirrored_repeat", "normalized", "linear")
    handle = bl.create_image(image, desc, queue, sampler=sampler)
    swirled = memory(np.zeros((24, 24)))
    queue.parallel_for((24, 24), bundle.get_kernel("swirl"), handle, swirled).wait()
    results = [array.numpy(queue) for array in (sums, counts, forces, hits, swirled)]
    bl.destroy_image_handle(handle, queue)
    image.close()
    return results


@needs_pip
@needs_path
def test_both_give_the_same_numbers(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = np.random.default_rng(2).random((16, 16, 1), np.float32)
    results = []
    for name in ("path", "pip"):
        monkeypatch.setenv("BINDLESS_LLVM", name)
        results.append(_numbers(queue, picture))
    for one, other in zip(*results):
        assert np.any(one != 0)
        np.testing.assert_array_equal(one, other)


@needs_pip
@needs_path
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_both_know_the_same_kernels(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for name in ("path", "pip"):
        monkeypatch.setenv("BINDLESS_LLVM", name)
        made.append(bl.build(path))
    assert made[0].kernels == made[1].kernels
    assert [str(section) for section in made[0].sections] == [str(section) for section in made[1].sections]
    texts = [[section.data for section in file.sections if section.language == "opencl_c"] for file in made]
    assert texts[0] == texts[1]


@needs_pip
def test_a_fault_of_llvm_is_an_error_with_its_words(tmp_path: Path) -> None:
    """An instruction of another processor crashes LLVM."""
    head = 'target triple = "nvptx64-nvidia-cuda"\n'
    bad, good = tmp_path / "bad.ll", tmp_path / "good.ll"
    bad.write_text(
        f"{head}declare i64 @llvm.x86.rdtsc()\ndefine void @k(ptr %p) {{\n"
        "  %r = call i64 @llvm.x86.rdtsc()\n  store i64 %r, ptr %p\n  ret void\n}\n"
    )
    good.write_text(f"{head}define void @k() {{\n  ret void\n}}\n")
    with PipTools() as tools:
        with pytest.raises(bl.BuildError) as caught:
            tools.translate(bad, tmp_path / "bad.ptx", TARGETS["ptx"])
        assert "rdtsc" in caught.value.log
        assert b"sm_75" in tools.translate(good, tmp_path / "good.ptx", TARGETS["ptx"])  # a new process


@needs_pip
@pytest.mark.skipif(PTXAS is None, reason="needs ptxas: pip install nvidia-cuda-nvcc, or NVIDIA's toolkit")
@pytest.mark.parametrize("architecture", ["sm_75", "sm_90", "sm_100", "sm_120"])
def test_ptxas_takes_what_pip_gives(architecture: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Examples, and kernels with functions of all kinds. Newer GPUs run PTX for older ones too."""
    monkeypatch.setenv("BINDLESS_LLVM", "pip")
    for number, source in enumerate([KERNELS, *EXAMPLES]):
        (section,) = _built_ptx(source).sections
        path = tmp_path / f"{number}.ptx"
        path.write_bytes(section.data)
        command = [str(PTXAS), f"-arch={architecture}", str(path), "-o", str(tmp_path / "cubin")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        if "is not defined for option 'gpu-name'" in done.stderr:
            pytest.skip(f"this ptxas is older than {architecture}")
        assert done.returncode == 0, done.stderr


@functools.cache
def _built_ptx(source: str | Path) -> bl.KernelFile:
    return bl.build(source, targets="ptx")


@needs_pip
@pytest.mark.skipif(
    getattr(LLVMTools.on_path(), "library", lambda: None)() is None,
    reason="needs libclc for NVIDIA GPUs: apt install libclc-22",
)
def test_pip_with_another_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """libclc has some of the functions that the package defines."""
    tools = LLVMTools.on_path()
    assert tools is not None
    monkeypatch.setenv("BINDLESS_LLVM", "pip")
    monkeypatch.setenv("BINDLESS_LIBCLC", str(tools.library()))
    text = "kernel void k(global float *out) { const size_t i = get_global_id(0); out[i] = sin(out[i]); }"
    with_libclc = _ptx(text, 0), _ptx(text, 2)
    monkeypatch.delenv("BINDLESS_LIBCLC")
    assert all(".entry k" in module and ".extern" not in module for module in (*with_libclc, _ptx(text, 2)))
    assert with_libclc[1] != _ptx(text, 2)


def _ptx(text: str, level: int) -> str:
    return bl.build(text, targets="ptx", optimization=level).sections[0].data.decode()


@needs_pip
def test_an_idle_process_that_is_killed_is_started_again(tmp_path: Path) -> None:
    module = tmp_path / "module.ll"
    module.write_text('target triple = "spirv64-unknown-unknown"\ndefine spir_kernel void @k() {\n  ret void\n}\n')
    with PipTools() as tools:
        tools.promote(module, tmp_path / "promoted.ll")
        (worker,) = tools._workers.values()
        process = worker.process_id()
        assert process is not None
        os.kill(process, signal.SIGKILL)
        assert "@k()" in tools.promote(module, tmp_path / "again.ll").read_text()
        assert worker.process_id() != process


@needs_pip
def test_what_is_no_module_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "text.ll").write_text("this is no module")
    with PipTools() as tools, pytest.raises(bl.BuildError) as caught:
        tools.promote(tmp_path / "text.ll", tmp_path / "out.ll")
    assert "expected" in caught.value.log


def _old_clang(folder: Path) -> None:
    tool = folder / "clang"
    tool.write_text("#!/bin/sh\necho Some clang version 14.0.6\n")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)


def _nothing_from_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PipTools, "what_is_missing", staticmethod(lambda: "ziglang and llvmlite not installed"))


@pytest.mark.parametrize("chosen", [None, "pip", "path"])
def test_without_any_the_error_names_the_packages(
    chosen: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _old_clang(tmp_path)
    _nothing_from_pip(monkeypatch)
    monkeypatch.setattr(LLVMTools, "on_path", classmethod(lambda cls: None))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=None)
    monkeypatch.delenv("BINDLESS_LLVM", raising=False)
    if chosen:
        monkeypatch.setenv("BINDLESS_LLVM", chosen)
    with pytest.raises(bl.FeatureNotSupportedError) as caught:
        bl.build(KERNEL)
    said = str(caught.value)
    assert "pip install 'bindless[kernels]'" in said
    if chosen != "pip":
        assert said.index("pip install") < said.index("apt-get update") and "14.0.6" in said
    assert bl.kernels_available() is False


class _Tools:
    """Substitute for LLVM's tools of a version."""

    def __init__(self, major: int) -> None:
        self.major = major


@pytest.mark.parametrize(
    ("chosen", "major", "pip", "taken"),
    [
        ("", 22, True, "path"),
        ("", 21, True, "pip"),
        ("", None, True, "pip"),
        ("", 21, False, "path"),
        ("path", 21, True, "path"),
        ("pip", 22, True, "pip"),
    ],
)
def test_the_order(chosen: str, major: int | None, pip: bool, taken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path: Any = _Tools(major) if major else None
    monkeypatch.setenv("BINDLESS_LLVM", chosen)
    monkeypatch.setattr(LLVMTools, "on_path", classmethod(lambda cls: on_path))
    monkeypatch.setattr(PipTools, "what_is_missing", staticmethod(lambda: "" if pip else "ziglang not installed"))
    monkeypatch.setattr(find_toolchain, "PipTools", type("Pip", (PipTools,), {"__init__": lambda self: None}))
    found = find_toolchain.find_toolchain()
    assert isinstance(found, PipTools) == (taken == "pip")
    assert taken == "pip" or found is on_path
