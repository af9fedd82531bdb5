"""Submissions return while a host task that they come after has not ended.

The thread that submits also ends the host task, afterwards. So an operation that waits for the task on the host finds
it open until ``LIMIT`` is over, and fails here for the order that the task saw.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Union

import numpy as np
import pytest

import bindless as bl
from bindless import level_zero
from bindless.model.enums import Precision
from bindless.model.filter import CoordinateMap, Filter
from bindless.model.resampling import Resampling
from bindless.python_kernels.compiler_process import missing_packages
from bindless.sampling.prepare import resample
from tests.python_kernels.conftest import takes_none
from tests.support import buffer_kernels
from tests.support.pixels import every_coordinate, random_pixels, upload, usm

LIMIT = 60  # seconds: the end of a test that fails
WIDTH, HEIGHT = 9, 7
EVERY = every_coordinate(WIDTH, HEIGHT)
CENTRES = (EVERY + 0.5).astype(np.float32)
COUNT = len(EVERY)
DESC = bl.ImageDescriptor(WIDTH, HEIGHT, num_channels=4)
LAYERS = bl.ImageDescriptor(WIDTH, HEIGHT, num_channels=4, type="array", array_size=2)
CUBE = bl.ImageDescriptor(8, 8, num_channels=4, type="cubemap", array_size=6)
LEVELS = bl.ImageDescriptor(8, 8, num_channels=4, type="mipmap", num_levels=2)
PLAIN = bl.BindlessImageSampler("clamp_to_edge", filtering="linear")
NORMALIZED = bl.BindlessImageSampler("clamp_to_edge", "normalized", "linear", max_mipmap_level_clamp=1.0)

After = Union[bl.Event, Iterable[bl.Event]]


class Gate:
    """A host task that ends when ``open`` is called."""

    def __init__(self, queue: bl.Queue) -> None:
        self.in_time: list[bool] = []
        self._opened = threading.Event()
        self.event = queue.submit(lambda handler: handler.host_task(self._wait))

    def _wait(self) -> None:
        self.in_time.append(self._opened.wait(LIMIT))

    def open(self) -> None:
        self._opened.set()


class Place:
    """What the operations use: a queue, arrays, images of every type, a buffer, a kernel."""

    def __init__(self, queue: bl.Queue) -> None:
        self.queue = queue
        self.device = queue.device
        self.numbers = bl.usm_empty(64, np.int32, queue)
        self.terms = bl.usm_empty(64, np.int32, queue)
        self.host = np.zeros(64, np.int32)
        self.values = bl.usm_empty((COUNT, 4), np.float32, queue)
        self.points = usm(queue, CENTRES)
        self.places = usm(queue, EVERY.astype(np.int32))
        self.faces = usm(queue, np.zeros(COUNT, np.uint32))
        self.directions = usm(queue, np.ones((COUNT, 3), np.float32))
        self.gradients = usm(queue, np.full((COUNT, 2), 0.1, np.float32))
        for array in (self.numbers, self.terms):
            queue.fill(array, np.int32(0))
        queue.wait()

    def image(self, desc: bl.ImageDescriptor, sampler: bl.BindlessImageSampler | None = None, **options: Any) -> Any:
        """The handle of a new image."""
        if desc.type == "standard":
            memory = upload(self.queue, desc, random_pixels(desc))
        else:
            memory = bl.ImageMem(desc, self.queue)
        return bl.create_image(memory, desc, self.queue, sampler=sampler, **options)

    def memory(self) -> bl.ImageMem:
        return bl.ImageMem(DESC, self.queue)

    def add(self) -> bl.Kernel:
        return buffer_kernels.load(self.queue).get_kernel("add")


@bl.kernel
def total_of(values: Any, total: Any) -> None:
    total.combine(values[bl.device.item_id(0)])


Operation = Callable[[After], Any]
Row = Callable[[Place], Operation]
ROWS: dict[str, Row] = {}
LEVEL_ZERO: set[str] = set()


def row(function: Row) -> Row:
    """Adds an operation: for a place, it makes a function that submits commands after events, any number of times."""
    ROWS[function.__name__] = function
    return function


def row_of_level_zero(function: Row) -> Row:
    """The same for what Level Zero alone has."""
    LEVEL_ZERO.add(function.__name__)
    return row(function)


# ---------------------------------------------------------------------- queues


@row
def memcpy(place: Place) -> Operation:
    return lambda after: place.queue.memcpy(place.numbers, place.terms, depends_on=after)


@row
def memcpy_to_the_host(place: Place) -> Operation:
    return lambda after: place.queue.memcpy(place.host, place.numbers, depends_on=after)


@row
def copy(place: Place) -> Operation:
    return lambda after: place.queue.copy(place.host, place.numbers, depends_on=after)


@row
def fill(place: Place) -> Operation:
    return lambda after: place.queue.fill(place.numbers, np.int32(3), depends_on=after)


@row
def memset(place: Place) -> Operation:
    return lambda after: place.queue.memset(place.numbers, 1, depends_on=after)


@row
def prefetch(place: Place) -> Operation:
    shared = bl.usm_empty(64, np.int32, place.queue, kind="shared")
    return lambda after: place.queue.prefetch(shared, depends_on=after)


@row
def mem_advise(place: Place) -> Operation:
    shared = bl.usm_empty(64, np.int32, place.queue, kind="shared")
    return lambda after: place.queue.mem_advise(shared, None, 0, depends_on=after)


@row
def barrier(place: Place) -> Operation:
    return place.queue.ext_oneapi_submit_barrier


@row
def parallel_for(place: Place) -> Operation:
    kernel = place.add()
    return lambda after: place.queue.parallel_for(64, kernel, place.numbers, place.terms, depends_on=after)


@row
def parallel_for_without_items(place: Place) -> Operation:
    kernel = place.add()
    return lambda after: place.queue.parallel_for(0, kernel, place.numbers, place.terms, depends_on=after)


@row
def single_task(place: Place) -> Operation:
    kernel = place.add()
    return lambda after: place.queue.single_task(kernel, place.numbers, place.terms, depends_on=after)


@row
def bound_launch(place: Place) -> Operation:
    launch = place.add().bind(place.queue, 64, place.numbers, place.terms)
    return lambda after: launch(depends_on=after)


@row
def reduction(place: Place) -> Operation:
    if missing_packages() or takes_none(place.device):
        pytest.skip("the compiler of kernels in Python is missing, or the device takes OpenCL C alone")
    result = bl.usm_empty(1, np.int32, place.queue)
    total = bl.reduction(result, "add", initialize_to_identity=True)
    return lambda after: place.queue.parallel_for(64, total_of, place.numbers, total, depends_on=after)


@row
def host_task(place: Place) -> Operation:
    def group(handler: bl.Handler, after: After) -> None:
        handler.depends_on(after)
        handler.host_task(lambda: None)

    return lambda after: place.queue.submit(lambda handler: group(handler, after))


@row
def host_task_with_native_objects(place: Place) -> Operation:
    def group(handler: bl.Handler, after: After) -> None:
        handler.depends_on(after)
        handler.host_task(lambda native: native.get_native_queue())

    return lambda after: place.queue.submit(lambda handler: group(handler, after))


@row
def command_group(place: Place) -> Operation:
    def group(handler: bl.Handler, after: After) -> None:
        handler.depends_on(after)
        handler.memcpy(place.numbers, place.terms)

    return lambda after: place.queue.submit(lambda handler: group(handler, after))


@row
def command_graph(place: Place) -> Operation:
    graph = bl.CommandGraph(place.queue)
    graph.memcpy(place.numbers, place.terms)
    graph.fill(place.terms, np.int32(4))
    graph.finalize()
    return lambda after: graph(depends_on=after)


# ---------------------------------------------------------------------- buffers


@row
def buffers(place: Place) -> Operation:
    """Later commands come after the first by their accessors alone; contents begin in the host's memory."""
    buffer, other = bl.Buffer(np.zeros(64, np.int32)), bl.Buffer(np.ones(64, np.int32))
    for each in (buffer, other):
        each.set_final_data(None)
    kernel = place.add()

    def first(handler: bl.Handler, after: After) -> None:
        handler.depends_on(after)
        handler.fill(buffer.get_access(handler, "write"), np.int32(1))

    def second(handler: bl.Handler) -> None:
        handler.parallel_for(64, kernel, buffer.get_access(handler, "read_write"), other.get_access(handler, "read"))

    def third(handler: bl.Handler) -> None:
        accessor = buffer.get_access(handler, "read", target="host_task")
        handler.host_task(lambda: int(accessor[0]))

    def submit(after: After) -> list[bl.Event]:
        groups = (lambda handler: first(handler, after), second, third)
        return [place.queue.submit(group) for group in groups]

    return submit


