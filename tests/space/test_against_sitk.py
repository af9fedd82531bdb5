"""``bindless.space`` beside SimpleITK: grids, transforms and pictures."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import space
from tests.space import random_cases

sitk = pytest.importorskip("SimpleITK", reason="pip install 'bindless[space]'")

FILTERS = {"linear": sitk.sitkLinear, "nearest": sitk.sitkNearestNeighbor, "cubic": sitk.sitkBSpline}


def image_of(array: Any, grid: space.Grid, *, vectors: bool = False) -> Any:
    image = sitk.GetImageFromArray(np.asarray(array), isVector=vectors)
    image.SetSpacing(grid.spacing)
    image.SetOrigin(grid.origin)
    image.SetDirection(grid.direction.ravel().tolist())
    return image


def transform_of(random: np.random.Generator, dims: int, kind: str) -> Any:
    """A transform of SimpleITK of random numbers."""
    if kind == "affine":
        transform = sitk.AffineTransform(dims)
        transform.SetMatrix(random_cases.affine(random, dims)[:dims, :dims].ravel().tolist())
        transform.SetTranslation(random.normal(size=dims).tolist())
        transform.SetCenter(random.normal(size=dims).tolist())
        return transform
    if kind == "euler":
        moves = random.normal(size=dims).tolist(), random.normal(size=dims).tolist()
        angles = random.normal(size=1 if dims == 2 else 3) * 0.3
        if dims == 2:
            return sitk.Euler2DTransform(moves[0], float(angles[0]), moves[1])
        return sitk.Euler3DTransform(moves[0], *angles.tolist(), moves[1])
    if kind == "displacement":
        lies = random_cases.grid(random, dims, tuple(random.integers(5, 12, dims).tolist()), 70.0)
        vectors = random.normal(size=(*lies.shape, dims)) * 3
        return sitk.DisplacementFieldTransform(image_of(vectors, lies, vectors=True))
    if kind == "spline":
        lies = random_cases.grid(random, dims)
        transform = sitk.BSplineTransformInitializer(image_of(np.zeros(lies.shape), lies), [4] * dims, 3)
        transform.SetParameters((random.normal(size=len(transform.GetParameters())) * 2).tolist())
        return transform
    names = {"composite": ("affine", "displacement", "euler"), "several": ("displacement", "spline", "affine") * 2}[
        kind
    ]
    return sitk.CompositeTransform([transform_of(random, dims, name) for name in names])


@pytest.mark.parametrize("kind", ["affine", "euler", "displacement", "spline", "composite", "several"])
@pytest.mark.parametrize("filtering", FILTERS)
@pytest.mark.parametrize("dims", [2, 3])
def test_pictures(queue: bl.Queue, dims: int, filtering: str, kind: str) -> None:
    random = np.random.default_rng(zlib.crc32(f"{dims} {filtering} {kind}".encode()))
    sizes = (70, 80) if dims == 2 else (40, 44, 48)
    source, target = random_cases.grid(random, dims, sizes), random_cases.grid(random, dims)
    places = np.meshgrid(*(np.arange(size) for size in source.shape), indexing="ij")
    image = np.sum([np.sin(place / 3 + axis) for axis, place in enumerate(places)], axis=0).astype(np.float32)
    transform = transform_of(random, dims, kind)
    like = image_of(np.zeros(target.shape, np.float32), target)
    expected = sitk.GetArrayFromImage(
        sitk.Resample(image_of(image, source), like, transform, FILTERS[filtering], -3.0, sitk.sitkFloat32)
    )
    found = space.resample(
        image, source, target, space.from_sitk(transform), filtering=filtering, fill=-3.0, queue=queue
    )
    apart = abs(found - expected) / np.ptp(image)
    if filtering == "linear":
        assert (apart <= 1e-4).mean() > 0.999  # but for positions at the very border
    if filtering == "cubic":
        assert (apart <= 1e-3).mean() > 0.999
    assert (apart <= 1e-2).mean() >= 0.995


@pytest.mark.parametrize("sizes", [(60, 70), (3, 4)])
def test_cubic_pictures_to_the_edges_and_beyond(queue: bl.Queue, sizes: tuple[int, int]) -> None:
    random = np.random.default_rng(5)
    image = random.normal(size=sizes).astype(np.float32)
    source, target = space.Grid(image.shape), space.Grid((120, 120), 0.61, (-1.3, -1.3))
    like, nothing = image_of(np.zeros(target.shape), target), sitk.Transform(2, sitk.sitkIdentity)
    theirs = sitk.Resample(image_of(image, source), like, nothing, sitk.sitkBSpline, 0.0, sitk.sitkFloat32)
    expected = sitk.GetArrayFromImage(theirs)
    found = space.resample(image, source, target, filtering="cubic", queue=queue)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.ptp(image))


def test_grids_and_points() -> None:
    random = np.random.default_rng(6)
    for dims in (2, 3):
        lies = random_cases.grid(random, dims)
        image = image_of(np.zeros(lies.shape), lies)
        again = space.Grid.from_sitk(image)
        np.testing.assert_allclose(again.index_matrix, lies.index_matrix, atol=1e-9)
        index = [2.5, 1.0, 3.25][:dims]
        point = image.TransformContinuousIndexToPhysicalPoint(index)
        np.testing.assert_allclose(again.index_matrix @ (*index, 1), (*point, 1), atol=1e-9)
    turn = space.Affine.rotation((10, 20, 30), (1, 2, 3), (4, 5, 6))
    euler = sitk.Euler3DTransform((1, 2, 3), *np.radians((10, 20, 30)).tolist(), (4, 5, 6))
    np.testing.assert_allclose(turn.matrix, space.from_sitk(euler).matrix, atol=1e-12)


def test_transforms_that_have_no_counterpart() -> None:
    with pytest.raises(bl.FeatureNotSupportedError):
        space.from_sitk(sitk.BSplineTransform(2, 2))
    nothing = space.from_sitk(sitk.CompositeTransform(2))
    np.testing.assert_array_equal(nothing.matrix, np.eye(3))
