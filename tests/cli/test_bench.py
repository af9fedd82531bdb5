"""``bindless bench``: the contents of its rows, without any check of times."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.bench import processor_pictures, thread_scaling
from bindless.bench.measure import Bench, Peer, Row
from bindless.bench.peer_libraries import numpy_linear, sampling_peers_2d, sampling_peers_3d
from bindless.bench.subprocesses import run_python
from bindless.cli import main


def _document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["bench", "--json", "--megasamples", "0.01", *arguments]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


@pytest.fixture
def selector(device: bl.Device) -> str:
    return f"{device.backend}:*:{device._record.index}"


@pytest.mark.parametrize(
    ("part", "operations"),
    [
        ("user", ["sample_image, 1000 coordinates", "Image of 204 layers of 32 x 32"]),
        ("volumes", ["{large}^3 float32 rotation, exact", "Image(55^3 int16) and deformation"]),
        pytest.param(
            "blocks",
            ["55^3 float32 rotation in blocks, exact", "55^3 float32 cubic rotation in blocks, exact"],
            marks=pytest.mark.skipif(find_spec("dask") is None, reason="pip install 'bindless[dask]'"),
        ),
        ("sampling", ["sample 2D fp32 x4, neighbouring", "sample 2D unorm_int8 x4, neighbouring", "sample 3D fp32 x1"]),
        ("pixels", ["fetch 2D fp32 x4", "write 2D unorm_int8 x4"]),
        ("pictures", ["Image.warp uint8 x4", "Image.resize up float32 x4"]),
        (
            "copies",
            ["numpy to image, 64 KiB", "image to numpy, 256 KiB", "image to device memory, 1 MiB"],
        ),
        ("calls", ["allocate and free image memory", "with Image(16 x 16)"]),
        ("import", ["import bindless, after numpy, 0 drivers loaded", "first sample of an Image on the reference"]),
    ],
)
def test_every_part_has_its_rows(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    device: bl.Device,
    selector: str,
    part: str,
    operations: list[str],
) -> None:
    monkeypatch.setattr("bindless.bench.measure._BUDGET", 0.0)  # the fewest possible rounds, and no peers that compile
    monkeypatch.setattr("bindless.bench.peer_libraries.available", lambda name: None)
    document = _document(capsys, "--device", selector, "--parts", part)
    rows = document["rows"]
    assert document["backend"] == selector.partition(":")[0]
    large = 110 if device.has(bl.Aspect.gpu) else 55  # a side of the rotated volume
    assert {name.format(large=large) for name in operations} <= {row["operation"] for row in rows}
    for row in rows:
        assert row["seconds"] > 0 and row["includes"]
        assert (row["ratio"] is not None) == bool(row["peer"])
        assert (row["percent_of_bound"] is not None) == bool(row["bound"])
        if row["peer"]:
            assert row["ratio"] == pytest.approx(row["peer_seconds"] / row["seconds"])


def test_threads_are_powers_of_two_beside_one(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each thread count runs in its own process, which receives the number; ``--processor-time`` skips them."""
    seen: list[str] = []

    def run(code: str, **variables: str) -> tuple[str, bool]:
        threads = variables["BINDLESS_REFERENCE_THREADS"]
        seen.append(threads)
        return str(6.0 / int(threads)), True

    monkeypatch.setattr(thread_scaling, "run_python", run)
    monkeypatch.setattr(thread_scaling.os, "sched_getaffinity", lambda _: range(6))
    thread_scaling.measure_scaling(bench)
    assert not bench.rows and "--processor-time" in bench.notes[0]
    bench.clock = time.perf_counter
    thread_scaling.measure_scaling(bench)
    assert seen == ["1", "2", "4"] * 3
    assert [row.ratio for row in bench.rows] == [None, 2.0, 4.0] * 3
    assert bench.rows[1].operation == "sample 2D fp32 x4, 2 threads" and bench.rows[1].seconds == 3.0


def test_programs_in_their_own_interpreter() -> None:
    assert run_python("import os; print(os.environ['SAID'])", SAID="this") == ("this", True)
    assert run_python("raise SystemExit('why')") == ("why", False)
    assert run_python("import os; os._exit(3)") == ("it ended with 3", False)