@row
def buffers_of_two_contexts(place: Place) -> Operation:
    buffer = bl.Buffer(np.zeros(64, np.int32))
    buffer.set_final_data(None)
    second = bl.Queue(place.device, bl.Context(place.device))

    def fill_after(handler: bl.Handler, after: After) -> None:
        handler.depends_on(after)
        handler.fill(buffer.get_access(handler, "write"), np.int32(1))

    def submit(after: After) -> list[bl.Event]:
        return [
            place.queue.submit(lambda handler: fill_after(handler, after)),
            second.submit(lambda handler: handler.memset(buffer.get_access(handler, "read_write"), 2)),
        ]

    return submit


@row
def update_host(place: Place) -> Operation:
    buffer = bl.Buffer(np.zeros(64, np.int32))
    return lambda after: place.queue.update_host(buffer.get_access(None, "read"), depends_on=after)


@row
def placeholder(place: Place) -> Operation:
    buffer = bl.Buffer(np.zeros(64, np.int32))
    return lambda after: place.queue.fill(buffer.get_access(None, "write"), np.int32(1), depends_on=after)


# ---------------------------------------------------------------------- images


@row
def copy_of_an_image_from_the_host(place: Place) -> Operation:
    memory, pixels = place.memory(), random_pixels(DESC)
    return lambda after: place.queue.ext_oneapi_copy(pixels, memory, depends_on=after)


