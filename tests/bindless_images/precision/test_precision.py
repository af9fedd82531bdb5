"""Precision of the sampling functions: ``reproducible`` gives the reference device's bits on every device, ``exact``
the numbers of float64, and neither changes calls that ask for another.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.sampling.prepare import resample
from tests.oracle.samples import sample_pixels
from tests.support.channel_kinds import PLAIN
from tests.support.filters import resampling

Array = npt.NDArray[Any]

CHANNEL_TYPES = PLAIN
FILTERED = tuple(name for name in CHANNEL_TYPES if name not in ("signed_int32", "unsigned_int32"))
MODES = ("repeat", "mirrored_repeat", "clamp_to_edge", "clamp_to_border")
ODD = (np.nan, np.inf, -np.inf, 1e30, -1e30, 1e9, -1e9, 3e-39, -3e-39, 1e-30, -1e-30, 0.0, -0.0)
SAMPLERS = (MODES, ("normalized", "unnormalized"))
ITEMS = 600


@pytest.fixture
def reference() -> Iterator[bl.Queue]:
    with bl.Queue("reference:*:*") as made:
        yield made


def _texels(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Every code, or floats of all magnitudes, of which some are not finite or zero."""
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    with np.errstate(over="ignore", under="ignore"):
        found = (rng.standard_normal(shape) * 10.0 ** rng.uniform(-9, 6, shape)).astype(dtype)
    for value, share in ((np.inf, 0.01), (-np.inf, 0.01), (np.nan, 0.01), (-0.0, 0.1)):
        found[rng.random(shape) < share] = value
    return np.ascontiguousarray(found)


def _coordinates(rng: np.random.Generator, extent: tuple[int, ...], normalized: bool) -> Array:
    sizes = np.array(extent, np.float64)
    found = (rng.random((ITEMS, len(extent))) * 3 - 1) * sizes
    found[: ITEMS // 3] = np.round(found[: ITEMS // 3] * 512) / 512
    found = found / sizes if normalized else found
    rows = rng.integers(0, ITEMS, 3 * len(ODD))
    found[rows, rng.integers(0, len(extent), len(rows))] = np.tile(ODD, 3)
    return found.astype(np.float32)


class _Made:
    """The same image on several queues."""

    def __init__(
        self, pixels: Array, desc: bl.ImageDescriptor, sampler: bl.BindlessImageSampler, **options: Any
    ) -> None:
        self._pixels, self._desc, self._sampler, self._options = pixels, desc, sampler, options
        self._memory: list[bl.ImageMem] = []

    def on(self, queue: bl.Queue) -> bl.SampledImageHandle:
        memory = bl.ImageMem(self._desc, queue)
        queue.ext_oneapi_copy(self._pixels, memory).wait()
        self._memory.append(memory)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bl.SamplerWarning)
            return bl.create_image(memory, self._desc, queue, sampler=self._sampler, **self._options)


def _equal(found: Array, wanted: Array) -> bool:
    same = found.view(f"u{found.itemsize}") == wanted.view(f"u{found.itemsize}")
    if found.dtype.kind == "f":
        same |= np.isnan(found) & np.isnan(wanted)
    return bool(same.all())


def _descriptor(kind: str, extent: tuple[int, ...], channel_type: str, channels: int) -> bl.ImageDescriptor:
    sizes = (*extent, 0, 0)[:3]
    return bl.ImageDescriptor(
        *sizes, num_channels=channels, channel_type=channel_type, type=kind, array_size=3 if kind == "array" else 1
    )


EXTENTS = {"standard": ((37,), (1,), (9, 6), (1, 5), (5, 4, 3)), "array": ((11,), (7, 5))}


@pytest.mark.parametrize("filtering", ["nearest", "linear"])
@pytest.mark.parametrize("channel_type", CHANNEL_TYPES)
def test_reproducible_samples_are_the_reference_devices(
    queue: bl.Queue, reference: bl.Queue, channel_type: str, filtering: str
) -> None:
    if filtering == "linear" and channel_type not in FILTERED:
        pytest.skip("integers of 32 bits are not filtered")
    if filtering == "linear" and "signed_int" in channel_type and not queue._backend.traits.has_texture_units:
        pytest.skip("only texture units filter integers")
    rng = np.random.default_rng(CHANNEL_TYPES.index(channel_type))
    every = [(kind, extent, *rest) for kind in EXTENTS for extent, *rest in itertools.product(EXTENTS[kind], *SAMPLERS)]
    count = len(every) if queue.backend == "reference" else 4  # elsewhere each compiles a kernel
    for kind, extent, mode, coordinate in (every[index] for index in rng.permutation(len(every))[:count]):
        desc = _descriptor(kind, extent, channel_type, 4)
        layers = rng.integers(0, 3, ITEMS).astype(np.uint32)
        pixels = _texels(rng, (*((3,) if kind == "array" else ()), *reversed(extent), 4), desc.dtype)
        sampler = bl.BindlessImageSampler(mode, coordinate, filtering)
        made = _Made(pixels, desc, sampler, precision="reproducible")
        coords = _coordinates(rng, extent, coordinate == "normalized")
        arguments = (coords, layers) if kind == "array" else (coords,)
        sample: Any = bl.sample_image_array if kind == "array" else bl.sample_image
        found, wanted = (sample(where, made.on(where), *arguments) for where in (queue, reference))
        assert _equal(found, wanted), (kind, extent, coordinate, mode)


