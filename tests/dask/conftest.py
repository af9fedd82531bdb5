"""Blocks are computed in the thread of the test, on the device under test."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

import bindless as bl


@pytest.fixture(autouse=True)
def blocks_on_device(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    dask = pytest.importorskip("dask", reason="pip install 'bindless[dask]'")
    from bindless.dask import queues

    own = threading.local()
    monkeypatch.setattr(queues, "_device", lambda: queue.device)
    monkeypatch.setattr(queues, "_own", own)
    with dask.config.set(scheduler="synchronous"):
        yield
    if hasattr(own, "workspace"):
        own.workspace.close()
        own.workspace.queue.close()
