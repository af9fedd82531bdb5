"""Fixtures of the runtime tests: the device of ``--device``, and backends in memory."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bindless.backends import registry
from bindless.model.enums import Backend, DeviceType
from bindless.sycl import _stream
from bindless.sycl import context as contexts

sys.path.insert(0, str(Path(__file__).parent))

from fake_backend import FakeBackend


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[Backend, FakeBackend]]:
    """Every backend in memory instead of the real ones; the default device is the first of two CUDA GPUs."""
    made = {
        Backend.cuda: FakeBackend(Backend.cuda, (DeviceType.gpu, DeviceType.gpu)),
        Backend.level_zero: FakeBackend(Backend.level_zero, (DeviceType.gpu,)),
        Backend.opencl: FakeBackend(Backend.opencl, (DeviceType.cpu, DeviceType.gpu)),
        Backend.reference: FakeBackend(Backend.reference, (DeviceType.cpu,)),
    }
    for backend in made.values():
        backend.neighbours = tuple(made.values())
    for variable in ("ONEAPI_DEVICE_SELECTOR", "SYCL_DEVICE_FILTER"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(registry, "_TABLE", dict.fromkeys(made, ("", "")))
    monkeypatch.setattr(registry, "_made", dict(made))
    monkeypatch.setattr(registry, "_failed", {})
    monkeypatch.setattr(contexts, "_defaults", {})
    yield made
    contexts._defaults.clear()
    gc.collect()
    _stream.sweep()
    for backend in made.values():
        assert backend.violations == []


@pytest.fixture
def fake(fakes: dict[Backend, FakeBackend]) -> FakeBackend:
    """The backend that the default device belongs to."""
    return fakes[Backend.cuda]
