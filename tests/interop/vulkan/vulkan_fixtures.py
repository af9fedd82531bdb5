"""Vulkan drivers that can share memory with the device under test.

The reference device and the package's Level Zero driver share with Vulkan drivers on the processor: SwiftShader and
lavapipe. A GPU shares with its own Vulkan driver, which the UUID identifies among the Vulkan loader's devices.

BINDLESS_SWIFTSHADER   path of the manifest vk_swiftshader_icd.json, from @sparticuz/chromium's bin/swiftshader.tar.br
BINDLESS_LAVAPIPE      path of lavapipe's manifest, if it is not in /usr/share/vulkan/icd.d
BINDLESS_REQUIRE       if it contains vulkan, a missing driver is a failure
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

import bindless as bl
from tests.support.needs import lacks

if TYPE_CHECKING:
    from bindless.interop.vulkan import Exporter
    from tests.interop.vulkan.vulkan_rig import Instance, Rig

INSTALL = {
    "swiftshader": "npm pack @sparticuz/chromium, tar xf sparticuz-chromium-*.tgz, brotli -d bin/swiftshader.tar.br, "
    "tar xf bin/swiftshader.tar, and BINDLESS_SWIFTSHADER=.../vk_swiftshader_icd.json",
    "lavapipe": "apt install mesa-vulkan-drivers",
    "native": "the GPU vendor's Vulkan driver, or VK_DRIVER_FILES=.../its_icd.json where the loader does not find it",
}


def _manifest(driver: str) -> str | None:
    """Path of a driver's manifest."""
    named = os.environ.get(f"BINDLESS_{driver.upper()}")
    if named or driver == "swiftshader":
        return named
    folders = (Path(folder) for folder in ("/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"))
    return next((str(file) for folder in folders for file in sorted(folder.glob("lvp_icd*.json"))), None)


def _missing(driver: str, why: str) -> NoReturn:
    lacks("vulkan", f"{why}: {INSTALL[driver]}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "driver" in metafunc.fixturenames:
        selector = metafunc.config.getoption("--device")
        own = selector.startswith("reference") or selector == "level_zero"
        metafunc.parametrize("driver", ["swiftshader", "lavapipe"] if own else ["native"], scope="session")


@pytest.fixture(scope="session")
def manifest(driver: str, device: bl.Device) -> str | None:
    """The manifest of a Vulkan driver; None if the Vulkan loader chooses."""
    if not device.has(bl.Aspect.ext_oneapi_external_memory_import):
        pytest.skip(f"{device.name} has no {bl.Aspect.ext_oneapi_external_memory_import}")
    if driver == "native":
        return None
    found = _manifest(driver)
    if found is None or not Path(found).is_file():
        _missing(driver, f"no Vulkan driver {driver} ({found})")
    return found


@pytest.fixture(scope="session")
def instance(manifest: str | None, driver: str) -> Iterator[Instance]:
    """A VkInstance with one Vulkan driver, or with all of them for a GPU."""
    from tests.interop.vulkan.vulkan_rig import Instance, vk

    try:
        made = Instance(manifest)
    except vk.VkError as error:
        _missing(driver, f"the Vulkan loader makes no instance ({type(error).__name__})")
    yield made
    made.close()


@pytest.fixture(scope="session")
def rig(instance: Instance, driver: str, device: bl.Device) -> Iterator[Rig]:
    """A VkDevice of the device under test."""
    from bindless.interop import vulkan as sharing
    from tests.interop.vulkan.vulkan_rig import Rig

    def fits(physical_device: object) -> bool:
        try:
            sharing.check_same_device(physical_device, device)
        except bl.InvalidError:
            return False
        return True

    fitting = [each for each in instance.physical_devices if fits(each)]
    if not fitting:
        found = ", ".join(sharing.device_uuid(each).hex() for each in instance.physical_devices) or "none"
        _missing(driver, f"no Vulkan device is {device.name} with UUID {device.uuid.hex()} (there are {found})")
    made = Rig(fitting[0], takes_timelines=device.backend != "opencl")
    yield made
    made.close()


@pytest.fixture
def exports_semaphores(rig: Rig, exporter: Exporter) -> None:
    """Skip the test on a Vulkan driver that exports no semaphores, which refuses to make one."""
    if rig.has_semaphores:
        return
    with pytest.raises(bl.FeatureNotSupportedError):
        exporter.semaphore()
    pytest.skip("the Vulkan driver exports no semaphores of type opaque_fd")


@pytest.fixture(scope="session")
def draws(rig: Rig, driver: str) -> None:
    """Fail early if a GPU's Vulkan driver does not draw, instead of waiting for ever."""
    if driver != "native":
        return
    from bindless.interop import vulkan as sharing

    uuid = sharing.device_uuid(rig.physical_device).hex()
    program = str(Path(__file__).with_name("vulkan_alone.py"))
    done = subprocess.run(
        [sys.executable, program, uuid, "20"], capture_output=True, text=True, check=False, timeout=120
    )
    if done.returncode:
        why = f"Vulkan does not draw on this GPU, without this package or CUDA: {done.stdout}{done.stderr}"
        pytest.fail(why, pytrace=False)


@pytest.fixture
def exporter(rig: Rig, device: bl.Device) -> Exporter:
    from bindless.interop.vulkan import Exporter

    return Exporter(rig.physical_device, rig.device, device)
