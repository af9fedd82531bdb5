"""Python processes of the package: what they import, and from where."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bindless

PACKAGE = Path(__file__).parents[2] / "src"
# Where the package is found by PYTHONPATH alone, the program adds that folder itself.
FOLDER = str(Path(bindless.__file__).parents[1])
HEAD = f"import sys; sys.path.append({FOLDER!r})\n" if FOLDER in os.environ.get("PYTHONPATH", "").split(":") else ""
# Prints the path of a process that the package starts, beside its own.
PROGRAM = """
import json, subprocess, sys
from bindless.compiler.process.python_command import python_command, python_environment
code = "import json, sys, bindless as b; print(json.dumps([sys.path, sys.flags.isolated, b.__path__[0], sys.argv[1:]]))"
done = subprocess.run(python_command(code, ["word"]), env=python_environment(), capture_output=True, text=True)
assert done.returncode == 0, done.stderr
import bindless
print(json.dumps([json.loads(done.stdout), [sys.path, sys.flags.isolated, bindless.__path__[0], ["word"]]]))
"""
BAIT = "import os\nopen(os.path.join(os.path.dirname(__file__), 'ran'), 'w').close()\nraise ImportError('bait')\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A current folder with files that must not run, and a program elsewhere."""
    (tmp_path / "here").mkdir()
    for name in ("numba", "llvmlite", "json", "typing", "pickle", "numpy", "struct", "site", "re", "sitecustomize"):
        (tmp_path / "here" / f"{name}.py").write_text(BAIT)
    (tmp_path / "elsewhere").mkdir()
    return tmp_path


def run(place: Path, program: str, *options: str, **variables: str) -> str:
    file = place / "elsewhere" / "program.py"
    file.write_text(HEAD + program)
    command = [sys.executable, *options, str(file)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    done = subprocess.run(
        command, cwd=place / "here", capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("options", [(), ("-I",), ("-E",), ("-s",), ("-B",)])
def test_the_path_is_the_programs(place: Path, options: tuple[str, ...]) -> None:
    child, own = json.loads(run(place, PROGRAM, *options))
    assert child == own
    assert not (place / "here" / "ran").exists()


def test_the_current_folder_counts_where_the_user_names_it(place: Path) -> None:
    for path in (place / "here").iterdir():
        path.unlink()
    for named in (".", str(place / "here"), f"{place}/here:/nowhere"):
        child, own = json.loads(run(place, PROGRAM, PYTHONPATH=named))
        assert str(place / "here") in child[0] and child == own
    isolated, _ = json.loads(run(place, PROGRAM, "-I", PYTHONPATH="."))
    assert str(place / "here") not in isolated[0]


def test_a_program_in_the_current_folder(place: Path) -> None:
    """Its folder is on its path; that of the new process is without."""
    (place / "here" / "json.py").unlink()
    for name in ("typing", "struct", "re", "numpy", "pickle"):  # the program itself would import these
        (place / "here" / f"{name}.py").unlink()
    program = place / "here" / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=place / "here", capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    child, own = json.loads(done.stdout)
    assert str(place / "here") in own[0] and str(place / "here") not in child[0]
    assert child[2:] == own[2:]


KERNEL = """
import os, tempfile
os.environ["BINDLESS_CACHE"] = "0"
import numpy as np
import bindless as bl
from bindless import device
queue = bl.Queue("reference")
@bl.kernel
def fill(out):
    out[device.item_id(0)] = 7
out = bl.usm_empty(4, np.int32, queue)
queue.parallel_for(4, fill, out).wait()
assert out.numpy().tolist() == [7] * 4
os.environ["BINDLESS_LLVM"] = "pip"
bl.build("kernel void k(global int *out) { out[0] = 1; }", targets="spirv")
from bindless.bench.subprocesses import run_python
assert run_python("print(sum(range(4)))") == ("6", True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the packages of bindless[kernels] are tested on Linux")
@pytest.mark.parametrize("options", [(), ("-I",)])
def test_no_file_of_the_current_folder_runs(place: Path, options: tuple[str, ...]) -> None:
    """Compilers of kernels in Python and in OpenCL C, and measurements in processes of their own."""
    pytest.importorskip("numba")
    pytest.importorskip("ziglang")
    run(place, KERNEL, *options)
    assert not (place / "here" / "ran").exists()
