"""The programs of the gallery: short, led by what they show, and run on the reference device."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bindless as bl
from tests.support.needs import lacks

EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "gallery" / "examples").rglob("*.py"))
PIP = {"matplotlib": "matplotlib", "skimage": "scikit-image", "scipy": "scipy", "dask": "'bindless[dask]'"}
PROGRAMS = EXAMPLES[0].parents[2] / "programs"  # vulkan_headless
DRAWN = [pytest.param(path, marks=pytest.mark.vulkan) if "vulkan" in path.stem else path for path in EXAMPLES]
DRAWS = """
import runpy, sys
import matplotlib.pyplot as plt
runpy.run_path(sys.argv[1], run_name="__main__")
plt.gcf().savefig(sys.argv[2])
"""


def test_there_are_many() -> None:
    assert len(EXAMPLES) >= 20


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_programs_are_short_and_say_what_they_show(example: Path) -> None:
    text = example.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    title, rule, blank, *about = (ast.get_docstring(ast.parse(text)) or "").splitlines()
    assert rule == "=" * len(title)
    assert blank == ""
    assert about


@pytest.mark.parametrize("example", DRAWN, ids=lambda path: path.stem)
def test_programs_draw(example: Path, tmp_path: Path) -> None:
    text = example.read_text(encoding="utf-8")
    for module, package in PIP.items():
        if re.search(rf"^(?:import|from) {module}\b", text, re.MULTILINE) and importlib.util.find_spec(module) is None:
            lacks(module, f"pip install {package}, or 'bindless[docs]'")
    if "bl.build(" in text and not bl.kernels_available():
        lacks("kernels", "pip install 'bindless[kernels]'")
    if "@bl.kernel" in text and importlib.util.find_spec("numba") is None:
        lacks("kernels", "pip install 'bindless[kernels]'")
    picture = tmp_path / "picture.png"
    environment = {**os.environ, "MPLBACKEND": "Agg", "ONEAPI_DEVICE_SELECTOR": "reference:*"}
    environment["PYTHONPATH"] = os.pathsep.join([str(PROGRAMS), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", DRAWS, str(example), str(picture)],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert picture.stat().st_size > 10_000  # more than an empty figure
