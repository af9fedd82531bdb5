"""
The steps of a texture unit
===========================

A texture unit computes with weights of 8 bits: between two pixels it returns 257 values, not all numbers.
``precision="exact"`` computes the same curve with float32 weights. The picture shows the middle of the way from a pixel
of value 0 to its neighbour of value 1, enlarged, and the errors there.
"""

import matplotlib.pyplot as plt
import numpy as np

import bindless as bl

step = np.array([[0, 1]], np.float32)
x = np.linspace(0.5, 1.5, 8193, dtype=np.float32)  # from centre to centre
coords = np.stack([x, np.full_like(x, 0.5)], -1)

figure, (values, errors) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
for precision in ("hardware", "exact"):
    with bl.Image(step, precision=precision) as image:
        found = image.sample(coords)
    near = np.abs(x - 1) < 0.015
    values.plot(x[near], found[near], label=precision)
    errors.plot(x[near], (found - (x - 0.5))[near] * 512, label=precision)
    if precision == "hardware":
        assert len(np.unique(found)) == 257
        assert np.abs(found - (x - 0.5)).max() <= 1 / 512
values.set(title="values near the middle", xlabel="x in pixels")
errors.set(title="error, in 1/512 of the difference", xlabel="x in pixels")
values.legend()
