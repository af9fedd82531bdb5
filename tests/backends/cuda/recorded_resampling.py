"""Launches of the kernels that resample, on the driver of ``fake_cuda.c``: run by ``test_cuda_recording.py``."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import numpy as np

import bindless as bl
from bindless.model.resampling import Resampling
from bindless.sampling.prepare import resample
from tests.backends.cuda.fake_cuda import Fake
from tests.support.filters import resampling

MATRIX = (*(float(number) for number in range(1, 13)), 0.0, 0.0, 0.0, 1.0)
DOUBLES = [8] * 17  # the matrix and the centre
WINDOW = [*[4] * 6, 8]  # origin, larger image, fill value
UNITS, SOURCE = [*[4] * 6, *WINDOW], [4, 4, 4, *WINDOW]


def parameters(own: list[int]) -> list[int]:
    """Sizes of a kernel's parameters."""
    return [8, *DOUBLES, 8, 8, 8, 4, 4, 4, *own, 8, *[4] * 5]


def picture_of(desc: bl.ImageDescriptor, shape: tuple[int, int, int], **options: Any) -> Resampling:
    return resampling(
        handle=0,
        descriptor=desc,
        shape=shape,
        matrix=MATRIX,
        values=0,
        value_dtype=np.dtype("f4"),
        value_channels=1,
        **options,
    )


def made(queue: bl.Queue) -> tuple[bl.ImageDescriptor, bl.ImageMem, bl.SampledImageHandle]:
    desc = bl.ImageDescriptor(7, 5, 3, num_channels=1, channel_type="fp32")
    memory = bl.ImageMem(desc, queue)
    sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
    return desc, memory, bl.create_image(memory, desc, queue, sampler=sampler)


def launched(fake: Fake) -> tuple[str, list[bytes]]:
    """The last launch: kernel and grid, and its arguments."""
    head, _, arguments = fake.lines("cuLaunchKernel")[-1].partition(": ")
    return head.removeprefix("cuLaunchKernel "), [bytes.fromhex(word) for word in arguments.split()]


def test_a_volume_in_usm_is_one_launch(queue: bl.Queue, fake: Fake) -> None:
    desc, _memory, handle = made(queue)
    out = bl.usm_empty((9, 17, 10, 1), np.float32, queue)
    vectors = bl.usm_empty((9, 17, 10, 3), np.float32, queue)
    picture = replace(picture_of(desc, (10, 17, 9)), coords_strides=(3, 1))
    fake.parameters(*parameters(UNITS))
    fake.clear()
    event = resample(queue, handle, picture, out, coords=vectors)
    assert event is not None
    event.wait()
    assert len(fake.lines("cuLaunchKernel")) == 1
    head, arguments = launched(fake)
    # Blocks of 8 x 8 x 8 elements: 2 x 3 x 2.
    assert head == "bindless_resample_3d_f 12 1 1 128 1 1 shared 0"
    assert arguments[0] == struct.pack("<Q", handle.raw_handle)
    assert b"".join(arguments[1:18]) == struct.pack("<17d", *MATRIX, 0.5)
    assert arguments[18:21] == [struct.pack("<Q", vectors.address), struct.pack("<q", 3), struct.pack("<q", 1)]
    assert b"".join(arguments[21:24]) == bytes(12)
    assert b"".join(arguments[24:30]) == struct.pack("<6f", 1, 1, 1, 0, 0, 0)
    assert b"".join(arguments[30:37]) == bytes(32)
    assert arguments[37] == struct.pack("<Q", out.address)
    assert b"".join(arguments[38:41]) == struct.pack("<3I", 10, 17, 9)
    format_, mode = struct.unpack("<2I", b"".join(arguments[41:]))
    assert format_ == 7 | 1 << 8 | 11 << 16 | 1 << 24 | 1 << 28
    assert mode == 1 | 0o222 << 3 | 1 << 14 | 2 << 18 | 1 << 20
    bl.destroy_image_handle(handle, queue)


def test_each_mode_is_loaded_once(queue: bl.Queue, fake: Fake) -> None:
    desc, _memory, handle = made(queue)
    out = bl.usm_empty((8, 8, 8, 1), np.float32, queue)
    fake.parameters(*parameters(SOURCE))
    names = []
    for interpolation in ("linear", "cubic", "linear"):
        fake.clear()
        picture = picture_of(desc, (8, 8, 8), interpolation=interpolation, precision="exact", fill=2.5)
        event = resample(queue, handle, picture, out)
        assert event is not None
        event.wait()
        names.append((launched(fake)[0], len(fake.lines("jit option 3"))))
    head = "bindless_resample_fetch_3d_f 1 1 1 128 1 1 shared 0"
    assert [name for name, _ in names] == [head] * 3
    assert [loads for _, loads in names] == [1, 1, 0]
    arguments = launched(fake)[1]
    assert arguments[18] == bytes(8)
    assert b"".join(arguments[24:34]) == struct.pack("<9id", 7, 5, 3, *(0,) * 6, 2.5)
    bl.destroy_image_handle(handle, queue)


def test_arrays_on_the_host_are_copied(queue: bl.Queue, fake: Fake) -> None:
    desc, _memory, handle = made(queue)
    out = np.zeros((2, 5, 100, 1), np.float32)
    vectors = np.zeros((3, 1000), np.float64)[::-1]
    picture = replace(picture_of(desc, (100, 5, 2)), coords_strides=(1, -1000))
    fake.parameters(*parameters(UNITS))
    fake.clear()
    assert resample(queue, handle, picture, out, coords=vectors) is None
    head, arguments = launched(fake)
    assert head == "bindless_resample_3d_f 8 1 1 128 1 1 shared 0"  # a plane: 4 x 1 x 2 blocks
    address, step, component = struct.unpack("<Qqq", b"".join(arguments[18:21]))
    assert (step, component) == (1, -1000)
    values = struct.unpack("<Q", arguments[37])[0]
    assert address % 512 == 2 * 1000 * 8 % 512 and values % 512 == 0
    bl.destroy_image_handle(handle, queue)


def test_images_over_linear_memory_have_their_own_kernel(queue: bl.Queue, fake: Fake) -> None:
    desc = bl.ImageDescriptor(100, num_channels=1, channel_type="fp32")
    array = bl.usm_empty((100, 1), np.float32, queue)
    handle = bl.create_image(array, desc, queue, sampler=bl.BindlessImageSampler("clamp_to_edge", "unnormalized"))
    out = bl.usm_empty((70, 1), np.float32, queue)
    picture = picture_of(desc, (70, 1, 1), precision="exact")
    fake.parameters(*parameters(SOURCE))
    event = resample(queue, handle, picture, out)
    assert event is not None
    event.wait()
    assert launched(fake)[0] == "bindless_resample_fetch_1d_linear_f 1 1 1 128 1 1 shared 0"
    bl.destroy_image_handle(handle, queue)
