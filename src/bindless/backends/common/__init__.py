"""Shared parts of the back ends: handle tables, deferred events, result codes, formats, caches, fork guards."""
