"""A fixture of tests that collect garbage often."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

__all__ = ["quick_collections"]


@pytest.fixture(scope="module", autouse=True)
def quick_collections() -> Iterator[None]:
    """Objects of before are not looked at in every collection."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
