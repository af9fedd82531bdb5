"""What OpenCL drivers are known to do wrong: tests that fail on them until they are mended, and then say so.

A row: how the platform's name begins, the driver's versions (a part of their text; none is all), a test's name with its
parameters as a regular expression, and what is wrong.
"""

from __future__ import annotations

import re

import pytest

import bindless as bl

__all__ = ["mark_faults"]

_POCL = "Portable Computing Language"

_FAULTS: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    (_POCL, ("3.1",), r"test_function_(fetch_reads|write_reaches).*\[fp16-", "one half is read as something else"),
    (_POCL, ("3.1",), r"test_write_floats\[fp16-", "one half is written as something else"),
    (
        _POCL,
        ("3.1",),
        r"test_function_sample_nearest\[True-.* array\]",
        "normalized coordinates of arrays scale the layer",
    ),
)


def mark_faults(device: bl.Device, items: list[pytest.Item]) -> None:
    """Expects the known faults of a device, and nothing else, to fail."""
    for platform, versions, pattern, reason in _FAULTS:
        if device.platform.name.startswith(platform) and (
            not versions or any(version in device.driver_version for version in versions)
        ):
            for item in items:
                if re.match(pattern, item.name):
                    item.add_marker(pytest.mark.xfail(strict=True, reason=f"{platform}: {reason}"))
