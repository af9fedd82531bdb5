"""Buffers, accessors and the dependency graph that moves their data."""
