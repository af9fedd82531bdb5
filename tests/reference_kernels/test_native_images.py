"""Image instructions and rounding in native code: the executor's bits and faults, where lanes diverge, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device
from bindless.compiler import native_code
from tests.reference_kernels.test_native_code import both_ways, functions

__all__ = ["functions"]

COUNT = 333
PLACES = np.random.default_rng(5).uniform(-1, 3, (COUNT, 6)).astype(np.float32)


@pytest.fixture
def handles() -> Iterator[tuple[bl.Queue, Any]]:
    """A queue, and an array of handles: three pictures, a mipmap, an array, a cubemap and an unsampled picture."""
    if not native_code.gains(b"f->image(f"):
        pytest.skip("needs clang: pip install ziglang")
    queue, generator = bl.Queue("reference"), np.random.default_rng(2)
    sampler = bl.BindlessImageSampler(
        "mirrored_repeat", "normalized", "linear", mipmap_filtering="linear", max_mipmap_level_clamp=float("inf")
    )
    descriptors = [bl.ImageDescriptor(9 + n, 7, num_channels=(1, 2, 4)[n]) for n in range(3)]
    descriptors.append(bl.ImageDescriptor(16, 16, num_channels=1, num_levels=5, type="mipmap"))
    descriptors.append(bl.ImageDescriptor(9, 7, array_size=3, num_channels=1, type="array"))
    descriptors.append(bl.ImageDescriptor(8, 8, array_size=6, num_channels=1, type="cubemap"))
    descriptors.append(bl.ImageDescriptor(COUNT, num_channels=1))
    shapes: list[tuple[int, ...]] = [(7, 9), (7, 10, 2), (7, 11, 4), (16, 16), (3, 7, 9), (6, 8, 8), (COUNT,)]
    memories, created = [], []
    for number, descriptor in enumerate(descriptors):
        memory = bl.ImageMem(descriptor, queue)
        memories.append(memory)
        for level in range(descriptor.num_levels):
            part = memory.get_mip_level_mem_handle(level) if number == 3 else memory
            pixels = generator.random([max(size >> level, 1) for size in shapes[number]], np.float32)
            described = descriptor.get_mip_level_desc(level) if number == 3 else descriptor
            queue.ext_oneapi_copy(pixels, part, dst_desc=described).wait()
        created.append(bl.create_image(memory, descriptor, queue, **({} if number == 6 else {"sampler": sampler})))
    numbers = np.array([handle.raw_handle for handle in created], np.uint64)
    yield queue, bl.usm_empty(len(numbers), np.uint64, queue).copy_from(numbers)
    for handle in created:
        bl.destroy_image_handle(handle, queue)
    for memory in memories:
        memory.close()


def looks(mode: int) -> bl.PythonKernel:
    """A kernel of its own for each mode: the native code of an equal one would be found again."""

    @bl.kernel
    def look(images: Any, places: Any, out: Any, count: Any) -> None:
        i = device.item_id(0)
        x, y, z = places[i, 0], places[i, 1], places[i, 2]
        total = device.float4(np.float32(mode * 0))
        for step in range(i % 5 + count):
            if (i + step) % 3 == 0:
                total += device.sample_image(images[(i // 70 + step) % 3], x + step, y)
            elif places[i, 3] < 2:
                total += device.sample_mipmap(images[3], x, y, level=places[i, 4])
                total += device.sample_mipmap(images[3], x, y, dx=(z / 16, np.float32(0)), dy=(np.float32(0), y / 9))
            if i % 7 == step:
                total += device.sample_image_array(images[4], x, y, i % 3)
                total += device.fetch_sampled_image(images[i % 3], int(x), int(y))
                continue
            total += device.sample_cubemap(images[5], x - 1, y - 1, z - 1)
            if total.x > 100:
                break
        device.write_image(images[6], i, np.float32(total.x + total.y))
        for channel in range(4):
            out[i, channel] = total[channel]

    return look


def test_every_read_where_lanes_diverge(
    monkeypatch: pytest.MonkeyPatch, functions: list[int | None], handles: Any
) -> None:
    queue, images = handles
    places = bl.usm_empty(PLACES.shape, np.float32, queue).copy_from(PLACES)

    def call(kernel: bl.PythonKernel) -> Any:
        out = bl.usm_empty((COUNT, 4), np.float32, queue)
        queue.parallel_for(COUNT, kernel, images, places, out, 4).wait()
        return out.numpy(queue)

    executor, native = both_ways(monkeypatch, lambda mark: call(looks(int(mark[3]))))
    assert functions
    assert all(functions)
    assert np.isfinite(executor).all()
    np.testing.assert_array_equal(native.view(np.uint32), executor.view(np.uint32))


def writes(mode: int) -> bl.PythonKernel:
    @bl.kernel
    def write(image: Any, out: Any) -> None:
        i = device.item_id(0)
        if i % 3:
            device.write_image(image, i, np.float32(i * 2 + mode * 0))
        out[i] = device.fetch_image(image, i).x

    return write


def test_writes_of_some_lanes(monkeypatch: pytest.MonkeyPatch, functions: list[int | None], handles: Any) -> None:
    queue, images = handles
    image = int(images.numpy(queue)[6])

    def call(kernel: bl.PythonKernel) -> Any:
        out = bl.usm_empty(COUNT, np.float32, queue)
        queue.parallel_for(COUNT, kernel, np.uint64(image), out).wait()
        return out.numpy(queue)

    executor, native = both_ways(monkeypatch, lambda mark: call(writes(int(mark[3]))))
    assert all(functions)
    i = np.arange(COUNT)
    np.testing.assert_array_equal(native[i % 3 != 0], 2 * i[i % 3 != 0])
    np.testing.assert_array_equal(native, executor)


@pytest.mark.parametrize("bad", [0, 70, 200, 332])
@pytest.mark.parametrize("local", [None, 111])
def test_a_handle_that_is_none_names_its_work_item(
    monkeypatch: pytest.MonkeyPatch, functions: list[int | None], handles: Any, bad: int, local: int | None
) -> None:
    queue, images = handles
    row = np.full(COUNT, images.numpy(queue)[0])
    row[bad:] = 0x1234
    table = bl.usm_empty(COUNT, np.uint64, queue).copy_from(row)
    out = bl.usm_empty(COUNT, np.float32, queue)

    def make(mode: int) -> bl.PythonKernel:
        @bl.kernel
        def fault(images: Any, out: Any) -> None:
            i = device.item_id(0)
            if local is not None:
                device.barrier()
            if i % 2 == bad % 2:
                out[i] = device.sample_image(images[i], np.float32(mode), np.float32(0)).x

        return fault

    def call(kernel: bl.PythonKernel) -> str:
        with pytest.raises(bl.KernelError) as error:
            queue.parallel_for(COUNT if local is None else bl.NdRange(COUNT, local), kernel, table, out).wait()
        return str(error.value)

    executor, native = both_ways(monkeypatch, lambda mark: call(make(int(mark[3]))))
    assert all(functions)
    assert f"({bad})" in executor
    assert native == executor


NUMBERS = np.array(
    [0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.0, -2.0, 8388607.5, -8388607.5, 8388608.0, 1e30, -1e30, np.inf, -np.inf, np.nan,
     0.99999994, -0.99999994, 2147483520.0, 2147483648.0, -2147483648.0, 4294967040.0, 4294967296.0, 9.2e18, 1.9e19]
)  # fmt: skip


@pytest.mark.parametrize("kind", ["float", "double"])
def test_rounding_and_integers_of_floats(
    run: Any, monkeypatch: pytest.MonkeyPatch, functions: list[int | None], kind: str
) -> None:
    text = f"""kernel void test(global const {kind} *x, global {kind} *whole, global long *n)
        {{ const size_t i = get_global_id(0); whole[3 * i] = floor(x[i]); whole[3 * i + 1] = ceil(x[i]);
          n[8 * i] = convert_int_sat(x[i]); n[8 * i + 1] = convert_uint_sat(x[i]);
          n[8 * i + 2] = convert_long_sat(x[i]); n[8 * i + 3] = (long)convert_ulong_sat(x[i]);
          const int k = (int)i * 37 % 50 - 25, j = 10 - (int)i;
          n[8 * i + 4] = min(k, j); n[8 * i + 5] = max(k, j); n[8 * i + 6] = min((uint)k, (uint)j);
          n[8 * i + 7] = max((ulong)k, (ulong)j); }}"""
    x = np.resize(NUMBERS, 100).astype(np.float32 if kind == "float" else np.float64)

    def call(mark: str) -> Any:
        return run(mark + text, "test", 100, x, np.zeros((100, 3), x.dtype), np.zeros((100, 8), np.int64))

    executor, native = both_ways(monkeypatch, call)
    assert all(functions)
    bits = np.dtype(f"u{x.itemsize}")
    number = ~np.isnan(x)
    np.testing.assert_array_equal(native[1][number].view(bits), executor[1][number].view(bits))
    assert np.isnan(native[1][~number, :2]).all()
    np.testing.assert_array_equal(native[1][number, 0].view(bits), np.floor(x[number]).view(bits))
    np.testing.assert_array_equal(native[1][number, 1].view(bits), np.ceil(x[number]).view(bits))
    np.testing.assert_array_equal(native[2], executor[2])


def test_a_settled_value_that_lanes_compute_at_different_times(
    run: Any, monkeypatch: pytest.MonkeyPatch, functions: list[int | None]
) -> None:
    """It is one scalar for all lanes; what lanes write of it, they keep."""
    text = """kernel void test(global const int *p, int n, global int *out)
        { const int i = (int)get_global_id(0); int last = -1;
          for (int step = 0; step < 6; step++) {
            if ((i + step) % 4 == 0) { last = n * 3 + p[n]; }
            else if (i % 5 == step) { last = n * 7 + step; }
            if (last > 50 + i) break; }
          out[i] = last; }"""
    p = np.arange(40, dtype=np.int32)
    executor, native = both_ways(
        monkeypatch, lambda mark: run(mark + text, "test", COUNT, p, np.int32(9), np.zeros(COUNT, np.int32))[-1]
    )
    wanted = []
    for i in range(COUNT):
        last = -1
        for step in range(6):
            if (i + step) % 4 == 0:
                last = 36
            elif i % 5 == step:
                last = 63 + step
            if last > 50 + i:
                break
        wanted.append(last)
    assert all(functions)
    np.testing.assert_array_equal(native, wanted)
    np.testing.assert_array_equal(executor, wanted)
