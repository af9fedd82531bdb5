"""``bindless.torch.reproject`` against ``Image.reproject``, and its derivatives against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl

torch = pytest.importorskip("torch", reason="pip install torch")

from bindless.torch import reproject  # noqa: E402

TILTED = (-0.2, 0.05, 1e-3, -2e-3, 0.01, 0.1, 0.02, 0.003, 1e-3, 2e-4, -1e-3, 3e-4, 0.04, -0.03)
CAMERAS = {
    "pinhole": ("opencv", ()),
    "five": ("opencv", (-0.3, 0.1, 1e-3, 2e-3, -0.02)),
    "tilted": ("opencv", TILTED),
    "fisheye": ("fisheye", (0.1, -0.02, 0.003, -1e-3)),
    "sphere": ("equirectangular", ()),
}
HEIGHT, WIDTH = 12, 16
TURN = [[0.98, 0.1, 0.17], [-0.09, 0.99, -0.07], [-0.18, 0.06, 0.98]]


def matrix(model: str, zoom: float = 1.0) -> np.ndarray:
    if model == "equirectangular":
        return np.array([[WIDTH / (2 * np.pi), 0, (WIDTH - 1) / 2], [0, HEIGHT / np.pi, (HEIGHT - 1) / 2], [0, 0, 1]])
    return np.array([[11.0 * zoom, 0.2, 7.3], [0, 10.5 * zoom, 5.6], [0, 0, 1]])


def rotation() -> np.ndarray:
    u, _, v = np.linalg.svd(np.array(TURN))
    return np.asarray(u @ v)


@pytest.fixture
def image() -> np.ndarray:
    return np.random.default_rng(5).random((HEIGHT, WIDTH, 2))


@pytest.mark.parametrize("to", CAMERAS)
@pytest.mark.parametrize("source", CAMERAS)
def test_pictures_equal_those_of_an_image(image: np.ndarray, source: str, to: str) -> None:
    (model, k), (new_model, new_k) = CAMERAS[source], CAMERAS[to]
    new = bl.Camera(matrix(new_model, 0.8), new_k, new_model)
    single = image.astype("f4")
    with bl.Image(single, addressing="border", precision="exact", queue=bl.Queue("reference")) as there:
        expected = there.reproject(bl.Camera(matrix(model), k, model), to=new, rotation=rotation(), shape=(15, 14))
    found = reproject(
        torch.from_numpy(single),
        torch.tensor(matrix(model)),
        torch.tensor(k, dtype=torch.float64) if k else None,
        to=new,
        model=model,
        rotation=torch.tensor(rotation()),
        shape=(15, 14),
    )
    assert (expected > 0).any()
    np.testing.assert_allclose(found.numpy(), expected, atol=5e-5)


@pytest.mark.parametrize("source", CAMERAS)
def test_derivatives(image: np.ndarray, source: str) -> None:
    """The filter is cubic, whose second derivatives have no kinks; a part of the rays is not seen."""
    model, k = CAMERAS[source]
    new = bl.Camera(matrix("fisheye", 0.4), CAMERAS["fisheye"][1], "fisheye", size=(5, 4))
    tensors = [torch.tensor(image[..., :1]), torch.tensor(matrix(model))]
    tensors += [torch.tensor(k, dtype=torch.float64)] if k else []
    tensors += [torch.tensor(rotation())]

    def picture(image: Any, K: Any, *rest: Any) -> Any:
        K = torch.cat([K[:2], K.new_tensor([[0, 0, 1]])])  # its last row is no parameter
        return reproject(image, K, *rest[:-1], to=new, model=model, rotation=rest[-1], filtering="cubic")

    for tensor in tensors:
        tensor.requires_grad_(True)
    assert torch.autograd.gradcheck(picture, tensors, eps=1e-6, atol=1e-5)
    assert torch.autograd.gradgradcheck(picture, tensors, eps=1e-6, atol=1e-3, fast_mode=True)


def test_derivatives_of_what_is_not_seen_are_zeros(image: np.ndarray) -> None:
    """Rays from behind, along the axis, and to the poles."""
    sphere = bl.Camera(None, model="equirectangular", size=(8, 5))
    for model, k in CAMERAS.values():
        K = torch.tensor(matrix(model), requires_grad=True)
        distortion = torch.tensor(k, dtype=torch.float64, requires_grad=True) if k else None
        picture = reproject(
            torch.tensor(image), K, distortion, to=sphere, model=model, rotation=torch.eye(3, dtype=K.dtype)
        )
        picture.square().sum().backward()
        assert picture.isfinite().all()
        assert K.grad.isfinite().all()
        assert K.grad.any()
        assert distortion is None or distortion.grad.isfinite().all()


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # torch's, of its own formulas
@pytest.mark.filterwarnings("ignore:.torch.jit:FutureWarning")
def test_a_photometric_error_calibrates(image: np.ndarray) -> None:
    """Gauss and Newton's steps find a distortion and a focal length from one picture of a known scene."""
    rows, columns = np.indices((48, 64)) / 6
    scene = torch.tensor(np.sin(rows + 0.3 * columns) + np.cos(columns - 0.2 * rows))[..., None]
    ideal = bl.Camera([[50, 0, 31.5], [0, 50, 23.5], [0, 0, 1]], size=(64, 48))

    def view(numbers: Any) -> Any:
        K = torch.diag(torch.stack([50 * numbers[0], 50 * numbers[0], numbers.new_ones(())])).index_put(
            (torch.tensor([0, 1]), torch.tensor([2, 2])), numbers.new_tensor([31.5, 23.5])
        )
        seen = reproject(scene, K, numbers[1:], to=ideal, filtering="catmull_rom", addressing="clamp_to_edge")
        return seen[6:-6, 6:-6].flatten()

    true = torch.tensor([1.03, -0.15, 0.04, 1e-3, -2e-3], dtype=torch.float64)
    target, numbers = view(true), torch.tensor([1.0, 0, 0, 0, 0], dtype=torch.float64)
    for _ in range(8):
        slopes = torch.func.jacfwd(view)(numbers)
        numbers = numbers - torch.linalg.lstsq(slopes, (view(numbers) - target)[:, None]).solution[:, 0]
    np.testing.assert_allclose(numbers, true, atol=1e-8)


