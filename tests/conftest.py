"""Options of the test run: the device under test, and mandatory requirements.

pytest                           the reference device
pytest --device cuda             a backend, or any filter such as cuda:gpu:0; a missing device fails the run
pytest --device level_zero       the package's own Level Zero driver behind the system's loader; level_zero:gpu:0 or
                                 ZE_ENABLE_ALT_DRIVERS selects another driver. Without a loader all tests are skipped
pytest --device recorded_cuda    the CUDA backend on a driver without a GPU that records its calls;
                                 for the files listed in backends/cuda/test_cuda_recording.py
pytest --device processor_cuda   the CUDA backend on the package's CUDA driver for processors
pytest --device opencl           the first OpenCL device, compared within OpenCL's bounds; or a filter as opencl:cpu:1
pytest --stress 60               runs each stress program for 60 seconds
pytest -n0                       all tests in this process, for a debugger
pytest --leave-out-passed=FILE   without those that passed in another run: support/passed_tests.py
BINDLESS_REQUIRE=opencl,vulkan   markers whose tests must run: a missing requirement fails the test instead of a skip
"""

from __future__ import annotations

import contextlib
import ctypes.util
import gc
import importlib.util
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

import bindless as bl
from bindless.cli.cuda_driver import driver_folder
from bindless.cli.ze_driver import driver_path
from bindless.compiler.llvm.toolchain import INSTALL_PIP
from tests.support.needs import lacks, required
from tests.support.opencl_known_bugs import (
    blends_like_the_reference,
    has_four_channels_alone,
    lacks_format,
    mark_faults,
    spoils_format,
    unlisted_version,
)
from tests.support.passed_tests import PassedTests, add_options
from tests.support.recorded_driver import DEVICE as RECORDED_CUDA
from tests.support.recorded_driver import compile_driver
from tests.support.skip_reasons import lines_of_reasons

# Child processes also import tests.support.
_ROOT = str(Path(__file__).resolve().parents[1])
if _ROOT not in os.environ.get("PYTHONPATH", "").split(os.pathsep):
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (_ROOT, os.environ.get("PYTHONPATH"))))

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX would take a GPU that processes share

# These options are this run's alone: tests start pytest in other folders, where --write-passed is unknown.
os.environ.pop("PYTEST_ADDOPTS", None)

if os.environ.get("BINDLESS_TEST_KERNELS"):
    from tests.support.precompiled_kernels import build

    bl.build = build

# Tests write nothing to the home directory; the cache tests use their own folder.
os.environ.setdefault("BINDLESS_CACHE", "0")

_BACKENDS = tuple(str(backend) for backend in bl.Backend)


def _has_opencl() -> bool:
    from bindless.drivers import opencl

    return opencl.available()


def _has_level_zero() -> bool:
    from bindless.drivers import level_zero

    return level_zero.available()


def _has_vulkan() -> bool:
    return ctypes.util.find_library("vulkan") is not None and importlib.util.find_spec("vulkan") is not None


# Marker: whether its tests can run, and the packages to install otherwise.
_NEEDS: dict[str, tuple[Callable[[], bool], str]] = {
    "opencl": (_has_opencl, "apt install pocl-opencl-icd ocl-icd-libopencl1, or set BINDLESS_LIBOPENCL"),
    "vulkan": (_has_vulkan, "apt install mesa-vulkan-drivers libvulkan1 and pip install vulkan"),
    "level_zero": (_has_level_zero, "apt install libze1, or set BINDLESS_LIBZE_LOADER"),
    "pyopencl": (lambda: importlib.util.find_spec("pyopencl") is not None, "pip install pyopencl"),
    "dpctl": (lambda: importlib.util.find_spec("dpctl") is not None, "pip install dpctl intel-sycl-rt, or .ci/dpctl"),
    "cupy": (lambda: importlib.util.find_spec("cupy") is not None, "pip install cupy-cuda12x"),
    "torch": (lambda: importlib.util.find_spec("torch") is not None, "pip install torch"),
    "ocloc": (lambda: shutil.which("ocloc") is not None, "apt install intel-ocloc, or run .ci/ocloc"),
}
# Requirements that the tests check themselves.
_OTHER_REQUIREMENTS = (
    "browser",
    "site",
    "c_compiler",
    "headers",
    "kernels",
    "opencl_spirv",
    "spirv_tools",
    "two_devices",
)

