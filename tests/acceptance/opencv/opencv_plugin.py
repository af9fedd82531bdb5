"""Plugin of pytest: OpenCV's own tests in Python, where the functions of ``cv2`` are those of ``bindless.cv2``.

pytest -p tests.acceptance.opencv.opencv_plugin TESTS

``BINDLESS_CV2_DEVICE`` chooses the device, default ``reference``. The summary lists the tests that call a function.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import cv2
import pytest

import bindless
from bindless import cv2 as ours

CALLS: dict[str, set[str]] = {}  # of each test, the functions that it calls
CURRENT = [""]


def pytest_configure() -> None:
    queue = bindless.Queue(os.environ.get("BINDLESS_CV2_DEVICE", "reference"), in_order=True)
    for name in ours.__all__:
        setattr(cv2, name, stand_in(getattr(ours, name), queue))
    for name in ours.fisheye.__all__:
        setattr(cv2.fisheye, name, stand_in(getattr(ours.fisheye, name), queue))


def stand_in(function: Callable[..., Any], queue: bindless.Queue) -> Callable[..., Any]:
    """The function, with OpenCV's class of errors, of calls that are noted."""
    options: dict[str, Any] = {"queue": queue} if "queue" in function.__annotations__ else {}

    def call(*arguments: Any, **more: Any) -> Any:
        CALLS.setdefault(CURRENT[0], set()).add(function.__name__)
        try:
            return function(*arguments, **options, **more)
        except bindless.ArgumentError as error:
            raise cv2.error(str(error)) from error

    return call


def pytest_runtest_setup(item: pytest.Item) -> None:
    CURRENT[0] = item.nodeid.rpartition("/")[2]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for test, functions in sorted(CALLS.items()):
        terminalreporter.write_line(f"{test} calls {', '.join(sorted(functions))}")
