"""Arguments of the texture instructions in the kernels, and the locations of the results.

The host's texture instructions hash their arguments (host_prelude.cl); the tests compute the same hash in numpy from
their input arrays.
"""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.builtin_kernels.host_kernels import HostKernels, format_word

GEOMETRIES = {
    "1d": (1, False), "2d": (2, False), "3d": (3, False), "1d_array": (1, True), "2d_array": (2, True),
    "cube": (3, False), "1d_linear": (1, False),
}  # fmt: skip
OPERATIONS = {"sample": 1, "sample_lod": 2, "sample_grad": 3, "fetch_sampled": 4}
COUNT = 101
IMAGE = 0x1234567890AB
CLASSES = {"f": "fp32", "i": "signed_int32", "u": "unsigned_int32"}


def hash_of(operation: str, layer: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Hash (N, 4) from the eleven arguments of a texture instruction; absent arguments are zeros."""
    rows = np.zeros((len(numbers), 11), np.float32)
    rows[:, 0] = OPERATIONS[operation]
    rows[:, 1] = layer
    rows[:, 2:] = numbers
    bits = rows.view(np.uint32)
    total = np.tile(np.array([IMAGE & 0xFF, 1, 2, 3], np.uint32), (len(numbers), 1))
    for n in range(11):
        column = bits[:, n : n + 1]
        total = total * np.array([31, 37, 41, 43], np.uint32) + (column ^ column >> np.uint32(15)) + np.uint32(n)
    return np.asarray(total & np.uint32(0xFFFFFF))


def cube_direction(v: np.ndarray) -> np.ndarray:
    """Divide by the largest component; not-a-number becomes zero."""
    with np.errstate(invalid="ignore", divide="ignore"):
        w = v / np.fmax.reduce(np.abs(v), axis=1, keepdims=True)
    return np.where(np.isnan(w), np.float32(0), w).astype(np.float32)


def cases() -> list[tuple[str, str, bool, bool]]:
    """Return the existing combinations of operation, geometry, an array of levels and an array of layers."""
    pairs = [(operation, geometry) for operation in OPERATIONS for geometry in GEOMETRIES]
    absent = {("sample_grad", "cube"), ("fetch_sampled", "cube")}
    existing = [(o, g) for o, g in pairs if (o, g) not in absent and (g != "1d_linear" or o == "fetch_sampled")]
    return [
        (operation, geometry, level_array, layer_array)
        for operation, geometry in existing
        for level_array in ([False, True] if operation == "sample_lod" else [False])
        for layer_array in ([False, True] if GEOMETRIES[geometry][1] else [False])
    ]


@pytest.mark.parametrize("letter", CLASSES)
@pytest.mark.parametrize(("operation", "geometry", "level_array", "layer_array"), cases())
def test_arguments_reach_the_texture(
    host_kernels: HostKernels, operation: str, geometry: str, letter: str, level_array: bool, layer_array: bool
) -> None:
    dimensions, layered = GEOMETRIES[geometry]
    generator = np.random.default_rng(3)
    if operation == "fetch_sampled":
        coords = generator.integers(-9, 99, (COUNT, dimensions)).astype(np.int32)
    else:
        coords = generator.standard_normal((COUNT, dimensions)).astype(np.float32)
    arguments: list[object] = [ctypes.c_uint64(IMAGE), coords]
    numbers = np.zeros((COUNT, 9), np.float32)
    numbers[:, :dimensions] = cube_direction(coords) if geometry == "cube" else coords
    layer = np.zeros(COUNT, np.uint32)
    if layered:
        layer[:] = generator.integers(0, 50, COUNT) if layer_array else 6
        arguments += [layer if layer_array else None, ctypes.c_uint32(6)]
    if operation == "sample_lod":
        level = generator.random(COUNT, np.float32) if level_array else np.full(COUNT, 2.5, np.float32)
        arguments += [level if level_array else None, ctypes.c_float(2.5)]
        numbers[:, 3] = level
    if operation == "sample_grad":
        dx, dy = generator.standard_normal((2, COUNT, dimensions)).astype(np.float32)
        arguments += [dx, dy]
        numbers[:, 3 : 3 + dimensions] = dx
        numbers[:, 6 : 6 + dimensions] = dy
    dtype = {"f": np.float32, "i": np.int32, "u": np.uint32}[letter]
    out = np.zeros((COUNT, 4), dtype)
    word = format_word(out.dtype.str[1:], 4, CLASSES[letter], 4)
    kernel = f"bindless_{operation}_{geometry}_{letter}"
    host_kernels.launch(kernel, *arguments, out, ctypes.c_uint64(COUNT), ctypes.c_uint32(word))
    np.testing.assert_array_equal(out, hash_of(operation, layer, numbers).astype(dtype))


@pytest.mark.parametrize("count", [0, 1, 6, 7, 8, 13, 14, 15, 100])
@pytest.mark.parametrize("work_items", [1, 7, 128])
def test_every_launch_covers_every_count(host_kernels: HostKernels, work_items: int, count: int) -> None:
    coords = np.arange(2 * count, dtype=np.float32).reshape(count, 2)
    out = np.full((count + 1, 4), -1, np.float32)
    host_kernels.launch(
        "bindless_sample_2d_f", ctypes.c_uint64(IMAGE), coords, out, ctypes.c_uint64(count),
        ctypes.c_uint32(format_word("f4", 4, "fp32", 4)), work_items=work_items,
    )  # fmt: skip
    numbers = np.zeros((count, 9), np.float32)
    numbers[:, :2] = coords
    np.testing.assert_array_equal(out[:count], hash_of("sample", np.zeros(count), numbers).astype(np.float32))
    assert (out[count] == -1).all()


@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("row", [31, 32, 33, 40, 64, 70, 1 << 24, (1 << 24) + 1, 2**32 - 1])
@pytest.mark.parametrize(("work_items", "group"), [(7, 1), (32, 32), (96, 32)])
def test_every_item_is_taken_whatever_the_row(
    host_kernels: HostKernels, work_items: int, group: int, row: int, channels: int
) -> None:
    band = 8 * row if row < 1000 else 512
    for count in (band - 1, band, band + 5, band + 128, 2 * band + 200):
        coords = np.arange(2 * count, dtype=np.float32).reshape(count, 2)
        out = np.full((count + 1, channels), -1, np.float32)
        host_kernels.launch(
            "bindless_sample_2d_f", ctypes.c_uint64(IMAGE), coords, out, ctypes.c_uint64(count),
            ctypes.c_uint32(format_word("f4", channels, "fp32", 4)), work_items=work_items, group=group, row=row,
        )  # fmt: skip
        numbers = np.zeros((count, 9), np.float32)
        numbers[:, :2] = coords
        expected = hash_of("sample", np.zeros(count), numbers).astype(np.float32)[:, :channels]
        np.testing.assert_array_equal(out[:count], expected)
        assert (out[count] == -1).all()


@pytest.mark.parametrize("element", ["f2", "f4"])
def test_the_promise_of_alignment_changes_nothing(host_kernels: HostKernels, element: str) -> None:
    coords = np.arange(2 * COUNT, dtype=np.float32).reshape(COUNT, 2)
    assert coords.ctypes.data % 8 == 0
    for channels in (1, 2, 3, 4):
        out = [np.zeros((COUNT, channels), element) for _ in range(2)]
        assert all(array.ctypes.data % 16 == 0 for array in out)
        for promise in (0, 1):
            word = format_word(element, channels, "fp32", 4) | promise << 28
            host_kernels.launch(
                "bindless_sample_2d_f", ctypes.c_uint64(IMAGE), coords, out[promise], ctypes.c_uint64(COUNT),
                ctypes.c_uint32(word),
            )  # fmt: skip
        np.testing.assert_array_equal(out[0], out[1])
        assert out[1].all()


@pytest.mark.parametrize("offset", [0, 4, 8, 12])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("element", ["f2", "f4"])
def test_values_need_only_element_alignment(
    host_kernels: HostKernels, element: str, channels: int, offset: int
) -> None:
    coords = np.arange(2 * COUNT + 1, dtype=np.float32)[offset // 4 % 2 :][: 2 * COUNT].reshape(COUNT, 2)
    size = np.dtype(element).itemsize
    room = np.full(COUNT * channels + 32, 5, element)
    start = (-room.ctypes.data % 16 + offset) // size
    out = room[start : start + COUNT * channels].reshape(COUNT, channels)
    host_kernels.launch(
        "bindless_sample_2d_f", ctypes.c_uint64(IMAGE), coords, out, ctypes.c_uint64(COUNT),
        ctypes.c_uint32(format_word(element, channels, "fp32", 4)),
    )  # fmt: skip
    numbers = np.zeros((COUNT, 9), np.float32)
    numbers[:, :2] = coords
    with np.errstate(over="ignore"):
        expected = hash_of("sample", np.zeros(COUNT), numbers).astype(np.float32)[:, :channels].astype(element)
    np.testing.assert_array_equal(out, expected)
    assert (room[:start] == 5).all() and (room[start + COUNT * channels :] == 5).all()


@pytest.mark.parametrize("work_items", [32, 96])
@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 63, 64, 65, 96, 100, 127, 128, 192, 200, 250])
@pytest.mark.parametrize("element", ["f2", "f4"])
def test_lanes_store_three_channels_together(
    host_kernels: HostKernels, element: str, count: int, work_items: int
) -> None:
    coords = np.arange(2 * count, dtype=np.float32).reshape(count, 2)
    out = np.full((count + 1, 3), -1, element)
    host_kernels.launch(
        "bindless_sample_2d_f", ctypes.c_uint64(IMAGE), coords, out, ctypes.c_uint64(count),
        ctypes.c_uint32(format_word(element, 3, "fp32", 4)), work_items=work_items, group=32,
    )  # fmt: skip
    numbers = np.zeros((count, 9), np.float32)
    numbers[:, :2] = coords
    with np.errstate(over="ignore"):
        expected = hash_of("sample", np.zeros(count), numbers).astype(np.float32)[:, :3].astype(element)
    np.testing.assert_array_equal(out[:count], expected)
    assert (out[count] == -1).all()
    given = np.array(host_kernels.exchanges(work_items)).reshape(-1, 32)
    assert (given == given[:, :1]).all(), "lanes of a row disagree about exchanging"
    if count % 32 == 0:
        assert given[:, 0].sum() == 3 * count // 32, "a full row stored element by element"


@pytest.mark.parametrize("letter", ["i", "u"])
@pytest.mark.parametrize("element", ["1", "2", "4"])
def test_lanes_store_three_integers_together(host_kernels: HostKernels, letter: str, element: str) -> None:
    coords = np.arange(2 * COUNT, dtype=np.float32).reshape(COUNT, 2)
    out = np.zeros((COUNT, 3), letter + element)
    host_kernels.launch(
        f"bindless_sample_2d_{letter}", ctypes.c_uint64(IMAGE), coords, out, ctypes.c_uint64(COUNT),
        ctypes.c_uint32(format_word(letter + element, 3, CLASSES[letter], 4)), work_items=32, group=32,
    )  # fmt: skip
    numbers = np.zeros((COUNT, 9), np.float32)
    numbers[:, :2] = coords
    expected = hash_of("sample", np.zeros(COUNT), numbers)[:, :3].astype(letter + element)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("image_channels", [1, 2, 3, 4])
def test_channels_that_the_image_lacks_read_zero(host_kernels: HostKernels, image_channels: int) -> None:
    coords = np.arange(COUNT, dtype=np.float32)
    out = np.full((COUNT, 4), -1, np.float32)
    host_kernels.launch(
        "bindless_sample_1d_f", ctypes.c_uint64(IMAGE), coords, out, ctypes.c_uint64(COUNT),
        ctypes.c_uint32(format_word("f4", 4, "fp32", image_channels)),
    )  # fmt: skip
    assert (out[:, image_channels:] == 0).all()
    assert (out[:, :image_channels] != 0).all()


def test_cube_directions_without_a_largest_component(host_kernels: HostKernels) -> None:
    nan, inf, tiny = np.nan, np.inf, 1e-45
    coords = np.array(
        [[0, 0, 0], [nan, 2, 1], [nan, nan, nan], [inf, 1, 2], [-inf, inf, 0], [tiny, 0, -tiny], [3e38, -3e38, 1e-3]],
        np.float32,
    )
    count = len(coords)
    out = np.zeros((count, 4), np.float32)
    host_kernels.launch(
        "bindless_sample_cube_f", ctypes.c_uint64(IMAGE), coords, out, ctypes.c_uint64(count),
        ctypes.c_uint32(format_word("f4", 4, "fp32", 4)),
    )  # fmt: skip
    numbers = np.zeros((count, 9), np.float32)
    numbers[:, :3] = cube_direction(coords)
    assert numbers[1, :3].tolist() == [0, 1, 0.5] and numbers[5, :3].tolist() == [1, 0, -1]
    np.testing.assert_array_equal(out, hash_of("sample", np.zeros(count), numbers).astype(np.float32))