_DEVICE = pytest.StashKey[bl.Device]()


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    parser.addoption(
        "--device",
        default="reference",
        metavar="NAME",
        help=f"device of the tests: {', '.join(_BACKENDS)}, or a selector such as cuda:gpu:0 (default: reference)",
    )
    parser.addoption(
        "--stress",
        type=float,
        default=0.5,
        metavar="SECONDS",
        help="how long each stress program runs (default: 0.5)",
    )
    add_options(parser)
    if not pluginmanager.hasplugin("timeout"):
        parser.addini("timeout", "the limit of pytest-timeout, which is not loaded; faulthandler_timeout remains")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Distribute like ``--dist loadfile``, except that tests that start their own process go to any worker."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByFileOrProcess(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return nodeid if "test_cuda_recording.py::" in nodeid else super()._split_scope(nodeid)

    return ByFileOrProcess(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Benchmarks use one process alone on the machine; all other tests use one worker per processor."""
    benchmarks = Path(__file__).parent / "benchmarks"
    named = [Path(config.invocation_params.dir, argument.partition("::")[0]) for argument in config.args]
    return 0 if any(benchmarks in (path, *path.parents) for path in named) else None


def _use_own_level_zero_driver() -> None:
    """Select the driver before the loader opens; subprocesses inherit the environment."""
    with contextlib.suppress(bl.FeatureNotSupportedError):  # the driver exists only on Linux
        os.environ.setdefault("ZE_ENABLE_ALT_DRIVERS", str(driver_path()))


def _use_recording_driver(config: pytest.Config) -> None:
    """Compile the driver, except in a worker: workers inherit the environment of the main process."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="bindless-recorded-cuda-")
        config.add_cleanup(folder.cleanup)
        os.environ["BINDLESS_LIBCUDA"] = str(compile_driver(Path(folder.name)))


_SKIPPED = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    unknown = [name for name in required() if name not in (*_NEEDS, *_OTHER_REQUIREMENTS)]
    if unknown:
        known = ", ".join((*_NEEDS, *_OTHER_REQUIREMENTS))
        raise pytest.UsageError(f"BINDLESS_REQUIRE names {', '.join(unknown)}; it knows {known}")
    if "kernels" in required() and not bl.kernels_available():
        raise pytest.UsageError(f"BINDLESS_REQUIRE asks for kernels, and their compiler is missing: {INSTALL_PIP}")
    name = config.getoption("--device")
    if name.startswith("opencl") and not blends_like_the_reference(name):  # its filter weights have full precision
        os.environ.setdefault("BINDLESS_REFERENCE_FILTERING", "exact")
    if name == "level_zero":
        _use_own_level_zero_driver()
        if not _has_level_zero() and "level_zero" not in required():
            config.stash[_SKIPPED] = f"--device level_zero needs its loader: {_NEEDS['level_zero'][1]}"
            name = "reference"
    if name == "recorded_cuda":
        _use_recording_driver(config)
        name = RECORDED_CUDA
    if name == "processor_cuda":  # subprocesses inherit the environment
        os.environ["BINDLESS_LIBCUDA"] = str(driver_folder() / "libcuda.so.1")
        name = "cuda"
    selector = f"{name}:*:*" if name in _BACKENDS else name
    try:
        config.stash[_DEVICE] = bl.Device(selector)
    except bl.Error as error:
        raise pytest.UsageError(f"--device {name}: {error}") from None
    if config.stash[_DEVICE].name.startswith("Fake GPU"):  # fake_cuda.c, whose kernels do nothing
        from bindless.backends.cuda import surface_copy

        surface_copy.SMALLEST = 1 << 60
    if config.getoption("--write-passed") or config.getoption("--leave-out-passed"):
        config.pluginmanager.register(PassedTests(config))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests that do not apply to the device: comparisons of the reference with itself, and tests specific to
    another backend. On a GPU, Vulkan tests run first and fault tests last: a kernel fault loses the GPU, and drawing
    fails afterwards (docs/guide/vulkan.md). The package's own drivers survive faults."""
    if _SKIPPED in config.stash:
        for item in items:
            item.add_marker(pytest.mark.skip(reason=config.stash[_SKIPPED]))
    device = config.stash[_DEVICE]
    backend = device.backend
    if config.getoption("--device") == "processor_cuda":
        needs_gpu = pytest.mark.skip(reason="needs CUDA's runtime library, whose kernels are for a GPU")
        for item in items:
            names = {marker.name for marker in item.iter_markers()}
            if "cuda" in names and names & {"torch", "cupy"}:
                item.add_marker(needs_gpu)
    mark_faults(device, items)
    for marker, kept in (
        ("against_reference", backend != "reference"),
        ("loses_device", backend == "cuda"),
        ("survives_faults", device.vendor == "bindless" and backend != "cuda"),
        ("cuda", backend == "cuda"),
        ("on_level_zero", backend == "level_zero"),
    ):
        others = [] if kept else [item for item in items if item.get_closest_marker(marker) is not None]
        if others:
            config.hook.pytest_deselected(items=others)
            items[:] = [item for item in items if item.get_closest_marker(marker) is None]
    vulkan = Path(__file__).parent / "interop" / "vulkan"
    items.sort(key=lambda item: (item.get_closest_marker("loses_device") is not None, vulkan not in item.path.parents))


def pytest_collection_finish() -> None:
    """Exclude the objects of the whole run, a million after collecting all tests, from garbage collection: leak tests
    collect often."""
    gc.collect()
    gc.freeze()


_file = ""


def pytest_runtest_logstart(nodeid: str) -> None:
    """Do the same between two files: some import large libraries, whose objects stay."""
    global _file
    file = nodeid.partition("::")[0]
    if file != _file:
        pytest_collection_finish()
    _file = file


def pytest_report_header(config: pytest.Config) -> list[str]:
    device = config.stash[_DEVICE]
    lines = [f"bindless device: {device.name}, driver {device.driver_version} [{device.backend}]"]
    unlisted = unlisted_version(device) if device.backend == "opencl" else ""
    return [*lines, f"note: {unlisted}"] if unlisted else lines


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None, object, object]:
    """Print the reasons of skips before the tracebacks of failures."""
    skipped = terminalreporter.getreports("skipped")
    lines = lines_of_reasons(report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple))
    if lines:
        terminalreporter.write_sep("=", "skipped tests")
        terminalreporter.write_line("\n".join(lines))
    return (yield)