@row
def copy_of_an_image_to_the_host(place: Place) -> Operation:
    memory, pixels = place.memory(), random_pixels(DESC)
    return lambda after: place.queue.ext_oneapi_copy(memory, pixels, depends_on=after)


@row
def copy_of_an_image_from_usm(place: Place) -> Operation:
    memory, pixels = place.memory(), usm(place.queue, random_pixels(DESC))
    return lambda after: place.queue.ext_oneapi_copy(pixels, memory, depends_on=after)


@row
def copy_of_an_image(place: Place) -> Operation:
    one, other = place.memory(), place.memory()
    return lambda after: place.queue.ext_oneapi_copy(one, other, depends_on=after)


@row
def copy_of_a_part(place: Place) -> Operation:
    memory, pixels = place.memory(), random_pixels(DESC)
    part: dict[str, Any] = {"src_extent": DESC.extent, "copy_extent": (3, 3, 1), "dst_offset": (1, 1, 0)}
    return lambda after: place.queue.ext_oneapi_copy(pixels, memory, **part, depends_on=after)


@row
def fetch_image(place: Place) -> Operation:
    handle = place.image(DESC)
    return lambda after: bl.fetch_image(place.queue, handle, place.places, out=place.values, depends_on=after)


@row
def sample_image(place: Place) -> Operation:
    handle = place.image(DESC, PLAIN)
    return lambda after: bl.sample_image(place.queue, handle, place.points, out=place.values, depends_on=after)


@row
def write_image(place: Place) -> Operation:
    handle = place.image(DESC)
    return lambda after: bl.write_image(place.queue, handle, place.places, place.values, depends_on=after)


@row
def fetch_image_array(place: Place) -> Operation:
    handle, faces = place.image(LAYERS), place.faces
    call = bl.fetch_image_array
    return lambda after: call(place.queue, handle, place.places, faces, out=place.values, depends_on=after)


@row
def sample_image_array(place: Place) -> Operation:
    handle = place.image(LAYERS, PLAIN)
    call = bl.sample_image_array
    return lambda after: call(place.queue, handle, place.points, 1, out=place.values, depends_on=after)


@row
def write_image_array(place: Place) -> Operation:
    handle, call = place.image(LAYERS), bl.write_image_array
    return lambda after: call(place.queue, handle, place.places, place.faces, place.values, depends_on=after)


@row
def fetch_cubemap(place: Place) -> Operation:
    handle, call = place.image(CUBE), bl.fetch_cubemap
    places = usm(place.queue, np.minimum(EVERY, 7).astype(np.int32))
    return lambda after: call(place.queue, handle, places, 2, out=place.values, depends_on=after)


@row
def sample_cubemap(place: Place) -> Operation:
    handle, call = place.image(CUBE, NORMALIZED), bl.sample_cubemap
    return lambda after: call(place.queue, handle, place.directions, out=place.values, depends_on=after)


@row
def write_cubemap(place: Place) -> Operation:
    handle, call = place.image(CUBE), bl.write_cubemap
    places = usm(place.queue, np.minimum(EVERY, 7).astype(np.int32))
    return lambda after: call(place.queue, handle, places, 2, place.values, depends_on=after)


@row
def sample_mipmap(place: Place) -> Operation:
    handle, call = place.image(LEVELS, NORMALIZED), bl.sample_mipmap
    return lambda after: call(place.queue, handle, place.points, level=0.5, out=place.values, depends_on=after)


@row
def sample_mipmap_with_gradients(place: Place) -> Operation:
    handle, d = place.image(LEVELS, NORMALIZED), place.gradients
    call = bl.sample_mipmap
    return lambda after: call(place.queue, handle, place.points, dx=d, dy=d, out=place.values, depends_on=after)


@row
def sample_image_reproducibly(place: Place) -> Operation:
    handle, call = place.image(DESC, PLAIN, precision="reproducible"), bl.sample_image
    return lambda after: call(place.queue, handle, place.points, out=place.values, depends_on=after)


