"""The kernels of linear filters on the reference device give the results of the reference driver's gradients.

Their work-items exchange addends, so that they do not run one after the other as in test_gradients.py.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import kernels
from bindless.sampling.memory import cuda, linear, processor
from bindless.sampling.memory.arrays import memory_array
from bindless.sampling.memory.plan import NAMES, MemoryPlan, Operation, check
from tests.support.filters import lookup as make_lookup

Array = np.ndarray[Any, Any]

SIZES = {2: (16, 17), 3: (9, 8, 11)}
TEXTURES, SAMPLES, ROW = 2, 700, 35


class Device:
    """The reference device, with arrays in memory that its kernels can access."""

    def __init__(self) -> None:
        self.queue = bl.Queue("reference", in_order=True)
        self._kept: list[Any] = []

    def array(self, values: Array) -> Array:
        memory = bl.usm_empty(values.shape, values.dtype, self.queue, kind="shared")
        self._kept.append(memory)
        found = np.asarray(memory)
        found[...] = values
        return found

    def run(self, plan: MemoryPlan, pointers: list[int]) -> str:
        """Do what ``cuda.run`` does; returns the end of the kernel's name."""
        program = cuda.describe(plan)
        (launch,) = program.launches
        data = bytearray(program.template)
        for place, slot in program.places:
            struct.pack_into("@P", data, place, pointers[slot])
        call = self.array(np.frombuffer(data, np.uint8))
        bundle = bl.load_kernel_bundle(kernels.source(kernels.module_of(launch.kernel), "spirv"), self.queue)
        shape = bl.NdRange((launch.grid[1], launch.grid[0] * launch.items), (1, launch.items))
        assert launch.mode is not None
        kernel = bundle.get_kernel(launch.kernel)
        self.queue.parallel_for(shape, kernel, self._kept[-1], np.uint32(launch.mode)).wait_and_throw()
        assert call.size == len(data)
        return launch.kernel.rpartition("_")[2]


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    monkeypatch.setattr(linear, "_adds_vectors", lambda: True)
    monkeypatch.setattr(linear, "_MANY", 0)
    return Device()


def coordinates(kind: str, sizes: tuple[int, ...], stretch: float, rng: np.random.Generator) -> Array:
    """Of a rotated picture, also with some samples far from their neighbours, of one that is enlarged so that samples
    have the same texels, or random.
    """
    dims = len(sizes)
    number = np.arange(SAMPLES)
    x, y, z = number % ROW, number // ROW % 5, number // (5 * ROW)
    if kind == "random":
        return rng.uniform(-2, 1.5 * max(sizes), (TEXTURES, SAMPLES, dims)).astype("f")
    scale = 0.2 if kind == "enlarged" else 0.9
    axes = [scale * x - 0.2 * y + 0.1 * z - 1, 0.2 * scale * x + scale * y - 1, 0.1 * x - 0.1 * y + 0.95 * z]
    places = stretch * np.stack(axes[:dims], -1) + rng.uniform(-0.3, 0.3, (TEXTURES, 1, dims))
    if kind == "scattered":
        places[:, rng.random(SAMPLES) < 0.2] += 15
    return places.astype("f")


def compare(
    device: Device, dims: int, boundary: str, *, channels: int = 1, last: bool = False, kind: str = "rotated",
    picture: tuple[int, int] = (ROW, 5), dtype: str = "f", wants: str = "both", planes: bool = False,
    expected: tuple[str, str] = ("linear", "tiles"), sizes: tuple[int, ...] | None = None, stretch: float = 1.0,
) -> None:  # fmt: skip
    rng = np.random.default_rng(3)
    sizes = SIZES[dims] if sizes is None else sizes
    lookup = make_lookup(
        dims, boundary=boundary, fill=0.5, scale=(0.75, 1.5, 1.25)[:dims], offset=(0.5,) * dims, shift=0.25
    )

    def made(shape: tuple[int, ...], kind: str = dtype, last: bool = last) -> Array:
        values = rng.standard_normal(shape).astype(kind)
        if last:
            return device.array(values)
        return np.moveaxis(device.array(np.ascontiguousarray(np.moveaxis(values, -1, 1))), 1, -1)

    level, gradients = made((TEXTURES, *sizes, channels)), made((TEXTURES, *sizes, channels), "f")
    samples = {
        "coords": device.array(coordinates(kind, sizes, stretch, rng)),
        "out": made((TEXTURES, SAMPLES, channels), last=last and not planes),
        "grad_out": made((TEXTURES, SAMPLES, channels), last=last and not planes),
        "grad_coords": device.array(np.zeros((TEXTURES, SAMPLES, dims), "f")),
    }
    for operation, end in zip((Operation.forward, Operation.backward), expected):
        forward = operation is Operation.forward
        used = ["coords", "out"] if forward else ["coords", "grad_out", *(["grad_coords"] if wants != "texels" else [])]
        results = [samples[used[-1]]] if forward or wants != "texels" else []
        added = [gradients] if not forward and wants != "coordinates" else []
        arrays = [*(samples[name] if name in used else None for name in NAMES), level, *added]
        views = [None if array is None else memory_array(array) for array in arrays]
        plan = check(operation, lookup, (1, 0, len(added)), views, picture)
        pointers = [0 if one is None else one.pointer for one in views]
        found = []
        for run in (processor.run, device.run):
            for result in (*results, *added):
                result[...] = 0
            name = run(plan, pointers)
            found.append([result.astype("d") for result in (*results, *added)])
        assert name == end
        for one, other in zip(*found):
            atol = (2e-3 if dtype == "e" else 2e-6) * max(1.0, float(np.abs(one).max()))
            np.testing.assert_allclose(other, one, rtol=0, atol=atol)


