"""The textures that the handler for CUDA keeps, without XLA: a driver in Python logs the copies and launches."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint64, c_void_p
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bindless.drivers import cuda

jax = pytest.importorskip("jax", reason="pip install jax")

from bindless.jax import _ffi, hardware  # noqa: E402
from tests.jax.call_frame import INITIALIZE, call  # noqa: E402
from tests.support.filters import lookup as make_lookup  # noqa: E402

STREAM, CONTEXT, LIBRARY, KERNEL = 0x5000, 0x6000, 0x7000, 0x8000
MOST_TEXTURES = 16
OUT_OF_MEMORY = 2
FUNCTIONS = {
    "get_context": (c_void_p, POINTER(c_void_p)), "push": (c_void_p,), "pop": (POINTER(c_void_p),),
    "clear": (c_uint64, ctypes.c_ubyte, c_size_t, c_void_p),
    "load": (POINTER(c_void_p), c_char_p, *[c_void_p] * 2, c_int, *[c_void_p] * 2, c_int),
    "get_kernel": (POINTER(c_void_p), c_void_p, c_char_p), "get_function": (POINTER(c_void_p), c_void_p),
    "launch": (c_void_p, *[c_int] * 7, c_void_p, c_void_p, POINTER(c_void_p)),
    "error_name": (c_int, POINTER(c_char_p)), "is_capturing": (c_void_p, POINTER(c_int)),
    "create_array": (POINTER(c_void_p), c_void_p), "destroy_array": (c_void_p,),
    "create_texture": (POINTER(c_uint64), c_void_p, c_void_p, c_void_p), "destroy_texture": (c_uint64,),
    "copy": (c_void_p, c_void_p), "create_event": (POINTER(c_void_p), c_int), "destroy_event": (c_void_p,),
    "record": (c_void_p, c_void_p), "wait": (c_void_p, c_void_p, c_int), "synchronize": (c_void_p,),
}  # fmt: skip


class Driver:
    """CUDA's functions. Handles of objects that exist are in ``alive``; ``log`` has the work in a stream."""

    def __init__(self) -> None:
        self.next, self.contexts = 100, 0
        self.alive: dict[int, Any] = {}
        self.log: list[tuple[Any, ...]] = []
        self.failing: dict[str, list[int]] = {}  # results of the next calls
        self.captures = False
        self.callbacks = [ctypes.CFUNCTYPE(c_int, *types)(self._logged(name)) for name, types in FUNCTIONS.items()]
        self.addresses = tuple(ctypes.cast(callback, c_void_p).value or 0 for callback in self.callbacks)

    def _logged(self, name: str) -> Any:
        def function(*arguments: Any) -> int:
            codes = self.failing.get(name)
            code = codes.pop(0) if codes else 0
            return code or getattr(self, name)(*arguments) or 0

        return function

    def _make(self, slot: Any, content: Any) -> None:
        self.next += 1
        slot[0] = self.next
        self.alive[self.next] = content

    def get_context(self, stream: int, context: Any) -> None:
        context[0] = CONTEXT

    def push(self, context: int) -> None:
        assert context == CONTEXT
        self.contexts += 1

    def pop(self, context: Any) -> None:
        self.contexts -= 1

    def load(self, library: Any, *_: Any) -> None:
        library[0] = LIBRARY

    def get_kernel(self, kernel: Any, *_: Any) -> None:
        kernel[0] = KERNEL

    def get_function(self, function: Any, *_: Any) -> None:
        function[0] = KERNEL

    def error_name(self, code: int, name: Any) -> None:
        name[0] = b"CUDA_ERROR_OF_TEST"

    def is_capturing(self, stream: int, status: Any) -> None:
        status[0] = int(self.captures)

    def create_array(self, array: Any, shape: int) -> None:
        found = cuda.ffi.cast("CUDA_ARRAY3D_DESCRIPTOR *", shape)
        self._make(array, (found.Width, found.Height, found.Depth, found.Format, found.NumChannels))

    def create_texture(self, texture: Any, resource: int, description: int, view: Any) -> None:
        assert not view
        array = int(cuda.ffi.cast("uintptr_t", cuda.ffi.cast("CUDA_RESOURCE_DESC *", resource).res.array.hArray))
        found = cuda.ffi.cast("CUDA_TEXTURE_DESC *", description)
        self._make(texture, (array, tuple(found.addressMode), found.filterMode, found.flags))

    def create_event(self, event: Any, flags: int) -> None:
        assert flags == cuda.lib.CU_EVENT_DISABLE_TIMING
        self._make(event, "event")

    def destroy_array(self, array: int) -> None:
        self._destroy(array)

    destroy_texture = destroy_event = destroy_array

    def _destroy(self, handle: int) -> None:
        assert self.contexts
        del self.alive[handle]

    def copy(self, copied: int, stream: int) -> None:
        found = cuda.ffi.cast("CUDA_MEMCPY3D *", copied)
        array = int(cuda.ffi.cast("uintptr_t", found.dstArray))
        size = found.WidthInBytes * found.Height * found.Depth
        pixels = ctypes.string_at(int(found.srcDevice), size)
        self.log.append(("copy", stream, array, (found.WidthInBytes, found.Height, found.Depth), pixels))

    def launch(self, kernel: int, *rest: Any) -> None:
        *_, stream, _, extra = rest
        texture, coords, values = (c_uint64 * 3).from_address(extra[1])
        self.log.append(("launch", stream, self.alive[texture][0], coords, values))

    def record(self, event: int, stream: int) -> None:
        self.log.append(("record", stream, event))

    def wait(self, stream: int, event: int, flags: int) -> None:
        self.log.append(("wait", stream, event))

    def synchronize(self, event: int) -> None:
        self.log.append(("synchronize", event))


