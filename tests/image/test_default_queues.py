"""The queue that calls take for an array, when default contexts come and go."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from bindless.image import default_queue
from bindless.sycl.device import context


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither default contexts nor queues, and those of before at the end."""
    monkeypatch.setattr(context, "_defaults", {})
    monkeypatch.setattr(default_queue, "_of_devices", {})
    monkeypatch.setattr(default_queue, "_default", None)


@pytest.mark.usefixtures("fresh")
def test_an_array_of_the_next_default_context(queue: bl.Queue) -> None:
    device = queue.device
    for _ in range(2):
        own = bl.Queue(device)
        array = bl.usm_empty((4, 5), np.float32, own).copy_from(np.ones((4, 5), np.float32))
        other = default_queue.queue_of_array(array)
        assert other.context is array.context and default_queue.queue_of_array(array) is other
        with bl.Image(array) as image:
            np.testing.assert_array_equal(np.asarray(image.numpy()), 1)
        context._defaults.clear()  # as after a context that was closed


@pytest.mark.usefixtures("fresh")
def test_a_default_queue_whose_context_was_closed() -> None:
    first = default_queue.default_queue()
    first.context.close()
    second = default_queue.default_queue()
    assert second is not first and not second.context.closed
    second.context.close()
