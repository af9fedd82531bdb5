"""Fixtures of vulkan_fixtures.py."""

from tests.interop.vulkan.vulkan_fixtures import (
    draws,
    exporter,
    exports_semaphores,
    instance,
    manifest,
    pytest_generate_tests,
    rig,
)

__all__ = ["draws", "exporter", "exports_semaphores", "instance", "manifest", "pytest_generate_tests", "rig"]
