"""Compiled kernels in memory and on disk."""

from __future__ import annotations

import collections
import enum
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device
from bindless.model.module.disk_cache import ModuleCache
from bindless.python_kernels import compilation, compiler_process
from bindless.python_kernels.function_digest import digest_of
from bindless.python_kernels.function_source import source_of

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
print(len(compiler_process._workers))
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


class Kind(enum.IntEnum):
    ONE = 1
    TWO = 2


class Opaque(int):
    def __repr__(self) -> str:
        return "one text for all"


Pair = collections.namedtuple("Pair", "first second")
Other = collections.namedtuple("Other", "second first")


def table(value: float) -> np.ndarray[Any, Any]:
    """Texts of such arrays leave their middle out."""
    made = np.zeros(3000)
    made[1500] = value
    return made


def test_digests_have_all_bytes_of_constants_at_any_depth() -> None:
    record = np.dtype([("a", "f8", (2000,))])
    void = [np.zeros(1, record)[0] for _ in range(2)]
    void[1]["a"][1000] = 1e-12
    constants: list[Any] = [
        (table(1.0),), (table(2.0),), (1, (2, (table(1.0),))), (1, (2, (table(2.0),))),
        (np.array([1.0]),), (np.array([1.0 + 1e-12]),), (np.array([1.0], np.float32),), (np.array([[1.0]]),),
        ((1, 2), 3), (1, (2, 3)), (1, 2, 3), ("ab", "c"), ("a", "bc"), b"a", "a",
        (0.0,), (-0.0,), (1,), (1.0,), (True,), (np.float64(1),), 1j, -1j, float("nan"),
        np.array(np.nan), np.frombuffer(b"\1\0\0\0\0\0\xf8\x7f", np.float64), *void, (void[0],), (void[1],),
        Kind.ONE, Kind.TWO, Opaque(5), Opaque(6), Pair(1, 2), Other(1, 2),
    ]  # fmt: skip

    def make(constant: Any) -> Any:
        def function(out):
            out[0] = constant

        return function

    def with_default(constant: Any) -> Any:
        def function(out, value=constant):
            out[0] = value

        return function

    for maker in (make, with_default):
        digests = [digest_of(source_of(maker(constant))) for constant in constants]
        known: dict[bytes, Any] = {}
        for digest, constant in zip(digests, constants):
            assert digest not in known, (constant, known[digest])
            known[digest] = constant
        assert digests == [digest_of(source_of(maker(constant))) for constant in constants]


TABLE = """
import sys
import numpy as np
import bindless as bl
TABLE = np.zeros(3000, np.float32)
TABLE[1500] = float(sys.argv[1])
NESTED = (TABLE, (np.array([1.0 + 1e-10 * float(sys.argv[1])]),))
@bl.kernel(default_float=np.float64)
def read(out):
    out[0] = NESTED[0][1500]
    out[1] = (NESTED[1][0][0] - 1.0) * 1e10
queue = bl.Queue("reference")
out = bl.usm_empty(2, np.float64, queue)
queue.parallel_for(1, read, out).wait()
print(np.round(out.numpy(), 3).tolist())
"""


