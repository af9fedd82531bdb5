"""Host memory and semaphores shared through file descriptors, as the package's own drivers import them."""

from __future__ import annotations

import gc
import mmap
import os
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

import bindless as bl
from bindless.submission.command_stream import sweep


@dataclass
class SharedFile:
    """A memfd and a view of its bytes."""

    fd: int
    bytes: np.ndarray[Any, np.dtype[np.uint8]]

    @classmethod
    def make(cls, nbytes: int) -> SharedFile:
        fd = os.memfd_create("shared", os.MFD_CLOEXEC)
        os.ftruncate(fd, nbytes)
        return cls(fd, np.frombuffer(mmap.mmap(fd, nbytes), np.uint8))

    def descriptor(self, size: int | None = None, handle_type: str = "opaque_fd") -> bl.ExternalMemDescriptor:
        """A duplicate file descriptor, whose ownership passes to an import."""
        return bl.ExternalMemDescriptor(bl.ResourceFd(os.dup(self.fd)), handle_type, size or len(self.bytes))

    def seen(self, shape: tuple[int, ...], dtype: Any, offset: int = 0) -> np.ndarray[Any, Any]:
        """The bytes of the file as an array."""
        return np.ndarray(shape, dtype, self.bytes.data, offset)

    def close(self) -> None:
        os.close(self.fd)


class Timeline(SharedFile):
    """A file whose first number is the timeline's value."""

    @property
    def value(self) -> int:
        return int(self.seen((1,), np.uint64)[0])

    @value.setter
    def value(self, number: int) -> None:
        self.seen((1,), np.uint64)[0] = number


def import_file(shared: SharedFile, *where: Any, size: int | None = None) -> bl.ExternalMem:
    """Import the memory of a file."""
    return bl.import_external_memory(shared.descriptor(size), *where)


def import_semaphore(fd: int, handle_type: str, *where: Any) -> bl.ExternalSemaphore:
    """Import a semaphore from a duplicate of a descriptor."""
    return bl.import_external_semaphore(bl.ExternalSemaphoreDescriptor(bl.ResourceFd(os.dup(fd)), handle_type), *where)


def descriptors() -> int:
    """The number of open file descriptors of the process, once ten looks in 0.1 s agree: threads of earlier tests, the
    package's and the drivers', close theirs with a delay."""
    gc.collect()
    numbers: list[int] = []
    while len(numbers) < 10 or len({*numbers[-10:]}) > 1:
        time.sleep(0.01)
        numbers.append(_descriptors())
    return numbers[-1]


def descriptors_return_to(number: int) -> bool:
    """Whether the process reaches ``number`` open file descriptors within 10 s: threads close theirs with a delay."""
    end = time.monotonic() + 10
    while (is_other := _descriptors() != number) and time.monotonic() < end:
        time.sleep(0.01)
        gc.collect()
    return not is_other


def _descriptors() -> int:
    """Open file descriptors now, without those of commands that are complete."""
    sweep()
    return len(os.listdir("/proc/self/fd"))


def takes_files(device: bl.Device) -> bool:
    """Whether a device maps files: a GPU imports only exports of its own drivers, as in tests/interop/vulkan. The CUDA
    driver for processors maps them too, but as CUDA defines, copies to pageable memory and frees wait for all work:
    tests that signal after such a call would wait for ever."""
    return (device.vendor == "bindless" and device.backend != "cuda") or device.name.startswith(
        ("Fake GPU", "Sharing ")
    )