@pytest.mark.parametrize("kind", ["rotated", "enlarged", "random"])
@pytest.mark.parametrize("boundary", ["border", "edge", "repeat", "mirrored_repeat", "mirror"])
@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("end", ["single", "tiles"])
def test_one_channel(
    device: Device, monkeypatch: pytest.MonkeyPatch, end: str, dims: int, boundary: str, kind: str
) -> None:
    monkeypatch.setattr(linear, "_MANY", 0 if end == "tiles" else SAMPLES * TEXTURES + 1)
    compare(device, dims, boundary, kind=kind, expected=("linear", end))


@pytest.mark.parametrize("kind", ["rotated", "enlarged", "random"])
@pytest.mark.parametrize(("channels", "last"), [(5, False), (3, True)])
@pytest.mark.parametrize("dims", [2, 3])
def test_channels(device: Device, dims: int, channels: int, last: bool, kind: str) -> None:
    compare(device, dims, "border", channels=channels, last=last, kind=kind, expected=("linear", "linear"))


@pytest.mark.parametrize("planes", [False, True])
@pytest.mark.parametrize("boundary", ["border", "mirror"])
@pytest.mark.parametrize("channels", [4, 12, 40, 64])
@pytest.mark.parametrize("dims", [2, 3])
def test_vectors(device: Device, dims: int, channels: int, boundary: str, planes: bool) -> None:
    """Texels have neighbouring channels, and values too, or planes."""
    compare(device, dims, boundary, channels=channels, last=True, planes=planes, expected=("vectors", "vectors"))


@pytest.mark.parametrize("picture", [(0, 0), (7, 3), (35, 20), (35, 1), (350, 1), (1, 700)])
def test_pictures(device: Device, picture: tuple[int, int]) -> None:
    for dims in (2, 3):
        compare(device, dims, "border", picture=picture, expected=("linear", "tiles" if any(picture) else "single"))
    compare(device, 3, "border", picture=picture, channels=2, expected=("linear", "linear"))


@pytest.mark.parametrize("wants", ["coordinates", "texels"])
@pytest.mark.parametrize("channels", [1, 3])
def test_one_gradient(device: Device, channels: int, wants: str) -> None:
    end = "linear" if channels > 1 else "tiles" if wants == "texels" else "single"
    compare(device, 3, "edge", channels=channels, wants=wants, expected=("linear", end))


@pytest.mark.parametrize("kind", ["rotated", "random"])
@pytest.mark.parametrize("size", [(25, 24, 20), (48, 40, 36)])
def test_tiles_of_many_texels(device: Device, size: tuple[int, int, int], kind: str) -> None:
    """Texels of some tiles fit in local memory; those of others are far apart."""
    compare(device, 3, "border", kind=kind, sizes=size, stretch=3.0)
    compare(device, 3, "border", kind=kind, sizes=size, stretch=6.0)


@pytest.mark.parametrize("kind", ["one", "tail", "tiny", "huge"])
def test_sizes_of_gradients(device: Device, kind: str) -> None:
    """Sums in local memory are integers: of many equal addends, of gradients of all sizes, or that no float exceeds."""
    rng = np.random.default_rng(7)
    places = np.full((1, 700, 2), 3.3) if kind == "one" else rng.uniform(0, 15, (1, 700, 2))
    values = {"one": np.abs(rng.standard_normal((1, 700, 1))), "tail": 10.0 ** rng.uniform(-12, 3, (1, 700, 1))}
    values["tiny"], values["huge"] = 1e-30 * values["one"], 3e37 * rng.standard_normal((1, 700, 1))
    coords, grad = device.array(places.astype("f")), device.array(values[kind].astype("f"))
    level, gradients = (device.array(np.zeros((1, 16, 17, 1), "f")) for _ in range(2))
    arrays = [*({"coords": coords, "grad_out": grad}.get(name) for name in NAMES), level, gradients]
    views = [None if array is None else memory_array(array) for array in arrays]
    plan = check(Operation.backward, make_lookup(2), (1, 0, 1), views, (35, 20))
    assert device.run(plan, [0 if one is None else one.pointer for one in views]) == "tiles"
    expected, near = np.zeros((2, 16, 17))
    index = np.floor(coords[0].astype("d")).astype(int)
    rest = coords[0].astype("d") - index
    for corner in (0, 1), (1, 0), (0, 0), (1, 1):
        weight = np.prod(np.where(corner, rest, 1 - rest), -1) * grad[0, :, 0].astype("d")
        place = index[:, 1] + corner[1], index[:, 0] + corner[0]
        np.add.at(expected, place, weight)
        np.add.at(near, place, np.abs(grad[0, :, 0].astype("d")))
    assert np.all(np.abs(gradients[0, :, :, 0] - expected) <= 2.0**-19 * near)


