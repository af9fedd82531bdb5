"""Native code that is compiled beside the program: compilers, forks and ends of processes that must not harm it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="native code needs a POSIX system")

SCRIPT = """
import ctypes, os, signal, struct, sys, time
from bindless.compiler import native_code, native_slots

signal.signal(signal.SIGINT, signal.default_int_handler)  # which may be ignored, as under nohup

def request(text):
    address = native_slots.native_slot(text, False)
    slot = native_slots.NativeSlot.from_address(address)
    assert slot.function is None and slot.patience > 0
    os.write(slot.descriptor, struct.pack("=Q", address))  # as the driver asks
    return slot

def wait(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)

TEXT = b"unsigned blr_native_kernel(void *frame) { return 7; }"
"""


def run(text: str, **variables: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT + text], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def script(folder: Path, text: str) -> Path:
    path = folder / "compiler"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return path


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{process}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


def ends(process: int) -> bool:
    end = time.monotonic() + 20
    while is_alive(process) and time.monotonic() < end:
        time.sleep(0.02)
    return not is_alive(process)


CALL = """
slot = request(TEXT)
wait(lambda: slot.function)
print(ctypes.CFUNCTYPE(ctypes.c_uint)(slot.function)())
"""


def test_a_function_appears_beside_the_program(tmp_path: Path) -> None:
    for _ in range(2):  # by the compiler, and from the cache
        done = run(CALL, BINDLESS_CACHE=1, BINDLESS_CACHE_DIR=tmp_path)
        assert (done.stdout, done.stderr) == ("7\n", "")
    assert len(list(tmp_path.rglob("*.module"))) == 1


@pytest.mark.parametrize("switch", ["0", "1"])
def test_without_a_cache(switch: str) -> None:
    done = run(CALL, BINDLESS_CACHE=switch, BINDLESS_CACHE_DIR="/proc/self/none")
    assert (done.stdout, done.stderr) == ("7\n", "")


@pytest.mark.parametrize("text", ["exit 1", "exit 0", 'echo "no such flag" >&2; exit 4'])
def test_a_broken_compiler_is_named_once(tmp_path: Path, text: str) -> None:
    done = run(
        "one, two = request(TEXT), request(TEXT + b' ')\n"
        "wait(lambda: not native_code.has_compiler())\n"
        "time.sleep(0.2)\n"
        "print(one.function, two.function)",
        BINDLESS_REFERENCE_NATIVE_CC=script(tmp_path, f"echo >> {tmp_path}/starts\n{text}"),
        BINDLESS_CACHE_DIR=tmp_path,
    )
    assert done.stdout == "None None\n"
    assert len(done.stderr.splitlines()) == 1
    assert len((tmp_path / "starts").read_text().splitlines()) == 1


def test_a_compiler_that_hangs_has_a_time_limit(tmp_path: Path) -> None:
    done = run(
        "native_code.SECONDS = 0.5\nslot = request(TEXT)\n"
        "wait(lambda: not native_code.has_compiler())\nprint(slot.function)",
        BINDLESS_REFERENCE_NATIVE_CC=script(tmp_path, f"echo $$ > {tmp_path}/process\nsleep 300"),
        BINDLESS_CACHE_DIR=tmp_path,
    )
    assert done.stdout == "None\n"
    assert len(done.stderr.splitlines()) == 1
    assert ends(int((tmp_path / "process").read_text()))


SLOW_START = """
from bindless.compiler import native_code
start = native_code.start
def slow(*arguments, **options):
    process = start(*arguments, **options)
    time.sleep(1)
    return process
native_code.start = slow
"""


@pytest.mark.parametrize(
    ("begin", "end"), [("", "sys.exit(3)"), (SLOW_START, "sys.exit(3)"), ("", "os.kill(os.getpid(), 2)")]
)
def test_the_end_of_the_process_ends_the_compiler(tmp_path: Path, begin: str, end: str) -> None:
    start = time.monotonic()
    done = run(
        f"{begin}request(TEXT)\nwait(lambda: os.path.exists('{tmp_path}/process'))\n{end}",
        BINDLESS_REFERENCE_NATIVE_CC=script(
            tmp_path, f"echo $$ > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/process\nsleep 300"
        ),
        BINDLESS_CACHE_DIR=tmp_path,
        TMPDIR=tmp_path,
    )
    assert done.returncode in (3, -2, 1)
    assert time.monotonic() - start < 60
    assert ends(int((tmp_path / "process").read_text()))
    assert not list(tmp_path.glob("bindless-native-*"))


def test_a_fork_has_slots_of_its_own(tmp_path: Path) -> None:
    """The end of the child leaves the parent's compiler alone, and the child compiles for itself."""
    done = run(
        f"slot = request(TEXT)\nwait(lambda: os.path.exists('{tmp_path}/runs'))\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    own = request(TEXT)\n"
        "    sys.exit(0 if ctypes.addressof(own) != ctypes.addressof(slot) else 1)\n"
        f"assert os.waitpid(child, 0)[1] == 0\nopen('{tmp_path}/go', 'w').close()\n"
        "wait(lambda: slot.function)\nprint(ctypes.CFUNCTYPE(ctypes.c_uint)(slot.function)())",
        BINDLESS_REFERENCE_NATIVE_CC=script(
            tmp_path,
            f"touch {tmp_path}/runs\nwhile [ ! -e {tmp_path}/go ]; do sleep 0.05; done\n"
            f'exec "{sys.executable}" -m ziglang cc "$@"',
        ),
        BINDLESS_CACHE_DIR=tmp_path,
    )
    assert done.stdout == "7\n", done.stderr
