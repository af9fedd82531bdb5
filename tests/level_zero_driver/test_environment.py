"""Environment variables of the Level Zero driver: devices, the affinity mask, injected failures."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence

import pytest

from bindless.cli.ze_driver import driver_path

from .conftest import Guide

pytestmark = pytest.mark.level_zero


def devices(text: str) -> list[list[str]]:
    """UUIDs per line: the device's, then those of its sub-devices."""
    return [line.split()[1:] for line in text.splitlines()]


@pytest.fixture
def system(guide: Guide) -> list[list[str]]:
    """Two devices with four sub-devices each."""
    found = devices(guide("--devices", BINDLESS_LEVEL_ZERO_DEVICES="2x4", ZE_AFFINITY_MASK=""))
    assert [len(device) for device in found] == [5, 5]
    assert len({uuid for device in found for uuid in device}) == 10
    return found


def test_there_is_one_device_without_subdevices(guide: Guide) -> None:
    (device,) = devices(guide("--devices", BINDLESS_LEVEL_ZERO_DEVICES="", ZE_AFFINITY_MASK=""))
    assert len(device) == 1


# The guide's examples: a mask, and the sub-devices of each reported device.
@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("0, 1", [(0, [0, 1, 2, 3]), (1, [0, 1, 2, 3])]),
        ("0", [(0, [0, 1, 2, 3])]),
        ("1", [(1, [0, 1, 2, 3])]),
        ("1.1, 1.2", [(1, [1, 2])]),
        ("0.2, 1.3, 1.0, 0.3", [(0, [2, 3]), (1, [0, 3])]),
        ("1,0.1,0.0", [(0, [0, 1]), (1, [0, 1, 2, 3])]),
        ("7, 0.9", []),
    ],
)
def test_the_affinity_mask_chooses(
    guide: Guide, system: list[list[str]], mask: str, expected: list[tuple[int, list[int]]]
) -> None:
    found = devices(guide("--devices", BINDLESS_LEVEL_ZERO_DEVICES="2x4", ZE_AFFINITY_MASK=mask))
    assert found == [[system[d][0], *(system[d][s + 1] for s in parts)] for d, parts in expected]


def test_a_single_subdevice_is_reported_as_the_device(guide: Guide, system: list[list[str]]) -> None:
    found = devices(guide("--devices", BINDLESS_LEVEL_ZERO_DEVICES="2x4", ZE_AFFINITY_MASK="0.0"))
    assert found == [[system[0][1]]]


# The guide's examples for two devices of four tiles each, numbered consecutively.
@pytest.mark.parametrize("hierarchy", ["FLAT", "COMBINED"])
@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("", range(8)),
        ("0, 1, 2, 3, 4, 5, 6, 7", range(8)),
        ("0", [0]),
        ("1", [1]),
        ("1,2,5", [1, 2, 5]),
        ("4, 3", [3, 4]),
        ("0.0", []),
        ("8", []),
    ],
)
def test_subdevices_are_reported_as_devices(
    guide: Guide, system: list[list[str]], hierarchy: str, mask: str, expected: Sequence[int]
) -> None:
    environment = {
        "BINDLESS_LEVEL_ZERO_DEVICES": "2x4",
        "ZE_AFFINITY_MASK": mask,
        "ZE_FLAT_DEVICE_HIERARCHY": hierarchy,
    }
    parts = [part for device in system for part in device[1:]]
    assert devices(guide("--devices", **environment)) == [[parts[number]] for number in expected]


ROOTS = """
from bindless.backends.level_zero.driver import drivers
from bindless.drivers import level_zero as zero
driver = drivers()[0]
for device in zero.get_all("ze_device_handle_t", "zeDeviceGet", driver.handle):
    root = zero.ffi.new("ze_device_handle_t *")
    assert driver.function("zeDeviceGetRootDevice")(device, root) == 0
    parts = [] if root[0] == zero.ffi.NULL else zero.get_all("ze_device_handle_t", "zeDeviceGetSubDevices", root[0])
    print(len(parts), device in parts)
"""


@pytest.mark.parametrize(
    ("hierarchy", "mask", "expected"),
    [
        ("COMPOSITE", "", ["0 False"] * 2),
        ("FLAT", "", ["0 False"] * 6),
        ("COMBINED", "", ["3 True"] * 6),
        ("COMBINED", "0,2,4", ["2 True"] * 2 + ["1 True"]),
    ],
)
def test_the_hierarchy_leads_up_where_it_is_combined(hierarchy: str, mask: str, expected: list[str]) -> None:
    environment = {
        **os.environ,
        "ZE_ENABLE_ALT_DRIVERS": str(driver_path()),
        "BINDLESS_LEVEL_ZERO_DEVICES": "2x3",
        "ZE_FLAT_DEVICE_HIERARCHY": hierarchy,
        "ZE_AFFINITY_MASK": mask,
    }
    run = subprocess.run(
        [sys.executable, "-c", ROOTS], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout.splitlines() == expected


@pytest.mark.parametrize(("hierarchy", "system"), [("flat", "2x4"), ("FLAT", "64x2")])
def test_a_hierarchy_that_cannot_be_is_refused(hierarchy: str, system: str) -> None:
    environment = {
        **os.environ,
        "ZE_ENABLE_ALT_DRIVERS": str(driver_path()),
        "BINDLESS_LEVEL_ZERO_DEVICES": system,
        "ZE_FLAT_DEVICE_HIERARCHY": hierarchy,
    }
    code = "from bindless.drivers import level_zero as zero; assert zero.lib.zeInit(0) != 0"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=60)


