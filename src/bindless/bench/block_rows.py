"""Rows of ``bindless bench`` about volumes in blocks: those of ``bindless.dask`` and of dask-image."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np

from ..model.arrays import Array
from .measure import Bench, Peer
from .peer_libraries import available
from .volume_peers import scipy_terms
from .volume_rows import rotation

__all__ = ["measure_blocks"]


_SIDE, _BLOCK, _THREADS = 256, 64, 2
_GOAL = 3.0
_INCLUDES = f"array to array, blocks of {_BLOCK}^3, {_THREADS} threads"


def measure_blocks(bench: Bench) -> None:
    """Measure a rotation block by block, from an array of the host to another one."""
    if find_spec("dask") is None:
        bench.notes.append("blocks: pip install 'bindless[dask]'")
        return
    from ..dask.arrays import warp_of
    from ..dask.block import compute
    from ..dask.blocks import Blocks
    from ..dask.chunks import starts_in
    from ..dask.workspace import Workspace
    from ..sycl.queue.queue import Queue

    side = max(int(_SIDE * min(bench.samples / 1e6, 1.0) ** (1 / 3)), 8)
    volume = np.random.default_rng(25).random((side,) * 3, np.float32)
    linear, offset = scipy_terms(rotation(side))
    result = np.empty_like(volume)
    own, workspaces = threading.local(), list[Workspace]()

    def begin() -> None:
        own.workspace = Workspace(Queue(bench.queue.device, bench.queue.context, in_order=True))
        workspaces.append(own.workspace)

    with ThreadPoolExecutor(_THREADS, initializer=begin) as executor:
        for order in (1, 3):
            warp = warp_of(volume, linear, offset.tolist(), None, order, "constant", 0.0, "exact")
            blocks = Blocks(warp, starts_in(volume.shape, (_BLOCK,) * 3), volume)

            def one(number: tuple[int, ...], blocks: Blocks = blocks) -> None:
                part = blocks.block(number)
                result[part] = compute(blocks.warp, part, volume.__getitem__, None, own.workspace)

            def whole(blocks: Blocks = blocks) -> None:
                list(executor.map(one, np.ndindex(*blocks.counts)))

            name = f"{side}^3 float32 {'cubic ' if order == 3 else ''}rotation in blocks, exact"
            peers = _peers(volume, linear, offset, order)
            bench.measure(name, whole, peers, amount=volume.size, unit="pixels", includes=_INCLUDES)
    for workspace in workspaces:
        workspace.close()
        workspace.queue.close()


def _peers(volume: Array, linear: Array, offset: Array, order: int) -> dict[str, Peer]:
    """dask-image of the same blocks; it fits B-splines before, and leaves out what blocks need of their neighbours."""
    library = available("dask_image.ndinterp")
    if library is None:
        return {}
    import dask.array as da

    lazy = da.from_array(volume, chunks=_BLOCK)

    def work() -> object:
        turned = library.affine_transform(lazy, linear, offset, order=order, output_chunks=(_BLOCK,) * 3)
        return turned.compute(scheduler="threads", num_workers=_THREADS)

    return {"dask-image affine_transform": Peer(work, goal=_GOAL if order == 1 else None)}
