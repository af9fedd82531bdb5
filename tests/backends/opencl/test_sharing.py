"""External memory and semaphores of OpenCL, on a processor driver behind ``sharing_driver.c``, which adds the
extensions.

No processor driver has them. This file tests OpenCL's own rules, on memory that the tests can read; a separate run
covers the tests for all devices that import files.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import bindless as bl
from bindless.backends.opencl import memory, memory_buffers
from bindless.backends.opencl.context import Context
from bindless.backends.opencl.queue import Queue
from bindless.model.enums import UsmKind
from tests.backends.opencl.failing_library import build, run
from tests.support.error_checks import raises
from tests.support.opencl_known_bugs import has_four_channels_alone

pytestmark = [
    pytest.mark.opencl,
    pytest.mark.skipif(sys.platform != "linux", reason="file descriptors of memory are Linux's"),
]

TESTS = Path(__file__).parents[2]

BEGINNING = """
import os, sys
import numpy as np
import bindless as bl
from tests.support.shared_files import SharedFile, descriptors, import_file, import_semaphore
device = bl.Device("opencl:*:*")
queue = bl.Queue(device, in_order=True)
shared = SharedFile.make(1 << 16)
desc = bl.ImageDescriptor(16, 8, num_channels=4, channel_type="unsigned_int8")
"""


@pytest.fixture(scope="module")
def sharing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library with the extensions, loaded in front of the OpenCL library under test."""
    found = bl.get_devices("opencl:*:*")
    if not found or found[0].type != "cpu":
        pytest.skip("needs OpenCL on a processor, before others: apt install pocl-opencl-icd ocl-icd-libopencl1")
    return build(tmp_path_factory.mktemp("driver") / "libsharing.so", "sharing_driver.c")


def said(sharing: Path, program: str) -> list[str]:
    """Output of a program that uses the library."""
    return run(sharing, BEGINNING + textwrap.dedent(program))


def test_what_every_importing_device_does(sharing: Path) -> None:
    """The tests of tests/interop that say of a device what importing files is."""  # R57, R71, R72, R73, R74
    if bl.get_devices("opencl:*:*")[0].platform.name == "rusticl":
        pytest.skip("rusticl keeps images apart from the host memory that they are made over, as OpenCL allows")
    files = ("external_memory", "binary_semaphores", "imported_objects", "outside_waits", "two_processes")
    command = [sys.executable, "-m", "pytest", "-n0", "-q", "-p", "no:cacheprovider", "--device", "opencl"]
    done = subprocess.run(
        [*command, *(str(TESTS / "interop" / f"test_{file}.py") for file in files)],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "BINDLESS_LIBOPENCL": str(sharing)},
        cwd=TESTS.parent,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    first = bl.get_devices("opencl:*:*")[0]
    lacking = 6 if has_four_channels_alone(first.platform.name, first.driver_version) else 0  # images of one channel
    assert passed is not None and int(passed[1]) >= 57 - lacking, done.stdout


def test_memory_is_acquired_and_released(sharing: Path) -> None:
    """The first command that uses memory acquires it; a signal, a wait and a host wait release it. The library refuses
    a second acquire or release."""
    program = """
    acquired = library.sharing_acquired
    memory = import_file(shared, queue)
    pointer = bl.map_external_linear_memory(memory, queue, size=4096)
    handle = bl.map_external_image_memory(memory, desc, queue)
    signalled = [import_semaphore(fd, "opaque_fd", queue) for fd in (os.eventfd(1), os.eventfd(0))]
    image = bl.create_image(handle, desc, queue)
    seen = [acquired()]
    queue.memset(pointer, 1, 64); seen.append(acquired())
    queue.ext_oneapi_wait_external_semaphore(signalled[0]); seen.append(acquired())
    queue.ext_oneapi_copy(handle, np.zeros(desc.shape, np.uint8), src_desc=desc).wait(); seen.append(acquired())
    queue.ext_oneapi_signal_external_semaphore(signalled[1]); seen.append(acquired())
    bl.fetch_image(queue, image, np.int32([[0, 0]])); seen.append(acquired())
    queue.wait(); seen.append(acquired())
    other = bl.Queue(device, queue.context)
    other.memset(pointer, 2, 64).wait(); seen.append(acquired())
    queue.wait(); seen.append(acquired())
    queue.ext_oneapi_submit_barrier().wait(); seen.append(acquired())
    other.wait(); seen.append(acquired())
    bl.destroy_image_handle(image, queue)
    queue.memset(pointer, 3, 64)
    bl.unmap_external_image_memory(handle, "standard", queue); seen.append(acquired())
    bl.unmap_external_linear_memory(pointer, queue)
    bl.release_external_memory(memory, queue); seen.append(acquired())
    print(*seen, shared.bytes[0])
    """
    assert said(sharing, program) == ["0 2 0 2 0 2 0 2 2 2 0 1 0 3"]