@pytest.mark.parametrize("channel_type", ["fp32", "unorm_int8", "unorm_int16", "snorm_int16"])
@pytest.mark.parametrize("normalized", [False, True])
def test_exact_samples_are_those_of_float64(queue: bl.Queue, channel_type: str, normalized: bool) -> None:
    rng = np.random.default_rng(5)
    desc = _descriptor("standard", (700, 3), channel_type, 4)
    if desc.dtype.kind == "f":
        pixels = rng.random((3, 700, 4), np.float32)
        values = pixels.astype(np.float64)
    else:
        most = np.iinfo(desc.dtype).max
        pixels = rng.integers(-most if desc.dtype.kind == "i" else 0, most, (3, 700, 4), desc.dtype)
        values = pixels / most
    sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized" if normalized else "unnormalized", "linear")
    handle = _Made(pixels, desc, sampler).on(queue)
    places = rng.random((5000, 2)) * (702, 5) - 1
    coords = (places / (700, 3) if normalized else places).astype(np.float32)
    inside = coords.astype(np.float64) * ((700, 3) if normalized else (1, 1))
    found = bl.sample_image(queue, handle, coords, precision="exact")
    wanted = sample_pixels(values, inside)
    assert np.abs(found - wanted).max() < 1e-6 * (values.max() - values.min())


def test_a_call_has_its_own_precision(queue: bl.Queue, reference: bl.Queue) -> None:
    """Also where the same call was prepared with another one."""
    pixels = np.array([[0.0, 1.0]], np.float32)
    desc = bl.ImageDescriptor(2, 1, num_channels=1)
    made = _Made(pixels, desc, bl.BindlessImageSampler("clamp_to_edge", filtering="linear"), precision="reproducible")
    handle, coords = made.on(queue), np.array([[0.5 + 1 / 3, 0.5]], np.float32)
    for _ in range(4):
        assert float(bl.sample_image(queue, handle, coords)[0, 0]) == 85 / 256
        exact = bl.sample_image(queue, handle, coords, precision="exact")
        assert float(exact[0, 0]) == pytest.approx(1 / 3, abs=2e-7)
        hardware = bl.sample_image(queue, handle, coords, precision="hardware")
        assert float(hardware[0, 0]) == pytest.approx(1 / 3, abs=2e-3)
    plain = _Made(pixels, desc, bl.BindlessImageSampler("clamp_to_edge", filtering="linear")).on(queue)
    assert float(bl.sample_image(queue, plain, coords)[0, 0]) == float(hardware[0, 0])
    assert float(bl.sample_image(queue, plain, coords, precision="reproducible")[0, 0]) == 85 / 256


def test_arrays_on_the_device(queue: bl.Queue) -> None:
    pixels = np.random.default_rng(3).random((20, 30, 4), np.float32)
    desc = bl.ImageDescriptor.from_array(pixels)
    handle = _Made(pixels, desc, bl.BindlessImageSampler("clamp_to_edge", filtering="linear")).on(queue)
    coords = (np.random.default_rng(4).random((1000, 2)) * (30, 20)).astype(np.float32)
    there, out = (bl.usm_empty(shape, np.float32, queue) for shape in ((1000, 2), (1000, 4)))
    queue.memcpy(there, coords).wait()
    found = np.empty((1000, 4), np.float32)
    for precision in ("reproducible", "exact"):
        event = bl.sample_image(queue, handle, there, out=out, precision=precision)
        queue.memcpy(found, out, depends_on=event).wait()
        assert (found == bl.sample_image(queue, handle, coords, precision=precision)).all()
    assert np.abs(found - sample_pixels(pixels.astype(np.float64), coords)).max() < 1e-6


def test_levels_and_faces(queue: bl.Queue, reference: bl.Queue) -> None:
    rng = np.random.default_rng(6)
    desc = bl.ImageDescriptor(4, 4, num_channels=4, type="cubemap", array_size=6)
    pixels = rng.random((6, 4, 4, 4), np.float32)
    for filtering in ("seamless", "disjointed"):
        sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized", "linear", cubemap_filtering=filtering)
        made, directions = _Made(pixels, desc, sampler), rng.standard_normal((500, 3)).astype(np.float32)
        found, wanted = (
            bl.sample_cubemap(where, made.on(where), directions, precision="reproducible")
            for where in (queue, reference)
        )
        assert _equal(found, wanted)


