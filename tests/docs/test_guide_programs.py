"""The programs of docs/guide: each page's snippets run in their order, after what the page takes as given.

Snippets that need another library or a GPU are compiled only; their pages' tests are in tests/interop.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bindless as bl
from tests.support.needs import lacks

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
ELSEWHERE = {
    "interop": "tests/interop",
    "other_kernels": "tests/docs/test_other_kernels.py",
    "runtime": "tests/docs/test_readme.py",
    "testing": "tests/docs/test_start_programs.py",
}
NEEDS = {
    "gradients": "torch",
    "jax": "jax",
    "performance": "nvtx",
    "python_kernels": "numba",
    "video": "numba",
}  # pages about a library, which must be there
NEED_MORE = re.compile(r"torch|vulkan|vertices|read_texture|compile_cuda|\btensor\b|jax|dask|zarr|bl\.kernel\b")

ALWAYS = """
import numpy as np
import bindless as bl
generator = np.random.default_rng(0)
queue = bl.Queue("reference")
"""
GIVEN = {
    "images": """
from pathlib import Path
picture = generator.integers(0, 256, (90, 160, 3)).astype(np.uint8)
bl.Image(picture).save("photo.png")
Path("photo.png").rename("photo.jpg")   # Pillow looks at the contents
matrix, shape, coords = np.eye(2, 3), (90, 160), generator.random((7, 2)) * 80
frames, first_frame = [generator.integers(0, 256, (90, 160, 3)).astype(np.uint8) for _ in range(3)], picture
blocks, height, width = generator.integers(0, 256, (23, 40, 16)).astype(np.uint8), 90, 160
source = '''
#include <bindless/device.h>
kernel void copy(sampled_image_handle image, global uchar *out)
{
    const size_t row = bindless_item_id(0, 2), column = bindless_item_id(1, 2), width = bindless_item_range(1, 2);
    const float4 colour = sample_image_float4(image, (float2)(column + 0.5f, row + 0.5f));
    out[3 * (row * width + column)] = (uchar)(colour.x * 255 + 0.5f);
}
'''
kernel = bl.load_kernel_bundle(bl.build(source), queue).get_kernel("copy")
array, picture = picture, bl.usm_empty((90, 160, 3), np.uint8, queue)
""",
    "colour_tables": """
from pathlib import Path
Path("look.cube").write_text("LUT_1D_SIZE 2\\n1 1 1\\n0 0 0\\n")
picture, frame = (generator.integers(0, 256, (90, 160, 3)).astype(np.uint8) for _ in range(2))
frame_out = np.empty_like(frame)
""",
    "lenses": "",
    "formats": """
photograph = generator.integers(0, 256, (90, 160, 3)).astype(np.uint8)
with bl.Image(photograph, mipmaps=True) as image:
    image.save("rock.dds")
""",
    "millimetres": "",
    "tomography": "",
    "volumes": """
ct = generator.integers(-1000, 1000, (12, 14, 16)).astype(np.int16)
matrix, field = np.eye(4), generator.random((12, 14, 16, 3), np.float32)
coords = field * 10
height, width = 20, 30
elevation = generator.random((20, 30), np.float32)
""",
    "ndimage": """
volume = generator.random((12, 14, 16), np.float32)
coordinates = generator.random((3, 50)) * 12
""",
    "arrays": """
array, other = bl.usm_empty((6, 8, 5), np.float32, queue), bl.usm_empty((6, 8), np.float32, queue)
source = "kernel void twice(global int *values) { values[get_global_id(0)] *= 2; }"
kernel = bl.load_kernel_bundle(bl.build(source), queue).get_kernel("twice")
""",
    "kernels": """
bl.build(SOURCE, "brighten.blk")
height, width = 4, 6
pictures = [bl.Image(np.full((4, 6, 4), n, np.float32), queue=queue) for n in (1, 2)]
handles = bl.usm_empty(2, np.uint64, queue)
handles.copy_from(np.array([int(image.handle) for image in pictures], np.uint64))
out = bl.usm_empty((4, 6, 4), np.float32, queue)
""",
    "gradients": """