@pytest.fixture
def driver() -> Iterator[Driver]:
    if cuda.available():
        pytest.skip("a CUDA driver is here, and textures that are its own may be kept: test_jax_hardware.py uses it")
    made = Driver()
    _ffi.use_cuda(made.addresses)
    yield made
    made.failing.clear()
    made.failing["create_array"] = [OUT_OF_MEMORY, OUT_OF_MEMORY]
    assert run(9, 9)[0] is not None  # gives the memory of all textures back: none is left for the next driver
    assert made.contexts == 0 and made.alive == {}
    _ffi.use_cuda((0,) * len(FUNCTIONS))


def run(
    height: int, width: int, count: int = 1, *, mode: str = "edge", stream: int = STREAM, stage: int | None = None
) -> tuple[str | None, list[npt.NDArray[Any]]]:
    """Call the handler with images; its error, and the buffers."""
    image = np.random.default_rng(height * width).normal(size=(count, height, width, 2)).astype(np.float32)
    coords, values = np.zeros((count, 6, 2), np.float32), np.zeros((count, 6, 2), np.float32)
    texture = make_lookup(2, boundary=mode, offset=(-0.5, -0.5))
    words, names, _ = hardware.cuda_program(texture, image, coords, values)
    for name in names:
        _ffi.register_kernel(name, b"code\0")
    more = {} if stage is None else {"stage": stage}
    failed = call(_ffi.cuda_texture_handler(), [image, coords], [values], words, " ".join(names), stream=stream, **more)
    return failed, [image, coords, values]


def test_functions_of_the_driver() -> None:
    assert len(_ffi.cuda_functions()) == len(FUNCTIONS)


def test_images_are_copied_and_sampled_in_turn(driver: Driver) -> None:
    assert run(5, 7, stage=INITIALIZE)[0] is None
    assert driver.log == [] == list(driver.alive)
    failed, (image, coords, values) = run(5, 7, 2)
    assert failed is None
    waits, first_copy, third, fourth, fifth, last = driver.log
    first, event, second, array = waits[0], waits[2], first_copy[0], first_copy[2]
    assert (first, second) == ("wait", "copy") and last == ("record", STREAM, event)
    assert first_copy[3:] == ((56, 5, 1), image[0].tobytes()) and third[2] == array
    assert fourth == ("copy", STREAM, array, (56, 5, 1), image[1].tobytes())
    assert [third[3:], fifth[3:]] == [
        (coords.ctypes.data + number * coords[0].nbytes, values.ctypes.data + number * values[0].nbytes)
        for number in (0, 1)
    ]
    lib = cuda.lib
    assert driver.alive[array] == (7, 5, 0, lib.CU_AD_FORMAT_FLOAT, 2)
    texture = next(content for content in driver.alive.values() if content[0] == array)
    modes = (lib.CU_TR_ADDRESS_MODE_CLAMP,) * 3
    flags = lib.CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION
    assert texture == (array, modes, lib.CU_TR_FILTER_MODE_LINEAR, flags)


