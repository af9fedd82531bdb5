"""Backends: each turns the contract into one vendor's driver. ``registry`` makes them on first use."""
