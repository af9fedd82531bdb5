"""Types and functions of the drivers' modules, used first by many threads at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import gc, importlib, sys, threading, time

module = importlib.import_module("bindless.drivers." + sys.argv[1])
names = module.ffi.list_types()[0]
functions = [name for name in dir(module.lib) if not name[0].isupper()]
barrier = threading.Barrier(6)


class Garbage:
    def __init__(self):
        self.ring = self

    def __del__(self):
        time.sleep(0)  # the collector lets other threads run


def use():
    barrier.wait()
    for name in names:
        Garbage()
        module.ffi.typeof(name + " *")
        try:
            module.ffi.new(name + " *")
        except (module.ffi.error, TypeError):  # an opaque type, a function
            pass
    for name in functions:
        Garbage()
        getattr(module.lib, name)


gc.set_threshold(2, 1, 1)
sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=use) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(names), len(functions))
"""


@pytest.mark.parametrize("driver", ["reference", "cuda", "level_zero", "opencl"])
def test_many_threads_use_them_first(driver):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, driver], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert min(map(int, done.stdout.split())) > 50