class Clock:
    """A clock that the measured works advance, independent of the machine."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def work(self, *seconds: float) -> Any:
        times = itertools.cycle(seconds)

        def run() -> None:
            self.now += next(times)

        return run


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def bench(clock: Clock) -> Iterator[Bench]:
    with bl.Queue("reference", in_order=True) as queue:  # only the reference and GPUs have targets
        yield Bench(queue, 1000, clock)


def test_ratios_are_of_the_least_times(bench: Bench, clock: Clock) -> None:
    peers = {"slower": Peer(clock.work(8.0, 6.0), goal=2.0), "quicker, half of it": Peer(clock.work(0.5), share=0.5)}
    assert bench.measure("work", clock.work(3.0, 2.0), peers, amount=4e6, unit="samples") == 2.0
    slower, quicker = bench.rows
    assert (slower.peer, slower.ratio, slower.reached) == ("slower", 3.0, True)
    assert (quicker.ratio, quicker.reached, quicker.target) == (0.5, None, "")
    assert slower.speed(slower.seconds) == "2 Msamples/s" and slower.target == "2.00 reached"


def test_what_fails_is_left_out_and_told(bench: Bench, clock: Clock) -> None:
    def broken() -> None:
        raise RuntimeError("no such device")

    def lacking() -> None:
        raise bl.FeatureNotSupportedError("no mipmaps here")

    bench.measure("work", clock.work(1.0), {"broken": Peer(broken)})
    assert [row.peer for row in bench.rows] == [""]
    assert bench.notes == ["work, broken: RuntimeError: no such device"]
    assert bench.measure("levels", lacking, {"slower": Peer(clock.work(1.0))}) == float("inf")
    assert len(bench.rows) == 1 and bench.notes[-1] == "levels: no mipmaps here"
    with pytest.raises(RuntimeError, match="no such device"):
        bench.measure("ours", broken)


def test_targets_of_time_and_of_bounds() -> None:
    slow = Row("import", 0.04, 0.0, "calls", goal_seconds=0.03)
    assert slow.reached is False and slow.target == "<= 30 ms missed"
    half = Row("sample", 2.0, 1e6, "samples", bound="memory", bound_seconds=1.2, goal_percent=50.0)
    assert half.percent_of_bound == pytest.approx(60.0) and half.target == "50 % reached"
    assert Row("call", 2.5e-6, 0.0, "calls").speed(2.5e-6) == "2.5 us"
    assert Row("copy", 0.5, 3e9, "bytes").speed(0.5) == "6 GB/s"


def test_peers_do_the_same_work(queue: bl.Queue) -> None:
    """Every CPU peer computes the device's samples; some peers have weights of only five bits."""
    rng = np.random.default_rng(4)
    pixels = rng.random((31, 40, 2), np.float32)
    points = (rng.random((1024, 2)) * [40, 31]).astype(np.float32)
    with bl.Image(pixels, queue=queue) as image:
        expected = image.sample(points)
    np.testing.assert_allclose(numpy_linear(pixels, points), expected, atol=1 / 128)
    for name, peer in sampling_peers_2d(pixels, points, on_gpu=False, goal=None).items():
        assert callable(peer.work)
        values = peer.work()
        if isinstance(values, np.ndarray):
            np.testing.assert_allclose(values.reshape(-1, 2)[:1024], expected, atol=1 / 24, err_msg=name)
    volume = rng.random((9, 12, 15), np.float32)
    inside = (rng.random((1024, 3)) * [15, 12, 9]).astype(np.float32)
    with bl.Image(volume, queue=queue) as image:
        expected = image.sample(inside)
    for name, peer in sampling_peers_3d(volume, inside, on_gpu=False, goal=None).items():
        assert callable(peer.work)
        values = peer.work()
        if isinstance(values, np.ndarray):
            np.testing.assert_allclose(values.reshape(-1), expected, atol=1 / 24, err_msg=name)


def test_what_a_row_includes(bench: Bench, clock: Clock) -> None:
    bench.includes = "upload"
    bench.measure("one", clock.work(1.0))
    bench.measure("another", clock.work(1.0), includes="construction")
    bench.add("a third", 1.0)
    assert [row.document()["includes"] for row in bench.rows] == ["upload", "construction", "upload"]


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_peers_of_pictures_do_the_same_work(dtype: str) -> None:
    """Each installed library gives about the picture that ``Image`` gives."""
    from bindless.bench import user_peers

    rng = np.random.default_rng(4)
    pixels = (rng.random((12, 15, 3)) * 200).astype(np.float32)
    pixels = np.kron(pixels, np.ones((4, 4, 1), np.float32)).astype(dtype)  # smooth enough for any filter
    matrix = np.array([[0.9, -0.2, 5.3], [0.2, 0.9, -3.4]])
    with bl.Image(pixels, queue=bl.Queue("reference")) as image:
        cases = (
            (image.warp(matrix, pixels.shape[:2]), user_peers.warp_peers(pixels, matrix, on_gpu=False, goal=None)),
            (image.resize((16, 20)), user_peers.shrink_peers(pixels, (20, 16), on_gpu=False)),
            (image.resize((72, 90)), user_peers.enlarge_peers(pixels, (90, 72), on_gpu=False)),
        )
    for expected, peers in cases:
        for name, peer in peers.items():
            assert callable(peer.work)
            found: Any = peer.work()
            assert found.shape == expected.shape and found.dtype == expected.dtype, name
            apart = np.abs(found.astype(float) - expected.astype(float))
            assert apart.mean() < 1.0, name


