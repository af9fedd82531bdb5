"""Cost of copies: one driver command each, of exactly the bytes copied, and no intermediate memory."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.backends.opencl import copy as _copy
from bindless.backends.opencl import copy_command
from bindless.drivers import opencl as driver

pytestmark = pytest.mark.opencl

NBYTES = 1 << 20
_WORK = re.compile(r"clEnqueue(?!Marker|Barrier)|clCreate(Buffer|Image|SubBuffer)|MemAlloc|allocate")
_KINDS = {
    value: name
    for name, value in vars(driver.lib).items()
    if re.match(r"BINDLESS_(WRITE|READ|COPY|BUFFER_TO|IMAGE_TO)_", name)
}


class Counted:
    """The driver's functions; ``calls`` records those that move bytes or allocate memory, with their sizes, and the
    copies that are planned as driver commands.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[str, set[int]]] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(driver.lib, name)
        if not _WORK.search(name):
            return found

        def call(*arguments: Any) -> Any:
            self.calls.append((name, {value for value in arguments if isinstance(value, int)}))
            return found(*arguments)

        return call

    def planned(self, plan: Callable[..., Any]) -> Callable[..., Any]:
        def call(kind: int, *arguments: Any) -> Any:
            command = plan(kind, *arguments)
            self.calls.append((_KINDS[kind], {command.args[0].nbytes, *command.args[0].region}))
            return command

        return call


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    made, plans = Counted(), (copy_command.copy_bytes, copy_command.copy_pixels)
    for name, module in tuple(sys.modules.items()):
        if name.startswith("bindless.backends.opencl."):
            if getattr(module, "lib", None) is driver.lib:
                monkeypatch.setattr(module, "lib", made)
            for plan in plans:
                if getattr(module, plan.__name__, None) is plan:
                    monkeypatch.setattr(module, plan.__name__, made.planned(plan))
    return made


def test_copies_of_memory_are_one_command(cl: bl.Device, cl_queue: bl.Queue, counted: Counted) -> None:
    host = np.random.default_rng(1).integers(0, 256, NBYTES, "u1")
    back = np.empty_like(host)
    first, second = (bl.usm_empty(NBYTES, "u1", cl_queue) for _ in range(2))
    pairs: tuple[tuple[Any, Any], ...] = ((first, host), (second, first), (back, second))
    for dst, src in pairs:
        counted.calls.clear()
        cl_queue.memcpy(dst, src, NBYTES).wait()
        assert len(counted.calls) == 1, counted.calls
        ((name, numbers),) = counted.calls
        assert re.fullmatch(r"BINDLESS_(COPY_(UNIFIED|SHARED_VIRTUAL|BUFFER)|(READ|WRITE)_BUFFER)", name)
        assert NBYTES in numbers
    assert np.array_equal(back, host)


def test_copies_of_images_are_one_command(cl: bl.Device, cl_queue: bl.Queue, counted: Counted) -> None:
    desc = bl.ImageDescriptor(256, 256, num_channels=4, channel_type="fp32")
    host = np.random.default_rng(2).random(desc.shape, "f4")
    back = np.empty_like(host)
    with bl.ImageMem(desc, cl_queue) as first, bl.ImageMem(desc, cl_queue) as second:
        copies: tuple[tuple[str, Callable[[], bl.Event]], ...] = (
            ("BINDLESS_WRITE_IMAGE", lambda: cl_queue.ext_oneapi_copy(host, first)),
            ("BINDLESS_COPY_IMAGE", lambda: cl_queue.ext_oneapi_copy(first, second)),
            ("BINDLESS_READ_IMAGE", lambda: cl_queue.ext_oneapi_copy(second, back)),
        )
        for expected, copy in copies:
            counted.calls.clear()
            copy().wait()
            assert [name for name, _ in counted.calls] == [expected]
    assert np.array_equal(back, host)


class Strict:
    """Plans of copies with the pitches of memory, of which NVIDIA's driver takes multiples of the row pitch only."""

    def __init__(self) -> None:
        self.pitches: list[tuple[int, int]] = []

    def __call__(self, kind: int, source: Any, target: Any, region: Any, row: int = 0, between: int = 0) -> Any:
        side = {"BINDLESS_WRITE_IMAGE": target, "BINDLESS_READ_IMAGE": source}[_KINDS[kind]]
        slot, image = driver.ffi.new("size_t *"), driver.ffi.cast("cl_mem", side[0])
        driver.lib.clGetImageInfo(image, driver.lib.CL_IMAGE_ELEMENT_SIZE, 8, slot, driver.ffi.NULL)
        self.pitches.append((row, between))
        assert between % (row or region[0] * slot[0]) == 0
        return copy_command.copy_pixels(kind, source, target, region, row, between)


@pytest.mark.parametrize("extent", [(4, 2, 3), (2, 1, 2), (5, 2, 1), (3, 1, 1), (1, 1, 3)], ids=str)
@pytest.mark.parametrize("kind", [{"depth": 5}, {"type": "array", "array_size": 5}], ids=["volume", "layers"])
@pytest.mark.parametrize("channels", [1, 4])
def test_slices_with_gaps(
    cl: bl.Device,
    cl_queue: bl.Queue,
    monkeypatch: pytest.MonkeyPatch,
    kind: dict[str, Any],
    extent: tuple[int, int, int],
    channels: int,
) -> None:
    """One command copies regions of any shape between arrays and images, on a driver that is strict about pitches."""
    strict = Strict()
    monkeypatch.setattr(_copy, "copy_pixels", strict)
    desc = bl.ImageDescriptor(6, 4, num_channels=channels, channel_type="unsigned_int8", **kind)
    pixels = np.random.default_rng(5).integers(0, 256, desc.shape).astype("u1").reshape(5, 4, 6, channels)
    larger = np.random.default_rng(6).integers(0, 256, (6, 7, 9, channels)).astype("u1")
    places = bl.ImageDescriptor(9, 7, 6, num_channels=channels, channel_type="unsigned_int8")
    w, h, d = extent
    with bl.ImageMem(desc, cl_queue) as memory:
        cl_queue.ext_oneapi_copy(pixels, memory).wait()
        cl_queue.ext_oneapi_copy(
            larger, memory, src_desc=places, src_offset=(2, 1, 3), dst_offset=(1, 2, 1), copy_extent=extent
        ).wait()
        pixels[1 : 1 + d, 2 : 2 + h, 1 : 1 + w] = larger[3 : 3 + d, 1 : 1 + h, 2 : 2 + w]
        back = np.zeros_like(pixels)
        cl_queue.ext_oneapi_copy(memory, back).wait()
        assert np.array_equal(back, pixels)
        cl_queue.ext_oneapi_copy(
            memory, larger, dst_desc=places, src_offset=(1, 0, 2), dst_offset=(3, 4, 1), copy_extent=extent
        ).wait()
    wanted = larger.copy()
    wanted[1 : 1 + d, 4 : 4 + h, 3 : 3 + w] = pixels[2 : 2 + d, 0:h, 1 : 1 + w]
    assert np.array_equal(larger, wanted)
    assert len(strict.pitches) == 4
