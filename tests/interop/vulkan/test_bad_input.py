"""Descriptors that are no Vulkan memory or semaphore, or not of the declared kind: each raises an error."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

import bindless as bl
from tests.interop.vulkan.sharing_checks import (
    imported,
    imported_semaphore,
    mapped_image,
    open_descriptors,
    pixels_for,
    read_by_copies,
    same,
)
from tests.support.ctrl_c import INTERRUPTED_WAITS
from tests.support.error_checks import raises

pytestmark = pytest.mark.vulkan

DESC = bl.ImageDescriptor(45, 23, num_channels=4, channel_type="unorm_int8")


@pytest.fixture
def ordered(device, context):
    with bl.Queue(device, context, in_order=True) as queue:
        yield queue


@pytest.fixture
def image(rig, exporter):
    with exporter.image(DESC) as made:
        rig.start(made)
        rig.write(made, pixels_for(DESC, 3))
        yield made


@pytest.fixture
def strangers():
    """File descriptors that Vulkan did not export, keyed by kind; "closed" is not open any more."""
    reader, writer = os.pipe()
    closed = fcntl.fcntl(reader, fcntl.F_DUPFD, 700)  # a high number, which no other file reuses meanwhile
    os.close(closed)
    made = {"pipe": reader, "end": writer, "event": os.eventfd(0), "folder": os.open("/", os.O_RDONLY)}
    yield {**made, "closed": closed}
    for number in made.values():
        os.close(number)


def still_works(image, queue):
    with mapped_image(image, queue) as handle:
        same(read_by_copies(handle, DESC, queue), pixels_for(DESC, 3))


def test_no_memory(image, ordered, strangers):
    still_works(image, ordered)
    before = open_descriptors()
    good = image.export()
    for number in strangers.values():
        with raises(bl.InvalidError, names=number):
            bl.import_external_memory(replace(good, resource=bl.ResourceFd(number)), ordered)
    bl.release_external_memory(bl.import_external_memory(good, ordered), ordered)
    with raises(bl.InvalidError):  # the import owns the descriptor
        bl.import_external_memory(good, ordered)
    assert open_descriptors() <= before  # fewer if an earlier test left descriptors to pending commands
    still_works(image, ordered)


# NVIDIA's driver accepts any of its own exports as whatever kind the import declares.
TRUSTING = ("cuda", "opencl")


def test_each_as_the_other(rig, exporter, image, device, ordered):
    """Memory is no semaphore, a semaphore is no memory and no timeline."""
    if device.backend in TRUSTING:
        pytest.skip("the device's driver takes whatever it exported as what it is said to be")
    memory = image.export()
    before = open_descriptors()
    for kind in ("opaque_fd", "timeline_fd"):
        with raises(bl.InvalidError, names=memory.resource.file_descriptor):
            bl.import_external_semaphore(bl.ExternalSemaphoreDescriptor(memory.resource, kind), ordered)
    if rig.has_semaphores:
        with exporter.semaphore() as made:
            resource = made.export().resource
            with raises(bl.InvalidError, names="semaphore"):
                bl.import_external_memory(replace(memory, resource=resource, size_in_bytes=64), ordered)
            os.close(resource.file_descriptor)
    assert open_descriptors() <= before
    os.close(memory.resource.file_descriptor)
    still_works(image, ordered)


@pytest.mark.usefixtures("exports_semaphores")
def test_no_semaphore(exporter, image, device, ordered, strangers):
    before = open_descriptors()
    strangers.pop("event")  # an eventfd is a semaphore on the reference device
    memory = image.export().resource.file_descriptor
    with exporter.semaphore() as made:
        good = made.export()
        others = () if device.backend in TRUSTING else (memory,)
        for number in (*strangers.values(), *others):
            with raises(bl.InvalidError, names=number):
                bl.import_external_semaphore(replace(good, resource=bl.ResourceFd(number)), ordered)
        bl.release_external_semaphore(bl.import_external_semaphore(good, ordered), ordered)
        with raises(bl.InvalidError):
            bl.import_external_semaphore(good, ordered)
    os.close(memory)
    ordered.wait()
    assert open_descriptors() <= before


def test_memory_is_no_larger_than_it_is(image, device, ordered):
    good = image.export()
    beyond = replace(good, size_in_bytes=good.size_in_bytes + (1 << 21))
    with raises(bl.InvalidError, names=beyond.size_in_bytes):
        memory = bl.import_external_memory(beyond, ordered)  # NVIDIA's driver checks the range only when it is mapped
        bl.map_external_linear_memory(memory, ordered, size=memory.nbytes)
    if device.backend != "cuda":
        os.close(good.resource.file_descriptor)
    with imported(image, ordered) as memory:
        for size, offset in ((memory.nbytes + 1, 0), (1, memory.nbytes)):
            with raises(bl.InvalidError, names=memory.nbytes):
                bl.map_external_linear_memory(memory, ordered, size=size, offset=offset)
    still_works(image, ordered)


@pytest.mark.usefixtures("exports_semaphores")
def test_released_while_work_is_pending(rig, exporter, image, device, context, ordered):
    """The queue waits for a signal that comes after all imports are released; only its commands remain."""
    value = 1 if rig.shares_timelines else None
    found = bl.usm_empty(DESC.shape, DESC.dtype, ordered)  # a copy to host memory may block
    with (
        bl.Queue(device, context, in_order=True) as other,
        exporter.semaphore(timeline=rig.shares_timelines) as made,
        imported_semaphore(made, other) as ready,
    ):
        with imported_semaphore(made, ordered) as awaited, mapped_image(image, ordered) as handle:
            ordered.ext_oneapi_wait_external_semaphore(awaited, value)
            copied = ordered.ext_oneapi_copy(handle, found, src_desc=DESC, dst_desc=DESC)
            assert copied.status != "complete"
        assert copied.status != "complete"
        other.ext_oneapi_signal_external_semaphore(ready, value).wait_and_throw()
        copied.wait_and_throw()
    same([found.numpy(ordered)], pixels_for(DESC, 3))


WAITING = f"""
import os, signal, sys, threading
import bindless as bl

