"""
Projections of a molecule by slices of its spectrum
===================================================

An electron microscope projects a molecule in an unknown direction. By the theorem of the central slice, the spectrum of
a projection is a plane of the volume's spectrum: one 2D lookup instead of a sum along rays. The spectrum is a volume of
two channels, real and imaginary; cubic filtering keeps its oscillations.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import bindless as bl

n, pad = 48, 2
z, y, x = np.mgrid[:n, :n, :n] - n / 2
generator = np.random.default_rng(4)
atoms = generator.normal(0, 1, (60, 3)).cumsum(0)  # a chain
atoms = (atoms - atoms.mean(0)) / np.abs(atoms - atoms.mean(0)).max() * n * 0.3
density = sum(np.exp(-((x - a) ** 2 + (y - b) ** 2 + (z - c) ** 2) / 4) for a, b, c in atoms)

m = n * pad  # padding makes the spectrum smooth enough to interpolate
spectrum = np.fft.fftshift(np.fft.fftn(np.fft.ifftshift(np.pad(density, (m - n) // 2))))
channels = np.stack([spectrum.real, spectrum.imag], -1).astype(np.float32)
v, u = np.mgrid[-m // 2 : m // 2, -m // 2 : m // 2]

turns = Rotation.random(4, random_state=1)
figure, axes = plt.subplots(2, 4, figsize=(11, 5.6), layout="constrained")
with bl.Image(channels, filtering="cubic", precision="exact", dimensions=3) as image:
    for (above, below), turn in zip(axes.T, turns):
        right, down = turn.as_matrix().T[:2]
        plane = u[..., None] * right + v[..., None] * down + m / 2 + 0.5  # through frequency zero
        real, imaginary = np.moveaxis(image.sample(plane.astype(np.float32)), -1, 0)
        found = np.fft.fftshift(np.fft.ifft2(np.fft.ifftshift(real + 1j * imaginary))).real
        found = found[(m - n) // 2 : (m + n) // 2, (m - n) // 2 : (m + n) // 2]
        seen = turn.as_matrix().T @ atoms.T  # the atoms, in the camera's axes
        grid_v, grid_u = np.mgrid[:n, :n] - n / 2
        exact = sum(np.exp(-((grid_u - a) ** 2 + (grid_v - b) ** 2) / 4) for a, b in seen[:2].T) * np.sqrt(4 * np.pi)
        assert np.abs(found - exact).max() < 0.05 * exact.max()
        above.imshow(found, cmap="magma")
        below.imshow(exact, cmap="magma")
axes[0, 0].set_title("from the spectrum", loc="left")
axes[1, 0].set_title("exact", loc="left")
for axis in axes.flat:
    axis.axis("off")