@row
def sample_image_exactly(place: Place) -> Operation:
    handle, call = place.image(DESC, PLAIN, precision="exact"), bl.sample_image
    return lambda after: call(place.queue, handle, place.points, out=place.values, depends_on=after)


@row
def sample_mipmap_exactly_with_gradients(place: Place) -> Operation:
    handle, d = place.image(LEVELS, NORMALIZED, precision="exact"), place.gradients
    call = bl.sample_mipmap
    return lambda after: call(place.queue, handle, place.points, dx=d, dy=d, out=place.values, depends_on=after)


def _resampled(place: Place, precision: Precision, coords: Any = None) -> Operation:
    handle = place.image(DESC, PLAIN)
    out = bl.usm_empty((HEIGHT, WIDTH, 4), np.float32, place.queue)
    strides = (0, 0) if coords is None else (2, 1)
    picture = Resampling(
        0, DESC, (WIDTH, HEIGHT, 1), 0, np.dtype(np.float32), 4, Filter(precision=precision), CoordinateMap.pictures(),
        coords_strides=strides,
    )  # fmt: skip
    first = None if coords is None else coords.reshape(-1)
    return lambda after: resample(place.queue, handle, picture, out, coords=first, depends_on=after)


@row
def resampled(place: Place) -> Operation:
    return _resampled(place, Precision.hardware)


@row
def resampled_exactly(place: Place) -> Operation:
    return _resampled(place, Precision.exact)


@row
def resampled_reproducibly(place: Place) -> Operation:
    return _resampled(place, Precision.reproducible)


@row
def resampled_with_vectors(place: Place) -> Operation:
    return _resampled(place, Precision.exact, place.gradients)


@row
def resampled_reproducibly_with_vectors(place: Place) -> Operation:
    return _resampled(place, Precision.reproducible, place.gradients)


@row
def resampled_with_vectors_of_the_host(place: Place) -> Operation:
    return _resampled(place, Precision.exact, np.full((COUNT, 2), 0.1, np.float32))


# ---------------------------------------------------------------------- Level Zero


@row_of_level_zero
def cooperative_launch(place: Place) -> Operation:
    kernel, call = place.add(), level_zero.launch_cooperative
    return lambda after: call(place.queue, 64, kernel, place.numbers, place.terms, depends_on=after)


@row_of_level_zero
def indirect_launch(place: Place) -> Operation:
    kernel, call = place.add(), level_zero.launch_indirect
    counts = usm(place.queue, np.array([4, 1, 1], np.uint32))
    return lambda after: call(place.queue, counts, 16, kernel, place.numbers, place.terms, depends_on=after)


@row_of_level_zero
def memory_ranges_barrier(place: Place) -> Operation:
    return lambda after: level_zero.memory_ranges_barrier(place.queue, place.numbers, depends_on=after)


@row_of_level_zero
def pool_event(place: Place) -> Operation:
    event = level_zero.EventPool(1, place.queue)[0]

    def submit(after: After) -> list[bl.Event]:
        first = event.signal_on(place.queue, depends_on=after)
        second = event.wait_on(place.queue, depends_on=first)
        return [first, second, event.reset_on(place.queue, depends_on=second)]

    return submit


# ---------------------------------------------------------------------- the test


@pytest.fixture(params=["in order", "out of order", "of the queue itself"])
def gates(device: bl.Device, request: pytest.FixtureRequest) -> Iterator[tuple[Place, Callable[[], Gate], bool]]:
    """A place, what closes a gate, and whether operations name it; otherwise an in-order queue comes after it."""
    with bl.Queue(device, in_order=request.param != "out of order") as queue, bl.Queue(device) as other:
        named = request.param != "of the queue itself"
        closed: list[Gate] = []

        def close() -> Gate:
            closed.append(Gate(other if named else queue))
            return closed[-1]

        yield Place(queue), close, named
        for gate in closed:
            gate.open()
        queue.wait()
        other.wait()


def _events(submitted: bl.Event | list[bl.Event]) -> list[bl.Event]:
    return submitted if isinstance(submitted, list) else [submitted]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.on_level_zero) if name in LEVEL_ZERO else name for name in ROWS],
)
def test_the_thread_that_submits_ends_the_task(name, gates):
    """Once with nothing known of the operation, then repeated, which may take a shorter path."""
    place, close, named = gates
    operation = ROWS[name](place)
    for _ in range(3):
        gate = close()
        first = _events(operation(gate.event if named else ()))
        events = [*first, *_events(operation(first))]
        early = [event.status for event in events]
        gate.open()
        for event in (*events, gate.event):
            event.wait()
        assert gate.in_time == [True], f"{name} waited for the host task"
        assert "complete" not in early
        for _ in range(2):
            for event in _events(operation(())):
                event.wait()
