"""Commands through the Level Zero backend, compared with the same calls from C, through the same loader and driver.

BINDLESS_REFERENCE_THREADS=1 pytest tests/benchmarks/test_level_zero_costs.py --device level_zero -q
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import kernels

Compare = Callable[..., Any]
CALLS = 1000
TARGET = "C + 3 us a call at most"


@pytest.fixture(autouse=True)
def _only_level_zero(device: Any) -> None:
    if device.backend != "level_zero":
        pytest.skip("measures the Level Zero backend: run with --device level_zero")


@pytest.fixture(scope="module")
def in_c(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """level_zero_costs.c, with the loader that the process has already loaded."""
    library = tmp_path_factory.mktemp("costs") / "level_zero_costs.so"
    source = Path(__file__).with_name("level_zero_costs.c")
    done = subprocess.run(
        ["cc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", str(source), "-o", str(library), "-lze_loader"],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    if done.returncode:
        pytest.skip(f"needs the headers of Level Zero (apt install libze-dev): {done.stderr[:200]}")
    return ctypes.CDLL(str(library))


@pytest.fixture
def ordered(queue: Any) -> Iterator[bl.Queue]:
    with bl.Queue(queue.device, in_order=True) as made:
        yield made


def _handle(thing: object) -> ctypes.c_void_p:
    found = bl.get_native(thing)  # type: ignore[arg-type]
    return ctypes.c_void_p(int(found[0] if isinstance(found, tuple) else found))


def _kernel(queue: bl.Queue) -> bl.Kernel:
    return bl.load_kernel_bundle(kernels.source("launch", "spirv"), queue).get_kernel("bindless_four_arguments")


def _compare_launches(compare: Compare, ordered: bl.Queue, in_c: Any, repeated: bool, target: str) -> None:
    out = bl.usm_empty((1,), np.uint64, ordered)
    kernel, launch = _kernel(ordered), ordered.parallel_for
    both = (out, 5, 7, 2.5), (out, 5 if repeated else 6, 7, 2.5)

    def ours() -> None:
        for number in range(CALLS):
            launch(1, kernel, *both[number % 2])
        ordered.wait()

    # A separate queue and kernel keep the backend's cached state valid.
    with bl.Queue(ordered.device, context=ordered.context, in_order=True) as own:
        peer = _kernel(own)
        handles = _handle(ordered.context), _handle(own), _handle(peer)
        address = ctypes.c_uint64(int(out.pointer))

        def c() -> None:
            wide, narrow, real = ctypes.c_uint64(5), ctypes.c_uint32(7), ctypes.c_float(2.5)
            assert in_c.launches(*handles, CALLS, int(repeated), address, wide, narrow, real) == 0

        compare(ours, {"C": c}, items=CALLS, unit="launches", each=CALLS, target=target)


def test_launch(compare: Compare, ordered: bl.Queue, in_c: Any) -> None:
    """Four arguments, one of them changed since the last call; C sets all."""
    _compare_launches(compare, ordered, in_c, repeated=False, target="C at most")


def test_repeated_launch(compare: Compare, ordered: bl.Queue, in_c: Any) -> None:
    """The same launch repeatedly; C sets its arguments once."""
    _compare_launches(compare, ordered, in_c, repeated=True, target="1.15 of C at most")


def test_graph(compare: Compare, ordered: bl.Queue, in_c: Any) -> None:
    """A graph of the same launches, a closed command list, compared with C that launches each, and plain launches."""
    out = bl.usm_empty((1,), np.uint64, ordered)
    kernel, arguments = _kernel(ordered), (out, np.uint64(5), np.uint32(7), np.float32(2.5))
    with bl.Queue(ordered.device, context=ordered.context, in_order=True) as own, bl.CommandGraph(ordered) as graph:
        peer = _kernel(own)
        handles = _handle(ordered.context), _handle(own), _handle(peer)
        for _ in range(CALLS):
            graph.parallel_for(1, kernel, *arguments)

        def c() -> None:
            values = ctypes.c_uint64(int(out.pointer)), ctypes.c_uint64(5), ctypes.c_uint32(7), ctypes.c_float(2.5)
            assert in_c.launches(*handles, CALLS, 0, *values) == 0

        def plain() -> None:
            for _ in range(CALLS):
                ordered.parallel_for(1, kernel, *arguments)
            ordered.wait()

        compare(
            lambda: graph().wait(),
            {"C": c, "plain launches": plain},
            items=CALLS,
            unit="launches",
            each=CALLS,
            target="below C",
        )


@pytest.mark.parametrize("nbytes", [64, 65536])
def test_copy(compare: Compare, ordered: bl.Queue, in_c: Any, nbytes: int) -> None:
    to, source = (bl.usm_empty(nbytes, np.uint8, ordered) for _ in range(2))
    backend, queue, addresses = ordered.device._backend, ordered._native, (int(to.pointer), int(source.pointer))

    def ours() -> None:
        for _ in range(CALLS):
            backend.copy(queue, *addresses, nbytes)
        backend.wait_queue(queue)

    with bl.Queue(ordered.device, context=ordered.context, in_order=True) as own:
        handles = _handle(ordered.context), _handle(own)

        def c() -> None:
            wide = [ctypes.c_uint64(value) for value in (*addresses, nbytes)]
            assert in_c.copies(*handles, CALLS, *wide) == 0

        compare(ours, {"C": c}, items=CALLS, unit="copies", each=CALLS, target=TARGET)


def test_lists(compare: Compare, ordered: bl.Queue) -> None:
    """Immediate command lists, compared with regular ones of one command each."""
    to, source = (bl.usm_empty(64, np.uint8, ordered) for _ in range(2))

    def copies(queue: bl.Queue) -> Callable[[], None]:
        def work() -> None:
            for _ in range(CALLS):
                queue.memcpy(to, source, 64)
            queue.wait()

        return work

    with bl.Queue(ordered.device, context=ordered.context, in_order=True, no_immediate_command_list=True) as regular:
        compare(copies(ordered), {"regular lists": copies(regular)}, items=CALLS, unit="copies", each=CALLS)


def test_sampling(compare: Compare, ordered: bl.Queue) -> None:
    """A quarter of a million samples by the built-in SPIR-V kernel, compared with the reference's native C."""
    count = 1 << 18
    pixels = np.random.default_rng(3).integers(0, 256, (512, 512, 4)).astype(np.uint8)
    coords = np.random.default_rng(4).uniform(0, 512, (count, 2)).astype(np.float32)
    sampler = bl.BindlessImageSampler("clamp_to_edge", filtering="linear")

    def sampling(queue: bl.Queue) -> tuple[Callable[[], None], bl.UsmArray]:
        desc = bl.ImageDescriptor(512, 512, num_channels=4, channel_type="unorm_int8")
        memory = bl.ImageMem(desc, queue)
        queue.ext_oneapi_copy(pixels, memory).wait()
        image = bl.create_image(memory, desc, queue, sampler=sampler)
        where, out = bl.usm_empty((count, 2), np.float32, queue), bl.usm_empty((count, 4), np.float32, queue)
        where.copy_from(coords)
        kept = memory
        return lambda: (kept, bl.sample_image(queue, image, where, out=out).wait())[1], out

    with bl.Queue("reference", in_order=True) as reference:
        ours, found = sampling(ordered)
        native, expected = sampling(reference)
        compare(ours, {"reference": native}, items=count, unit="samples", target="at least 18 M a thread")
        np.testing.assert_array_equal(found.numpy(ordered), expected.numpy(reference))
