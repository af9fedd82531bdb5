"""``bindless doctor --prove``: the report on a device."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import bindless as bl
from bindless.cli import main, prove
from bindless.cli.prove import distance
from bindless.prove import sampling_checks
from bindless.prove.lane_checks import lane_checks
from tests.support import channel_kinds
from tests.support.error_checks import raises

PLAIN = ("memory device", "events of two queues", "refusals")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> list[sampling_checks.Sampling]:
    """A selection of the samplings, from every family."""
    chosen = list(sampling_checks.samplings())[::37]
    monkeypatch.setattr(prove, "samplings", lambda: iter(chosen))
    return chosen


def test_all_samplings_are_different_and_cover_every_choice() -> None:
    found = list(sampling_checks.samplings())
    assert len(set(found)) == len(set(map(str, found))) == len(found) == 2160
    assert {item.family for item in found} == {
        f"{image} {how}"
        for image in ("1D", "2D", "3D", "1D layers", "2D layers", "2D pitched")
        for how in ("fetch", "nearest", "linear")
    }
    channel_types = set(channel_kinds.PLAIN)
    assert {item.channel_type for item in found} == channel_types
    assert all({item.channel_type for item in found if item.channels == count} == channel_types for count in (1, 2, 4))
    modes = {str(mode) for mode in bl.AddressingMode if mode != "none" and not mode.is_computed}
    assert {item.addressing for item in found if item.filtering == "linear"} == modes


def test_a_report_of_the_device(
    device: bl.Device, few: list[sampling_checks.Sampling], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new" / "proof"
    assert main(["doctor", "--prove", str(folder), "--device", f"{device.backend}:*:{device.index}"]) == 0
    report = json.loads((folder / "report.json").read_text())
    assert report["device"]["backend"] == str(device.backend) and report["device"]["driver"] == device.driver_version
    assert report["device"]["aspects"] == sorted(map(str, device.aspects))
    assert report["device"]["info"]["max_compute_units"] == str(device.get_info("max_compute_units"))
    checks = {check["name"]: check for check in report["checks"]}
    assert set(PLAIN) <= set(checks) and set(map(str, few)) <= set(checks)
    with bl.Queue(device) as queue:
        assert set(map(str, lane_checks(queue))) <= set(checks)
    if device.backend in ("reference", "level_zero"):
        assert {check["result"] for check in report["checks"]} == {"same"}
        assert all(check["values"] == check["exact"] > 0 for check in report["checks"] if check["family"] != "runtime")
    assert (folder / "journal.txt").read_text().splitlines() == [check["name"] for check in report["checks"]]
    text = (folder / "report.txt").read_text()
    assert text in capsys.readouterr().out
    assert device.name in text and "2D linear" in text and "worst ulp" in text


def test_a_wrong_number_and_a_failure_are_told(
    device: bl.Device,
    few: list[sampling_checks.Sampling],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = sampling_checks.Sampling.run
    calls = 0
    wrong = next(item for item in few if item.filtering == "linear" and item.channel_type == "fp32")
    bad, lacking = [item for item in few if item is not wrong][:2]

    def changed(self: sampling_checks.Sampling, queue: bl.Queue) -> np.ndarray:
        nonlocal calls
        if self is bad:
            raise bl.KernelError("it hung")
        if self is lacking:
            raise bl.FeatureNotSupportedError("not here")
        values = run(self, queue)
        if self is wrong:
            calls += 1
            if calls == 1:  # on the device, before the reference
                values[5, 0] = np.nextafter(np.nextafter(values[5, 0], np.float32(9e9)), np.float32(9e9))
                values[6, 0] = np.nan
        return values

    monkeypatch.setattr(sampling_checks.Sampling, "run", changed)
    assert main(["doctor", "--prove", str(tmp_path), "--device", f"{device.backend}:*:{device.index}"]) == 1
    checks = {check["name"]: check for check in json.loads((tmp_path / "report.json").read_text())["checks"]}
    assert checks[str(bad)]["result"] == "failed" and checks[str(bad)]["words"] == "KernelError: it hung"
    assert checks[str(lacking)]["result"] == "refused"
    if device.backend in ("reference", "level_zero"):
        told = checks[str(wrong)]
        assert (told["result"], told["worst_ulp"], told["odd"]) == ("differs", 2, 1)
        assert told["exact"] == told["values"] - 2
    out = capsys.readouterr().out
    assert "KernelError: it hung" in out and "1 failed" in out


def test_distances() -> None:
    wanted = np.array([1, -1, 0, np.nan, np.inf, 2], np.float32)
    assert distance(wanted, wanted.copy()) == {"values": 6, "exact": 6, "worst_ulp": 0, "worst_error": 0.0, "odd": 0}
    got = wanted.copy()
    got[2] = -np.float32(1e-45)  # the smallest below 0
    got[4] = 3
    assert distance(got, wanted) == {
        "values": 6,
        "exact": 4,
        "worst_ulp": 1,
        "worst_error": pytest.approx(1.4e-45, rel=0.1),
        "odd": 1,
    }
    assert distance(np.array([3, 255], np.uint8), np.array([3, 0], np.uint8))["worst_ulp"] == 255
    with raises(bl.InvalidError, names="float32"):
        distance(got, np.zeros(6, np.int32))


def test_a_device_is_named_only_to_be_proved(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--device", "reference:*:*"]) == 1
    assert "--prove DIR" in capsys.readouterr().err
