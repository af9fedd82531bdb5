"""Fixtures of the runtime tests."""

from tests.support.device_fixtures import both, fake, fakes, pair, queues

__all__ = ["both", "fake", "fakes", "pair", "queues"]