import torch
from bindless.torch import line_integrals, texture, texture_construct_mip
volume, tex = torch.rand(1, 2, 4, 5, 6, requires_grad=True), torch.rand(1, 16, 16, 3)
grid = (torch.rand(1, 3, 4, 5, 3) * 2 - 1).requires_grad_()
uv, uv_da = torch.rand(1, 8, 9, 2), torch.full((1, 8, 9, 4), 0.1)
source, pixels = torch.tensor([-9.0, 2.0, 2.0]), torch.rand(6, 7, 3) * 4
ct, places = torch.rand(6, 7, 8), (torch.rand(5, 3) * 6).requires_grad_()
""",
    "jax": "volume, places = generator.random((4, 5, 6, 1), np.float32), generator.random((7, 3), np.float32) * 4",
    "python_kernels": """
picture = generator.random((9, 20), np.float32)
values, counts = bl.usm_empty(512, np.int32, queue), bl.usm_empty(256, np.int32, queue)
values.copy_from(np.arange(512, dtype=np.int32) % 7)
counts.copy_from(np.zeros(256, np.int32))
""",
    "mipmaps": "",
    "handles": "",
    "performance": "",
    "processes": "",
    "several_gpus": "",
    "video": "",
}
EXPECTED = {  # what the given names hold at the end of a page
    "gradients": """
assert volume.grad.abs().sum() > 0 and grid.grad.abs().sum() > 0
assert values.shape == (1, 8, 9, 3) and image.shape == (6, 7)
assert torch.autograd.grad(density.sum(), places)[0].abs().sum() > 0
""",
    "jax": "assert gradients[0].shape == (4, 5, 6, 1) and gradients[1].shape == (7, 3) and value > 0",
    "python_kernels": """
assert np.allclose(out.numpy(queue)[4, 9], picture[4, 6:13].mean(), atol=1e-5)
assert (counts.numpy(queue) == np.bincount(np.arange(512) % 7, minlength=256)).all()
given = numbers.numpy(queue)
assert np.isclose(total.numpy(queue), given.sum(), rtol=1e-5) and largest.numpy(queue) == given.max()
assert (bins.numpy(queue) == np.histogram(given, 10, (0, 1))[0]).all()
""",
    "kernels": "assert (out.numpy(queue) == 4).all()",
    "arrays": "assert values[999] == 1998 and (array.numpy(queue)[2:5, ::2, 1:] == 0).all()",
    "volumes": "assert turned.dtype == np.int16 and np.abs(turned - ct).max() <= 8 and half.shape == (10, 15)",
    "ndimage": "assert turned.shape == volume.shape and moved.shape == (50,)",
    "video": """
weights = np.array([0.25, 0.75])  # of the pixels around (160.25, 90.25)
expected = min(1.2 * weights @ frames[-1][89:91, 159:161, 0] @ weights, 255)
assert abs(int(outputs[0].numpy()[90, 160, 0]) - expected) <= 1
""",
    "images": "assert small.shape == (360, 640, 3) and values.shape == (7, 3)",
}


def snippets(page: str) -> list[str]:
    text = (GUIDE / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_every_page_with_a_program_is_tested() -> None:
    pages = {path.stem for path in GUIDE.glob("*.md") if snippets(path.stem)}
    alone = {page for page in pages if all(NEED_MORE.search(snippet) for snippet in snippets(page))}
    assert pages - alone <= {*GIVEN, *ELSEWHERE}


@pytest.mark.parametrize("page", sorted(path.stem for path in GUIDE.glob("*.md")))
def test_snippets_compile(page: str) -> None:
    for snippet in snippets(page):
        compile(snippet, f"{page}.md", "exec")


@pytest.mark.parametrize("page", sorted(GIVEN))
def test_programs_run(page: str, tmp_path: Path) -> None:
    if not bl.kernels_available():
        lacks("kernels", "pip install 'bindless[kernels]'")
    if page in NEEDS and importlib.util.find_spec(NEEDS[page]) is None:
        lacks(NEEDS[page], f"pip install {NEEDS[page]}")
    text = (GUIDE / f"{page}.md").read_text(encoding="utf-8")
    source = re.search(r"^```c\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    run = [snippet for snippet in snippets(page) if page in NEEDS or not NEED_MORE.search(snippet)]
    assert run
    first = f"SOURCE = {source[1] if source else ''!r}\n"
    program = "\n".join([first, ALWAYS, GIVEN[page], *run, EXPECTED.get(page, "")])
    (tmp_path / "page.py").write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
