"""The kernels of projections, executed by instruction, against scipy in double precision and difference quotients."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.ndimage import map_coordinates
from scipy.spatial.transform import Rotation

import bindless as bl
from bindless import kernels

Array = npt.NDArray[Any]

WIDTH, HEIGHT, SAMPLES, GROUPS = 11, 6, 37, 3
FRAME = np.array([[2.0, -1, -14], [-4, -3, 8], [0.9, 0, 0.1], [0.05, 1.1, 0]])
MATRIX = np.array([[1.1, 0.1, 0, 4.4], [0, 0.9, 0.2, 3.6], [-0.1, 0, 1.2, 3.1]])
VECTORS = np.array([[0.3, -0.5, 0.2, 0.4, -0.3, 0.2], [0, 0, 0, 0.11, 0.07, 0.05], [2.9, -6.1, 4.4, 0.3, 0.2, -0.1]])
MATRICES = np.concatenate([Rotation.from_rotvec(VECTORS[:, :3]).as_matrix() * 1.1, VECTORS[:, 3:, None]], 2)
POSES = {"vectors": VECTORS.astype("f"), "matrices": MATRICES.reshape(3, 12).astype("f")}


@pytest.fixture(autouse=True)
def _only_the_reference(device: bl.Device) -> None:
    if device.backend is not bl.Backend.reference:
        pytest.skip("SPIR-V is executed by the reference device")


def projected(volume: Array, poses: Array) -> Array:
    """Projections (poses, HEIGHT, WIDTH) in double precision."""
    if poses.shape[1] == 6:
        poses = np.concatenate([Rotation.from_rotvec(poses[:, :3]).as_matrix(), poses[:, 3:, None]], 2)
    y, x = np.mgrid[:HEIGHT, :WIDTH][..., None]
    ends = FRAME[1] + x * FRAME[2] + y * FRAME[3]
    along = ((np.arange(SAMPLES) + 0.5) / SAMPLES)[:, None]
    points = FRAME[0] + along * (ends[:, :, None] - FRAME[0])
    found = []
    for pose in poses.reshape(-1, 3, 4):
        places = (points @ pose[:, :3].T + pose[:, 3]) @ MATRIX[:, :3].T + MATRIX[:, 3] - 0.5
        values = map_coordinates(volume, np.moveaxis(places[..., ::-1], -1, 0), order=1, mode="grid-constant")
        found.append(values.mean(-1) * np.linalg.norm(ends - FRAME[0], axis=-1))
    return np.array(found)


def launch(queue: bl.Queue, name: str, groups: tuple[int, int, int], items: int, *arguments: Any) -> None:
    kernel = bl.load_kernel_bundle(kernels.source(name, "spirv"), queue).get_kernel(f"bindless_{name}")
    count, height, width = groups[::-1]
    shape = bl.NdRange((count, height, width * items), (1, 1, items))
    queue.parallel_for(shape, kernel, *arguments).wait_and_throw()


def usm(queue: bl.Queue, array: Array) -> Any:
    made = bl.usm_empty(array.shape, array.dtype, queue)
    made.copy_from(array)
    return made


def numbers() -> list[np.float32]:
    return [np.float32(number) for number in (*FRAME.ravel(), *MATRIX.ravel())]


SIZE = [np.uint32(number) for number in (WIDTH, HEIGHT, SAMPLES)]
STRIDES = [np.uint64(number) for number in (HEIGHT * WIDTH, WIDTH, 1)]
VOLUME = [np.uint32(number) for number in (9, 8, 7)]


@pytest.mark.parametrize("kind", POSES)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_values_and_gradients(queue: bl.Queue, kind: str, dtype: str) -> None:
    rng = np.random.default_rng(5)
    poses, volume = POSES[kind], rng.normal(size=(7, 8, 9)).astype(dtype)
    exact = volume.astype(float)
    count, mode = len(poses), np.uint32((kind == "matrices") + 2 * (dtype == "float16"))
    values = usm(queue, np.zeros((count, HEIGHT, WIDTH), "f"))
    derivatives = usm(queue, np.zeros((count, 6, HEIGHT, WIDTH), "f"))
    device_poses = usm(queue, poses)
    tiles = (-(-WIDTH // 8), -(-HEIGHT // 4), count)
    launch(
        queue, "projections", tiles, 256, usm(queue, volume), *VOLUME, device_poses, *numbers(), *SIZE, values,
        derivatives, mode,
    )  # fmt: skip
    np.testing.assert_allclose(values.numpy(), projected(exact, poses.astype(float)), atol=2e-5)

    weights = rng.normal(size=values.shape).astype("f")
    sums, gradient = usm(queue, np.zeros((count, GROUPS, 12))), usm(queue, np.zeros(poses.shape, "f"))
    grad = usm(queue, weights)
    launch(queue, "projections_sums", (GROUPS, 1, count), 256, grad, *STRIDES, derivatives, *SIZE[:2], sums)
    launch(
        queue, "projections_poses", (1, 1, count), 192, sums, np.uint32(GROUPS), device_poses, *numbers(), gradient,
        mode,
    )  # fmt: skip
    for number in range(poses.shape[1]):
        step = np.zeros(poses.shape[1])
        step[number] = 1e-6
        moved = [(projected(exact, poses + sign * step) * weights).sum((1, 2)) for sign in (1, -1)]
        np.testing.assert_allclose(gradient.numpy()[:, number], (moved[0] - moved[1]) / 2e-6, rtol=2e-4, atol=2e-3)


def test_gradient_of_the_volume(queue: bl.Queue) -> None:
    """The adjoint: the scalar products of projections with weights, and of volumes with gradients, are the same."""
    rng = np.random.default_rng(6)
    poses, weights = POSES["vectors"], rng.normal(size=(3, HEIGHT, WIDTH)).astype("f")
    gradient = usm(queue, np.zeros((7, 8, 9), "f"))
    launch(
        queue, "projections_texels", (-(-WIDTH // 8), -(-HEIGHT // 4), 3), 256, gradient, *VOLUME, usm(queue, poses),
        *numbers(), *SIZE, usm(queue, weights), *STRIDES, np.uint32(0),
    )  # fmt: skip
    for _ in range(5):
        volume = rng.normal(size=(7, 8, 9))
        expected = (projected(volume, poses.astype(float)) * weights).sum()
        np.testing.assert_allclose((gradient.numpy() * volume).sum(), expected, rtol=1e-4, atol=1e-3)
