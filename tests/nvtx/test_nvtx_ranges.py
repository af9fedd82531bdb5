"""``bindless.nvtx``: the calls that have ranges, and that nothing remains when they are off."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises


class Domain:
    """Records ranges as nvtx's domain takes them: names with their depth, and how deep the stack is now."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, str]] = []
        self.depth = 0

    def get_event_attributes(self, message: str) -> str:
        return message

    def push_range(self, attributes: str) -> None:
        self.seen.append((self.depth, attributes))
        self.depth += 1

    def pop_range(self) -> None:
        self.depth -= 1


@pytest.fixture
def domain(monkeypatch: pytest.MonkeyPatch) -> Iterator[Domain]:
    recorded = Domain()
    module = types.ModuleType("nvtx")
    module.get_domain = lambda name: recorded  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "nvtx", module)
    bl.nvtx.enable()
    yield recorded
    bl.nvtx.disable()


def outermost(domain: Domain) -> list[str]:
    return [name for depth, name in domain.seen if depth == 0]


def test_ranges_of_images(domain: Domain) -> None:
    with bl.Image(np.eye(4, dtype=np.float32), queue=bl.Queue("reference")) as image:
        image.sample([[1.5, 1.5]])
        image.warp(np.eye(3), (4, 4))
    assert outermost(domain) == ["Image", "Image.sample", "Image.warp"]
    assert domain.depth == 0


def test_ranges_of_launches_have_the_kernel_s_name(domain: Domain) -> None:
    queue = bl.Queue("reference")
    kernel = bl.load_kernel_bundle(bl.kernels.source("launch", "spirv"), queue).get_kernel("bindless_empty")
    queue.parallel_for(4, kernel).wait()
    queue.single_task(kernel).wait()
    kernel.bind(queue, 4)().wait()
    queue.wait()
    assert outermost(domain) == [
        "load_kernel_bundle",
        "Queue.parallel_for bindless_empty",
        "Queue.single_task bindless_empty",
        "BoundLaunch",
        "Queue.wait",
    ]


def test_functions_of_the_package(domain: Domain) -> None:
    queue = bl.Queue("reference")
    with bl.Image(np.eye(4, dtype=np.float32), queue=queue) as image:
        values = bl.sample_image(queue, image, np.array([[1.5, 1.5]], np.float32))
    assert values[0] == 1
    assert outermost(domain) == ["Image", "sample_image"]


def test_a_range_ends_with_an_error(domain: Domain) -> None:
    with raises(bl.InvalidError), bl.Image(np.zeros((2, 2, 2, 2, 2, 2))):
        pass
    assert outermost(domain) == ["Image"]
    assert domain.depth == 0


def test_nothing_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    owners: list[Any] = [bl.Queue, bl.Image, bl.BoundLaunch, bl.CommandGraph, bl.PythonKernel]
    functions = {name: getattr(bl, name) for name in ("sample_image", "build", "write_image")}
    before = [dict(vars(owner)) for owner in owners]
    module = types.ModuleType("nvtx")
    module.get_domain = lambda name: Domain()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "nvtx", module)
    bl.nvtx.enable()
    bl.nvtx.enable()
    assert [dict(vars(owner)) for owner in owners] != before
    bl.nvtx.disable()
    assert [dict(vars(owner)) for owner in owners] == before
    assert {name: getattr(bl, name) for name in functions} == functions


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nvtx", None)
    with raises(bl.FeatureNotSupportedError, names="bindless[nvtx]"):
        bl.nvtx.enable()


def test_the_variable_turns_them_on() -> None:
    program = """
import sys, types
class Domain:
    def get_event_attributes(self, message): return message
    def push_range(self, attributes): print(attributes)
    def pop_range(self): pass
sys.modules["nvtx"] = module = types.ModuleType("nvtx")
module.get_domain = lambda name: Domain()
import bindless as bl
bl.Queue("reference").wait()
"""
    for value, expected in (("1", "Queue.wait\n"), ("0", ""), ("", "")):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "BINDLESS_NVTX": value},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert (done.returncode, done.stdout) == (0, expected), done.stderr
