"""Limits of kernels in Python: numbers of arguments, depths of tuples, sizes of arrays, time."""

from __future__ import annotations

import collections
import enum
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device


def nested(depth: int) -> Any:
    value: Any = 1.0
    for _ in range(depth):
        value = (value,)
    return value


def kernel_of(text: str, **names: Any) -> Any:
    space: dict[str, Any] = {"device": device, "np": np, **names}
    exec(text, space)
    return bl.kernel(space["run"])


def test_the_number_of_arguments(queue: bl.Queue) -> None:
    out = bl.usm_empty(1, np.float32, queue)
    for count in (255, 256, 300):
        names = [f"a{number}" for number in range(count)]
        run = kernel_of(f"def run({', '.join(names)}):\n    a0[0] = a1 + {names[-1]}\n")
        if count > 256:
            with pytest.raises(bl.InvalidError):
                queue.parallel_for(1, run, out, *[1.5] * (count - 1))
        else:
            queue.parallel_for(1, run, out, *[1.5] * (count - 1)).wait()
            assert out.numpy(queue)[0] == 3.0
    with pytest.raises(bl.InvalidError):
        queue.parallel_for(1, kernel_of("def run(out, values):\n    out[0] = values[3]\n"), out, (1.5,) * 300)


@pytest.mark.parametrize("depth", [7, 8, 300, 3000, 100_000])
def test_tuples_within_tuples_among_the_arguments(queue: bl.Queue, depth: int) -> None:
    out = bl.usm_empty(1, np.float32, queue)
    run = kernel_of(f"def run(out, value):\n    out[0] = value{'[0]' * min(depth, 8)}\n")
    if depth > 7:
        with pytest.raises(bl.InvalidError):
            queue.parallel_for(1, run, out, nested(depth))
        with pytest.raises(bl.InvalidError):
            run.specialise(queue, 1, out, nested(depth))
        with pytest.raises(bl.InvalidError):
            run.bind(queue, 1, out, nested(depth))
    else:
        queue.parallel_for(1, run, out, nested(depth)).wait()
        assert out.numpy(queue)[0] == 1.0


@pytest.mark.parametrize("depth", [20, 101, 3000, 100_000])
def test_tuples_within_tuples_among_the_constants(queue: bl.Queue, depth: int) -> None:
    out = bl.usm_empty(1, np.float32, queue)
    run = kernel_of(f"def run(out):\n    out[0] = value{'[0]' * min(depth, 20)}\n", value=nested(depth))
    if depth > 100:
        with pytest.raises(bl.InvalidError):
            queue.parallel_for(1, run, out)
    else:
        queue.parallel_for(1, run, out).wait()
        assert out.numpy(queue)[0] == 1.0


def test_functions_that_call_each_other_deeply(queue: bl.Queue) -> None:
    function: Any = bl.device_function(lambda x: x)
    for _ in range(400):
        function = bl.device_function(lambda x, inner=function: inner(x))
    run = kernel_of("def run(out):\n    out[0] = function(1.0)\n", function=function)
    with pytest.raises(bl.InvalidError):
        queue.parallel_for(1, run, bl.usm_empty(1, np.float32, queue))


class Kind(enum.IntEnum):
    THREE = 3


class Number(float):
    """A class that the compiler cannot import."""


Pair = collections.namedtuple("Pair", "first second")


def test_constants_of_classes_of_the_user(queue: bl.Queue) -> None:
    out = bl.usm_empty(4, np.float32, queue)
    run = kernel_of(
        "def run(out):\n    out[0] = kind\n    out[1] = number\n    out[2] = pair.second\n    out[3] = pair.first[1]\n",
        kind=Kind.THREE, number=Number(2.5), pair=Pair((1, 7), 4),
    )  # fmt: skip
    queue.parallel_for(1, run, out).wait()
    assert out.numpy(queue).tolist() == [3, 2.5, 4, 7]


@pytest.mark.parametrize("shape", [(2**30 + 8,), (2**29,), (2**16, 2**16 + 1), (2**32, 2**32), (2**31, 2**31, 2**31)])
def test_sizes_of_local_arrays_have_64_bits(queue: bl.Queue, shape: tuple[int, ...]) -> None:
    index = ", ".join(["i"] * len(shape))
    run = kernel_of(
        f"def run(out, i):\n    t = device.local_array(shape, np.float32)\n    t[{index}] = 1\n"
        f"    device.barrier()\n    out[0] = t[{index}]\n",
        shape=shape,
    )
    with pytest.raises(bl.BuildError):
        queue.parallel_for(bl.NdRange(1, 1), run, bl.usm_empty(1, np.float32, queue), 0)


def test_the_time_limit(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tuples double with each step, and an index that varies needs all of their elements."""
    monkeypatch.setenv("BINDLESS_CACHE", "0")
    steps = "".join(f"    x{number + 1} = (x{number}, x{number})\n" for number in range(26))
    run = kernel_of(f"def run(out, i):\n    x0 = (1, 2.5)\n{steps}    out[0] = x26[i]{'[0]' * 26}\n")
    out = bl.usm_empty(1, np.float32, queue)
    monkeypatch.setenv("BINDLESS_BUILD_TIMEOUT", "4")
    with pytest.raises(bl.BuildError, match="BINDLESS_BUILD_TIMEOUT"):
        queue.parallel_for(1, run, out, 0)
    monkeypatch.delenv("BINDLESS_BUILD_TIMEOUT")
    queue.parallel_for(1, kernel_of("def run(out):\n    out[0] = 2\n"), out).wait()
    assert out.numpy(queue)[0] == 2


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps the current folder")
def test_a_current_folder_that_was_deleted(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os, sys\nimport numpy as np\nimport bindless as bl\n"
        "os.mkdir(sys.argv[1])\nos.chdir(sys.argv[1])\nos.rmdir(sys.argv[1])\n"
        "@bl.kernel\ndef run(out):\n    out[0] = 2\n"
        "queue = bl.Queue('reference')\nout = bl.usm_empty(1, np.float32, queue)\n"
        "queue.parallel_for(1, run, out).wait()\nassert out.numpy()[0] == 2\n"
    )
    environment = {**os.environ, "BINDLESS_CACHE": "0"}
    command = [sys.executable, str(program), str(tmp_path / "gone")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