IDENTITY = """
from bindless.backends.level_zero.driver import drivers
from bindless.drivers import level_zero as zero
ffi, lib, driver = zero.ffi, zero.lib, drivers()[0]
(device,) = zero.get_all("ze_device_handle_t", "zeDeviceGet", driver.handle)
version = ffi.new("ze_driver_properties_t *", {"stype": lib.ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES})
assert lib.zeDriverGetProperties(driver.handle, version) == 0
eus = ffi.new("ze_eu_count_ext_t *", {"stype": lib.ZE_STRUCTURE_TYPE_EU_COUNT_EXT})
ip = ffi.new("ze_device_ip_version_ext_t *", {"stype": lib.ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT, "pNext": eus})
is_ = ffi.new("ze_device_properties_t *", {"stype": lib.ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES, "pNext": ip})
assert lib.zeDeviceGetProperties(device, is_) == 0
units = is_.numSlices * is_.numSubslicesPerSlice * is_.numEUsPerSubslice
numbers = is_.vendorId, is_.deviceId, ip.ipVersion, version.driverVersion >> 16, eus.numTotalEUs, units, is_.type
list_ = zero.get_all("ze_driver_extension_properties_t", "zeDriverGetExtensionProperties", driver.handle)
numbers += (int(b"ZE_extension_device_ip_version" in [ffi.string(extension.name) for extension in list_]),)
print(*numbers, ffi.string(is_.name).decode(), sep="|")
"""


def _identity(**variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ZE_ENABLE_ALT_DRIVERS": str(driver_path()), **variables}
    return subprocess.run([sys.executable, "-c", IDENTITY], env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("name", "device", "ip", "units", "word"),
    [
        ("arc_a770", 0x56A0, (12, 55, 8), 512, "A770"),
        ("arc_b580", 0xE20B, (20, 1, 4), 160, "B580"),
        ("flex_170", 0x56C0, (12, 55, 8), 512, "Flex 170"),
        ("iris_xe", 0x9A49, (12, 0, 0), 96, "Iris"),
        ("max_1550", 0x0BD5, (12, 60, 7), 1024, "Max 1550"),
        ("uhd_770", 0x4680, (12, 2, 0), 32, "UHD Graphics 770"),
    ],
)
def test_the_device_claims_to_be_a_gpu(name: str, device: int, ip: tuple[int, int, int], units: int, word: str) -> None:
    run = _identity(BINDLESS_LEVEL_ZERO_IDENTITY=name)
    *numbers, text = run.stdout.strip().split("|")
    version = ip[0] << 22 | ip[1] << 14 | ip[2]
    assert list(map(int, numbers)) == [0x8086, device, version, 1 << 8 | 13, units, units, 1, 1], run.stderr
    assert text.startswith("Intel(R)") and word in text


def test_the_device_is_itself_without_an_identity() -> None:
    *numbers, text = _identity(BINDLESS_LEVEL_ZERO_IDENTITY="").stdout.strip().split("|")
    assert int(numbers[0]) == int.from_bytes(b"bl", "big") and text.startswith("bindless")
    assert (numbers[2], numbers[-1]) == ("0", "0")
    as_processor = _identity(BINDLESS_LEVEL_ZERO_IDENTITY="iris_xe", BINDLESS_LEVEL_ZERO_TYPE="cpu").stdout
    assert as_processor.split("|")[6] == "2"
    assert _identity(BINDLESS_LEVEL_ZERO_IDENTITY="arc_1").returncode != 0


@pytest.mark.parametrize(
    ("rule", "call", "result"),
    [
        ("zeContextCreate:1=ERROR_OUT_OF_HOST_MEMORY", "zeContextCreate", "0x70000002"),
        ("zeMemAllocShared:2=0x70000003", "zeMemAllocShared", "0x70000003"),
        (
            "zeFenceCreate:1=ERROR_INVALID_SIZE,zeCommandQueueCreate:*=ZE_RESULT_ERROR_UNKNOWN",
            "zeCommandQueueCreate",
            "0x7ffffffe",
        ),
    ],
)
def test_rules_make_calls_fail(guide: Guide, rule: str, call: str, result: str) -> None:
    text = guide("events", status=1, BINDLESS_LEVEL_ZERO_FAIL=rule)
    assert f": {call}(" in text
    assert text.rstrip().endswith(f"gives {result}")


def test_every_call_in_turn_can_fail(guide: Guide) -> None:
    failed = []
    for number in range(1, 100):
        text = guide("fences", status=None, BINDLESS_LEVEL_ZERO_FAIL=f"{number}=ERROR_NOT_AVAILABLE")
        if text == "fences\n":
            break
        assert " gives 0x" in text or "HOLDS" in text or "zeFenceQueryStatus" in text
        failed.append(re.findall(r": (ze\w+)", text)[0])
    assert 15 < len(failed) < 99
    assert len(set(failed)) > 8


@pytest.mark.parametrize(
    "variables",
    [
        {"BINDLESS_LEVEL_ZERO_DEVICES": "0"},
        {"BINDLESS_LEVEL_ZERO_DEVICES": "2x99"},
        {"BINDLESS_LEVEL_ZERO_DEVICES": "two"},
        {"BINDLESS_LEVEL_ZERO_TYPE": "fpga"},
        {"BINDLESS_LEVEL_ZERO_FAIL": "zeNothing:1=ERROR_UNKNOWN"},
        {"BINDLESS_LEVEL_ZERO_FAIL": "1=ERROR_OF_MINE"},
        {"BINDLESS_LEVEL_ZERO_FAIL": "0=ERROR_UNKNOWN"},
    ],
)
def test_a_variable_that_is_no_good_leaves_no_driver(guide: Guide, variables: dict[str, str]) -> None:
    assert "zeInit(0)" in guide("contexts", status=1, **variables)
