"""The recording driver, with an empty log, and small staging buffers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import bindless as bl
from bindless.backends.cuda import pinned_staging
from tests.backends.cuda.fake_cuda import Fake


@pytest.fixture
def fake() -> Iterator[Fake]:
    made = Fake()
    made.clear()
    yield made
    made.clear()


@pytest.fixture
def staging(device: bl.Device, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Staging buffers of the test, small enough that every copy has many pieces."""
    primary = device._record.native.context()
    monkeypatch.setattr(pinned_staging, "SMALLEST", {True: 1, False: 1})
    monkeypatch.setattr(pinned_staging, "_threads", lambda: 5)
    monkeypatch.setattr(pinned_staging, "staging_bytes", lambda: 5 * 2 * (64 << 10))
    monkeypatch.setattr(primary, "staging", None)
    yield primary
    assert primary.staging.native is not None
