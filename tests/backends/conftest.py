"""Fixture of the contract tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import bindless as bl
from tests.backends.contract.contract_rig import Rig


@pytest.fixture
def rig(device: bl.Device) -> Iterator[Rig]:
    made = Rig(device._backend, device._record.native)
    yield made
    made.close()
