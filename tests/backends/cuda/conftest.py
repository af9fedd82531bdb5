"""The recording driver, with an empty log."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.backends.cuda.fake_cuda import Fake


@pytest.fixture
def fake() -> Iterator[Fake]:
    made = Fake()
    made.clear()
    yield made
    made.clear()