def test_opencv_enlarges_alike(queue: bl.Queue) -> None:
    cv2 = pytest.importorskip("cv2", reason="pip install opencv-python-headless")
    for channels in (1, 4):
        pixels = np.random.default_rng(6).random((9, 12, channels), np.float32)
        with bl.Image(pixels, queue=queue) as image:
            expected = image.resize((18, 24))
        found = np.asarray(processor_pictures.enlarge_work(cv2, pixels, 18, 24)())
        np.testing.assert_allclose(found, expected, atol=1 / 128)


@pytest.mark.parametrize("shape", [(2, 3, 5, 6), (1, 2, 4, 5, 6)])
def test_torch_has_the_same_gradients(shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch", minversion="2.5", reason="pip install torch")
    from bindless.torch import grid_sample

    peer = torch.nn.functional.grid_sample
    works = [processor_pictures.gradient_work(torch, function, shape)() for function in (grid_sample, peer)]
    for one, other in zip(*works, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_rows_of_processors(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bindless.bench.measure._BUDGET", 0.0)
    monkeypatch.setattr("bindless.bench.peer_libraries.available", lambda name: None)
    operations = {row["operation"] for row in _document(capsys, "--device", "reference", "--parts", "pictures")["rows"]}
    for precision in ("exact", "hardware"):
        for channels, factor in itertools.product((1, 4), (2, 1.3)):
            assert f"Image.resize up float32 x{channels} by {factor:g}, {precision}, out=" in operations


def test_the_peer_of_a_volume_does_the_same_work() -> None:
    pytest.importorskip("scipy")
    from bindless.bench.user_peers import volume_peers

    rng = np.random.default_rng(5)
    volume = rng.random((6, 7, 8), np.float32)
    angle = 0.3
    turn = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
    offset = np.array([0.2, -0.4, 0.7])
    index = np.stack(np.meshgrid(*map(np.arange, volume.shape), indexing="ij"), -1)
    with bl.Image(volume, dimensions=3, queue=bl.Queue("reference")) as image:
        expected = image.sample((index @ turn.T + offset)[..., ::-1] + 0.5).reshape(volume.shape)
    for peer in volume_peers(volume, turn, offset, on_gpu=False).values():
        assert callable(peer.work)
        found: Any = peer.work()
        np.testing.assert_allclose(found, expected, atol=0.02)


def test_the_peers_of_maps_of_volumes_do_the_same_work() -> None:
    pytest.importorskip("scipy")
    from bindless.bench import volume_peers
    from bindless.bench.volume_rows import rotation, smooth_field

    volume = np.random.default_rng(5).random((16, 16, 16), np.float32)
    matrix, field = rotation(16), smooth_field(16) / 4
    queue = bl.Queue("reference")
    with bl.Image(volume, dimensions=3, precision="exact", queue=queue) as image:
        turned, moved = image.warp(matrix, volume.shape), image.warp(matrix, volume.shape, displacement=field)
    with bl.Image(volume, dimensions=3, precision="exact", filtering="cubic", queue=queue) as image:
        cubic = image.warp(matrix, volume.shape)
    for expected, peers in (
        (turned, volume_peers.scipy_peers(volume, matrix, None, order=1)),
        (turned, volume_peers.numba_peers(volume, matrix)),
        (turned, volume_peers.torch_peers(volume, matrix, None, on_gpu=False)),
        (moved, volume_peers.scipy_peers(volume, matrix, field, order=1)),
        (moved, volume_peers.torch_peers(volume, matrix, field, on_gpu=False)),
        (cubic, volume_peers.scipy_peers(volume, matrix, None, order=3)),
    ):
        for name, peer in peers.items():
            assert callable(peer.work)
            found = np.asarray(peer.work())
            assert len(found) == 16 * peer.share
            np.testing.assert_allclose(found, expected[: len(found)], rtol=0, atol=1e-5, err_msg=name)
