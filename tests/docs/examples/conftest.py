"""Makes the examples importable, as they import each other: by their folder."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "examples"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
