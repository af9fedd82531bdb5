"""Properties of the link between two devices."""

from __future__ import annotations

from typing import Any

import pytest

import bindless as bl
from bindless import level_zero as ze
from bindless.drivers import level_zero as driver

NUMBERS = {"logicalBandwidth": 32, "physicalBandwidth": 64, "logicalLatency": 700, "physicalLatency": 2}


pytestmark = [pytest.mark.level_zero, pytest.mark.on_level_zero]


def filled_by(monkeypatch: pytest.MonkeyPatch, bandwidth_unit: int, latency_unit: int) -> None:
    """Make the driver report a link."""
    get_properties = driver.get_properties

    def get(name: str, function: str, *arguments: Any, next: Any = None) -> Any:
        struct = get_properties(name, function, *arguments, next=next)
        if function == "zeDeviceGetP2PProperties":
            assert struct.pNext == driver.ffi.cast("void *", next)
            for member, number in NUMBERS.items():
                setattr(next, member, number)
            next.bandwidthUnit, next.latencyUnit = bandwidth_unit, latency_unit
        return struct

    monkeypatch.setattr(driver, "get_properties", get)


@pytest.mark.parametrize(
    ("bandwidth", "latency"),
    [
        ("bytes_per_nanosecond", "nanoseconds"),
        ("bytes_per_clock", "clocks"),
        ("unknown", "hops"),
        ("unknown", "unknown"),
    ],
)
def test_bandwidth_and_latency(
    device: bl.Device, monkeypatch: pytest.MonkeyPatch, bandwidth: str, latency: str
) -> None:
    units = {"bytes_per_nanosecond": 1, "bytes_per_clock": 2, "unknown": 0}, {"nanoseconds": 1, "clocks": 2, "hops": 3}
    if "ZE_experimental_bandwidth_properties" not in device._record.native.driver.extensions:
        pytest.skip("the driver does not report links")
    filled_by(monkeypatch, units[0][bandwidth], units[1].get(latency, 0))
    found = ze.get_peer_properties(device, device)
    assert found == ze.PeerProperties(True, True, 32, 64, bandwidth, 700, 2, latency)


def test_a_driver_that_reports_no_link(device: bl.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    native = device._record.native.driver
    monkeypatch.setattr(native, "extensions", frozenset(native.extensions) - {"ZE_experimental_bandwidth_properties"})
    found = ze.get_peer_properties(device, device)
    assert (found.logical_bandwidth, found.physical_latency, found.bandwidth_unit) == (0, 0, "unknown")


def test_the_package_s_own_driver_has_no_link_to_measure(device: bl.Device) -> None:
    if not device.name.startswith("bindless reference"):
        pytest.skip("another driver")
    assert ze.get_peer_properties(device, device) == ze.PeerProperties(True, True)
