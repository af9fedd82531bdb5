"""Updates of an ``Image`` from pinned memory on the driver of ``fake_cuda.c``: which commands wait for which;
``test_cuda_recording.py`` runs this file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.backends.cuda.fake_cuda import Fake

SHAPE = (700, 800, 3)
PACK, DRAW = "cuLaunchKernel bindless_pack", "cuLaunchKernel bindless_warp_2d_f"
UPLOAD = ["cuStreamWaitEvent", "cuMemcpyAsync", "cuEventRecord", "cuStreamWaitEvent", PACK]


def pinned(queue: bl.Queue, value: int = 0) -> bl.UsmArray:
    return bl.usm_empty(SHAPE, np.uint8, queue, kind="host").copy_from(np.uint8(value))


@pytest.fixture
def own(device: bl.Device) -> Iterator[bl.Queue]:
    with bl.Queue(device, in_order=True) as queue:
        yield queue


def calls(fake: Fake, work: Callable[[], object]) -> list[str]:
    """The driver calls of some work, without the lives of events, and launches with the name of the kernel."""
    fake.clear()
    event = work()
    lines = [" ".join(line.split()[: 2 if line.startswith("cuLaunchKernel") else 1]) for line in fake.lines()]
    lines = [line for line in lines if line not in ("cuEventCreate", "cuEventDestroy")]
    del event
    return lines


def draw(image: bl.Image, out: bl.UsmArray) -> None:
    image.warp(np.eye(3), SHAPE[:2], out=out)


def test_an_upload_waits_for_what_precedes_the_last_download(own: bl.Queue, fake: Fake) -> None:
    """The upload waits for the event before the download, and the kernel that takes the pixels for the upload."""
    frames, outs = [pinned(own), pinned(own)], [pinned(own), pinned(own)]
    with bl.Image(np.zeros(SHAPE, np.uint8), queue=own) as image:
        for turn in range(6):
            update = calls(fake, lambda turn=turn: image.update(frames[turn % 2]))  # type: ignore[misc]
            picture = calls(fake, lambda turn=turn: draw(image, outs[turn % 2]))  # type: ignore[misc]
            if turn > 1:
                assert update[: len(UPLOAD)] == UPLOAD and "cuStreamWaitEvent" not in update[len(UPLOAD) :]
                assert picture[-3:] == [DRAW, "cuEventRecord", "cuMemcpyAsync"]
                assert "cuStreamWaitEvent" not in picture


OTHERS: dict[str, Callable[[bl.Queue, bl.UsmArray], object]] = {
    "a command": lambda queue, frame: queue.memset(frame, 1),
    "a command on other memory": lambda queue, frame: queue.memset(bl.usm_empty(4, np.uint8, queue), 1),
    "a lent stream": lambda queue, frame: queue.__cuda_stream__(),
    "a native handle": lambda queue, frame: bl.get_native(queue),
}


@pytest.mark.parametrize("name", OTHERS)
def test_an_upload_waits_for_every_other_command(own: bl.Queue, fake: Fake, name: str) -> None:
    """An event after all commands is recorded, and the upload waits for it."""
    frame, out = pinned(own), pinned(own)
    with bl.Image(np.zeros(SHAPE, np.uint8), queue=own) as image:
        for _ in range(3):
            image.update(frame)
            draw(image, out)
        OTHERS[name](own, frame)
        assert calls(fake, lambda: image.update(frame))[: len(UPLOAD) + 1] == ["cuEventRecord", *UPLOAD]


def test_an_upload_waits_for_a_download_that_writes_its_source(own: bl.Queue, fake: Fake) -> None:
    memory = bl.usm_empty((2, *SHAPE), np.uint8, own, kind="host")
    with bl.Image(np.zeros(SHAPE, np.uint8), queue=own) as image:
        for _ in range(3):
            image.update(memory[0])
            draw(image, memory[1])
        assert calls(fake, lambda: image.update(memory[0]))[: len(UPLOAD)] == UPLOAD
        draw(image, memory[1])
        assert calls(fake, lambda: image.update(memory[1]))[: len(UPLOAD) + 1] == ["cuEventRecord", *UPLOAD]


def test_a_stream_of_another_owner(own: bl.Queue, fake: Fake) -> None:
    with bl.Queue.from_stream(own) as queue:
        frame, out = pinned(queue), pinned(queue)
        with bl.Image(np.zeros(SHAPE, np.uint8), queue=queue) as image:
            for _ in range(3):
                image.update(frame)
                draw(image, out)
            assert calls(fake, lambda: image.update(frame))[:2] == ["cuEventRecord", "cuStreamWaitEvent"]
        queue.wait()  # the stream must outlive it


@pytest.mark.parametrize("in_order", [True, False])
def test_pixels_are_those_at_the_place_of_the_update(device: bl.Device, fake: Fake, in_order: bool) -> None:
    """Commands before the update have written what is read, those after it write later; also with arrays of numpy in
    between. The streams of this driver run nothing until they are asked."""
    with bl.Queue(device, in_order=in_order) as queue:
        frame, out = pinned(queue), pinned(queue)
        source: Any = [bl.usm_empty(SHAPE, np.uint8, queue).copy_from(np.uint8(value)) for value in range(8)]
        with bl.Image(np.zeros(SHAPE, np.uint8), queue=queue) as image:
            for value in range(7):
                if value == 4:
                    image.update(np.full(SHAPE, value, np.uint8))
                else:
                    written = queue.memcpy(frame, source[value])
                    if not in_order:
                        written.wait()
                    read = image.update(frame)
                    assert read is not None
                    queue.memcpy(frame, source[7], depends_on=read)
                draw(image, out)
                turns = image._store._native._uploads._turns
                assert turns is not None
                buffer = turns._buffers[turns._turn]
                queue.wait()
                assert (buffer.numpy() == value).all()


@pytest.mark.parametrize("on_host", [False, True])
def test_images_of_a_queue_use_the_same_buffers(own: bl.Queue, fake: Fake, on_host: bool) -> None:
    """A loop that makes its image allocates no device memory but the image's, and frees none."""
    frame: Any = np.zeros(SHAPE, np.uint8) if on_host else pinned(own)
    out = pinned(own)
    for turn in range(4):
        fake.clear()
        with bl.Image(frame, queue=own) as image:
            for _ in range(3):
                image.update(frame)
                draw(image, out)
        if turn:
            lines = fake.lines()
            assert not [line for line in lines if line.startswith(("cuMemAlloc", "cuMemFree"))]
            assert len([line for line in lines if line.startswith("cuArray3DCreate")]) == 1


def test_buffers_of_an_earlier_image_are_filled_after_its_commands(own: bl.Queue, fake: Fake) -> None:
    """The first copies into them wait for an event of the image's queue, recorded after all commands that read them."""
    frames, out = [pinned(own, value) for value in range(2)], pinned(own)
    for _ in range(3):
        with bl.Image(np.zeros(SHAPE, np.uint8), queue=own) as image:
            update = calls(fake, lambda: image.update(frames[0]))
            copy = update.index("cuMemcpyAsync")
            assert "cuEventRecord" in update[:copy] and update[copy - 1] == "cuStreamWaitEvent"
            draw(image, out)
            image.update(frames[1])
