"""``from_sitk``: transforms of SimpleITK."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.errors import FeatureNotSupportedError
from ..model.grid import Grid
from ..model.transforms import Affine, BSpline, Displacement, Sequence, Transform

__all__ = ["from_sitk"]

_CUBIC = 3


def from_sitk(transform: Any) -> Transform:
    """A transform of SimpleITK.

    Parameters
    ----------
    transform : SimpleITK.Transform
        A linear transform (translations, rotations, similarities, affine ones), a displacement field, a cubic B-spline,
        or a composite of these. Fields and coefficients are copied.

    Returns
    -------
    Affine | Displacement | BSpline | Sequence
        The same map: points of the target's world (``reference`` or ``fixed``) to the source's.

    Raises
    ------
    FeatureNotSupportedError
        Another kind of transform, or a B-spline of another order.
    """
    kind = transform.Downcast() if hasattr(transform, "Downcast") else transform
    name = kind.GetName()
    if name == "CompositeTransform":
        count = kind.GetNumberOfTransforms()
        if not count:
            return Affine(np.eye(kind.GetDimension() + 1))
        return Sequence([from_sitk(kind.GetNthTransform(number)) for number in reversed(range(count))])
    if name == "DisplacementFieldTransform":
        field = kind.GetDisplacementField()
        return Displacement(_array(field), Grid.from_sitk(field))
    if name == "BSplineTransform":
        if kind.GetOrder() != _CUBIC:
            raise FeatureNotSupportedError(f"a BSplineTransform of order {kind.GetOrder()}: cubic ones are supported")
        images = kind.GetCoefficientImages()
        return BSpline(np.stack([_array(image) for image in images], axis=-1), Grid.from_sitk(images[0]))
    if not kind.IsLinear():
        raise FeatureNotSupportedError(f"a {name}: linear transforms, displacement fields and B-splines are supported")
    dims = kind.GetDimension()
    origin = np.array(kind.TransformPoint([0.0] * dims))
    columns = [np.array(kind.TransformPoint(axis.tolist())) - origin for axis in np.eye(dims)]
    return Affine(np.column_stack([*columns, origin]))


def _array(image: Any) -> npt.NDArray[Any]:
    """The pixels of an image, in numpy's order."""
    import SimpleITK

    pixels: npt.NDArray[Any] = SimpleITK.GetArrayFromImage(image)
    return pixels
