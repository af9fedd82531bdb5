"""Table of docs/measurements/opencl_numbers.md: OpenCL devices, the reference in its exact mode, and float64 numpy.

    cd tests && python -m numerics.opencl_table

compares every available OpenCL device; BINDLESS_LIBOPENCL and OCL_ICD_VENDORS choose drivers. Numbers are the worst
differences, as fractions of the range of an image's values. A difference above the tolerance ends the program with
status 1.
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import bindless as bl
from tests.goldens.configuration import Array
from tests.goldens.device import run

from . import model
from .cases import STORAGE, Case
from .exact import exact_results
from .opencl_cases import EVERY
from .opencl_faults import allowed, known_faults

Worst = dict[tuple[str, ...], float]


def _difference(a: Array, b: Array) -> float:
    return float(np.abs(a.astype(np.float64) - b.astype(np.float64)).max())


def _row(case: Case) -> tuple[str, ...]:
    """Return geometry, filter, addressing, coordinates and points."""
    geometry = f"{case.dimensions}D{' array' if case.type == 'array' else ''}"
    if case.operation == "fetch":
        return geometry, "fetch", "", "", "pixels"
    points = "1/2048 texel" if case.points == "dyadic" else "any"
    return geometry, case.filtering, case.addressing[0], "normalized" if case.normalized else "texels", points


class _Device:
    """A device and its results."""

    def __init__(self, queue: bl.Queue, exact: dict[str, Array]) -> None:
        device = queue.device
        self.name = f"{device.platform.name} ({device.driver_version})"
        self._queue = queue
        cases = {case.name: case for case in EVERY}
        self.faults = {
            name: fault.spoils
            for name, fault in known_faults(device.platform.name).items()
            if not self._difference(cases[fault.probe], exact) <= allowed(cases[fault.probe])
        }
        self.formats: dict[tuple[str, int], int] = defaultdict(int)
        self.missing: set[tuple[str, int]] = set()
        self.faulty: dict[tuple[str, ...], int] = defaultdict(int)
        self.compared: dict[tuple[str, ...], int] = defaultdict(int)
        self.to_exact: Worst = defaultdict(float)
        self.to_numpy: Worst = defaultdict(float)
        self.of_format: Worst = defaultdict(float)
        self.wrong: dict[str, float] = {}

    def _difference(self, case: Case, exact: dict[str, Array]) -> float:
        return _difference(run(self._queue, case), exact[case.name])

    def compare(self, case: Case, exact: Array, numpy: Array) -> None:
        """Compare one case on the device."""
        row, format_ = _row(case), (case.channel_type, case.channels)
        if any(spoils(case) for spoils in self.faults.values()):
            self.faulty[row] += 1
            return
        try:
            found = run(self._queue, case)
        except bl.FeatureNotSupportedError:
            self.missing.add(format_)
            return
        self.formats[format_] += 1
        self.compared[row] += 1
        error = _difference(found, exact)
        if not error <= allowed(case):
            self.wrong[case.name] = error
        self.to_exact[row] = max(self.to_exact[row], error / case.value_range)
        self.to_numpy[row] = max(self.to_numpy[row], _difference(found, numpy) / case.value_range)
        of_format = case.channel_type, str(case.channels), case.filtering
        self.of_format[of_format] = max(self.of_format[of_format], error / case.value_range)


def _cells(device: _Device, row: tuple[str, ...]) -> str:
    if not device.compared[row]:
        return "faulty | faulty" if device.faulty[row] else "none | none"
    return f"{device.to_exact[row]:.1e} | {device.to_numpy[row]:.1e}".replace("0.0e+00", "0")


def _table(devices: list[_Device], own: Worst) -> Iterator[str]:
    rows = list(dict.fromkeys(map(_row, EVERY)))
    names = " | ".join(f"{device.name}: exact | numpy" for device in devices)
    yield f"| geometry | filter | addressing | coordinates | points | cases | {names} | exact to numpy |"
    yield "|" + "---|" * (7 + 2 * len(devices))
    for row in rows:
        count = max((device.compared[row] for device in devices), default=0)
        cells = " | ".join(_cells(device, row) for device in devices)
        yield f"| {' | '.join(row)} | {count} | {cells} | {own[row]:.1e} |".replace("0.0e+00", "0")


def _formats(devices: list[_Device]) -> Iterator[str]:
    yield f"| channels of | {' | '.join(device.name for device in devices)} |"
    yield "|" + "---|" * (1 + len(devices))
    for channel_type in STORAGE:
        cells = []
        for device in devices:
            found = []
            for channels in (1, 2, 4):
                errors = [device.of_format.get((channel_type, str(channels), f)) for f in ("nearest", "linear")]
                told = " ".join("-" if error is None else f"{error:.1e}" for error in errors)
                if any(error is not None for error in errors):
                    found.append(f"{channels}: {told}".replace("0.0e+00", "0"))
            cells.append(", ".join(found) or "none")
        yield f"| {channel_type} | {' | '.join(cells)} |"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        exact = exact_results("opencl_table", Path(folder))
    devices = [_Device(bl.Queue(device), exact) for device in bl.get_devices() if device.backend is bl.Backend.opencl]
    own: Worst = defaultdict(float)
    for case in EVERY:
        numpy = model.expected(case)
        own[_row(case)] = max(own[_row(case)], _difference(exact[case.name], numpy) / case.value_range)
        for device in devices:
            device.compare(case, exact[case.name], numpy)
    print("\n".join([*_table(devices, own), "", *_formats(devices), ""]))
    for device in devices:
        print(f"{device.name}: {sum(device.compared.values())} cases; without {sorted(device.missing)}; "
              f"faults: {', '.join(device.faults) or 'none'}")  # fmt: skip
        for name, error in device.wrong.items():
            print(f"WRONG {device.name}: {name}: {error:.3g}")
    return int(any(device.wrong for device in devices))


if __name__ == "__main__":
    sys.exit(main())
