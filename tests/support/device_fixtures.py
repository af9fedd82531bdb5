"""Fixtures for the runtime and command-group tests: the device of ``--device``, and in-memory backends."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

import bindless as bl
from bindless.backends import registry
from bindless.model.enums import Backend, DeviceType
from bindless.submission import command_stream
from bindless.sycl.device import context
from tests.support.fake_backend import FakeBackend
from tests.support.needs import lacks


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[Backend, FakeBackend]]:
    """In-memory backends in place of all real ones; the default device is the first of two CUDA GPUs."""
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
    monkeypatch.setattr(registry, "_backends", dict(made))
    monkeypatch.setattr(registry, "_failed", {})
    monkeypatch.setattr(context, "_defaults", {})
    yield made
    context._defaults.clear()
    gc.collect()
    command_stream.sweep()
    for backend in made.values():
        assert backend.violations == []


@pytest.fixture
def fake(fakes: dict[Backend, FakeBackend]) -> FakeBackend:
    """The backend of the default device."""
    return fakes[Backend.cuda]


Pair = tuple[bl.Device, bl.Device]


@pytest.fixture(scope="session")
def pair(device: bl.Device) -> Pair:
    """The device of ``--device`` and a second device of its platform."""
    others = [other for other in device.platform.get_devices() if other != device]
    if not others:
        reason = (
            f"{device.platform.name} has one; two GPUs, BINDLESS_LEVEL_ZERO_DEVICES=2 with "
            "the package's own driver, or POCL_DEVICES='pthread pthread' with PoCL"
        )
        lacks("two_devices", reason)
    return device, others[0]


@pytest.fixture(scope="session")
def both(pair: Pair) -> bl.Context:
    """One context with both devices."""
    return bl.Context(pair)


@pytest.fixture(params=[True, False], ids=["in order", "out of order"])
def queues(pair: Pair, both: bl.Context, request: pytest.FixtureRequest) -> Iterator[tuple[bl.Queue, bl.Queue]]:
    """A queue on each device, in the shared context; unexpected errors fail the test."""
    with bl.Queue(pair[0], both, in_order=request.param) as one, bl.Queue(pair[1], both, in_order=request.param) as two:
        yield one, two
