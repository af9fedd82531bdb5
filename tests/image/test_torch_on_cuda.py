"""Tensors of torch on an NVIDIA GPU as pixels, coordinates and results of an ``Image``: in place, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl

pytestmark = [pytest.mark.cuda, pytest.mark.torch]

LONG = 100_000_000  # cycles of the device: some 60 ms


@pytest.fixture(params=[True, False], ids=["in order", "out of order"])
def own(device: bl.Device, request: pytest.FixtureRequest) -> Iterator[bl.Queue]:
    with bl.Queue(device, in_order=request.param) as queue:
        yield queue


@pytest.fixture
def torch(device: bl.Device) -> Iterator[Any]:
    import torch as module

    with module.cuda.device(device.index), module.cuda.stream(module.cuda.Stream()):
        yield module
        module.cuda.synchronize()


def test_values_stay_on_the_device(own: bl.Queue, torch: Any) -> None:
    rng = np.random.default_rng(1)
    pixels, coords = rng.random((60, 80, 3)).astype(np.float32), rng.uniform(0, 60, (500, 2)).astype(np.float32)
    for given, expected in ((pixels, pixels), (pixels.transpose(1, 0, 2), pixels.transpose(1, 0, 2))):
        tensor = torch.from_numpy(pixels).cuda()
        tensor = tensor if given is pixels else tensor.permute(1, 0, 2)
        with bl.Image(tensor, queue=own) as image:
            np.testing.assert_array_equal(image.numpy(), expected)
            whole = image.warp(np.eye(3), expected.shape[:2])
            assert whole.is_cuda and torch.equal(whole, tensor)
            values = image.sample(torch.from_numpy(coords).cuda())
            assert values.is_cuda
            np.testing.assert_array_equal(values.cpu().numpy(), image.sample(coords))
            wide = image.sample(torch.from_numpy(coords).cuda().double())
            np.testing.assert_allclose(wide.cpu().numpy(), image.sample(coords), atol=1e-5)
            out = torch.zeros_like(values)
            assert image.sample(coords, out=out) is out and torch.equal(out, values)


def test_the_default_queue_is_the_tensor_s(torch: Any, device: bl.Device) -> None:
    with bl.Image(torch.zeros((4, 5), device="cuda")) as image:
        assert image.queue.device.index == device.index and image.queue.backend is bl.Backend.cuda


def test_work_is_in_the_order_of_torch_s_stream(own: bl.Queue, torch: Any) -> None:
    """The tensors get their values late, and others right after the call: it sees what was there in between."""
    pixels = np.random.default_rng(2).random((64, 64)).astype(np.float32)
    expected = pixels[10, 20]
    with bl.Image(pixels, queue=own) as image:
        coords, out = torch.zeros((4, 2), device="cuda"), torch.zeros(4, device="cuda")
        image.sample(coords, out=out)  # what is made at the first call
        torch.cuda.synchronize()
        torch.cuda._sleep(LONG)
        coords.copy_(torch.tensor([20.5, 10.5]).expand(4, 2).cuda(non_blocking=True))
        values = image.sample(coords)
        image.sample(coords, out=out)
        coords.fill_(0)
        assert not torch.cuda.current_stream().query()  # nothing has waited
        copied = out + values
        out.zero_()
        np.testing.assert_allclose(copied.cpu().numpy(), 2 * expected, rtol=1e-6)


def test_updates_are_in_the_order_of_torch_s_stream(own: bl.Queue, torch: Any) -> None:
    first, second = np.random.default_rng(3).random((2, 300, 400, 3)).astype(np.float32)
    with bl.Image(first, queue=own) as image:
        tensor = torch.zeros((300, 400, 3), device="cuda")
        image.update(tensor)
        result = torch.zeros_like(tensor)
        image.warp(np.eye(3), (300, 400), out=result)
        late = torch.from_numpy(second).pin_memory()
        torch.cuda.synchronize()
        torch.cuda._sleep(LONG)
        tensor.copy_(late, non_blocking=True)
        event = image.update(tensor)
        tensor.fill_(0)
        image.warp(np.eye(3), (300, 400), out=result)
        assert not torch.cuda.current_stream().query() and isinstance(event, bl.Event)
        np.testing.assert_array_equal(result.cpu().numpy(), second)
