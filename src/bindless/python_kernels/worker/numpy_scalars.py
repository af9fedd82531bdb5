"""Lowerings of numpy's scalar functions and of float16."""

from __future__ import annotations

from numba.core.imputils import Registry

__all__ = ["LOWERING"]

LOWERING = Registry("bindless.numpy")
