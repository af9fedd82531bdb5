"""Known bugs of OpenCL drivers, as expected failures; a test that passes after a driver's fix is reported.

A row holds the start of the platform's name, the driver's versions (a part of their text; an empty tuple matches all),
a regular expression for a test's name with its parameters, and the fault.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

import bindless as bl

__all__ = [
    "blends_like_the_reference",
    "has_four_channels_alone",
    "is_of",
    "lacks_format",
    "mark_faults",
    "spoils_format",
    "unlisted_version",
]

_POCL = "Portable Computing Language"
_NVIDIA = "NVIDIA CUDA"
_INTEL = "Intel(R) OpenCL"
_RUSTICL = "rusticl"

# Formats that a platform lists but whose pixels kernels read or write wrongly, so that the package refuses them:
# versions, channel type and channels.
_SPOILED = ((_POCL, ("3.1", "5.0", "6.0"), "fp16", 1),)

# Channel types without any image format on a platform.
_NO_IMAGES = {_NVIDIA: ("snorm_int8",), _RUSTICL: ("snorm_int8", "snorm_int16")}

# PoCL versions that list only images of four channels, as OpenCL permits.
_FOUR_ALONE = ("7.1",)

_FAULTS: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    (_INTEL, (), "test_atomics_where_the_memory_is_chosen", "it has no atomic functions of generic pointers"),
    (
        _POCL,
        ("6.0",),
        r"test_copies\[|test_samples\[[123]-|test_whole_coordinates\[|test_queries_and_samplers_in_the_source",
        "modules of SPIR-V that write integers to volumes or layers do not build",
    ),
    (_POCL, ("6.0",), "test_a_kernel_answers$", "sub-groups of a kernel are longer than the device's"),
    (
        _RUSTICL,
        ("22.3",),
        "test_profiling_gives_times_in_order|test_the_same_from_the_times_of_the_events"
        "|test_times_of_groups_whose_data_is_moved",
        "the times of every command are 0, 1, 2 and 3",
    ),
    (
        _RUSTICL,
        ("22.3",),
        "test_arrays_within_structures",
        "an array of arrays in a structure is taken for one of them",
    ),
    (
        _RUSTICL,
        ("25.0",),
        r"test_(images_and_pitched_memory|layers_that_are_rows)\[.*-(coarse svm|buffers)-rusticl\]",
        "copies of images to buffers lose their offset",
    ),
)

# Tests that crash the process on a platform: they are not run.
_ENDINGS: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    (
        _POCL,
        ("7.1",),
        r"test_memory_comes_and_goes_beside_launches\[.*svm-",
        "shared virtual memory that was freed while another thread's launch lists it is given out again, and refused",
    ),
)


def lacks_format(platform: str, channel_type: str) -> bool:
    """Whether a platform has no images of this channel type, for any number of channels."""
    return any(platform.startswith(name) and channel_type in types for name, types in _NO_IMAGES.items())


def has_four_channels_alone(platform: str, version: str) -> bool:
    """Whether a version of a platform's driver has no images of one or two channels."""
    return _fits(platform, version, _POCL, _FOUR_ALONE)


def spoils_format(platform: str, version: str, channel_type: str, channels: int) -> bool:
    """Whether a version of a platform's driver lists a format but reads or writes its pixels wrongly."""
    return any(
        _fits(platform, version, name, versions) and (channel_type, channels) == (kind, count)
        for name, versions, kind, count in _SPOILED
    )


def blends_like_the_reference(selector: str) -> bool:
    """Whether a selector of OpenCL devices selects NVIDIA GPUs: their texture units have 8-bit weights, like the
    reference device by default. Queries the driver directly: the reference must not be opened before the answer."""
    from bindless.drivers import opencl

    if not selector.startswith("opencl:gpu") or not opencl.available():
        return False
    name = opencl.lib.CL_PLATFORM_NAME
    return any(opencl.get_text("clGetPlatformInfo", found, name).startswith(_NVIDIA) for found in opencl.platforms())


def unlisted_version(device: bl.Device) -> str:
    """A notice for a driver whose version has no row while other versions have; otherwise an empty string.

    The specification alone applies to such a driver: investigate tests that fail only on it, and list them here if the
    driver is at fault.
    """
    rows = [versions for platform, versions, _, _ in _FAULTS + _ENDINGS if device.platform.name.startswith(platform)]
    listed = sorted({version for versions in rows for version in versions})
    if not listed or any(version in device.driver_version for version in listed):
        return ""
    return (
        f"faults of {device.platform.name} are listed for {' and '.join(listed)} (tests/support/opencl_known_bugs.py), "
        f"and this is {device.driver_version}: what fails may be the driver's"
    )


def mark_faults(device: bl.Device, items: list[pytest.Item]) -> None:
    """Mark the tests with a known fault of their device as expected failures. The device is the test's parameter
    ``cl``, or else the run's."""
    for item in items:
        parameters: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
        for_device = parameters.get("cl", device)
        if for_device is None or for_device.backend != "opencl":
            continue
        for rows, run in ((_FAULTS, True), (_ENDINGS, False)):
            for platform, versions, pattern, reason in rows:
                if re.match(pattern, item.name) and is_of(for_device, platform, *versions):
                    item.add_marker(pytest.mark.xfail(strict=True, run=run, reason=f"{platform}: {reason}"))


def is_of(device: bl.Device, platform: str, *versions: str) -> bool:
    """Whether a device's platform name has this start and its driver one of the versions; no versions means all."""
    return _fits(device.platform.name, device.driver_version, platform, versions)


def _fits(name: str, driver: str, platform: str, versions: tuple[str, ...]) -> bool:
    return name.startswith(platform) and (not versions or any(version in driver for version in versions))
