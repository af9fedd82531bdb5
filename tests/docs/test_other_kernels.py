"""The programs of docs/guide/other_kernels.md, and the header for CUDA C++."""

from __future__ import annotations

import importlib
import importlib.util
import re
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import bindless as bl
from bindless.drivers import nvrtc
from tests.compiler.ptxas import nvdisasm, ptxas
from tests.support.image_instructions import disassemble, image_instructions

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
PROGRAMS = sorted(path.stem for path in (GUIDE / "other_kernels").glob("*_kernel.py"))
LIBRARIES = {
    "cupy_raw_kernel": "cupy",
    "nvrtc_kernel": "bindless",
    "triton_kernel": "triton",
    "pallas_kernel": "jax",
    "numba_cuda_kernel": "numba_cuda",
    "warp_kernel": "warp",
}

needs_nvrtc = pytest.mark.skipif(not nvrtc.available(), reason="needs NVRTC: pip install nvidia-cuda-nvrtc")


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(GUIDE / "other_kernels"))
    return importlib.import_module(name)


def test_the_page_names_every_program() -> None:
    text = (GUIDE / "other_kernels.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\(other_kernels/(\w+)\.py\)", text)) == set(PROGRAMS) == set(LIBRARIES)


@pytest.mark.cuda
@pytest.mark.filterwarnings("ignore:The 'generic' unit for NumPy timedelta is deprecated")  # numba-cuda's
@pytest.mark.filterwarnings("ignore:The Pallas Triton backend is deprecated")  # JAX's
@pytest.mark.filterwarnings("ignore:.*Grid size .* will likely result in GPU under-utilization")  # numba-cuda's
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_sample_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    library = LIBRARIES[name]
    if importlib.util.find_spec(library) is None or (name == "nvrtc_kernel" and not nvrtc.available()):
        pytest.skip(f"needs {library}")
    assert load(name, monkeypatch).main() == 0


def test_the_scene_is_of_different_images(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    if queue.device.backend is bl.Backend.opencl:
        pytest.skip("OpenCL C has no handles in memory")
    module = load("scene", monkeypatch)
    with ExitStack() as owner:
        scene = module.make_scene(queue, owner)
        assert len(set(scene.handles)) == module.IMAGES == len(set(scene.which[:256]))
        assert scene.wanted.shape == (module.POINTS, 4)
        assert module.report("none", scene.wanted, scene) == 0
        assert module.report("other points", np.roll(scene.wanted, 1, 0), scene) > 0.1


FUNCTIONS = (
    "sample_image<T>(h[i], x)", "sample_image<T>(h[i], y)", "sample_image<T>(h[i], z)",
    "sample_image_array<T>(h[i], x, n)", "sample_image_array<T>(h[i], y, n)",
    "sample_mipmap<T>(h[i], x, x)", "sample_mipmap<T>(h[i], y, x)", "sample_mipmap<T>(h[i], z, x)",
    "sample_mipmap<T>(h[i], x, x, x)", "sample_mipmap<T>(h[i], y, y, y)", "sample_mipmap<T>(h[i], z, z, z)",
    "sample_cubemap<T>(h[i], z)",
    "fetch_sampled_image<T>(h[i], i)", "fetch_sampled_image<T>(h[i], p)", "fetch_sampled_image<T>(h[i], q)",
    "fetch_sampled_image_array<T>(h[i], i, n)", "fetch_sampled_image_array<T>(h[i], p, n)",
    "fetch_image<T>(h[i], i)", "fetch_image<T>(h[i], p)", "fetch_image<T>(h[i], q)",
    "fetch_image_array<T>(h[i], i, n)", "fetch_image_array<T>(h[i], p, n)",
)  # fmt: skip
WRITES = (
    "write_image(h[i], i, a)", "write_image(h[i], p, a)", "write_image(h[i], q, a)",
    "write_image_array(h[i], i, n, a)", "write_image_array(h[i], p, n, a)",
)  # fmt: skip
TYPES = ("float", "float2", "float4", "int", "int2", "int4", "unsigned", "uint2", "uint4")
BLOBS = ("unsigned char", "uchar2", "char4", "short", "ushort2", "ushort4", "double2")


def source() -> str:
    """Return a kernel for each type, with every function."""
    text = [
        "#include <bindless/cuda.h>\nusing namespace bindless;\n"
        "template <class T> __device__ void every(const unsigned long long *h, T *o) {\n"
        "  const int i = threadIdx.x; const unsigned n = i % 3; const float x = i;\n"
        "  const float2 y = make_float2(x, i + 1);\n"
        "  const float3 z = make_float3(x, i + 1, i + 2); const int2 p = make_int2(i, i + 1);\n"
        "  const int3 q = make_int3(i, i + 1, i + 2); const T a = o[-1];\n"
        + "".join(f"  o[{number}] = {call};\n" for number, call in enumerate(FUNCTIONS))
        + "".join(f"  {call};\n" for call in WRITES)
        + "}\n"
    ]
    for type_ in TYPES:
        text.append(
            f'extern "C" __global__ void all_{type_}(const unsigned long long *h, {type_} *o) {{ every(h, o); }}\n'
        )
    for number, type_ in enumerate(BLOBS):
        text.append(
            f'extern "C" __global__ void blob_{number}(const unsigned long long *h, {type_} *o) {{\n'
            "  const int i = threadIdx.x;\n"
            f"  o[i] = fetch_image<{type_}>(h[i], make_int2(i, 1)); write_image(h[i], make_int2(i, 2), o[i + 1]); }}\n"
        )
    return "".join(text)


@needs_nvrtc
def test_the_header_compiles_to_one_instruction_a_call() -> None:
    program = nvrtc.compile_program(source(), "all.cu", "compute_75", [f"-I{bl.get_include()}"])
    assert program.log == ""
    found = [len(re.findall(rf"\b{name}\.", program.ptx.decode())) for name in ("tex", "suld", "sust")]
    assert found == [17 * len(TYPES), 5 * len(TYPES) + len(BLOBS), 5 * len(TYPES) + len(BLOBS)]


@needs_nvrtc
@pytest.mark.skipif(
    ptxas() is None or nvdisasm() is None,
    reason="needs ptxas and nvdisasm: pip install nvidia-cuda-nvcc nvidia-cuda-nvdisasm",
)
@pytest.mark.parametrize("architecture", ("sm_75", "sm_90", "sm_120"))
def test_handles_of_the_header_differ_between_lanes(architecture: str, tmp_path: Path) -> None:
    ptx = nvrtc.compile_program(source(), "all.cu", "compute_75", [f"-I{bl.get_include()}"]).ptx
    ptx = re.sub(rb"(?m)^\.version .*", b".version 7.8", ptx)  # this ptxas may be older than this NVRTC
    found = image_instructions(disassemble(ptx, architecture, str(ptxas()), str(nvdisasm()), tmp_path))
    assert len(found) > 25 * len(TYPES)  # one PTX instruction may become several, and two that are equal one
    assert [item for item in found if item.uniform and not item.selected] == []
