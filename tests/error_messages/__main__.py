"""``python -m tests.error_messages [--write]``."""

from __future__ import annotations

import argparse
import sys

from .collect import COMMAND, SNAPSHOT, difference, render


def main(arguments: list[str] | None = None) -> int:
    """Return 1 if the snapshot differs from the sources."""
    parser = argparse.ArgumentParser(prog="python -m tests.error_messages", description=f"Checks {SNAPSHOT.name}.")
    parser.add_argument("--write", action="store_true", help="write the snapshot instead of checking it")
    if parser.parse_args(arguments).write:
        SNAPSHOT.write_text(render(), encoding="utf-8")
        return 0
    found = difference()
    if found:
        print(f"{found}\nError texts changed. Where that is meant: {COMMAND}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
