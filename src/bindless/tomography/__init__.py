"""Tomography: projections of volumes with their exact transpose, and reconstructions.

>>> from bindless import tomography
>>> scan = tomography.cone(np.linspace(0, 2 * np.pi, 90, endpoint=False), (32, 48), 1.5, 150, 75)
>>> A = tomography.Projector(scan, (32, 32, 32))
>>> volume = tomography.fdk(A(np.ones((32, 32, 32), np.float32)), scan, (32, 32, 32))
>>> volume.shape
(32, 32, 32)

The world has the axes x, y, z, and a unit of your choice; at angle 0 rays run along +y, columns along +x, rows along
+z, and angles turn from +x to +y.
"""

from .geometry import Geometry, cone, fan, parallel, vectors
from .projector import Projector
from .readers import from_astra, from_rtk
from .reconstruction import cgls, fbp, fdk, sirt

__all__ = [
    "Geometry",
    "Projector",
    "cgls",
    "cone",
    "fan",
    "fbp",
    "fdk",
    "from_astra",
    "from_rtk",
    "parallel",
    "sirt",
    "vectors",
]
