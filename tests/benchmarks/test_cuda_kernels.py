"""Every built-in kernel over a picture's coordinates, compared with its two limits.

The bandwidth bound is a device-to-device copy of as many bytes as coordinates, layers, gradients, values and the image.
The texture unit bound is a handwritten kernel that computes its coordinates (``texture_unit.py``). The result is the
share of the lower limit: the larger of the two ratios. Where both limits load the same memory, as with distant layers
of one row, the two times add up: the last peer is the handwritten kernel, followed by a copy of the bytes that it did
not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.model.image_call import ImageCall
from tests.benchmarks.texture_unit import unit_kernel

Compare = Callable[..., Any]
LAUNCHES = 10

# Items of a call by the geometry in a kernel's name: slices, layers or faces; rows; items of a row. One-dimensional
# images are read once for every row.
SHAPES = {
    "1d": (1, 512, 32768),
    "1d_linear": (1, 256, 65536),
    "1d_array": (1, 2048, 8192),
    "2d": (1, 4096, 4096),
    "2d_array": (4, 2048, 2048),
    "3d": (256, 256, 256),
    "cube": (6, 1536, 1536),
}
PLAIN = ("1d", "2d", "3d", "1d_array", "2d_array")
GEOMETRIES = {
    "sample": (*PLAIN, "cube"),
    "sample_lod": (*PLAIN, "cube"),
    "sample_grad": PLAIN,
    "fetch_sampled": (*PLAIN, "1d_linear"),
    "fetch": PLAIN,
    "write": PLAIN,
}
FORMATS = (("fp32", 4), ("fp16", 4), ("unorm_int8", 4), ("fp32", 1))


@dataclass(frozen=True)
class Case:
    """One kernel and its operands; ``values`` channels of ``dtype`` per item."""

    operation: str
    geometry: str
    channel_type: str
    channels: int
    values: int
    dtype: str = "float32"

    @property
    def name(self) -> str:
        return f"{self.operation}_{self.geometry}"

    @property
    def mipmap(self) -> bool:
        """Whether the image has several levels to blend: where its geometry can have them."""
        return self.operation in ("sample_lod", "sample_grad") and self.geometry in ("1d", "2d", "3d")

    def __str__(self) -> str:
        return f"{self.name} {self.channel_type} x{self.channels} to {self.dtype} x{self.values}"


def _cases() -> Iterator[Case]:
    for operation, geometries in GEOMETRIES.items():
        for geometry in geometries:
            for channel_type, channels in FORMATS:
                yield Case(operation, geometry, channel_type, channels, channels)
    for operation in ("sample", "fetch", "write"):
        yield Case(operation, "2d", "fp16", 4, 4, "float16")
    for operation in ("sample", "fetch"):
        for channel_type in ("fp32", "unorm_int8"):
            yield Case(operation, "2d", channel_type, 4, 3)
    yield Case("sample", "2d", "fp16", 4, 3, "float16")
    yield Case("sample", "2d", "fp32", 2, 2)


CASES = tuple(_cases())


@cache
def _numbers(dtype: str) -> Any:
    """Return random pixels, more than any image here has."""
    values = np.random.default_rng(1).random(1 << 26, np.float32)
    return (values * (255 if dtype == "uint8" else 1)).astype(dtype)


def _pixels(desc: bl.ImageDescriptor) -> Any:
    return _numbers(desc.dtype.name)[: int(np.prod(desc.shape))].reshape(desc.shape)


def descriptor(case: Case) -> bl.ImageDescriptor:
    depth, height, width = SHAPES[case.geometry]
    form = {"num_channels": case.channels, "channel_type": case.channel_type}
    if case.geometry == "cube":
        return bl.ImageDescriptor(width, height, type="cubemap", array_size=6, **form)
    if case.geometry == "1d_array":
        return bl.ImageDescriptor(width, type="array", array_size=height, **form)
    if case.geometry == "2d_array":
        return bl.ImageDescriptor(width, height, type="array", array_size=depth, **form)
    sizes = (width, height, depth)[: int(case.geometry[0])]
    return (
        bl.ImageDescriptor(*sizes, type="mipmap", num_levels=2, **form)
        if case.mipmap
        else bl.ImageDescriptor(*sizes, **form)
    )


def make_image(case: Case, queue: Any, stack: ExitStack) -> tuple[Any, bl.ImageDescriptor]:
    """A handle over random pixels, destroyed with its memory by the stack."""
    desc = descriptor(case)
    linear = case.geometry == "1d_linear"
    sampler = bl.BindlessImageSampler(
        "clamp_to_edge",
        "normalized" if case.mipmap or case.geometry == "cube" else "unnormalized",
        "nearest" if case.operation == "fetch_sampled" else "linear",
        mipmap_filtering="linear",
        max_mipmap_level_clamp=float(desc.num_levels - 1),
    )
    if linear:
        memory: Any = bl.usm_empty(desc.shape, desc.dtype, queue)
        queue.memcpy(memory, _pixels(desc), desc.nbytes).wait()
    else:
        memory = stack.enter_context(bl.ImageMem(desc, queue))
    if case.mipmap:
        for level in range(2):
            small = desc.get_mip_level_desc(level)
            queue.ext_oneapi_copy(_pixels(small), memory.get_mip_level_mem_handle(level), dst_desc=small).wait()
    elif not linear:
        queue.ext_oneapi_copy(_pixels(desc), memory).wait()
    chosen = None if case.operation in ("fetch", "write") else sampler
    handle = bl.create_image(memory, desc, queue, sampler=chosen)
    stack.callback(bl.destroy_image_handle, handle, queue)
    return handle, desc


def coordinates(case: Case, queue: Any) -> Any:
    """Return (items, dims) on the device, in picture order: 0.37 beyond each pixel's corner, or its index."""
    import cupy

    depth, height, width = SHAPES[case.geometry]
    dims = 3 if case.geometry == "cube" else int(case.geometry[0])
    whole = case.operation.startswith(("fetch", "write"))
    result = bl.usm_empty((depth * height * width, dims), np.int32 if whole else np.float32, queue)
    z, y, x = (cupy.arange(n).reshape(shape) for n, shape in zip(SHAPES[case.geometry], ((-1, 1, 1), (-1, 1), (-1,))))
    view = cupy.asarray(result).reshape(depth, height, width, dims)
    if case.geometry == "cube":
        s, t = ((2 * (axis + cupy.float32(0.37)) / width - 1).astype(cupy.float32) for axis in (x, y))
        for face in range(6):
            major, sign = face // 2, 1 - 2 * (face % 2)
            view[face, ..., major] = sign
            view[face, ..., 1 if major == 0 else 0] = t if major == 0 else s
            view[face, ..., 1 if major == 2 else 2] = t if major == 2 else s
    else:
        for k, (axis, size) in enumerate(((x, width), (y, height), (z, depth))[:dims]):
            view[..., k] = axis if whole else (axis + cupy.float32(0.37)) / (size if case.mipmap else 1)
    cupy.cuda.Device().synchronize()
    return result


