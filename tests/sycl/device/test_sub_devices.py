"""Sub-devices: devices that a driver can partition, and devices that it cannot."""

from __future__ import annotations

import pytest

import bindless as bl
from bindless.backends import registry
from bindless.model.enums import Backend, DeviceType
from tests.support.error_checks import raises
from tests.support.fake_backend import DividedBackend


@pytest.fixture
def divided(fakes, monkeypatch):
    """Level Zero with two partitionable devices of eight compute units."""
    backend = DividedBackend(Backend.level_zero, (DeviceType.gpu, DeviceType.gpu))
    monkeypatch.setitem(registry._backends, Backend.level_zero, backend)
    return backend


def names(devices):
    return [device.name.removeprefix("level_zero gpu ") for device in devices]


@pytest.mark.parametrize(
    "how, argument, units",
    [
        ("partition_equally", 3, [3, 3]),
        (bl.info.partition_property.partition_equally, 8, [8]),
        ("partition_by_counts", [4, 3], [4, 3]),
        ("partition_by_counts", (1,), [1]),
        ("partition_by_affinity_domain", "numa", [4, 4]),
        ("partition_by_affinity_domain", bl.info.partition_affinity_domain.next_partitionable, [4, 4]),
    ],
)
def test_a_device_is_divided(divided, how, argument, units):
    device = bl.Device("level_zero:gpu:1")
    parts = device.create_sub_devices(how, argument)
    assert [part.get_info("max_compute_units") for part in parts] == units
    assert all(part.parent == device and part.get_info("parent_device") == device for part in parts)
    assert {part.get_info("partition_type_property") for part in parts} == {bl.info.partition_property(str(how))}
    by_affinity = how == "partition_by_affinity_domain"
    assert {str(part.get_info("partition_type_affinity_domain")) for part in parts} == {
        str(argument) if by_affinity else "not_applicable"
    }


def test_sub_devices_are_values_and_devices_like_others(divided):
    device = bl.Device("level_zero")
    first, second = device.create_sub_devices("partition_by_affinity_domain", "numa")
    assert first == device.create_sub_devices("partition_by_affinity_domain", "numa")[0] != second
    assert len({device, first, second, bl.Device(first)}) == 3 and first != device
    assert first.platform == device.platform and first.backend == "level_zero" and first.index == 0
    assert bl.Device(first).parent == device
    assert repr(first) == "<Device sub-device of level_zero:gpu:0 'level_zero gpu 0.0'>"
    with bl.Queue(context=bl.Context([first, second])) as queue:
        assert queue.device == first
        array = bl.usm_empty(4, "u1", queue)
        queue.memset(array, 3).wait()
        assert array.numpy(queue).tolist() == [3] * 4
        array.close()
    with raises(bl.InvalidError):
        bl.Queue(device, bl.Context(first))


@pytest.mark.parametrize(
    "how, argument, error, message",
    [
        ("partition_sideways", 1, bl.InvalidError, ("how='partition_sideways'", "'partition_equally'")),
        ("no_partition", 1, bl.FeatureNotSupportedError, ("'no_partition'", "partition_equally")),
        ("partition_equally", 0, bl.InvalidError, "argument=0"),
        ("partition_equally", "x", bl.InvalidError, "argument='x'"),
        ("partition_equally", 9, bl.InvalidError, ("argument=9", "8")),
        ("partition_by_counts", 4, bl.InvalidError, ("argument=4", "[4, 2]")),
        ("partition_by_counts", [], bl.InvalidError, ("1", "8")),
        ("partition_by_counts", [1] * 9, bl.InvalidError, ("1", "8")),
        ("partition_by_counts", [4, 0], bl.InvalidError, "argument=0"),
        ("partition_by_counts", [5, 4], bl.InvalidError, None),
        ("partition_by_affinity_domain", "L9", bl.InvalidError, "argument='L9'"),
        ("partition_by_affinity_domain", "L2_cache", bl.FeatureNotSupportedError, "it can by numa, next_partitionable"),
    ],
)
def test_a_division_that_cannot_be(divided, how, argument, error, message):
    with raises(error, names=message):
        bl.Device("level_zero").create_sub_devices(how, argument)


@pytest.mark.parametrize(
    "value, expected",
    [
        ("level_zero:*", ["0", "1"]),
        ("level_zero:0.1", ["0.1"]),
        ("level_zero:0.*,1", ["0.0", "0.1", "1"]),
        ("*:*.*", ["0.0", "0.1", "1.0", "1.1"]),
        ("level_zero:*,*.*", ["0", "0.0", "0.1", "1", "1.0", "1.1"]),
        ("level_zero:1.0.*", ["1.0.0", "1.0.1"]),
        ("level_zero:*.*.*", ["0.0.0", "0.0.1", "0.1.0", "0.1.1", "1.0.0", "1.0.1", "1.1.0", "1.1.1"]),
        ("level_zero:0.5", []),
        ("level_zero:0.*;!level_zero:0.0", ["0.1"]),
        ("level_zero:*.*;!*:0.*", ["1.0", "1.1"]),
        ("level_zero:*,0.0;!level_zero:gpu", ["0.0"]),
    ],
)
def test_the_environment_names_sub_devices(divided, monkeypatch, value, expected):
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", value)
    assert names(bl.get_devices()) == expected
    if expected:
        assert names((bl.Device("gpu"),)) == expected[:1]


def test_nothing_is_divided_that_is_not_named(divided, monkeypatch):
    bl.get_devices()
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "level_zero:0;!*:1.0")
    bl.get_devices()
    assert divided.parts == {}


def test_a_device_that_is_not_divided_says_so(device):
    if device.get_info("partition_properties"):
        assert device.get_info("partition_max_sub_devices")  # tests/backends/opencl partitions it
        return
    assert device.get_info("partition_max_sub_devices") <= 1  # NVIDIA's OpenCL counts the device itself
    assert device.get_info("partition_affinity_domains") == ()
    assert device.get_info("partition_type_property") == "no_partition"
    assert device.get_info("partition_type_affinity_domain") == "not_applicable"
    assert device.parent is None and device.get_info("parent_device") is None
    for how, argument in (("partition_equally", 1), ("partition_by_affinity_domain", "numa")):
        with raises(bl.FeatureNotSupportedError, names="'partition_properties'"):
            device.create_sub_devices(how, argument)
