"""pytest plugin for a driver that accepts every call and executes nothing: it judges the return values.

    pytest -p tests.acceptance.intel_neo.acceptance --device level_zero:gpu:0 tests/backends tests/bindless_images ...

  - The host signals an event before it waits for it, since no command does.
  - A test passes if it fails only because of a wrong value or a missing error of executed work.
  - The end of the run lists the calls that the driver refused, and created minus destroyed objects by kind. The run
    fails if an object is left, and so does each test with an unexpected refusal.

``XE_IN_ORDER=1`` leaves the order of lists to the driver, which then waits for the work itself at the end of a list:
the plugin does not count those lists. Without it barriers keep the order, as for drivers before Level Zero 1.6.
"""

from __future__ import annotations

import collections
import importlib
import os
import pkgutil
import re
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import bindless.backends.level_zero
import bindless.model.errors

IN_ORDER = os.environ.get("XE_IN_ORDER") == "1"

refused: collections.Counter[tuple[str, str]] = collections.Counter()
made: collections.Counter[str] = collections.Counter()
ignored: list[str] = []

# Functions that create or destroy an object, and its kind; every function of a kind is listed.
_OBJECTS = {
    "ContextCreate": "context",
    "ContextDestroy": "context",
    "CommandListCreateImmediate": "command list",
    "CommandListCreate": "command list",
    "CommandListDestroy": "command list",
    "CommandQueueCreate": "command queue",
    "CommandQueueDestroy": "command queue",
    "FenceCreate": "fence",
    "FenceDestroy": "fence",
    "EventPoolCreate": "event pool",
    "EventPoolDestroy": "event pool",
    "EventCreate": "event",
    "EventDestroy": "event",
    "MemAllocDevice": "memory",
    "MemAllocHost": "memory",
    "MemAllocShared": "memory",
    "MemFree": "memory",
    "ImageCreate": "image",
    "ImageViewCreateExt": "image",
    "ImageDestroy": "image",
    "SamplerCreate": "sampler",
    "SamplerDestroy": "sampler",
    "ModuleCreate": "module",
    "ModuleDestroy": "module",
    "KernelCreate": "kernel",
    "KernelDestroy": "kernel",
}
_WAITS = ("zeEventHostSynchronize", "zeEventQueryStatus")


class Recorder:
    """The driver's functions, as called by the backend's modules."""

    def __init__(self, lib: Any) -> None:
        self._lib = lib
        self._wrapped: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._lib, name)
        if not name.startswith("ze") or not callable(found):
            return found
        if name not in self._wrapped:
            self._wrapped[name] = self._wrap(name, found)
        return self._wrapped[name]

    def _wrap(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        kind = _OBJECTS.get(name.removeprefix("ze"))
        step = -1 if name.endswith(("Destroy", "Free")) else 1

        def call(*arguments: Any) -> Any:
            if name in _WAITS:
                self._lib.zeEventHostSignal(arguments[0])
            if name == "zeCommandListDestroy" and IN_ORDER:
                made["command list"] -= 1
                return 0
            result = function(*arguments)
            if kind is not None and result == 0:
                made[kind] += step
            if isinstance(result, int) and result not in (0, 1):
                refused[name, hex(result)] += 1
            return result

        return call


def _record() -> None:
    """Install the recorder before the first device query."""
    backend = bindless.backends.level_zero
    names = [item.name for item in pkgutil.iter_modules(backend.__path__)]
    modules = [importlib.import_module(f"{backend.__name__}.{name}") for name in names]
    recorder: Recorder | None = None
    for module in modules:
        lib = getattr(module, "lib", None)
        if lib is not None:
            recorder = recorder or Recorder(lib)
            module.lib = recorder
    drivers: Any = next(module for module in modules if module.__name__.endswith(".driver"))
    if not IN_ORDER:
        drivers._IN_ORDER_SINCE = (99, 0)


def _no_process(*arguments: object, **options: object) -> None:
    pytest.skip("a process of its own would wait for work that nothing executes")


_record()
subprocess.run = _no_process  # type: ignore[assignment]


def _is_result(error: BaseException) -> bool:
    """Return whether only the outcome of executed work differs from the test's expectation."""
    if isinstance(error, AssertionError):
        return True
    text = str(error)
    if isinstance(error, pytest.fail.Exception):
        return "DID NOT RAISE" in text or "the signal was not handled" in text
    return isinstance(error, bindless.model.errors.ProfilingError)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if not _is_result(error):
            raise
        ignored.append(item.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: Any) -> None:
    write = terminalreporter.write_line
    write(f"results ignored in {len(ignored)} tests")
    for name, count in sorted(collections.Counter(re.sub(r"\[.*", "", name) for name in ignored).items()):
        write(f"  {count:5d} {name}")
    write("refused by the driver:")
    for (name, result), count in sorted(refused.items()):
        write(f"  {count:5d} {name} {result}")
    left = {kind: count for kind, count in made.items() if count}
    write(f"objects left: {left or 'none'}")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    from bindless.core import ownership

    ownership._finish()
    if any(made.values()) and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