def test_arrays_are_kept(driver: Driver) -> None:
    """A later call takes the same array, in another stream after a wait for the first; another sampler has its own."""
    run(5, 7)
    first, objects = driver.log[:], set(driver.alive)
    driver.log.clear()
    assert run(5, 7, stream=STREAM + 1)[0] is None
    assert set(driver.alive) == objects
    assert [entry[1] for entry in driver.log] == [STREAM + 1] * 4
    assert driver.log[0][2] == first[0][2] == first[-1][2]
    assert run(5, 7, mode="repeat")[0] is None
    assert len(driver.alive) == 6
    made = list(driver.alive.values())[-1]
    assert made[1][:2] == (cuda.lib.CU_TR_ADDRESS_MODE_WRAP,) * 2 and made[3] & cuda.lib.CU_TRSF_NORMALIZED_COORDINATES


def test_oldest_array_makes_room(driver: Driver) -> None:
    for width in range(1, MOST_TEXTURES + 1):
        run(3, width)
    run(3, 1)
    before = dict(driver.alive)
    assert len(before) == 3 * MOST_TEXTURES
    driver.log.clear()
    assert run(4, 4)[0] is None
    assert driver.log[0][0] == "synchronize"
    gone = [content for handle, content in before.items() if handle not in driver.alive]
    assert sorted(content[0] for content in gone if content != "event")[0] == 2  # width of the array
    assert len(driver.alive) == len(before)


def test_memory_is_made_by_forgetting_others(driver: Driver) -> None:
    run(3, 1)
    run(3, 2)
    driver.failing["create_array"] = [OUT_OF_MEMORY]
    assert run(3, 3)[0] is None
    assert len(driver.alive) == 3
    driver.failing["create_array"] = [OUT_OF_MEMORY, OUT_OF_MEMORY]
    failed, _ = run(3, 4)
    assert failed is not None and "CUDA_ERROR_OF_TEST" in failed
    assert driver.alive == {}
    assert run(3, 4)[0] is None


@pytest.mark.parametrize("name", ["is_capturing", "create_event", "create_texture", "wait", "copy", "launch", "record"])
def test_failures(driver: Driver, name: str) -> None:
    """The lock is free afterwards, and nothing half-made is kept."""
    driver.failing[name] = [700]
    failed, _ = run(6, 6)
    assert failed is not None and "CUDA_ERROR_OF_TEST" in failed
    assert len(driver.alive) in (0, 3)
    assert run(6, 6)[0] is None


def test_graphs_are_refused(driver: Driver) -> None:
    driver.captures = True
    assert run(6, 6)[0] is not None
    assert driver.log == [] == list(driver.alive)
    driver.captures = False
    assert run(6, 6)[0] is None


@pytest.mark.parametrize(
    "damage", [lambda words: words[:9], lambda words: [2, 9, *words[2:]], lambda words: words[12:]]
)
def test_damaged_programs(driver: Driver, damage: Any) -> None:
    """Too short, with a buffer that does not exist, and a call without a texture."""
    image, coords, values = (np.zeros((1, 4, 2), np.float32) for _ in range(3))
    words, names, _ = hardware.cuda_program(make_lookup(1, offset=(-0.5,)), image, coords[:, :, :1], values)
    _ffi.register_kernel(names[0], b"code\0")
    failed = call(_ffi.cuda_texture_handler(), [image, coords], [values], damage(words), names[0], stream=STREAM)
    assert failed is not None
    assert not any(entry[0] == "launch" for entry in driver.log)
