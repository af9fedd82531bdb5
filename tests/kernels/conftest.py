"""Fixtures of the kernel tests."""

from __future__ import annotations

import pytest
from host_kernels import REASON, RUNS, HostKernels


@pytest.fixture(scope="session")
def host_kernels(tmp_path_factory: pytest.TempPathFactory) -> HostKernels:
    """The kernels compiled for this processor, once a session."""
    if not RUNS:
        pytest.skip(REASON)
    return HostKernels(tmp_path_factory.mktemp("kernels"))
