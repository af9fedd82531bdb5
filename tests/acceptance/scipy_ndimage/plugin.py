"""Plugin of pytest: the tests of the installed scipy, where ``ndimage`` is that of bindless.

pytest -p tests.acceptance.scipy_ndimage.plugin --pyargs scipy.ndimage.tests.test_interpolation

``BINDLESS_NDIMAGE_DEVICE`` chooses the device, default ``reference``. Comparisons get the tolerance of
single precision; tests that ``not_applicable.txt`` names are deselected.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import bindless
from bindless import ndimage

TOLERANCE = 1e-5  # of the range of the values
FUNCTIONS = ("affine_transform", "map_coordinates", "rotate", "shift", "spline_filter", "spline_filter1d", "zoom")
CALLS: list[str] = []  # names of the functions that tests called
LIST = Path(__file__).with_name("not_applicable.txt")


class Entry(NamedTuple):
    """A line of the list: tests that do not apply, by a pattern of their names or a parameter, and why."""

    pattern: str
    reason: str

    def names(self, item: pytest.Item) -> bool:
        name, _, value = self.pattern.partition("=")
        if not value:
            test, _, rest = item.nodeid.partition("::")[2].partition("[")
            return self.pattern in (test, f"{test}[{rest}")
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        found = parameters.get(name)
        return name in parameters and getattr(found, "__name__", str(found)) in value.split()


def entries() -> list[Entry]:
    """The list: ``pattern: reason`` on each line."""
    lines = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    return [Entry(*(part.strip() for part in line.split(" # ", 1))) for line in lines]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    found = entries()
    used = {entry for entry in found for item in items if entry.names(item)}
    left_out = [item for item in items if any(entry.names(item) for entry in found)]
    stale = [entry.pattern for entry in found if entry not in used]
    if stale and not config.getoption("keyword"):
        raise pytest.UsageError(f"{LIST.name} names no test: {', '.join(stale)}")
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
    for module in {item.module for item in items}:  # type: ignore[attr-defined]
        substitute(module)


def substitute(module: ModuleType) -> None:
    """Puts the functions of bindless, and comparisons in single precision, in place of those of a test module."""
    queue = bindless.Queue(os.environ.get("BINDLESS_NDIMAGE_DEVICE", "reference"), in_order=True)
    ours = {name: functools.partial(counted, getattr(ndimage, name), queue) for name in FUNCTIONS}
    found: Any = module
    found.ndimage = SimpleNamespace(
        **ours, geometric_transform=functools.partial(geometric_transform, ours["map_coordinates"])
    )
    found.eps = TOLERANCE * 25
    found.xp_assert_close = close
    found.xp_assert_equal = close
    found.assert_array_almost_equal = close


def counted(function: Any, queue: bindless.Queue, *arguments: Any, **options: Any) -> Any:
    CALLS.append(function.__name__)
    return function(*arguments, queue=queue, **options)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"calls of bindless.ndimage: {len(CALLS)}")


def geometric_transform(
    map_coordinates: Any,
    input: Any,
    mapping: Any,
    output_shape: Any = None,
    *arguments: Any,
    extra_arguments: tuple[Any, ...] = (),
    extra_keywords: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """scipy's, by the coordinates that its function gives for each element of the result."""
    array = np.asarray(input)
    shape = tuple(array.shape if output_shape is None else output_shape)
    extra = extra_keywords or {}
    places = [mapping(index, *extra_arguments, **extra) for index in np.ndindex(shape)]
    coordinates = np.array(places, np.float64).T.reshape(array.ndim, *shape)
    return map_coordinates(array, coordinates, *arguments, **options)


def close(actual: Any, desired: Any, *arguments: Any, rtol: float = 0.0, atol: float = 0.0, **options: Any) -> None:
    """Equal shapes, and values within the tolerance; integers are equal."""
    actual, desired = np.asarray(actual), np.asarray(desired)
    assert actual.shape == desired.shape
    wide = np.abs(desired[np.isfinite(desired)]).max(initial=1.0) if desired.dtype.kind == "f" else 0.0
    integers = actual.dtype.kind in "iub" and desired.dtype.kind in "iub"
    atol = 0.0 if integers else max(atol, TOLERANCE * max(wide, 1.0))
    np.testing.assert_allclose(actual, desired, rtol=0 if integers else rtol, atol=atol)
