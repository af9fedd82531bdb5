"""Print a table from a test, regardless of pytest's capture."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext

import pytest


def show(config: pytest.Config, lines: Iterable[str]) -> None:
    """Write lines to the terminal at once, after an empty one."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    capture = config.pluginmanager.getplugin("capturemanager")
    if reporter is None:
        return
    with capture.global_and_fixture_disabled() if capture is not None else nullcontext():
        reporter.ensure_newline()
        for line in ("", *lines):
            reporter.write_line(line)
