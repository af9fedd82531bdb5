"""Shared parts of the driver bindings: the library loader, result checks, lazy enums."""