def test_batches_share_a_camera_and_have_rotations(image: np.ndarray) -> None:
    images = torch.tensor(np.stack([image, image[::-1]]))
    K, to = torch.tensor(matrix("opencv")), bl.Camera(matrix("opencv", 1.3), size=(7, 6))
    turns = torch.tensor(np.stack([np.eye(3), rotation()]))
    each = [reproject(one, K, to=to, rotation=turn) for one, turn in zip(images, turns)]
    torch.testing.assert_close(reproject(images, K, to=to, rotation=turns), torch.stack(each))
    same = [reproject(one, K, to=to) for one in images]
    torch.testing.assert_close(reproject(images, K, to=to), torch.stack(same))
    assert same[0].shape == (6, 7, 2)


K32 = torch.eye(3)


@pytest.mark.parametrize(
    ("K", "distortion", "options"),
    [
        (np.eye(3), None, {}),
        (torch.eye(2), None, {}),
        (torch.zeros(3, 3), None, {}),
        (torch.eye(3, dtype=torch.float16), None, {}),
        (K32, torch.zeros(3), {}),
        (K32, torch.zeros(4, dtype=torch.float64), {}),
        (K32, torch.zeros(1, 4), {}),
        (K32, None, {"model": "lens"}),
        (K32, None, {"rotation": torch.eye(2)}),
        (K32, None, {"rotation": torch.eye(3)[None]}),
        (K32, None, {"shape": (3,)}),
        (K32, None, {"shape": (0, 4)}),
        (K32, None, {"to": K32}),
        (K32, None, {"filtering": "round"}),
    ],
)
def test_bad_arguments(K: Any, distortion: Any, options: dict[str, Any]) -> None:
    with pytest.raises(bl.ArgumentError):
        reproject(torch.zeros(4, 5, 1), K, distortion, **{"to": bl.Camera(np.eye(3)), **options})