queue, other = (bl.Queue("BACKEND:*:*", in_order=True) for _ in range(2))
kind = "KIND"
semaphore = bl.import_external_semaphore(bl.ExternalSemaphoreDescriptor(bl.ResourceFd(NUMBER), kind), queue)
value = 7 if kind == "timeline_fd" else None
event = queue.ext_oneapi_wait_external_semaphore(semaphore, value)
{INTERRUPTED_WAITS}
try:
    event.wait(timeout=0.1)
except bl.WaitTimeoutError as error:
    print(error)
other.ext_oneapi_signal_external_semaphore(semaphore, value).wait()
queue.wait()
print(event.status)
"""


@pytest.mark.usefixtures("exports_semaphores")
def test_a_wait_for_vulkan_is_interrupted(rig, exporter, device):
    """Ctrl-C ends a wait of the host, a timeout names the semaphore, and another queue's signal ends the
    device's wait."""
    with exporter.semaphore(timeline=rig.shares_timelines) as made:
        desc = made.export()
        number = desc.resource.file_descriptor
        program = WAITING.replace("BACKEND", device.backend).replace("NUMBER", str(number))
        command = [sys.executable, "-c", program.replace("KIND", desc.handle_type)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(command, pass_fds=[number], env=environment, capture_output=True, text=True, timeout=100)
        os.close(number)
    assert done.returncode != -signal.SIGINT
    assert (done.returncode, done.stderr) == (0, "")
    first, second, told, status = done.stdout.splitlines()
    assert (first, second, status) == ("interrupted", "interrupted", "complete")
    assert f"ExternalSemaphore {desc.handle_type}" in told