def test_what_has_no_precision(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(2, 2, num_channels=4)
    memory, sampler = bl.ImageMem(desc, queue), bl.BindlessImageSampler()
    with pytest.raises(bl.InvalidError) as unknown:
        bl.create_image(memory, desc, queue, sampler=sampler, precision="double")
    assert unknown.value.code == bl.Errc.invalid
    with pytest.raises(bl.InvalidError):
        bl.create_image(memory, desc, queue, precision="exact")
    handle = bl.create_image(memory, desc, queue, sampler=sampler)
    with pytest.raises(bl.InvalidError):
        bl.sample_image(queue, handle, np.zeros((1, 2), np.float32), precision="double")


def test_anisotropy_is_computed_by_texture_units_and_the_reference_alone(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(4, 4, num_channels=4, type="mipmap", num_levels=3)
    memory = bl.ImageMem(desc, queue)
    sampler = bl.BindlessImageSampler(
        "clamp_to_edge", "normalized", "linear", max_mipmap_level_clamp=2.0, max_anisotropy=4.0
    )
    if queue._backend.traits.computes_precisions:
        assert bl.create_image(memory, desc, queue, sampler=sampler, precision="reproducible").raw_handle
    else:
        with pytest.raises(bl.FeatureNotSupportedError) as refused:
            bl.create_image(memory, desc, queue, sampler=sampler, precision="reproducible")
        assert refused.value.code == bl.Errc.feature_not_supported


def test_the_variable_is_read_once() -> None:
    program = """
import os, bindless as bl
queue = bl.Queue("reference:*:*")
desc = bl.ImageDescriptor(2, 1, num_channels=1)
memory = bl.ImageMem(desc, queue)
bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler())
os.environ["BINDLESS_REFERENCE_FILTERING"] = "exact"
bl.create_image(memory, desc, queue)
try:
    bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler())
except bl.InvalidError as error:
    print(error.code)
os.environ["BINDLESS_REFERENCE_FILTERING"] = "hardware"
bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler())
"""
    environment = {**os.environ, "BINDLESS_REFERENCE_FILTERING": ""}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.split() == [str(bl.Errc.invalid)]


@pytest.mark.parametrize("precision", ["reproducible", "exact"])
def test_pictures_have_the_precision_of_their_image(queue: bl.Queue, reference: bl.Queue, precision: str) -> None:
    """The same picture as from an array of its coordinates."""
    pixels = np.random.default_rng(8).integers(0, 256, (24, 31, 4), np.uint8)
    desc = bl.ImageDescriptor.from_array(pixels, channel_type="unorm_int8")
    sampler = bl.BindlessImageSampler("clamp_to_border", filtering="linear")
    made = _Made(pixels, desc, sampler, precision=precision)
    matrix = (0.75, 0.21, -1.5, -0.2, 0.8, 2.25, 0.001, 0.002, 1.0)
    a, b, c, d, e, f, g, h, i = matrix
    rows = (a, b, 0.0, c, d, e, 0.0, f, 0.0, 0.0, 1.0, 0.0, g, h, 0.0, i)
    x, y = np.meshgrid(np.arange(40) + 0.5, np.arange(27) + 0.5)
    u, v, w = (a * x + (b * y + c) for a, b, c in np.reshape(matrix, (3, 3)))
    coords = np.stack([u / w, v / w], -1).reshape(-1, 2).astype(np.float32)
    for where in (queue, reference):
        handle = made.on(where)
        out = np.empty((27, 40, 4), np.float32)
        picture = resampling(0, desc, (40, 27, 1), 0, out.dtype, 4, matrix=rows, precision=precision)
        resample(where, handle, picture, out)
        wanted = bl.sample_image(where, handle, coords).reshape(27, 40, 4)
        if precision == "reproducible":
            assert out.tobytes() == wanted.tobytes()
        else:
            assert np.abs(out - wanted).max() < 1e-6


def test_images_over_usm_are_read_in_place(queue: bl.Queue, reference: bl.Queue) -> None:
    """Rows with a pitch, of which nothing is copied."""
    pixels = np.random.default_rng(9).integers(0, 256, (7, 10, 4), np.uint8)
    desc = bl.ImageDescriptor.from_array(pixels, channel_type="unorm_int8")
    sampler = bl.BindlessImageSampler("mirrored_repeat", "normalized", "linear")
    memory, pitch = bl.pitched_alloc_device(desc, queue)
    queue.ext_oneapi_copy(pixels, memory, dst_desc=desc, dst_pitch=pitch).wait()
    handle = bl.create_image(memory, desc, queue, sampler=sampler, pitch=pitch, precision="reproducible")
    coords = (np.random.default_rng(10).random((300, 2)) * 4 - 2).astype(np.float32)
    wanted = bl.sample_image(reference, _Made(pixels, desc, sampler).on(reference), coords, precision="reproducible")
    assert bl.sample_image(queue, handle, coords).tobytes() == wanted.tobytes()
