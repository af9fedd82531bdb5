"""Native objects of Level Zero in separate processes: devices with sub-devices, under the validation layer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bindless as bl
from bindless.cli.ze_driver import driver_path

HERE = Path(__file__).resolve().parent


LEFT = """
import atexit

atexit.register(lambda: count())  # before the package registers its own end: it runs after that

from tests.interop.raw_level_zero import Raw
import bindless as bl

def count():
    assert raw.objects == before, (raw.objects, before)

raw = Raw(bl.Device("level_zero:*"))
transferred, kept = raw.new_context(), raw.context
pool = raw.pool()
lent = [raw.queue(False), raw.event(pool), raw.memory("shared", 64)]
before = raw.objects - 1  # less the context that is transferred

context = bl.make_context("level_zero", transferred, raw.facade)
queue = bl.make_queue("level_zero", raw.queue(True, transferred), context)
buffer = bl.make_buffer("level_zero", raw.memory("shared", 1 << 16, transferred), context, "int32")
event = queue.submit(lambda handler: handler.fill(buffer.get_access(handler, "write"), 5))
near = bl.make_context("level_zero", kept, raw.facade, ownership="keep")
second = bl.make_queue("level_zero", lent[0], near, ownership="keep")
waited = bl.make_event("level_zero", lent[1], near, ownership="keep")
own = bl.make_buffer("level_zero", lent[2], near, "int32", ownership="keep")
second.submit(lambda handler: handler.fill(own.get_access(handler, "write"), 5))
cycle = [context, queue, buffer, event, near, second, waited, own]
cycle.append(cycle)
"""


@pytest.mark.level_zero
def test_what_is_left_to_the_end_of_the_process() -> None:
    """Transferred objects are destroyed once and in order; borrowed objects still exist at the end."""
    environment = {
        **os.environ,
        "ZE_ENABLE_ALT_DRIVERS": str(driver_path()),
        "PYTHONPATH": os.pathsep.join([str(Path(bl.__file__).parents[1]), os.environ["PYTHONPATH"]]),
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", LEFT], env=environment, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.level_zero
def test_native_objects_under_the_validation_layer(pytestconfig: pytest.Config) -> None:
    """Parameter validation is on and reports nothing; two devices of two sub-devices each."""
    environment = {
        **os.environ,
        "BINDLESS_LEVEL_ZERO_DEVICES": "2x2",
        "ZE_ENABLE_VALIDATION_LAYER": "1",
        "ZE_ENABLE_PARAMETER_VALIDATION": "1",
    }
    tests = [str(HERE / name) for name in ("native", "native_level_zero")]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-n0",
            "-q",
            "-p",
            "no:cacheprovider",
            "--device",
            "level_zero",
            "-m",
            "level_zero",
            *tests,
        ],
        env=environment,
        cwd=pytestconfig.rootpath,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout and "skipped" not in done.stdout, done.stdout
    assert done.stderr == ""
