"""Physical space: arrays with spacing, origin and direction, and transforms of the world.

>>> from bindless import space
>>> ct = np.zeros((40, 128, 128), np.int16)
>>> source = space.Grid(ct.shape, spacing=(0.8, 0.8, 2.5))
>>> target = space.Grid((50, 100, 100), spacing=2.0)
>>> turn = space.Affine.rotation((0, 0, 15), centre=(51.2, 51.2, 50.0))
>>> space.resample(ct, source, target, turn, fill=-1000, queue=bindless.Queue("reference")).shape
(50, 100, 100)

A ``Grid`` says where the pixels of an array lie; ``Affine``, ``Displacement``, ``BSpline`` and ``Sequence`` map points
of the target's world to the source's, as SimpleITK's transforms; ``resample`` computes an array on another grid.
"""

from ..model.grid import Grid
from ..model.transforms import Affine, BSpline, Displacement, Sequence
from .readers import from_sitk
from .resampling import resample

__all__ = ["Affine", "BSpline", "Displacement", "Grid", "Sequence", "from_sitk", "resample"]
