"""Compiled kernels in memory and on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device
from bindless.python_kernels import compilation, compiler_process
from bindless.python_kernels.function_source import digest_of, source_of

PROGRAM = """
import sys
import numpy as np
import bindless as bl
from bindless import device

@bl.kernel
def fill(out, value):
    out[device.item_id(0)] = value

queue = bl.Queue("reference")
out = bl.usm_empty(4, np.int32, queue)
queue.parallel_for(4, fill, out, 7).wait()
assert out.numpy(queue).tolist() == [7] * 4
assert "numba" not in sys.modules
from bindless.python_kernels import compiler_process
print(len(compiler_process._processes))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BINDLESS_CACHE", "1")
    monkeypatch.setenv("BINDLESS_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def processes(program: Path) -> int:
    """Run the program; return how many compilers it started."""
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_another_process_finds_the_kernel(folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    assert processes(program) == 1
    assert processes(program) == 0
    program.write_text(PROGRAM.replace("= value", "= value + 0"))
    assert processes(program) == 1


def test_damaged_entries_are_built_again(folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    assert processes(program) == 1
    for path in folder.glob("*.module"):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0xFF
        path.write_bytes(data)
    assert processes(program) == 1
    assert processes(program) == 0


def test_entries_of_another_compiler_are_not_used(
    queue: bl.Queue, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @bl.kernel
    def one(out):
        out[0] = 1

    out = bl.usm_empty(1, np.int32, queue)
    queue.parallel_for(1, one, out).wait()
    calls = []
    compile_in_process = compiler_process.compile_in_process

    def counted(*arguments):
        calls.append(arguments)
        return compile_in_process(*arguments)

    monkeypatch.setattr(compiler_process, "compile_in_process", counted)
    queue.parallel_for(1, bl.kernel(one._kernel_function), out).wait()
    assert not calls
    monkeypatch.setattr(compilation, "installed_compilers", lambda: {"numba": "another version"})
    queue.parallel_for(1, bl.kernel(one._kernel_function), out).wait()
    assert len(calls) == 1


def test_a_launch_of_the_same_types_compiles_nothing(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    @bl.kernel
    def one(out, value):
        out[0] = value

    out = bl.usm_empty(1, np.int32, queue)
    queue.parallel_for(1, one, out, 1).wait()
    monkeypatch.setattr(compiler_process, "compile_in_process", None)
    queue.parallel_for(1, one, out, 5).wait()
    assert out.numpy(queue).tolist() == [5]


def test_digests_follow_code_constants_and_names() -> None:
    def make(constant, helper):
        def function(out):
            out[0] = helper(constant) + 1

        return function

    def plus(x):
        return x + 1

    def minus(x):
        return x - 1

    plus_helper, minus_helper = bl.device_function(plus), bl.device_function(minus)
    digests = [
        digest_of(source_of(make(constant, helper)))
        for constant in (1, 1.0, np.float32(1), (1, 2), np.arange(3), np.arange(3.0))
        for helper in (plus_helper, minus_helper)
    ]
    assert len(set(digests)) == len(digests)
    assert digest_of(source_of(make(1, plus_helper))) == digests[0]


class Fault:
    """Ends the process that reads it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (7,)


def test_the_compiler_starts_again_after_a_fault(queue: bl.Queue) -> None:
    def fill(value: int) -> list[int]:
        @bl.kernel
        def run(out):
            out[0] = value

        queue.parallel_for(1, run, out).wait()
        return out.numpy(queue).tolist()

    out = bl.usm_empty(1, np.int32, queue)
    assert fill(1) == [1]
    with pytest.raises(bl.BuildError, match="status 7"):
        compiler_process.compile_in_process("spirv", {"source": Fault()})
    assert fill(2) == [2]
    for process in list(compiler_process._processes.values()):
        process._process.kill()
        process._process.wait()
    assert fill(3) == [3]


def test_the_compiler_of_a_language_is_asked_for() -> None:
    assert bl.kernels_available("python")
    with pytest.raises(bl.InvalidError):
        bl.kernels_available("fortran")


def test_the_compiler_does_not_import_the_users_modules(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "user_helpers.py").write_text(
        "import bindless as bl\n"
        "open('imported.txt', 'a').write('x')\n"
        "OFFSET = 3\n"
        "@bl.device_function\n"
        "def moved(x):\n"
        "    return x + OFFSET\n"
    )
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        "import bindless as bl\n"
        "import user_helpers\n"
        "from bindless import device\n"
        "open('started.txt', 'a').write('x')\n"
        "@bl.kernel\n"
        "def fill(out):\n"
        "    out[device.item_id(0)] = user_helpers.moved(4)\n"
        "queue = bl.Queue('reference')\n"
        "out = bl.usm_empty(4, np.int32, queue)\n"
        "queue.parallel_for(4, fill, out).wait()\n"
        "assert out.numpy(queue).tolist() == [7] * 4\n"
    )
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, check=False, timeout=120, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "imported.txt").read_text() == (tmp_path / "started.txt").read_text() == "x"


def test_threads_share_a_compilation(queue: bl.Queue) -> None:
    @bl.kernel
    def fill(out, value):
        out[device.item_id(0)] = value

    arrays = [bl.usm_empty(16, np.int32, queue) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda k: queue.parallel_for(16, fill, arrays[k], k).wait(), range(4)))
    assert [array.numpy(queue).tolist() for array in arrays] == [[k] * 16 for k in range(4)]
