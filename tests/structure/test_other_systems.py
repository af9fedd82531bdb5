"""What systems without a machine here need: Python files that import there, library names, and steps for a release."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bindless.drivers import reference

ROOT = Path(__file__).parents[2]

# Runs with the standard library and numpy of this system, loaded before the system's name changes.
IMPORTS = """
import asyncio, concurrent.futures, contextlib, ctypes, importlib, importlib.metadata, inspect, json, logging
import multiprocessing, os, pkgutil, random, shutil, signal, socket, subprocess, sys, tempfile, threading
import unittest, urllib.request, zipfile

import cffi, numpy

for name in ("llvmlite.binding", "numba", "PIL.Image", "vulkan"):
    with contextlib.suppress(ImportError, OSError):
        importlib.import_module(name)
platform, os.environ["BINDLESS_LIBREFERENCE"] = sys.argv[1:]
LACKING = {
    "win32": (
        (os, "fork register_at_fork killpg getuid sysconf sched_getaffinity memfd_create statvfs getpgid setsid mkfifo "
             "O_NONBLOCK O_NOCTTY O_CLOEXEC"),
        (signal, "SIGKILL SIGALRM SIGUSR1 SIGHUP SIGCHLD SIGPIPE setitimer getitimer ITIMER_REAL alarm"),
    ),
    "darwin": ((os, "sched_getaffinity memfd_create"),),
}
for module, names in LACKING[platform]:
    for name in names.split():
        delattr(module, name)
if platform == "win32":
    sys.modules.update(dict.fromkeys(("fcntl", "resource", "termios", "pwd", "grp", "posix", "tty", "pty")))
sys.platform = platform

import bindless

# Their libraries look at the system themselves; the drivers are no modules.
OTHERS = ("bindless.dask", "bindless.torch", "bindless.jax", "bindless.drivers.lib")
names = [module.name for module in pkgutil.walk_packages(bindless.__path__, "bindless.", onerror=lambda name: None)]
failures = {}
for name in names:
    if not name.startswith(OTHERS) and not name.endswith("__main__"):
        try:
            importlib.import_module(name)
        except Exception as error:
            failures[name] = repr(error)
with bindless.Image(numpy.eye(8, dtype=numpy.float32), queue=bindless.Queue("reference")) as image:
    total = float(image.warp(numpy.eye(3), (8, 8)).sum())
libraries = {
    name: list(importlib.import_module(f"bindless.drivers.{name}")._driver.names)
    for name in ("cuda", "level_zero", "opencl", "reference")
}
print(json.dumps({"count": len(names), "failures": failures, "total": total, "libraries": libraries}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="removes what Linux has and other systems have not")
@pytest.mark.parametrize(
    ("platform", "libraries"),
    [
        ("win32", ["nvcuda.dll", "ze_loader.dll", "OpenCL.dll", "bindless_reference.dll"]),
        ("darwin", ["OpenCL", "libbindless_reference.dylib"]),
    ],
)
def test_modules_import_and_the_reference_computes(platform: str, libraries: list[str]) -> None:
    assert reference.available()
    command = [sys.executable, "-c", IMPORTS, platform, str(reference.path())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["failures"] == {}
    assert result["count"] > 500
    assert result["total"] == 8
    names = [Path(name).name for driver in result["libraries"].values() for name in driver]
    assert names == libraries


def test_workflows_call_steps_that_exist() -> None:
    """Each command of a workflow is a file of .ci with a step that the file has."""
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    commands = [command for file in workflows for command in re.findall(r"^ +- run: (.+)$", file.read_text(), re.M)]
    assert len(commands) >= 5
    for command in commands:
        match = re.match(r'(?:sudo -E )?\.ci/(\w+)(?: (\w+))?(?: "\$\w+")?$', command)
        assert match, command
        text = (ROOT / ".ci" / match[1]).read_text(encoding="utf-8")
        assert match[2] is None or re.search(rf"^  {match[2]}\)", text, re.M), command


def test_the_conda_recipe_has_the_metadata_of_the_package() -> None:
    recipe = (ROOT / ".github" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    version = re.search(r'__version__ = "([^"]+)"', (ROOT / "src/bindless/__init__.py").read_text(encoding="utf-8"))
    assert version and f'version: "{version[1]}"' in recipe
    dependencies = re.search(r"^dependencies = \[(.*)\]", project, re.M)
    assert dependencies
    needs = [need.replace(">=", " >=") for need in re.findall(r'"([^"]+)"', dependencies[1])]
    run = recipe[recipe.index("  run:\n") : recipe.index("\ntests:")]
    assert sorted(re.findall(r"- (.+)", run)) == sorted([*needs, "python"])
