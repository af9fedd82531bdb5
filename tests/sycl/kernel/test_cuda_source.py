"""CUDA C++ through NVRTC: compiled where the library is installed, run on a GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bindless as bl
from bindless.drivers import nvrtc
from bindless.model.module import ptx
from bindless.sycl.kernel.compile_cuda import _architecture
from tests.support.error_checks import raises

needs_nvrtc = pytest.mark.skipif(not nvrtc.available(), reason="needs NVRTC: pip install nvidia-cuda-nvrtc")

SOURCE = """
extern "C" __global__ void mirror(cudaTextureObject_t image, float4 *out, unsigned width)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * width + x] = tex2D<float4>(image, width - x - 0.5f, y + 0.5f);
}
extern "C" __global__ void scale(float *data) { data[blockIdx.x * blockDim.x + threadIdx.x] *= FACTOR; }
"""


@pytest.fixture(autouse=True)
def _forget() -> None:
    nvrtc._library.cache_clear()


@needs_nvrtc
def test_it_compiles_without_a_gpu() -> None:
    major, _ = nvrtc.version()
    assert major >= 11 and 90 in nvrtc.architectures()
    made = nvrtc.compile_program(SOURCE, "a.cu", "sm_90", ["-DFACTOR=2"])
    assert made.cubin.startswith(b"\x7fELF") and ptx.target_of(made.ptx) == (9, 0)
    found = ptx.entries(made.ptx.rstrip(b"\0"))
    assert {name: [p.size for p in kernel.parameters or ()] for name, kernel in found.items()} == {
        "mirror": [8, 8, 4],
        "scale": [8],
    }
    assert nvrtc.compile_program(SOURCE, "a.cu", "compute_80", ["-DFACTOR=2"]).cubin == b""


@needs_nvrtc
def test_errors_are_the_compiler_s_words() -> None:
    with raises(bl.BuildError, names=("mine.cu", "sm_90", "FACTOR")) as caught:
        nvrtc.compile_program(SOURCE, "mine.cu", "sm_90")
    assert "mine.cu(7)" in caught.value.log and caught.value.native_name == "NVRTC_ERROR_COMPILATION"
    with raises(bl.BuildError, names="-nonsense"):
        nvrtc.compile_program(SOURCE, "a.cu", "sm_90", ["-nonsense"])


def test_a_missing_library_is_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BINDLESS_LIBNVRTC", str(tmp_path / "libnvrtc.so"))
    assert not nvrtc.available()
    with raises(bl.FeatureNotSupportedError, names=("libnvrtc.so", "pip install", "BINDLESS_LIBNVRTC")):
        nvrtc.version()
    monkeypatch.setenv("BINDLESS_LIBNVRTC", "libnvrtc.so")
    with raises(bl.FeatureNotSupportedError):
        nvrtc.version()


def test_architectures() -> None:
    assert _architecture("9.0", (75, 80, 90, 100)) == "sm_90"
    assert _architecture("10.3", (75, 80, 90)) == "compute_90"
    with raises(bl.FeatureNotSupportedError, names=("sm_75", "sm_61")):
        _architecture("6.1", (75, 80))


def test_other_devices_are_told_the_way_out(queue: bl.Queue) -> None:
    if queue.device.backend is bl.Backend.cuda:
        queue = bl.Queue("reference")
    with raises(bl.FeatureNotSupportedError, names=("CUDA C++", "`bindless")):
        bl.compile_cuda(SOURCE, queue)


@pytest.mark.cuda
@needs_nvrtc
def test_kernels_run(queue: bl.Queue, tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(SOURCE)
    bundle = bl.compile_cuda(path, queue, options=["-DFACTOR=3"])
    assert bundle.kernel_names == ("mirror", "scale")
    assert [a.kind for a in bundle.get_kernel("mirror").arguments or ()] == ["value", "value", "value"]
    pixels = np.random.default_rng(1).random((8, 32, 4), np.float32)
    desc = bl.ImageDescriptor.from_array(pixels)
    with bl.ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(pixels, memory).wait()
        sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "nearest")
        handle = bl.create_image(memory, desc, queue, sampler=sampler)
        out = bl.usm_empty((8, 32, 4), np.float32, queue)
        queue.parallel_for((8, 32), bundle.get_kernel("mirror"), handle, out, np.uint32(32)).wait()
        np.testing.assert_array_equal(out.numpy(queue), pixels[:, ::-1])
        bl.destroy_image_handle(handle, queue)
    data = bl.usm_empty((64,), np.float32, queue)
    data.copy_from(np.arange(64, dtype=np.float32))
    queue.parallel_for(64, bundle.get_kernel("scale"), data).wait()
    np.testing.assert_array_equal(data.numpy(queue), np.arange(64) * 3)
