"""OpenCL devices for the tests of this folder: all that the loader finds, whatever ``--device`` selects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

import bindless as bl
from bindless.backends.opencl import device
from bindless.drivers.opencl import lib
from bindless.model.enums import UsmKind
from tests.backends.opencl.failing_library import build
from tests.support.opencl_devices import parametrize_devices, require_device


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize_devices(metafunc)


@pytest.fixture(autouse=True)
def _present(request: pytest.FixtureRequest) -> None:
    if "cl" in request.fixturenames:
        require_device(request.getfixturevalue("cl"))


@pytest.fixture(scope="session")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The failing library, loaded in front of the OpenCL library under test."""
    return build(tmp_path_factory.mktemp("driver") / "libfailing.so")


@pytest.fixture
def cl_queue(cl: bl.Device) -> Iterator[bl.Queue]:
    """An out-of-order queue in a context of its own."""
    with bl.Context(cl) as context, bl.Queue(cl, context) as queue:
        yield queue


@pytest.fixture(params=["usm", "svm", "coarse svm", "buffers"])
def means(request: pytest.FixtureRequest, cl: bl.Device, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each way to provide memory, including those that the driver would not choose."""
    native: device.Device = cl._record.native
    gc.collect()  # each allocation must be freed the way it was made
    if request.param == "usm" and not native.has_usm:
        pytest.skip("the driver has no cl_intel_unified_shared_memory")
    if request.param.endswith("svm") and not native.svm:
        pytest.skip("the driver has no shared virtual memory")
    if request.param != "usm":
        monkeypatch.setitem(native.__dict__, "has_usm", False)
    if request.param == "coarse svm":
        monkeypatch.setitem(native.__dict__, "svm", lib.CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)
        monkeypatch.setitem(native.__dict__, "takes_ptx", True)  # as NVIDIA's, which needs care with null pointers
    if request.param == "buffers":
        monkeypatch.setitem(native.__dict__, "svm", 0)
    return str(request.param)


@pytest.fixture
def kinds(cl: bl.Device, means: str) -> frozenset[UsmKind]:
    """USM kinds that one way to provide memory supports."""
    from bindless.backends.opencl.memory import means_of

    return means_of(cl._record.native).kinds(cl._record.native)
