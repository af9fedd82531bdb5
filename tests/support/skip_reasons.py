"""The summary's lines on skipped tests: how many for each reason, the most frequent reasons first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

__all__ = ["lines_of_reasons"]

_LINES = 15
_COLUMNS = 120


def lines_of_reasons(reasons: Iterable[str]) -> list[str]:
    """Return at most 15 lines of at most 120 columns."""
    counts = Counter(" ".join(reason.removeprefix("Skipped: ").split()) for reason in reasons).most_common()
    shown, others = (counts, []) if len(counts) <= _LINES else (counts[: _LINES - 1], counts[_LINES - 1 :])
    lines = [f"skipped {count}: {reason}" for reason, count in shown]
    if others:
        lines.append(
            f"skipped {sum(count for _, count in others)}: for {len(others)} other reasons; pytest -rs lists all"
        )
    return [line if len(line) <= _COLUMNS else f"{line[: _COLUMNS - 3]}..." for line in lines]
