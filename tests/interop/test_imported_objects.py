"""Python objects for imported memory and semaphores: copies, names, both forms of every call, and errors."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import resource
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises
from tests.support.shared_files import SharedFile, descriptors, descriptors_return_to, import_file, import_semaphore

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="file descriptors of memory are Linux's"),
    pytest.mark.usefixtures("files"),
]

DESC = bl.ImageDescriptor(16, 8, num_channels=4, channel_type="unsigned_int8")


@pytest.fixture
def shared() -> Iterator[SharedFile]:
    made = SharedFile.make(1 << 14)
    yield made
    made.close()


@dataclass
class Kind:
    """How to import, use and release one kind of object."""

    make: Callable[[], Any]
    use: Callable[[Any], object]
    release: Callable[..., None]


@pytest.fixture(params=["memory", "semaphore"])
def kind(request: pytest.FixtureRequest, ordered: bl.Queue, shared: SharedFile) -> Iterator[Kind]:
    event = os.eventfd(0, os.EFD_CLOEXEC)
    yield {
        "memory": Kind(
            lambda: import_file(shared, ordered),
            lambda made: bl.map_external_linear_memory(made, ordered, size=64),
            bl.release_external_memory,
        ),
        "semaphore": Kind(
            lambda: import_semaphore(event, "opaque_fd", ordered),
            ordered.ext_oneapi_signal_external_semaphore,
            bl.release_external_semaphore,
        ),
    }[str(request.param)]
    ordered.wait()
    os.close(event)


def test_copies_are_the_same_object(kind: Kind, ordered: bl.Queue) -> None:
    """Copies of any depth: releasing one invalidates all; the context stays usable."""
    before = descriptors()
    made = kind.make()
    copies = [copy.copy(made), copy.deepcopy(made), copy.deepcopy({"kept": [made]})["kept"][0]]
    assert all(each == made and hash(each) == hash(made) for each in copies)
    assert {each.raw_handle for each in copies} == {made.raw_handle}
    kind.release(made, ordered)
    for each in copies:
        for use in (kind.use, lambda each: kind.release(each, ordered), lambda each: each.raw_handle):
            with raises(bl.InvalidError):
                use(each)
    del made, copies
    assert descriptors_return_to(before)
    array = bl.usm_empty(4, np.int32, ordered)
    ordered.fill(array, 7, 4).wait()
    assert (array.numpy(ordered) == 7).all()


def test_they_are_not_pickled(kind: Kind, ordered: bl.Queue) -> None:
    made = kind.make()
    with raises(bl.InvalidError):
        pickle.dumps(made)
    kind.use(made)
    kind.release(made, ordered)


def test_descriptors_are_pickled_and_copied(shared: SharedFile) -> None:
    """Descriptors are values; the file descriptor in one is meaningful only in the process that opened it."""
    for desc in (
        bl.ExternalMemDescriptor(bl.ResourceFd(shared.fd), "dma_buf", 4096, dedicated=True),
        bl.ExternalSemaphoreDescriptor(bl.ResourceFd(shared.fd), "timeline_fd"),
    ):
        for same in (copy.copy(desc), copy.deepcopy(desc), pickle.loads(pickle.dumps(desc))):
            assert same == desc and hash(same) == hash(desc)
        assert desc.external_resource is desc.resource  # the specification's name for it


def test_two_imports_are_told_apart(kind: Kind, ordered: bl.Queue) -> None:
    """A released import's number is reused by the next import, so error messages identify imports by more than that."""
    made = [kind.make() for _ in range(2)]
    assert made[0].descriptor == made[1].descriptor
    assert len({repr(each) for each in made}) == 2
    for each in made:
        assert f"{each.raw_handle:#x}" in repr(each) and "released" not in repr(each)
        kind.release(each, ordered)
        assert "released" in repr(each)


def test_the_forms_with_device_and_context(ordered: bl.Queue, shared: SharedFile) -> None:
    where = ordered.device, ordered.context
    before = descriptors()
    memory = import_file(shared, *where)
    handle = bl.map_external_image_memory(memory, DESC, *where)
    pointer = bl.map_external_linear_memory(memory, *where, size=64, offset=8192)
    event = os.eventfd(0, os.EFD_CLOEXEC)
    semaphore = import_semaphore(event, "opaque_fd", *where)
    ordered.memset(pointer, 3, 64)
    ordered.ext_oneapi_signal_external_semaphore(semaphore).wait()
    assert os.eventfd_read(event) == 1 and (shared.bytes[8192:8256] == 3).all()
    bl.unmap_external_linear_memory(pointer, *where)
    bl.unmap_external_image_memory(handle, "standard", *where)
    bl.release_external_memory(memory, *where)
    bl.release_external_semaphore(semaphore, *where)
    ordered.wait()
    os.close(event)
    assert descriptors_return_to(before)


