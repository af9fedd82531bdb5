"""The native context of a test, and the package's context over it; the driver counts what is alive at the end."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator

import pytest

import bindless as bl
from tests.interop.raw_level_zero import Raw
from tests.support.quick_collections import quick_collections  # noqa: F401  a fixture


@pytest.fixture
def raw(device: bl.Device) -> Iterator[Raw]:
    """What a program makes is all destroyed at the end of a test, once each."""
    gc.collect()
    made = Raw(device)
    before = made.objects
    yield made
    deadline = time.monotonic() + 10  # a thread of the pool may be about to drop what it has completed
    while made.objects > before and time.monotonic() < deadline:
        time.sleep(0.005)
    assert made.objects == before
    made.destroy(made.context)


@pytest.fixture
def kept(raw: Raw) -> Iterator[bl.Context]:
    """The native context as one of the package; it stays the program's."""
    context = bl.make_context("level_zero", raw.context, raw.facade, ownership="keep")
    yield context
    raw.open_gates()
    context.close()
    context._resource.close()  # at once, also where a failed test still holds it
