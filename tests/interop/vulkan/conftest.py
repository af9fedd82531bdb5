"""The fixtures of vulkan_fixtures.py, and the way to the modules beside the tests."""

from __future__ import annotations

import sys
from pathlib import Path

# vulkan_rig.py, vulkan_fixtures.py and sharing_checks.py; pixels.py of the tests of images.
sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "images")]

from vulkan_fixtures import draws, exporter, exports_semaphores, instance, manifest, pytest_generate_tests, rig  # noqa: E402

__all__ = ["draws", "exporter", "exports_semaphores", "instance", "manifest", "pytest_generate_tests", "rig"]
