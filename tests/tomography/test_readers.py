"""Geometries of ASTRA and RTK: points are seen where their own formulas say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless import tomography

Floats = npt.NDArray[np.float64]
ANGLES = np.array([0.1, 0.7, 2.0, 3.3, 5.5])
POINT = np.array([9.0, -14.0, 5.0])  # x, y, z

# Views of RTK 2.7: SID 1000, SDD 1536, offsets of the detector 12, -7 and of the source 1.5, -2.5.
MATRICES = """
-1536 0 -10.5 12804  0 -1536 4.5 -8340  0 0 1 -1000;
-815.300752454473 0 1301.80295476972 12804  3.8300250259665 -1536 2.36239461150552 -8340
0.851116672437 0 0.52497658033456 -1000;
679.972398064514 0 1377.33212692887 12804  4.02134688145536 -1536 -2.01959631090208 -8340
0.893632640323412 0 -0.448799180200462 -1000"""


def seen_at(geometry: bl.tomography.Geometry, point: Floats) -> Floats:
    """Column and row where each view sees a point: of the ray through it, an intersection with the detector's plane."""
    result = []
    for source, first, column, row in geometry.frames:
        ray = source if geometry.is_parallel else point - source
        column_row_ray = np.linalg.solve(np.stack([column, row, -ray], 1), point - first)
        result.append(column_row_ray[:2])
    return np.array(result)


def astra_3d(kind: str) -> dict[str, Any]:
    described = {"type": kind, "DetectorRowCount": 40, "DetectorColCount": 50, "ProjectionAngles": ANGLES}
    described |= {"DetectorSpacingX": 1.3, "DetectorSpacingY": 1.1}
    return described | ({"DistanceOriginSource": 300.0, "DistanceOriginDetector": 150.0} if kind == "cone" else {})


def astra_vectors(kind: str) -> Floats:
    """As ASTRA turns angles into vectors."""
    sine, cosine, zero = np.sin(ANGLES), np.cos(ANGLES), np.zeros(len(ANGLES))
    far, near = (300.0, 150.0) if kind == "cone" else (1.0, 0.0)
    source, centre = (sine * far, -cosine * far, zero), (-sine * near, cosine * near, zero)
    return np.stack([*source, *centre, cosine * 1.3, sine * 1.3, zero, zero, zero, zero + 1.1], 1)


@pytest.mark.parametrize("kind", ["parallel3d", "cone"])
def test_volumes_of_astra(kind: str) -> None:
    turning = tomography.from_astra(astra_3d(kind))
    listed = astra_3d(kind) | {"type": f"{kind}_vec", "Vectors": astra_vectors(kind)}
    np.testing.assert_allclose(
        seen_at(turning, POINT), seen_at(tomography.from_astra(listed), POINT), rtol=1e-12, atol=1e-9
    )
    assert turning.detector_shape == (40, 50)


@pytest.mark.parametrize("kind", ["parallel", "fanflat", "parallel_vec", "fanflat_vec"])
def test_pictures_of_astra(kind: str) -> None:
    """Row 0 of a picture of ASTRA has the largest y, so that its pixel at (x, y) is ours at (x, -y)."""
    is_fan, far, near = "fan" in kind, 300.0, 150.0
    described: dict[str, Any] = {"type": kind, "DetectorWidth": 1.3, "DetectorCount": 51, "ProjectionAngles": ANGLES}
    described |= {"DistanceOriginSource": far, "DistanceOriginDetector": near}
    if kind.endswith("vec"):
        numbers = astra_vectors("cone" if is_fan else "parallel3d")
        described["Vectors"] = numbers[:, [0, 1, 3, 4, 6, 7]]
    x, y = POINT[:2]
    across, along = x * np.cos(ANGLES) + y * np.sin(ANGLES), -x * np.sin(ANGLES) + y * np.cos(ANGLES)
    expected = 25 + across / 1.3 * ((far + near) / (far + along) if is_fan else 1.0)
    geometry = tomography.from_astra(described)
    np.testing.assert_allclose(seen_at(geometry, np.array([x, -y, 0.0]))[:, 0], expected, atol=1e-9)
    picture = np.zeros((64, 64), np.float32)
    picture[32 + 14, 32 + 9] = 1  # centre at (9.5, 14.5)
    sums = tomography.Projector(geometry, picture.shape)(picture)
    there = seen_at(geometry, np.array([9.5, 14.5, 0.0]))[:, 0]
    assert np.abs(sums.argmax(1) - there).max() <= 1


def write_rtk(folder: Path, more: str = "", matrices: str = MATRICES) -> Path:
    views = "".join(f"<Projection><Matrix>{line}</Matrix></Projection>" for line in matrices.split(";"))
    path = folder / "geometry.xml"
    path.write_text(
        f'<?xml version="1.0"?><!DOCTYPE RTKGEOMETRY><RTKThreeDCircularGeometry version="3">'
        f"<SourceToDetectorDistance>1536</SourceToDetectorDistance>{more}{views}</RTKThreeDCircularGeometry>"
    )
    return path


@pytest.mark.parametrize("origin", [None, (-60.0, -55.0)])
def test_views_of_rtk(tmp_path: Path, origin: tuple[float, float] | None) -> None:
    """A matrix leads from a point to millimetres on the detector."""
    geometry = tomography.from_rtk(write_rtk(tmp_path), (72, 80), (1.5, 1.6), origin=origin)
    matrices = np.array(MATRICES.replace(";", " ").split(), np.float64).reshape(-1, 3, 4)
    u, v, w = (matrices @ np.array([*POINT, 1.0])).T
    first = (-39.5 * 1.5, -35.5 * 1.6) if origin is None else origin
    expected = np.stack([(u / w - first[0]) / 1.5, (v / w - first[1]) / 1.6], 1)
    np.testing.assert_allclose(seen_at(geometry, POINT), expected, rtol=1e-9)
    sources = geometry.frames[:, 0]
    np.testing.assert_allclose(np.einsum("vij,vj->vi", matrices, np.c_[sources, np.ones(3)]), 0, atol=1e-6)
    middle = geometry.frames[:, 1] + 39.5 * geometry.frames[:, 2] + 35.5 * geometry.frames[:, 3]
    normals = matrices[:, 2, :3]
    np.testing.assert_allclose(np.einsum("vi,vi->v", normals, sources - middle), 1536, rtol=1e-9)


def test_refusals(tmp_path: Path) -> None:
    for described in ({"type": "helix"}, {"type": "cone"}, {}, {"type": "cone_vec", "Vectors": np.zeros((3, 6))}):
        with pytest.raises(bl.ArgumentError):
            tomography.from_astra(described)
    broken = tmp_path / "broken.xml"
    broken.write_text("<RTKThreeDCircularGeometry>")
    empty = tmp_path / "empty.xml"
    empty.write_text("<RTKThreeDCircularGeometry/>")
    curved = write_rtk(tmp_path, "<RadiusCylindricalDetector>400</RadiusCylindricalDetector>")
    for path in (broken, empty, curved):
        with pytest.raises(bl.ArgumentError):
            tomography.from_rtk(path, (72, 80), 1.5)
    for matrices in ("1 2 3", "0 " * 12, "nan " * 12, "one " * 12):
        with pytest.raises(bl.ArgumentError):
            tomography.from_rtk(write_rtk(tmp_path, matrices=matrices), (72, 80), 1.5)
    with pytest.raises(OSError):
        tomography.from_rtk(tmp_path / "nowhere.xml", (72, 80), 1.5)
