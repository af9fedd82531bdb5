"""``python -m tests.ledger [--write]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .document import DOCUMENT, render


def main(arguments: list[str] | None = None) -> int:
    """Return 1 if the document differs from the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.ledger", description=f"Checks {DOCUMENT.name}.")
    parser.add_argument("--write", action="store_true", help="write the document instead of checking it")
    parser.add_argument("--output", type=Path, default=DOCUMENT, metavar="FILE", help=f"default: {DOCUMENT.name}")
    options = parser.parse_args(arguments)
    if options.write:
        options.output.write_text(render(), encoding="utf-8")
        return 0
    if options.output.exists() and options.output.read_text(encoding="utf-8") == render():
        return 0
    print(f"{options.output} is not what the tables say: python -m tests.ledger --write", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