def test_another_table_is_another_kernel(folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(TABLE)
    for value in ("1", "2", "1"):
        done = subprocess.run([sys.executable, str(program), value], capture_output=True, text=True, timeout=120)
        assert done.stdout.strip() == str([float(value)] * 2), done.stderr


def test_an_entry_proves_what_was_compiled(queue: bl.Queue, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code of one kernel, stored under the key of another with a valid hash, is not used."""
    keys: list[tuple[bytes, ...]] = []
    put = ModuleCache.put

    def remember(self: ModuleCache, data: bytes, *key: bytes) -> None:
        if key[0] == b"python kernel":
            keys.append(key)
        put(self, data, *key)

    monkeypatch.setattr(ModuleCache, "put", remember)
    out = bl.usm_empty(1, np.int32, queue)

    def fill(value: int) -> int:
        @bl.kernel
        def run(out):
            out[0] = value

        queue.parallel_for(1, run, out).wait()
        return int(out.numpy(queue)[0])

    assert [fill(111), fill(222)] == [111, 222] and len(keys) == 2
    cache = ModuleCache(folder, 1 << 28)
    first = cache.get(*keys[0])
    assert first is not None
    put(cache, first, *keys[1])
    assert cache.get(*keys[1]) == first
    assert fill(222) == 222


class Interrupted(BaseException):
    """Raised by the handler of a signal; CPython's ``Thread.start`` replaces an ``Exception`` by a KeyError there."""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers of POSIX")
# An exception in Thread.start, of the timer that limits a compilation, has CPython's new thread report a KeyError.
@pytest.mark.filterwarnings("ignore:Exception ignored in thread started by:pytest.PytestUnraisableExceptionWarning")
def test_an_interrupted_compilation_leaves_nothing_behind(queue: bl.Queue, folder: Path) -> None:
    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    def kernel(value: int) -> bl.PythonKernel:
        @bl.kernel
        def run(out):
            out[0] = value

        return run

    out = bl.usm_empty(1, np.int32, queue)

    def fill(value: int) -> int:
        queue.parallel_for(1, kernel(value), out).wait()
        return int(out.numpy(queue)[0])

    fill(0)
    before = signal.signal(signal.SIGALRM, interrupt)
    interruptions = 0
    try:
        for number in range(1, 9):
            signal.setitimer(signal.ITIMER_REAL, 0.004 * number)
            try:
                fill(10 * number)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Interrupted:
                interruptions += 1
            assert fill(10 * number + 1) == 10 * number + 1
            assert fill(10 * number) == 10 * number
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interruptions


INTERRUPTED = """
import signal
import numpy as np
import bindless as bl
inside = late = False
def interrupt(number, frame):
    # Any thread of the process can take the signal, so a mask of this one does not choose the place; the handler does.
    global late
    if inside:
        raise KeyboardInterrupt
    late = True
signal.signal(signal.SIGINT, interrupt)
queue = bl.Queue("reference")
out = bl.usm_empty(1, np.int32, queue)
def fill(value):
    global inside, late
    @bl.kernel
    def run(out):
        out[0] = value
    try:  # the one place where the interrupt arrives
        inside = True
        if late:
            raise KeyboardInterrupt
        queue.parallel_for(1, run, out).wait()
        inside = False
    except KeyboardInterrupt:
        inside = late = False
        return "interrupted"
    return "right" if out.numpy()[0] == value else "wrong"
fill(1)
print("ready", flush=True)
results = [fill(2)]
while results[-1] == "right":
    results.append(fill(len(results) + 2))
results += [fill(value) for value in range(1001, 1004)]
print(*results)
"""


@pytest.mark.skipif(os.name != "posix", reason="process groups of POSIX")
def test_interrupts_of_a_terminal(folder: Path, tmp_path: Path) -> None:
    """Ctrl-C goes to all processes of the group: the program alone is interrupted, and its next kernels are right."""
    program = tmp_path / "program.py"
    program.write_text(INTERRUPTED)
    for _ in range(3):
        command = [sys.executable, str(program)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as started:
            try:
                assert started.stdout is not None and started.stdout.readline() == "ready\n"
                os.killpg(started.pid, signal.SIGINT)
                results = started.communicate(timeout=120)[0].split()
            finally:
                started.kill()
        assert started.returncode == 0
        assert results.count("interrupted") == 1 and results[-3:] == ["right"] * 3 and "wrong" not in results


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
        compiler_process.compile_in_process("spirv", {"source": Fault()}, "fault")
    assert fill(2) == [2]
    for worker in list(compiler_process._workers.values()):
        process = worker.process_id()
        if process is not None:
            os.kill(process, 9)
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
