"""Fixtures for tests of gradients."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

_PROGRAM = """
import hashlib, numpy as np
from bindless.sampling.memory import Lookup, backward
from tests.support.filters import lookup as make_lookup
rng = np.random.default_rng(1)
found = hashlib.sha256()
for textures, dims, levels in ((1, 1, 1), (1, 2, 1), (1, 3, 1), (3, 2, 1), (2, 2, 1), (1, 2, 3)):
    size = (40, 24, 12)[:dims]
    texels = [rng.standard_normal((textures, *(n >> l for n in size), 2)).astype("f") for l in range(levels)]
    coords = rng.uniform(-5, 45, (textures, 3000, dims)).astype("f")
    if textures == 2:
        coords.sort(axis=1)  # samples next to each other are in the same rows
    level = rng.uniform(-1, 3, (textures, 3000)).astype("f") if levels > 1 else None
    grad_out = rng.standard_normal((textures, 3000, 2)).astype("f")
    gradients, grad_coords = [np.zeros_like(t) for t in texels], np.empty_like(coords)
    grad_level = None if level is None else np.empty_like(level)
    lookup = make_lookup(dims, boundary="mirrored_repeat", between="linear" if levels > 1 else "none")
    backward(lookup, texels, coords, level, grad_out, gradients, grad_coords, grad_level)
    for array in (*gradients, grad_coords, *(() if level is None else (grad_level,))):
        found.update(array.tobytes())
print(found.hexdigest())
"""


@pytest.fixture(scope="session")
def in_subprocess() -> Callable[[int], str]:
    """The hash of gradients that a process computes with a number of threads."""
    known: dict[int, str] = {}

    def run(threads: int) -> str:
        if threads not in known:
            environment = {**os.environ, "BINDLESS_REFERENCE_THREADS": str(threads)}
            known[threads] = subprocess.run(
                [sys.executable, "-c", _PROGRAM],
                env=environment,
                check=True,
                capture_output=True,
                text=True,
                timeout=120,
            ).stdout
        return known[threads]

    return run