def _filled(queue: Any, shape: tuple[int, ...], dtype: str, value: Any) -> Any:
    import cupy

    result = bl.usm_empty(shape, dtype, queue)
    cupy.asarray(result)[...] = value
    cupy.cuda.Device().synchronize()
    return result


@dataclass(frozen=True)
class Work:
    """A kernel's launch and its texture-unit peer; the bytes that the kernel must move, those the peer skips, and
    items.
    """

    launch: Callable[[], Any]
    unit: Callable[[], Any]
    nbytes: int
    inputs: int
    count: int


def prepare(case: Case, queue: Any, stack: ExitStack) -> Work:
    """Create images, arrays and launches of a case."""
    handle, desc = make_image(case, queue, stack)
    depth, height, width = SHAPES[case.geometry]
    count = depth * height * width
    coords = coordinates(case, queue)
    values = bl.usm_empty((count, case.values), case.dtype, queue)
    arrays = {"coords": coords, "values": values}
    if case.operation == "write":
        queue.memcpy(
            values, np.resize(_numbers("float32"), count * case.values).astype(case.dtype), values.nbytes
        ).wait()
    if case.geometry.endswith("_array"):
        import cupy

        index = cupy.repeat(cupy.arange(desc.array_size), count // desc.array_size)
        arrays["layers"] = _filled(queue, (count,), "uint32", index)
    lod = 0.5 if case.mipmap else 0.0
    if case.operation == "sample_grad":
        lod = 1.5 if case.mipmap else 1.0
        dims = coords.shape[1]
        sizes = np.array((width, height, depth)[:dims], np.float32) if case.mipmap else np.ones(dims, np.float32)
        for name, axis in (("dx", 0), ("dy", min(1, dims - 1))):
            step = np.zeros(dims, np.float32)
            step[axis] = lod / sizes[axis]
            import cupy

            arrays[name] = _filled(queue, (count, dims), "float32", cupy.asarray(step))
    call = ImageCall(
        operation="fetch" if case.operation == "fetch_sampled" else case.operation,  # type: ignore[arg-type]
        handle=handle.raw_handle,
        sampled=case.operation not in ("fetch", "write"),
        descriptor=desc,
        count=count,
        value_dtype=np.dtype(case.dtype),
        value_channels=case.values,
        usm=case.geometry == "1d_linear",
        level=lod,
        **{name: array.pointer.address for name, array in arrays.items()},
    )
    backend, native = queue._backend, queue._native

    def launch() -> Any:
        return queue._enqueue(lambda waits: backend.image_call(native, call, waits), (), tuple(arrays.values()))

    unit = unit_kernel(
        case.name,
        handle.raw_handle,
        values.pointer.address,
        SHAPES[case.geometry],
        texel_bytes=desc.pixel_size,
        channels=case.values,
        value_bytes=np.dtype(case.dtype).itemsize,
        lod=lod,
    )
    levels = sum(desc.get_mip_level_desc(level).nbytes for level in range(2)) if case.mipmap else desc.nbytes
    inputs = sum(array.nbytes for name, array in arrays.items() if name != "values" or case.operation == "write")
    nbytes = levels + sum(array.nbytes for array in arrays.values())
    return Work(launch, unit, nbytes, inputs, count)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_kernel(compare: Compare, device: Any, queue: Any, case: Case) -> None:
    if device.backend != "cuda":
        pytest.skip("measures an NVIDIA GPU: run with --device cuda")
    cupy = pytest.importorskip("cupy", reason="pip install cupy-cuda13x")
    with ExitStack() as stack:
        work = prepare(case, queue, stack)
        source, target = (bl.malloc_device(work.nbytes // 2, queue) for _ in range(2))

        def ours() -> None:
            for _ in range(LAUNCHES):
                work.launch()
            queue.wait()

        def by_hand() -> None:
            for _ in range(LAUNCHES):
                work.unit()
            cupy.cuda.Device().synchronize()

        def copies(nbytes: int) -> None:
            for _ in range(LAUNCHES):
                queue.memcpy(target, source, nbytes // 2)
            queue.wait()

        def in_turn() -> None:
            by_hand()
            copies(work.inputs)

        ratios = compare(
            ours,
            {
                "bandwidth": lambda: copies(work.nbytes),
                "texture unit": by_hand,
                "unit, then its inputs": in_turn,
            },
            name=f"cuda {case}",
            items=work.count * LAUNCHES,
            unit="items",
            target="0.85 of the lower limit",
        )
        queue.wait()
    assert ratios