def _lacking(config: pytest.Config, refusal: bl.Error) -> str:
    """The refusal's text, if the device refuses a feature that it reports as missing; the reference lacks no feature.
    Kernels on a device without a compiler count as such a feature."""
    if INSTALL_PIP in str(refusal) and not bl.kernels_available():
        return f"needs a kernel compiler: {INSTALL_PIP}"
    device = config.stash[_DEVICE]
    platform = device.platform.name
    lacking = re.search(r"has no images of (\d|so many) channels of (\w+)", str(refusal))
    if (
        device.backend == "opencl"
        and lacking is not None
        and (
            lacking[1] in ("2", "so many")
            or lacks_format(platform, lacking[2])
            or (lacking[1] == "1" and has_four_channels_alone(platform, device.driver_version))
            or (lacking[1] == "1" and spoils_format(platform, device.driver_version, lacking[2], 1))
        )
    ):
        return f"a format that the driver does not list: {refusal}"
    if device.backend == "opencl" and "takes no SPIR-V" in str(refusal) and not device._record.native.takes_il:
        return str(refusal)
    named = re.search(r"Aspect\.(\w+)|device\.has\('(\w+)'\)", str(refusal))
    if device.backend == "reference" or named is None or device.has(named[1] or named[2]):
        return ""
    return f"no {named[1] or named[2]}: {refusal}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Skip a test that lacks a requirement, or whose fixtures use a feature that the device reports as missing. A
    fixture of a module raises for each of its tests again, without a call of ``pytest_fixture_setup``."""
    for name, (present, install) in _NEEDS.items():
        if item.get_closest_marker(name) is None or present():
            continue
        lacks(name, install)
    try:
        return (yield)
    except (bl.FeatureNotSupportedError, bl.MemoryAllocationError) as refusal:
        reason = _lacking(item.config, refusal)
        if not reason:
            raise
    pytest.skip(reason)  # skip here, so that no reference keeps the test's objects


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Skip a test, with the refusal's text, when it reaches a feature that the device reports as missing."""
    try:
        return (yield)
    except (bl.FeatureNotSupportedError, bl.MemoryAllocationError) as refusal:  # pitched_alloc_device's class
        reason = _lacking(item.config, refusal)
        if not reason:
            raise
    pytest.skip(reason)


@pytest.fixture(scope="session")
def device(pytestconfig: pytest.Config) -> bl.Device:
    """The device of ``--device``."""
    return pytestconfig.stash[_DEVICE]


@pytest.fixture(scope="session")
def context(device: bl.Device) -> bl.Context:
    """One context for the whole run."""
    return bl.Context(device)


@pytest.fixture
def queue(device: bl.Device, context: bl.Context) -> Iterator[bl.Queue]:
    """An out-of-order queue; its unexpected errors fail the test."""
    with bl.Queue(device, context) as made:
        yield made
