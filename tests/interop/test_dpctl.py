"""Memory passed to dpctl: requirements of its protocol on ``syclobj``."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises


class FakeDevice:
    def __init__(self, name: str) -> None:
        self.name = name


def _fake(monkeypatch: pytest.MonkeyPatch, names: list[str]) -> list[FakeDevice]:
    """A fake dpctl with devices of these names; the capsule of a queue is its device."""
    devices = [FakeDevice(name) for name in names]

    class FakeQueue:
        def __init__(self, device: FakeDevice) -> None:
            self.device = device

        def _get_capsule(self) -> Any:
            return self.device

    module = types.ModuleType("dpctl")
    module.SyclQueue = FakeQueue  # type: ignore[attr-defined]
    module.get_devices = lambda backend: devices if backend == "level_zero" else []  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dpctl", module)
    return devices


def test_the_capsule_is_of_the_same_device(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Among devices of the same name, the one with the same index."""
    if queue.device.backend is not bl.Backend.level_zero:
        with pytest.raises(bl.FeatureNotSupportedError):
            queue._get_capsule()
        return
    name = queue.device.name
    devices = _fake(monkeypatch, ["another", name, "third"])
    assert queue._get_capsule() is devices[1]
    _fake(monkeypatch, ["another"])
    with raises(bl.InvalidError):
        queue._get_capsule()
    monkeypatch.setitem(sys.modules, "dpctl", None)
    with raises(bl.FeatureNotSupportedError):
        queue._get_capsule()


@pytest.mark.dpctl
@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_dpctl_takes_memory_of_the_default_context(queue: bl.Queue, kind: str) -> None:
    """No dpctl context is involved, and neither library knows the other's queue."""
    if queue.device.backend is not bl.Backend.level_zero:
        pytest.skip("SYCL's runtime reaches memory of Level Zero alone")
    from dpctl import memory

    array = bl.usm_empty((100,), np.int32, queue, kind=kind)
    array.copy_from(np.arange(100, dtype=np.int32))
    taken = memory.as_usm_memory(array)
    assert taken.get_usm_type() == kind
    assert np.array_equal(taken.copy_to_host().view(np.int32), np.arange(100))
    taken.copy_from_host(np.full(100, 7, np.int32).view(np.uint8))
    assert (array.numpy(queue) == 7).all()


@pytest.mark.dpctl
@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_memory_of_dpctl_is_taken_in_the_default_context(queue: bl.Queue, kind: str) -> None:
    if queue.device.backend is not bl.Backend.level_zero:
        pytest.skip("SYCL's runtime reaches memory of Level Zero alone")
    import dpctl
    from dpctl import memory

    made = {"device": memory.MemoryUSMDevice, "shared": memory.MemoryUSMShared, "host": memory.MemoryUSMHost}[kind](
        400, queue=dpctl.SyclQueue("level_zero")
    )
    made.copy_from_host(np.arange(100, dtype=np.int32).view(np.uint8))
    array = bl.as_usm_array(made, queue)
    assert array.kind is bl.UsmKind[kind]
    assert np.array_equal(array.numpy(queue).view(np.int32).ravel(), np.arange(100))
