"""What environment variables do to the Level Zero driver: devices, the affinity mask, calls that are made to fail."""

from __future__ import annotations

import re

import pytest

from .conftest import Guide

pytestmark = pytest.mark.level_zero


def devices(text: str) -> list[list[str]]:
    """Of each line the uuids: the device's, then those of its sub-devices."""
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


# The examples of the guide: the mask, and of each device reported which sub-devices.
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
