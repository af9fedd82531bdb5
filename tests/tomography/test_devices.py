"""Projections of arrays on the queue's device, beside those in the process; no array leaves the device."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless import tomography
from bindless.bindless_images.scratch_memory import take
from bindless.model.errors import ArgumentError, FeatureNotSupportedError
from bindless.space import Grid
from tests.image.test_any_array import Foreign, Interface, host, on_device
from tests.tomography.shapes import ball
from tests.tomography.test_projector import CASES, PICTURES, VOLUMES, shape_of

Array = npt.NDArray[Any]
Geometry = tomography.Geometry

# Places are float32: about 1e-6 texels of these sizes, over up to 40 planes of values up to 1.
CLOSE = 2e-4
TURN = np.linspace(0, 2 * np.pi, 40, endpoint=False)


def numbers(shape: tuple[int, ...], seed: int = 0) -> Array:
    return np.random.default_rng(seed).random(shape, np.float32)


def check(A: tomography.Projector, queue: bl.Queue) -> None:
    """All functions of a projector on the device."""
    x, y = numbers(A.volume_shape), numbers(A.shape, 1)
    there, values = on_device(x, queue), on_device(y, queue)
    projected, spread = A(there), A.adjoint(values)
    assert isinstance(projected, bl.UsmArray) and projected.device is queue.device
    np.testing.assert_allclose(host(projected), A(x), rtol=1e-5, atol=CLOSE)
    np.testing.assert_allclose(host(spread), A.adjoint(y), rtol=1e-5, atol=CLOSE)
    sides = np.vdot(host(projected).astype(float), y), np.vdot(x.astype(float), host(spread))
    assert abs(sides[0] / sides[1] - 1) < 1e-6
    for power in range(3):
        np.testing.assert_allclose(host(A.back(values, power=power)), A.back(y, power=power), rtol=1e-5, atol=CLOSE)


@pytest.mark.parametrize("geometry", CASES)
def test_projectors(queue: bl.Queue, geometry: Geometry) -> None:
    check(tomography.Projector(geometry, shape_of(geometry)), queue)


def test_rays_of_all_kinds(queue: bl.Queue) -> None:
    """Sources in the volume, detectors across it, fine and coarse ones, tilted grids, flat volumes."""
    inside = tomography.cone(TURN[:5], (9, 12), 1.0, 8, 3)
    fine, coarse = tomography.cone(TURN[:4], (50, 60), 0.3, 60, 40), tomography.parallel(TURN[:4], (3, 4), 7.0)
    high, near = (
        tomography.cone(TURN[:11], (70, 9), (2.5, 0.4), 60, 40, pitch=6),
        tomography.cone(TURN[:5], (20, 12), 1.0, 8, 3),
    )
    low = tomography.parallel(TURN[:9], (17, 33), (0.7, 3.0), offset=2)
    free = tomography.vectors(
        np.random.default_rng(5).normal(size=(6, 3)) * 9, np.random.default_rng(6).normal(size=(6, 3)) * 9,
        np.random.default_rng(7).normal(size=(6, 3)), np.random.default_rng(8).normal(size=(6, 3)), (7, 9),
    )  # fmt: skip
    turned = np.linalg.qr(np.random.default_rng(9).normal(size=(3, 3)))[0]
    tilted = Grid((9, 11, 13), spacing=(0.8, 1.1, 1.4), origin=-5, direction=turned * np.sign(np.linalg.det(turned)))
    for geometry, volume in (
        (inside, (9, 10, 11)), (fine, (11, 9, 10)), (coarse, (13, 14, 12)), (free, (9, 8, 7)), (fine, tilted),
        (fine, (1, 20, 30)), (fine, (30, 1, 1)), (VOLUMES["vectors"], (5, 1, 40)), (fine, (2, 3, 1)),
        (high, (40, 11, 9)), (near, (9, 10, 11)), (low, (150, 20, 21)), (high, (3, 30, 1)),
    ):  # fmt: skip
        check(tomography.Projector(geometry, volume), queue)


def test_rays_beside_the_volume_are_zero(queue: bl.Queue) -> None:
    scan = tomography.vectors(
        [(500, 0, -40), (0, 0, 0), (0, 0, 0)], [(500, 1, 40), (0, 1, 0), (0, 0, 0)], [(1, 0, 0)] * 3, [(0, 0, 1)] * 3, 9
    )
    A = tomography.Projector(scan, (8, 9, 10))
    values = A(on_device(np.ones(A.volume_shape, np.float32), queue))
    assert not host(values)[0].any() and np.isfinite(host(values)).all()
    np.testing.assert_allclose(host(values), A(np.ones(A.volume_shape)), atol=CLOSE)
    assert np.isfinite(host(A.back(values))).all() and np.isfinite(host(A.adjoint(values))).all()


@pytest.mark.parametrize("dtype", ["float32", "uint8", "float64", "int16", "float16", "bool"])
def test_layouts_and_types(queue: bl.Queue, dtype: str) -> None:
    if dtype == "float64" and not queue.device.has(bl.Aspect.fp64):
        pytest.skip("the device has no double precision")
    A = tomography.Projector(PICTURES["fan"], (33, 40))
    volume = (numbers((40, 66)) * 100).astype(dtype)
    np.testing.assert_allclose(host(A(on_device(volume, queue)[:, ::2].T)), A(volume[:, ::2].T), rtol=1e-5, atol=1e-2)


@pytest.mark.parametrize("kind", [Foreign, Interface])
def test_libraries(queue: bl.Queue, kind: Any) -> None:
    """Of libraries that are known by DLPack, or by an interface of arrays; calls that come again too."""
    A = tomography.Projector(VOLUMES["cone"], (28, 33, 40))
    queue = bl.Queue(queue.device)
    for seed in range(3):
        volume = numbers(A.volume_shape, seed)
        values = A(kind(on_device(volume, queue)), queue=queue if kind is Interface else None)
        assert isinstance(values, Foreign if kind is Foreign else bl.UsmArray)
        np.testing.assert_allclose(host(values), A(volume), rtol=1e-5, atol=CLOSE)


def test_numpy_arrays_by_a_queue(queue: bl.Queue) -> None:
    A = tomography.Projector(VOLUMES["cone"], (28, 33, 40))
    volume, values = numbers(A.volume_shape), numbers(A.shape)
    result = np.empty(A.volume_shape, np.float32)
    assert type(A(volume, queue=queue)) is np.ndarray and A.adjoint(values, out=result, queue=queue) is result
    np.testing.assert_allclose(A(volume, queue=queue), A(volume), rtol=1e-5, atol=CLOSE)
    np.testing.assert_allclose(result, A.adjoint(values), rtol=1e-5, atol=CLOSE)
    fdk = [tomography.fdk(values, A.geometry, A.volume_shape, queue=each) for each in (queue, None)]
    np.testing.assert_allclose(*fdk, atol=1e-4)


def test_results_in_the_memory_of_the_caller(queue: bl.Queue) -> None:
    A = tomography.Projector(VOLUMES["cone"], (28, 33, 40))
    volume, values = numbers(A.volume_shape), numbers(A.shape)
    queue = bl.Queue(queue.device)
    for seed in range(3):
        there = on_device(numbers(A.volume_shape, seed), queue)
        result: bl.UsmArray = bl.usm_empty(A.shape, np.float32, queue)
        assert A(there, out=result) is result
        np.testing.assert_array_equal(host(result), host(A(there)))
    here = np.empty(A.volume_shape, np.float32)
    for function in (A.adjoint, lambda value, out: A.back(value, power=1, out=out)):
        for value in (values, on_device(values, queue)):
            for out in (here, on_device(here, queue)):
                assert function(value, out=out) is out
                np.testing.assert_allclose(host(out), function(values, out=None), rtol=1e-5, atol=CLOSE)
    whole = on_device(np.zeros((*A.volume_shape, 2), np.float32), queue)
    A.adjoint(on_device(values, queue), out=whole[..., 1])
    np.testing.assert_allclose(host(whole)[..., 1], A.adjoint(values), rtol=1e-5, atol=CLOSE)
    assert not host(whole)[..., 0].any()
    square = tomography.Projector(tomography.parallel(TURN, 40), (40, 40))
    same = on_device(numbers((40, 40)), queue)
    for call in (
        lambda: square(same, out=same),
        lambda: square(host(same), out=volume),
        lambda: A(on_device(volume, queue), out=bl.usm_empty(A.shape, np.float64, queue)),
        lambda: A(on_device(volume, queue), out=bl.usm_empty(A.shape[1:], np.float32, queue)),
        lambda: A(volume, out=np.empty(A.shape)),
        lambda: A(volume, out=np.empty((*A.shape, 2), np.float32)[..., 0]),
        lambda: A(on_device(volume, queue)[1:]),
        lambda: A.adjoint(on_device(volume, queue)),
    ):
        with pytest.raises(ArgumentError):
            call()


SCANS = {
    "parallel": tomography.parallel(TURN[:20], 70),
    "half a detector": tomography.parallel(TURN, 45, offset=-14.0),
    "fan": tomography.fan(TURN, 70, 1.1, 150, 50),
    "short": tomography.fan(np.linspace(0, np.pi + 2 * np.arctan(40 / 200), 50, endpoint=False), 70, 1.1, 150, 50),
    "cone": tomography.cone(TURN, (20, 40), 1.6, 150, 100),
}


@pytest.mark.parametrize("filter", ["ramp", "hann"])
@pytest.mark.parametrize("scan", [pytest.param(scan, id=name) for name, scan in SCANS.items()])
def test_filtered_back_projection(queue: bl.Queue, scan: Geometry, filter: str) -> None:
    shape = (48, 48) if scan.detector_shape[0] == 1 else (12, 24, 24)
    values = tomography.Projector(scan, shape)(ball(shape, (2, -1, 1)[: len(shape)], 9).astype(np.float32))
    result = tomography.fbp(on_device(values, queue), scan, shape, filter=filter)
    assert isinstance(result, bl.UsmArray)
    np.testing.assert_allclose(host(result), tomography.fbp(values, scan, shape, filter=filter), atol=2e-5)


class Arithmetic(Foreign):
    """An array of a library with arithmetic, which it computes on the host."""

    def __array_namespace__(self) -> Any:
        return SimpleNamespace(from_dlpack=Arithmetic.from_dlpack)

    @classmethod
    def from_dlpack(cls, array: Any) -> Arithmetic:
        array.__dlpack__()
        return cls(array)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.memory.shape)

    def astype(self, dtype: str) -> Arithmetic:
        return Arithmetic(on_device(host(self).astype(dtype), self.queue))

    @property
    def queue(self) -> bl.Queue:
        return bl.Queue(self.memory.device)

    def _binary(self, name: str, other: Any) -> Any:
        return Arithmetic(on_device(getattr(host(self), name)(host(other)), self.queue))


for name in ("add", "sub", "mul", "rmul", "truediv", "eq", "ne", "gt", "le", "or"):
    operator = f"__{name}__"
    setattr(Arithmetic, operator, lambda self, other, operator=operator: self._binary(operator, other))
for name in ("sum", "clip"):
    setattr(
        Arithmetic,
        name,
        lambda self, *more, name=name, **named: Arithmetic(
            on_device(getattr(host(self), name)(*more, **named), self.queue)
        ),
    )


@pytest.mark.parametrize("method", [tomography.sirt, tomography.cgls])
def test_iterations(queue: bl.Queue, method: Any) -> None:
    scan = SCANS["fan"][::4]
    A = tomography.Projector(scan, (32, 32))
    values = A(ball((32, 32), (2, -3), 9).astype(np.float32))
    types = []
    there = Arithmetic(on_device(values, queue))
    result = method(A, there, 6, lambda number, volume: types.append(type(volume)))
    on_host = queue.device.backend is bl.Backend.reference  # such memory is that of the process
    assert types == [np.ndarray if on_host else Arithmetic] * 6
    np.testing.assert_allclose(host(result), method(A, values, 6), atol=1e-4)
    again = method(A, there, 2, start=result)
    np.testing.assert_allclose(host(again), method(A, values, 2, start=host(result)), atol=1e-4)
    if not on_host:
        with pytest.raises(ArgumentError):
            method(A, there, 1, start=host(result))
    with pytest.raises(FeatureNotSupportedError):
        method(A, on_device(values, queue), 1)


@pytest.mark.torch
def test_tensors_of_the_process_by_a_queue(queue: bl.Queue) -> None:
    torch = pytest.importorskip("torch")
    A = tomography.Projector(VOLUMES["cone"], (28, 33, 40))
    volume, weight = torch.rand(A.volume_shape, requires_grad=True), torch.rand(A.shape)
    (A(volume, queue=queue) * weight).sum().backward()
    np.testing.assert_allclose(volume.grad.numpy(), A.adjoint(weight.numpy()), rtol=1e-5, atol=CLOSE)
    result = torch.empty(A.shape)
    assert A(volume.detach(), out=result) is result and torch.equal(result, A(volume.detach()))
    with pytest.raises(ArgumentError):
        A(volume, out=result)


@pytest.mark.torch
@pytest.mark.cuda
def test_tensors_in_cuda_memory(queue: bl.Queue) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch has no CUDA")
    A = tomography.Projector(VOLUMES["cone"], (28, 33, 40))
    there = torch.rand(A.volume_shape, device="cuda", requires_grad=True)
    weight = torch.rand(A.shape, device="cuda")
    for _ in range(3):
        there.grad = None
        values = A(there)
        (values * weight).sum().backward()
        assert values.is_cuda and there.grad.is_cuda
        np.testing.assert_allclose(values.detach().cpu(), A(there.detach().cpu()), rtol=1e-5, atol=CLOSE)
        np.testing.assert_allclose(there.grad.cpu(), A.adjoint(weight.cpu()), rtol=1e-5, atol=CLOSE)
    for method in (tomography.sirt, tomography.cgls):
        result = method(A, values.detach(), 3)
        assert result.is_cuda
        np.testing.assert_allclose(result.cpu(), method(A, values.detach().cpu(), 3), atol=1e-4)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("source", ["float16", "float32", "uint8"])
def test_half_precision(queue: bl.Queue, source: str, dtype: str) -> None:
    """Of what is read, written, or both: sums of numbers in half precision, rounded once."""
    scan = tomography.cone(TURN, (20, 40), 1.6, 150, 100)
    A, exact = (tomography.Projector(scan, (12, 24, 24), dtype=kind) for kind in (dtype, "float32"))
    x, y = ((numbers(shape) * 9).astype(source) for shape in (A.volume_shape, A.shape))
    calls = [("__call__", x, {}), ("adjoint", y, {}), *(("back", y, {"power": power}) for power in range(3))]
    for name, value, more in calls:
        wanted = getattr(exact, name)(value.astype(np.float32), **more)
        for argument in (value, on_device(value, queue)):
            result = getattr(A, name)(argument, **more)
            assert result.dtype == dtype
            np.testing.assert_allclose(host(result), wanted, rtol=6e-4 if dtype == "float16" else 1e-5, atol=2e-3)
            out = np.empty(wanted.shape, dtype)
            assert getattr(A, name)(argument, out=out, **more) is out
            np.testing.assert_array_equal(out, host(result))
    wanted = tomography.fdk(y.astype(np.float32), scan, A.volume_shape)
    for argument in (y, on_device(y, queue)):
        result = tomography.fdk(argument, scan, A.volume_shape, dtype=dtype)
        assert result.dtype == dtype
        np.testing.assert_allclose(host(result), wanted, rtol=1e-3, atol=2e-4 * np.abs(wanted).max())
    with pytest.raises(ArgumentError):
        A(on_device(x, queue), out=np.empty(A.shape, np.float32 if dtype == "float16" else np.float16))


def test_without_memory_for_a_copy(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    A = tomography.Projector(tomography.cone(TURN[:5], (20, 24), 1.6, 60, 40), (12, 14, 16))
    x, y = numbers(A.volume_shape), numbers(A.shape, 1)
    refused: list[bool] = []

    def full(*arguments: Any) -> Any:
        refused.append(len(refused) % 2 == 0)  # every other time
        if refused[-1]:
            raise bl.MemoryAllocationError("no memory")
        return take(*arguments)

    monkeypatch.setattr("bindless.sampling.array_launch.take", full)
    for name, value in (("__call__", x), ("adjoint", y)):
        function = getattr(A, name)
        np.testing.assert_allclose(host(function(on_device(value, queue))), function(value), rtol=1e-5, atol=CLOSE)
    assert any(refused) is (queue.device.backend is not bl.Backend.reference)  # which makes no copies


def test_several_volumes(queue: bl.Queue) -> None:
    A = tomography.Projector(tomography.cone(TURN[:5], (6, 7), 1.5, 30, 20), (8, 9, 10))
    values = numbers((3, *A.volume_shape))
    there = on_device(values, queue)
    result = A(there)
    np.testing.assert_allclose(host(result), A(values), rtol=1e-5, atol=CLOSE)
    out = on_device(np.zeros_like(host(result)), queue)
    assert A(there, out=out) is out
    np.testing.assert_array_equal(host(out), host(result))


@pytest.mark.parametrize("shape", [(2048, 1024, 1024), (1, 1, (1 << 22) + 1)])
def test_volumes_of_too_many_texels(queue: bl.Queue, shape: tuple[int, int, int]) -> None:
    A = tomography.Projector(tomography.cone(TURN[:2], (9, 12), 1.0, 9000, 3000), shape)
    with pytest.raises(FeatureNotSupportedError):
        A._rays.launch(queue, "forward")
