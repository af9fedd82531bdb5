"""Fixtures of the kernel tests."""

from __future__ import annotations

import pytest

from tests.builtin_kernels.host_kernels import REASON, RUNS, HostKernels


@pytest.fixture(scope="session")
def host_kernels(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> HostKernels:
    """The kernels compiled for this processor, once for all workers."""
    if not RUNS:
        pytest.skip(REASON)
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if hasattr(pytestconfig, "workerinput") else base) / "host_kernels"
    folder.mkdir(exist_ok=True)
    return HostKernels(folder)
