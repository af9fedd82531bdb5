"""Native objects of a test, and the package's context and queue over them, on every OpenCL device found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import bindless as bl
from tests.interop.raw_opencl import Raw
from tests.support.opencl_devices import parametrize_devices, require_device


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize_devices(metafunc)


@pytest.fixture
def raw(cl: bl.Device | None) -> Iterator[Raw]:
    """What a program makes; at the end of a test nobody else holds any of it."""
    made = Raw(require_device(cl))
    yield made
    made.close()


@pytest.fixture
def context(raw: Raw) -> Iterator[bl.Context]:
    """The program's context as one of the package."""
    made = bl.make_context("opencl", raw.context)
    yield made
    made.close()
    made._resource.close()  # at once, also where a failed test still holds it


@pytest.fixture
def queue(raw: Raw, context: bl.Context) -> Iterator[bl.Queue]:
    with bl.Queue(raw.facade, context) as made:
        yield made