def test_samples_far_from_their_tile(device: Device) -> None:
    compare(device, 3, "border", kind="scattered", sizes=(48, 40, 36))
    compare(device, 2, "border", kind="scattered", sizes=(300, 200))


def test_halves(device: Device) -> None:
    compare(device, 2, "border", channels=3, dtype="e", expected=("linear", "linear"))


def test_not_a_number_without_weight_does_not_count(device: Device) -> None:
    texels = device.array(np.full((1, 40, 40, 1), np.nan, "f"))
    texels[0, ::2, ::2] = 3
    places = 2.0 * np.stack(np.meshgrid(np.arange(16), np.arange(16)), -1).reshape(1, 256, 2)
    coords, out = device.array(places.astype("f")), device.array(np.zeros((1, 256, 1), "f"))
    arrays = [coords, None, out, *[None] * 6, texels]
    views = [None if array is None else memory_array(array) for array in arrays]
    device.run(
        check(Operation.forward, make_lookup(2), (1, 0, 0), views),
        [0 if one is None else one.pointer for one in views],
    )
    np.testing.assert_array_equal(out, 3)


@pytest.mark.parametrize(("channels", "picture"), [(1, (16, 16)), (1, (0, 0)), (3, (16, 16))])
@pytest.mark.parametrize("boundary", ["border", "edge"])
def test_derivatives_by_texels_without_weight_are_zero(
    device: Device, boundary: str, channels: int, picture: tuple[int, int]
) -> None:
    """At the centres of texels, next to texels that are not numbers, and with gradients that are infinite."""
    rng = np.random.default_rng(5)
    made = {
        "coords": np.stack(np.meshgrid(np.arange(16), np.arange(16)), -1).reshape(1, 256, 2) * [1.0, 0.5] + [0.0, 0.5],
        "grad_out": rng.standard_normal((1, 256, channels)),
        "level": rng.standard_normal((1, channels, 14, 15)),
    }
    made["grad_out"][0, [17, 40, 201]] = [[np.inf], [np.nan], [-np.inf]]
    made["level"][:, :, [3, 8], [9, 2]] = [np.nan, np.inf]
    arrays = {name: device.array(values.astype("f")) for name, values in made.items()}
    level, grad_level = np.moveaxis(arrays["level"], 1, -1), np.moveaxis(device.array(made["level"].astype("f")), 1, -1)
    grad_coords = device.array(np.zeros((1, 256, 2), "f"))
    found = []
    for run in (processor.run, device.run):
        grad_level[...] = 0
        samples = {"coords": arrays["coords"], "grad_out": arrays["grad_out"], "grad_coords": grad_coords}
        used = [*map(samples.get, NAMES), level, grad_level]
        views = [None if array is None else memory_array(array) for array in used]
        plan = check(Operation.backward, make_lookup(2, boundary=boundary), (1, 0, 1), views, picture)
        run(plan, [0 if one is None else one.pointer for one in views])
        found.append((grad_level.copy(), grad_coords.copy()))
    for one, other in zip(*found):
        finite = np.isfinite(one)  # infinities of both signs may meet, or be added first
        assert 0 < np.count_nonzero(~finite) < one.size / 4
        np.testing.assert_array_equal(np.isfinite(other), finite)
        np.testing.assert_allclose(other[finite], one[finite], rtol=0, atol=2e-5)


def test_strides_that_differ_and_vectors_of_three_have_other_kernels() -> None:
    texels, apart = np.zeros((1, 9, 9, 8), "f"), np.zeros((1, 8, 9, 9), "f").transpose(0, 2, 3, 1)
    coords, grad = np.zeros((1, 50, 2), "f"), np.zeros((1, 50, 8), "f")

    def kernel(level: Array, gradient: Array, values: Array) -> str:
        arrays = [coords, None, None, values, *[None] * 5, level, gradient]
        views = [None if array is None else memory_array(array) for array in arrays]
        (launch,) = cuda.describe(check(Operation.backward, make_lookup(2), (1, 0, 1), views)).launches
        return launch.kernel

    assert kernel(texels, apart, grad) == "bindless_gradients_backward_2d_2"
    assert kernel(texels[..., :6], texels[..., :6], grad[..., :6]) == "bindless_gradients_backward_2d_2"
    assert kernel(apart, apart, grad) == "bindless_gradients_backward_2d_linear"
