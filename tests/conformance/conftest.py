"""Comparisons of another device with the reference: on the reference itself there is nothing to run."""

from __future__ import annotations

from pathlib import Path

import pytest

import bindless as bl


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    name = config.getoption("--device")
    selector = f"{name}:*:*" if name in tuple(map(str, bl.Backend)) else name
    if bl.Device(selector).backend != "reference":
        return
    here = Path(__file__).parent
    comparisons = [item for item in items if here in item.path.parents]
    if comparisons:
        config.hook.pytest_deselected(items=comparisons)
        items[:] = [item for item in items if item not in set(comparisons)]