def test_memory_that_ends_while_other_is_acquired_or_released(sharing: Path) -> None:
    """The collector may destroy imports anywhere, even while others are acquired or released."""
    program = """
    from bindless.backends.opencl import external_ownership as handover
    acquired, enqueue, ending, seen = library.sharing_acquired, handover._enqueue, [], []

    def meanwhile(*arguments):
        while ending:
            bl.release_external_memory(ending.pop(), queue)
        return enqueue(*arguments)

    handover._enqueue = meanwhile
    memory = import_file(shared, queue)
    pointer = bl.map_external_linear_memory(memory, queue, size=4096)
    for value in range(1, 4):
        ending.append(import_file(SharedFile.make(1 << 16), queue))
        queue.memset(pointer, value, 64); seen.append(acquired())
        queue.wait(); seen.append(acquired())
        ending.append(import_file(SharedFile.make(1 << 16), queue))
        queue.memset(pointer, value, 64); seen.append(acquired())
        queue.wait(); seen.append(acquired())
        held = queue.context._native.handover
        seen.append(len(held.away) + len(held.here))
    print(*seen, shared.bytes[0])
    """
    assert said(sharing, program) == ["1 0 1 0 1 1 0 1 0 1 1 0 1 0 1 3"]


def test_a_launch_that_is_repeated_acquires_again(sharing: Path) -> None:
    """The launch bypasses Python; its memory was released in between."""
    program = """
    source = b"kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }"
    kernel = bl.load_kernel_bundle(source, queue).get_kernel("add")
    pointer = bl.map_external_linear_memory(import_file(shared, queue), queue, size=4096)
    other = bl.usm_empty(1024, np.int32, queue).copy_from(np.zeros(1024, np.int32), queue)
    seen = []
    for turn in range(4):
        for array in (pointer.array(1024, np.int32), other):
            queue.parallel_for(1024, kernel, array, np.int32(turn + 1))
        seen.append(library.sharing_acquired())
        queue.wait()
        seen.append(library.sharing_acquired())
    print(*seen)
    print(set(shared.seen((1024,), np.int32).tolist()), set(other.numpy(queue).tolist()))
    """
    assert said(sharing, program) == ["1 0 1 0 1 0 1 0", "{10} {10}"]


def test_a_kernel_at_a_place_that_no_buffer_begins_at(sharing: Path) -> None:
    """Copies go anywhere, kernels where the driver has sub-buffers; the message tells the multiple."""  # R73
    program = """
    source = b"kernel void one(global int *a) { a[get_global_id(0)] = 1; }"
    kernel = bl.load_kernel_bundle(source, queue).get_kernel("one")
    memory, unit = import_file(shared, queue), device.get_info("mem_base_addr_align") // 8
    at, off = (bl.map_external_linear_memory(memory, queue, size=64, offset=offset) for offset in (unit, unit + 4))
    queue.parallel_for(8, kernel, at.array(16, np.int32)).wait()
    print(shared.seen((16,), np.int32, unit).tolist() == [1] * 8 + [0] * 8)
    queue.memset(off, 2, 4).wait()
    print(shared.bytes[unit + 4], shared.bytes[unit + 8])
    try:
        queue.parallel_for(8, kernel, off.array(16, np.int32))
    except bl.InvalidError as error:
        print(f"multiple of {unit} bytes" in str(error))
    """
    assert said(sharing, program) == ["True", "2 1", "True"]


def test_devices_without_the_extensions(cl: bl.Device) -> None:
    """Such devices lack the aspects, and the error of an import names the aspect."""
    native = cl._record.native
    if cl.has("ext_oneapi_external_memory_import") and cl.has("ext_oneapi_external_semaphore_import"):
        pytest.skip("the device has both extensions")
    for aspect, extension in (
        ("ext_oneapi_external_memory_import", "cl_khr_external_memory"),
        ("ext_oneapi_external_semaphore_import", "cl_khr_external_semaphore"),
    ):
        if extension not in native.extensions:
            assert not cl.has(aspect)
    if not cl.has("ext_oneapi_external_memory_import"):
        with bl.Context(cl) as context, raises(bl.FeatureNotSupportedError, names="external_memory_import"):
            bl.import_external_memory(bl.ExternalMemDescriptor(bl.ResourceFd(0), "opaque_fd", 64), cl, context)


def test_copies_between_buffers_and_memory_with_addresses(cl: bl.Device, means: str) -> None:
    """The address of an imported buffer is emulated, whatever the kind of the device's own memory."""
    native = cl._record.native
    context = Context([native])
    queue = Queue(context, native, True, False)
    own = memory.allocate(context, native, UsmKind.device, 4096)
    shared = memory_buffers.allocate(context, native, UsmKind.device, 4096, 0)
    context.add(shared)
    values, found = np.arange(1024, dtype=np.int32), np.zeros(1024, np.int32)
    memory.copy(queue, shared.base, values.ctypes.data, 4096)
    memory.copy(queue, own + 64, shared.base + 128, 2048)
    memory.fill(queue, own + 64, b"\7\0\0\0", 4)
    memory.copy(queue, shared.base, own + 64, 2048)
    memory.copy(queue, found.ctypes.data, shared.base, 4096).wait()
    assert found.tolist() == [7] * 4 + list(range(36, 544)) + list(range(512, 1024))
    queue.close()
    memory.free(context, own)
    memory.free(context, shared.base)
    context.close()
