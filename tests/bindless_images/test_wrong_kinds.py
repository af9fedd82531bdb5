"""Arguments of a wrong type, for every object parameter: the package's error names the value; no bare Python error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.model.channels import channel_of_dtype
from tests.support.error_checks import raises

ARRAY = np.zeros((4, 2), np.float32)
POINTS = np.zeros((4, 2), np.int32)
WRONG = (3, "x", object(), (1,), ARRAY, np.array(1.5))

CALLS: dict[str, Callable[[bl.Queue, Any], object]] = {
    "from_array": lambda queue, wrong: bl.ImageDescriptor.from_array([wrong]),  # type: ignore[arg-type]
    "fetch_image": lambda queue, wrong: bl.fetch_image(wrong, bl.SampledImageHandle(5), POINTS),
    "sample_image": lambda queue, wrong: bl.sample_image(wrong, bl.SampledImageHandle(5), ARRAY),
    "write_image": lambda queue, wrong: bl.write_image(wrong, bl.UnsampledImageHandle(5), POINTS, ARRAY),
    "Image": lambda queue, wrong: bl.Image(ARRAY, queue=wrong),
    "as_usm_array": lambda queue, wrong: bl.as_usm_array(ARRAY, wrong),
    "from_dlpack": lambda queue, wrong: bl.from_dlpack(ARRAY, wrong),
    "CommandGraph": lambda queue, wrong: bl.CommandGraph(wrong),
    "depends_on": lambda queue, wrong: queue.ext_oneapi_copy(ARRAY, ARRAY.copy(), depends_on=wrong),
    "offset": lambda queue, wrong: queue.ext_oneapi_copy(
        ARRAY, ARRAY.copy(), src_desc=bl.ImageDescriptor(2, 4, num_channels=1), src_offset=(wrong,), copy_extent=(1, 1)
    ),
    "wait": lambda queue, wrong: queue.submit(lambda h: h.host_task(lambda: None)).wait(timeout=[wrong]),  # type: ignore[arg-type]
    "mode": lambda queue, wrong: bl.Buffer(ARRAY).get_access(None, [wrong]),  # type: ignore[arg-type]
    "make_context": lambda queue, wrong: bl.make_context(queue.backend, 64, wrong),
    "specialization": lambda queue, wrong: bl.load_kernel_bundle(b"kernel", queue, specialization=[wrong]),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", CALLS)
def test_wrong_kinds(queue: bl.Queue, name: str) -> None:
    for wrong in WRONG:
        with pytest.raises(bl.InvalidError):
            CALLS[name](queue, wrong)


def test_no_sizes(queue: bl.Queue) -> None:
    for wrong in (np.array(3), np.array(1.5), None):
        with raises(bl.InvalidError, names="shape="):
            bl.usm_empty(wrong, np.float32, queue)  # type: ignore[arg-type]
    with bl.Image(ARRAY, queue=queue) as image:
        for nothing in (None, 1.5, object()):
            with raises(bl.InvalidError, names="shape="):
                image.resize(nothing)  # type: ignore[arg-type]
            with raises(bl.InvalidError, names="shape="):
                image.warp(np.eye(3), nothing)  # type: ignore[arg-type]


def test_no_dtypes(queue: bl.Queue) -> None:
    """Strings, numbers and tuples that are no numpy dtype, also for a handle made from a number."""
    for wrong in ("junk", "f4,,(", 3, 1.5, object(), [1], {"a": 1}, (np.int32, 2**65)):
        with raises(bl.InvalidError, names="dtype="):
            channel_of_dtype(wrong)  # type: ignore[arg-type]
        with raises(bl.InvalidError, names="dtype="):
            bl.usm_empty(4, wrong, queue)  # type: ignore[call-overload]
        for handle in (bl.SampledImageHandle(2**40 + 5), bl.UnsampledImageHandle(2**40 + 5)):  # of no image
            with raises(bl.InvalidError, names="dtype="):
                bl.fetch_image(queue, handle, POINTS, num_channels=1, dtype=wrong)
            with raises(bl.InvalidError, names="dtype="):
                bl.fetch_image(queue, handle, POINTS, dtype=wrong, out=ARRAY.copy())


def test_freeing_names_the_call(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(4, 3, num_channels=1)
    memory = bl.alloc_image_mem(desc, queue)
    free: Any = bl.free_image_mem
    for arguments in ((memory, queue), (queue, memory), (memory, desc, queue), (memory, None, queue)):
        with raises(bl.InvalidError) as caught:
            free(*arguments)
        assert "free_image_mem(handle, image_type, queue)" in str(caught.value)
    for arguments in ((memory, "standard"), (memory, "standard", memory)):
        with raises(bl.InvalidError) as caught:
            free(*arguments)
        assert "Queue" in str(caught.value)
    free(memory, "standard", queue)


def test_images_and_handles_of_other_kinds(queue: bl.Queue) -> None:
    functions: Any = bl
    with bl.Image(ARRAY, queue=queue) as image:
        for call, word in (
            (lambda: functions.sample_image(queue, ARRAY, POINTS), "Image(array)"),
            (lambda: functions.sample_mipmap(queue, image, POINTS, level=0.0), "mipmaps=True"),
            (lambda: functions.destroy_image_handle(image, queue), "close()"),
            (lambda: bl.Image(ARRAY, queue="reference"), "bindless.Queue("),  # type: ignore[arg-type]
            (lambda: bl.Image(ARRAY.astype(np.complex64), queue=queue), "numpy.stack("),
            (lambda: image.sample(np.zeros((2, 100))), "transpose"),
        ):
            with raises(bl.InvalidError) as caught:
                call()
            assert word in str(caught.value)