def test_errors_tell_the_way_out(ordered: bl.Queue, shared: SharedFile) -> None:
    """Errors for unmapped ranges, and for functions that need memory of another kind."""
    memory = import_file(shared, ordered)
    pointer = bl.map_external_linear_memory(memory, ordered, size=64)
    with raises(bl.InvalidError, names="unmap_external_linear_memory"):  # R74
        bl.free(pointer, ordered)
    array = pointer.array(16, np.int32)
    bl.unmap_external_linear_memory(array, ordered)
    for gone in (pointer, array):
        with raises(bl.InvalidError):
            bl.unmap_external_linear_memory(gone, ordered)
    event = os.eventfd(0, os.EFD_CLOEXEC)
    with raises(bl.InvalidError, names=f"file_descriptor={event}") as refused:
        bl.import_external_memory(bl.ExternalMemDescriptor(bl.ResourceFd(event), "opaque_fd", 64), ordered)
    if ordered.device.vendor == "bindless":  # its messages name the descriptor that was passed, and no other
        assert f"file descriptor {event} names no memory" in str(refused.value)
    os.close(event)


def test_threads_that_import_the_same_descriptor(ordered: bl.Queue, shared: SharedFile) -> None:
    """One thread's import takes the descriptor over and the others raise; nothing is closed twice, nor another thread's
    file."""
    before = descriptors()

    def attempt(desc: bl.ExternalMemDescriptor, start: threading.Barrier) -> object:
        start.wait()
        try:
            return bl.import_external_memory(desc, ordered)
        except bl.InvalidError as error:
            return str(error)

    with ThreadPoolExecutor(3) as pool:
        for _ in range(30):
            desc, start = shared.descriptor(), threading.Barrier(3)
            found = [each.result() for each in [pool.submit(attempt, desc, start) for _ in range(3)]]
            made = [each for each in found if isinstance(each, bl.ExternalMem)]
            assert len(made) == 1 and sum("is not open" in str(each) for each in found) == 2
            bl.release_external_memory(made[0], ordered)
    del found, made
    assert descriptors_return_to(before)


def test_no_descriptor_is_left(ordered: bl.Queue, shared: SharedFile) -> None:
    """An import fails while the process's descriptor table is full, and leaves its descriptor open."""
    event = os.eventfd(0, os.EFD_CLOEXEC)
    given = os.dup(shared.fd), os.dup(event)
    bl.release_external_memory(import_file(shared, ordered), ordered)  # opens whatever the first import opens once
    before, limits = descriptors(), resource.getrlimit(resource.RLIMIT_NOFILE)
    fillers = list[int]()
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 1, limits[1]))
    try:
        with contextlib.suppress(OSError):
            while True:
                fillers.append(os.dup(event))
        with raises(bl.InvalidError, names=(given[0], "Too many open files")):
            bl.import_external_memory(bl.ExternalMemDescriptor(bl.ResourceFd(given[0]), "opaque_fd", 64), ordered)
        with raises(bl.InvalidError, names=(given[1], "Too many open files")):
            bl.import_external_semaphore(bl.ExternalSemaphoreDescriptor(bl.ResourceFd(given[1]), "opaque_fd"), ordered)
    finally:
        for filler in fillers:
            os.close(filler)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert descriptors_return_to(before)
    for each in (*given, event):
        os.close(each)


@pytest.mark.survives_faults
def test_a_file_that_was_made_smaller(ordered: bl.Queue) -> None:
    """Mapping a range that the file no longer holds is an error; access to it would end the process."""
    shared = SharedFile.make(4096)  # maps the part that stays
    os.ftruncate(shared.fd, 1 << 14)
    memory = bl.import_external_memory(shared.descriptor(1 << 14), ordered)
    os.ftruncate(shared.fd, 4096)
    if ordered.device.backend == "reference":
        with raises(bl.InvalidError, names="4096 bytes"):
            bl.map_external_linear_memory(memory, ordered, size=8192)
    with raises(bl.InvalidError, names=4096):
        bl.map_external_image_memory(memory, bl.ImageDescriptor(32, 16), ordered)
    pointer = bl.map_external_linear_memory(memory, ordered, size=4096)
    ordered.memset(pointer, 5, 4096).wait()
    assert (shared.bytes == 5).all()
    shared.close()


@pytest.mark.survives_faults
def test_timelines_are_open_for_both(ordered: bl.Queue) -> None:
    made = SharedFile.make(8)
    reader = os.open(f"/proc/self/fd/{made.fd}", os.O_RDONLY)
    with raises(bl.InvalidError, names=reader):
        bl.import_external_semaphore(bl.ExternalSemaphoreDescriptor(bl.ResourceFd(reader), "timeline_fd"), ordered)
    os.close(reader)
    made.close()


@pytest.mark.survives_faults
def test_a_full_count_is_signalled(ordered: bl.Queue) -> None:
    """A signal on a full eventfd counter changes nothing and does not block."""
    event = os.eventfd(0, os.EFD_CLOEXEC)
    os.eventfd_write(event, 2**64 - 2)
    semaphore = import_semaphore(event, "opaque_fd", ordered)
    ordered.ext_oneapi_signal_external_semaphore(semaphore).wait()
    ordered.ext_oneapi_wait_external_semaphore(semaphore).wait()
    waited = ordered.ext_oneapi_wait_external_semaphore(semaphore)
    with pytest.raises(bl.WaitTimeoutError):
        waited.wait(timeout=0.02)
    os.eventfd_write(event, 1)
    waited.wait()
    os.close(event)
