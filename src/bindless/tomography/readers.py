"""``from_astra`` and ``from_rtk``: geometries that other libraries describe."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Union
from xml.etree import ElementTree

import numpy as np

from ..model.errors import ArgumentError
from ..model.message_values import shown
from .geometry import Floats, Geometry, Pair, Shape, cone, pair, parallel, shape_of, vectors

__all__ = ["from_astra", "from_rtk"]

_FLAT = np.array([1.0, -1.0, 1.0])  # ASTRA's pictures begin with the row of the largest y, its volumes with the least
_VECTORS = {"parallel_vec": 2, "fanflat_vec": 2, "parallel3d_vec": 3, "cone_vec": 3}


def from_astra(geometry: Mapping[str, Any]) -> Geometry:
    """The views of a projection geometry of ASTRA, with the same values for the same arrays.

    Parameters
    ----------
    geometry : Mapping[str, Any]
        As ``astra.create_proj_geom`` returns it: ``parallel``, ``fanflat``, ``parallel3d``, ``cone``, or one of them
        with vectors.

    Returns
    -------
    Geometry
        The views, for volumes whose pixels have edge 1 and whose middle is the origin, as ``create_vol_geom`` makes
        them of a shape; for others give ``Projector`` a ``Grid``.

    Raises
    ------
    ArgumentError
        Another kind, or a mapping that lacks an entry.

    Notes
    -----
    The projections of ASTRA in three dimensions have the order (rows, views, columns): here views are first,
    ``numpy.moveaxis(data, 1, 0)``.

    Examples
    --------
    >>> from bindless import tomography
    >>> angles = np.linspace(0, np.pi, 90, endpoint=False)
    >>> described = {"type": "parallel", "DetectorWidth": 1.0, "DetectorCount": 64, "ProjectionAngles": angles}
    >>> tomography.from_astra(described)
    Geometry(parallel, 90 views of 1 x 64 pixels)
    """
    try:
        return _from_astra(geometry)
    except KeyError as missing:
        raise ArgumentError(f"geometry={shown(geometry)}: a projection geometry of ASTRA has {missing}") from None


def _from_astra(geometry: Mapping[str, Any]) -> Geometry:
    kind = geometry["type"]
    if kind in _VECTORS:
        return _of_vectors(kind, np.asarray(geometry["Vectors"], np.float64), geometry)
    if kind == "parallel":
        angles = -np.asarray(geometry["ProjectionAngles"], np.float64)
        return parallel(angles, geometry["DetectorCount"], geometry["DetectorWidth"])
    if kind == "fanflat":
        distances = geometry["DistanceOriginSource"], geometry["DistanceOriginDetector"]
        return _upside_down(
            cone(geometry["ProjectionAngles"], geometry["DetectorCount"], geometry["DetectorWidth"], *distances)
        )
    if kind not in ("parallel3d", "cone"):
        raise ArgumentError(f"type={kind!r}: it is parallel, fanflat, parallel3d, cone, or one of them with _vec")
    shape = geometry["DetectorRowCount"], geometry["DetectorColCount"]
    spacing = geometry["DetectorSpacingX"], geometry["DetectorSpacingY"]
    if kind == "parallel3d":
        return parallel(geometry["ProjectionAngles"], shape, spacing)
    distances = geometry["DistanceOriginSource"], geometry["DistanceOriginDetector"]
    return cone(geometry["ProjectionAngles"], shape, spacing, *distances)


def _of_vectors(kind: str, numbers: Floats, geometry: Mapping[str, Any]) -> Geometry:
    axes = _VECTORS[kind]
    parts = 3 if axes == 2 else 4
    if numbers.ndim != 2 or numbers.shape[1] != axes * parts:
        raise ArgumentError(f"Vectors of shape {numbers.shape}: {kind} has (views, {axes * parts})")
    frames = np.zeros((len(numbers), 4, 3))
    frames[:, :parts, :axes] = numbers.reshape(len(numbers), parts, axes)
    if axes == 2:
        frames[:, 3, 2] = 1.0
        frames *= _FLAT
    shape = geometry["DetectorCount"] if axes == 2 else (geometry["DetectorRowCount"], geometry["DetectorColCount"])
    source, centre, column, row = frames.swapaxes(0, 1)
    return vectors(source, centre, column, row, shape, parallel=kind.startswith("parallel"))


def _upside_down(geometry: Geometry) -> Geometry:
    """The geometry in a world whose y axis points the other way, where columns turn back: no ``cone`` has such."""
    return Geometry(geometry.frames * _FLAT, geometry.detector_shape, is_parallel=False)


def from_rtk(
    path: Union[str, os.PathLike[str]], detector_shape: Shape, spacing: Pair, *, origin: Pair | None = None
) -> Geometry:
    """The views of a geometry file of RTK, the Reconstruction Toolkit of ITK.

    Parameters
    ----------
    path : str | os.PathLike[str]
        File that ``rtk.ThreeDCircularProjectionGeometryXMLFileWriter`` wrote, of views with a matrix each.
    detector_shape : int | tuple[int, int]
        Columns, or rows and columns, of the projections.
    spacing : float | tuple[float, float]
        Distance of columns, or of columns and rows, in millimetres.
    origin : float | tuple[float, float], optional
        Position of the first pixel on the detector, as of the stack of projections; default: the middle of the
        detector is its origin.

    Returns
    -------
    Geometry
        The views, in RTK's world (IEC 61217: scans turn about the y axis). Volumes lie in it by their grid,
        ``Projector(geometry, Grid.from_sitk(image))``.

    Raises
    ------
    ArgumentError
        A file that is no such geometry, parallel rays, or a curved detector.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from bindless import tomography
    >>> with tempfile.NamedTemporaryFile("w", suffix=".xml", delete=False) as file:
    ...     _ = file.write('''<RTKThreeDCircularGeometry version="3">
    ...       <SourceToDetectorDistance>1536</SourceToDetectorDistance>
    ...       <Projection><Matrix>-1536 0 0 0  0 -1536 0 0  0 0 1 -1000</Matrix></Projection>
    ...     </RTKThreeDCircularGeometry>''')
    >>> scan = tomography.from_rtk(file.name, (128, 160), 1.5)
    >>> scan, scan.frames[0, 0]
    (Geometry(cone, 1 views of 128 x 160 pixels), array([   0.,    0., 1000.]))
    """
    shape, steps = shape_of(detector_shape), pair("spacing", spacing)
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise ArgumentError(f"{os.fspath(path)} is no geometry of RTK: {error}") from None
    views = root.findall("Projection")
    if root.tag != "RTKThreeDCircularGeometry" or not views:
        raise ArgumentError(f"{os.fspath(path)} is no geometry of RTK: its root is {root.tag}, with {len(views)} views")
    if _number(root, root, "RadiusCylindricalDetector", 0.0):
        raise ArgumentError(f"{os.fspath(path)} has a cylindrical detector: describe it by cone(..., curved=True)")
    half = [(size - 1) / 2 * step for size, step in zip(shape[::-1], steps)]
    middle = [0.0, 0.0] if origin is None else [first + rest for first, rest in zip(pair("origin", origin), half)]
    source, centre, column, row = np.stack([_frame(root, view, middle, steps) for view in views], 1)
    return vectors(source, centre, column, row, shape)


def _frame(
    root: ElementTree.Element, view: ElementTree.Element, middle: list[float], steps: tuple[float, float]
) -> Floats:
    """Source, middle of the detector and steps of a view, from its matrix to the detector's coordinates."""
    try:
        numbers = np.array((view.findtext("Matrix") or "").split(), np.float64)
    except ValueError as error:
        raise ArgumentError(f"a matrix of the geometry: {error}") from None
    if numbers.shape != (12,) or not np.isfinite(numbers).all() or not np.linalg.det(numbers.reshape(3, 4)[:, :3]):
        raise ArgumentError(f"a view of the geometry has no matrix of a cone: {numbers.tolist()}")
    matrix = numbers.reshape(3, 4)
    back = np.linalg.inv(matrix[:, :3])
    source = -back @ matrix[:, 3]
    # A point of the detector is source + back @ (u, v, 1) times a factor, which the distance of the plane gives.
    normal = matrix[2, :3] / np.linalg.norm(matrix[2, :3])
    distance = _number(root, view, "SourceToDetectorDistance", 0.0)
    if not distance > 0:
        raise ArgumentError(f"SourceToDetectorDistance={distance}: rays of a cone have a positive one")
    ahead = -np.sign(normal @ source) or 1.0
    back *= distance * ahead / (normal @ back[:, 2])
    u, v = back[:, 0] * steps[0], back[:, 1] * steps[1]
    return np.array([source, source + back @ [*middle, 1.0], u, v])


def _number(root: ElementTree.Element, view: ElementTree.Element, name: str, missing: float) -> float:
    """A number of a view, which stands above the views if it is that of all."""
    text = view.findtext(name) or root.findtext(name)
    try:
        return missing if text is None else float(text)
    except ValueError:
        raise ArgumentError(f"{name}={text!r} of the geometry: a number is needed") from None
