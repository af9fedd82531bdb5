"""CuPy and PyTorch on the same GPU: shared memory in both directions, and ordering of streams under load."""

from __future__ import annotations

import gc
import re
from pathlib import Path

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises

pytestmark = pytest.mark.cuda

COUNT = 1 << 22
# Elements that take the device longer to fill than the host needs to submit the fill.
MANY = 1 << 27


@pytest.fixture(params=[True, False], ids=["in order", "out of order"])
def run(request, device):
    """A queue of the default context, which arrays without a queue use."""
    with bl.Queue(device, in_order=request.param) as queue:
        yield queue


@pytest.fixture
def cupy(device):
    import cupy as module

    with module.cuda.Device(device.index):
        yield module
        module.cuda.Device().synchronize()


@pytest.fixture
def torch(device):
    import torch as module

    with module.cuda.device(device.index):
        yield module
        module.cuda.synchronize()


def filled(queue, kind="device", shape=(4, 6)):
    return bl.usm_empty(shape, "f4", queue, kind=kind).copy_from(np.arange(np.prod(shape)).reshape(shape))


def check_shared(array, write, read):
    """Each side sees the writes of the other side."""
    write(5.0)
    assert (array.numpy() == 5).all()
    array.copy_from(np.arange(array.size).reshape(array.shape))
    np.testing.assert_array_equal(read(), np.arange(array.size).reshape(array.shape))


# ---------------------------------------------------------------------- CuPy


@pytest.mark.cupy
@pytest.mark.parametrize("take", ["from_dlpack", "asarray"])
def test_cupy_sees_our_memory(run, cupy, take):
    array = filled(run)
    view = array[::2, 1:5]
    for ours in (array, view, array.T):
        theirs = getattr(cupy, take)(ours)
        assert theirs.data.ptr == ours.address and theirs.shape == ours.shape
        assert theirs.dtype == ours.dtype and theirs.strides == ours.strides
        np.testing.assert_array_equal(cupy.asnumpy(theirs), ours.numpy())

    def write(value):
        cupy.asarray(array).fill(value)
        cupy.cuda.Device().synchronize()

    check_shared(array, write, lambda: cupy.asnumpy(cupy.asarray(array)))


@pytest.mark.cupy
def test_cupy_keeps_our_memory(run, cupy):
    array = filled(run)
    resource = array._owner.resource
    theirs = cupy.from_dlpack(array)
    array.close()
    gc.collect()
    assert not resource.closed
    np.testing.assert_array_equal(cupy.asnumpy(theirs).ravel(), np.arange(24))
    del resource, theirs, array
    gc.collect()


@pytest.mark.cupy
@pytest.mark.parametrize("take", [bl.from_dlpack, bl.as_usm_array])
@pytest.mark.parametrize("given", [True, False])
def test_cupys_memory_in_place(run, cupy, take, given):
    theirs = cupy.arange(24, dtype=cupy.float32).reshape(4, 6)
    queue = run if given else None
    for part in (theirs, theirs[::2, 1:5], theirs.T, theirs[::-1]):
        array = take(part, queue)
        assert array.address == part.data.ptr and array.kind == "device" and array.shape == part.shape
        np.testing.assert_array_equal(array.numpy(), cupy.asnumpy(part))
    array = take(theirs, queue)
    del theirs, part
    gc.collect()
    array[1].copy_from(-1)
    assert (array.numpy()[1] == -1).all()


@pytest.mark.cupy
def test_cupys_interface(run, cupy):
    theirs = cupy.arange(24, dtype=cupy.int16).reshape(4, 6)

    class Interface:
        __cuda_array_interface__ = property(lambda self: theirs.__cuda_array_interface__)

    array = bl.as_usm_array(Interface(), run)
    assert array.address == theirs.data.ptr and array.dtype == np.int16
    np.testing.assert_array_equal(array.numpy(), cupy.asnumpy(theirs))


@pytest.mark.cupy
def test_cupys_managed_and_pinned_memory(run, cupy):
    with cupy.cuda.using_allocator(cupy.cuda.malloc_managed):
        managed = cupy.arange(10, dtype=cupy.float32)
    array = bl.from_dlpack(managed, run)
    assert array.kind == "shared" and array.address == managed.data.ptr
    assert np.asarray(array).tolist() == list(range(10))
    memory = cupy.cuda.alloc_pinned_memory(40)
    pinned = np.frombuffer(memory, np.float32, 10)
    array = bl.from_dlpack(pinned, run)
    assert array.kind == "host" and array.address == pinned.ctypes.data
    run.fill(array, 3.0).wait()
    assert (pinned == 3).all()
    shared = filled(run, kind="shared")
    assert cupy.from_dlpack(shared).data.ptr == shared.address


@pytest.mark.cupy
def test_cupy_kernels_of_a_queues_stream(device, cupy):
    """CuPy's work on an in-order queue's stream is ordered with the queue's commands."""
    with bl.Queue(device, in_order=True) as queue:
        array = bl.usm_empty(COUNT, "f4", queue)
        theirs = cupy.from_dlpack(array)
        version, handle = queue.__cuda_stream__()
        assert version == 0
        known = hasattr(cupy.cuda.Stream, "from_external")  # accepts any object with __cuda_stream__
        with cupy.cuda.Stream.from_external(queue) if known else cupy.cuda.ExternalStream(handle):
            for value in range(100):
                queue.fill(array, float(value))
                theirs += 1.0
        queue.wait()
        assert (array.numpy() == 100).all()


# ---------------------------------------------------------------------- PyTorch


@pytest.mark.torch
def test_torch_sees_our_memory(run, torch):
    array = filled(run)
    for ours in (array, array[::2, 1:5], array.T):
        theirs = torch.from_dlpack(ours)
        assert theirs.data_ptr() == ours.address and tuple(theirs.shape) == ours.shape
        np.testing.assert_array_equal(theirs.cpu().numpy(), ours.numpy())
    theirs = torch.from_dlpack(array)

    def write(value):
        theirs.fill_(value)
        torch.cuda.synchronize()

    check_shared(array, write, lambda: torch.from_dlpack(array).cpu().numpy())


@pytest.mark.torch
def test_an_error_in_torch_reaches_python_whole(run, torch):
    array = filled(run)
    for _ in range(10):
        with pytest.raises(RuntimeError, match="shape"):
            torch.from_dlpack(array).reshape(5, 7)


@pytest.mark.torch
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64"])
def test_torchs_memory_in_place(run, torch, given, dtype):
    theirs = (torch.arange(24, device="cuda").reshape(4, 6) % 2).to(getattr(torch, dtype))
    for part in (theirs, theirs[::2, 1:5], theirs.T):
        array = bl.from_dlpack(part, run if given else None)
        assert array.address == part.data_ptr() and array.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(array.numpy(), part.cpu().numpy())
    array = bl.as_usm_array(theirs, run)
    del theirs, part
    gc.collect()
    torch.cuda.empty_cache()
    array[1].copy_from(False)
    assert not array.numpy()[1].any()


@pytest.mark.torch
def test_torchs_bfloat16_is_refused_with_a_way_out(run, torch):
    theirs = torch.ones(8, dtype=torch.bfloat16, device="cuda")
    with raises(bl.InvalidError, names=("bfloat16", "tensor.view(torch.int16)")):
        bl.from_dlpack(theirs, run)
    array = bl.from_dlpack(theirs.view(torch.int16), run)
    assert array.address == theirs.data_ptr() and (array.numpy() == 0x3F80).all()


@pytest.mark.torch
def test_torchs_memory_on_the_host(torch):
    theirs = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    array = bl.from_dlpack(theirs)
    assert array.address == theirs.data_ptr() and array.device.backend == "reference"
    array[1].copy_from(-1)
    assert (theirs[1] == -1).all()
    with bl.Queue("reference:*:*") as queue:
        ours = bl.usm_empty(5, "i8", queue).copy_from(range(5))
        seen = torch.from_dlpack(ours)
        assert seen.data_ptr() == ours.address and seen.device.type == "cpu"
        seen += 1
        assert ours.numpy().tolist() == [1, 2, 3, 4, 5]


@pytest.mark.torch
@pytest.mark.cupy
def test_arrays_of_torch_and_cupy_as_arguments(run, torch, cupy):
    """Coordinates from CuPy, the result in a PyTorch tensor, and no copies."""
    picture = np.arange(64, dtype=np.float32).reshape(8, 8)
    desc = bl.ImageDescriptor(8, 8, num_channels=1)
    image = bl.ImageMem(desc, run)
    run.ext_oneapi_copy(torch.tensor(picture, device="cuda"), image).wait()
    handle = bl.create_image(image, desc, run, sampler=bl.BindlessImageSampler("clamp_to_edge"))
    places = np.random.default_rng(5).integers(0, 8, (1000, 2))
    coords = cupy.asarray((places + 0.5).astype(np.float32))
    out = torch.zeros(1000, 1, device="cuda")
    event = bl.sample_image(run, handle, coords, out=out)
    stream = torch.cuda.current_stream()
    bl.order_stream_after(stream.cuda_stream or 1, event)
    np.testing.assert_array_equal(out.cpu().numpy()[:, 0], picture[places[:, 1], places[:, 0]])
    run.wait()
    bl.destroy_image_handle(handle, run)
    image.close()


SCALE = b"""
.version 7.0
.target sm_50
.address_size 64
.visible .entry scale(.param .u64 .ptr .global .align 4 data, .param .f32 factor)
{
    .reg .u32 %i<4>; .reg .u64 %a<3>; .reg .f32 %f<3>;
    mov.u32 %i0, %ctaid.x; mov.u32 %i1, %ntid.x; mov.u32 %i2, %tid.x;
    mad.lo.u32 %i3, %i0, %i1, %i2;
    ld.param.u64 %a0, [data]; ld.param.f32 %f0, [factor];
    cvta.to.global.u64 %a0, %a0;
    mul.wide.u32 %a1, %i3, 4; add.u64 %a2, %a0, %a1;
    ld.global.f32 %f1, [%a2]; mul.f32 %f2, %f1, %f0; st.global.f32 [%a2], %f2;
    ret;
}
"""


@pytest.mark.cupy
@pytest.mark.torch
def test_kernels_over_their_arrays(run, torch, cupy):
    kernel = bl.load_kernel_bundle(SCALE, run).get_kernel("scale")
    for theirs in (torch.full((4096,), 3.0, device="cuda"), cupy.full(4096, 3.0, dtype=cupy.float32)):
        event = run.parallel_for(4096, kernel, theirs, 2.0)
        bl.order_stream_after(1, event)
        assert bool((theirs == 6).all())


@pytest.mark.torch
def test_a_texture_over_a_tensor(run, torch):
    """Sampling reads the memory of the PyTorch tensor."""
    pitch = max(run.device.get_info("image_row_pitch_align"), 512)
    tensor = torch.zeros(16, pitch // 4, device="cuda")
    desc = bl.ImageDescriptor(pitch // 4, 16, num_channels=1)
    array = bl.from_dlpack(tensor, run)
    handle = bl.create_image(array, desc, run, sampler=bl.BindlessImageSampler("clamp_to_edge"), pitch=pitch)
    tensor[3, 5] = 7.0
    torch.cuda.synchronize()
    found = bl.sample_image(run, handle, np.array([[5.5, 3.5], [6.5, 3.5]], np.float32))
    assert found[:, 0].tolist() == [7.0, 0.0]
    bl.destroy_image_handle(handle, run)


# ---------------------------------------------------------------------- order under load


def burden(queue, array, last, event=()):
    """Submit long work that writes many intermediate values to an array before the last one."""
    for value in range(60):
        event = queue.fill(array, float(value), depends_on=event)
    return queue.fill(array, last, depends_on=event)


@pytest.mark.parametrize(
    "library", [pytest.param("cupy", marks=pytest.mark.cupy), pytest.param("torch", marks=pytest.mark.torch)]
)
def test_their_stream_comes_after_our_work(run, request, library):
    module = request.getfixturevalue(library)
    array = bl.usm_empty(MANY, "f4", run)
    stream = module.cuda.Stream(non_blocking=True) if library == "cupy" else module.cuda.Stream()
    waited = 0
    for number in range(20):
        event = burden(run, array, 1000.0 + number)
        with stream if library == "cupy" else module.cuda.stream(stream):
            theirs = module.from_dlpack(array)
            copy = theirs.copy() if library == "cupy" else theirs.clone()
        waited += event.status == "complete"
        stream.synchronize()
        assert bool((copy == 1000.0 + number).all())
    assert waited < 20  # the host did not wait for our work
    run.wait()


@pytest.mark.parametrize(
    "library", [pytest.param("cupy", marks=pytest.mark.cupy), pytest.param("torch", marks=pytest.mark.torch)]
)
def test_our_work_comes_after_their_stream(run, request, library):
    module = request.getfixturevalue(library)
    is_cupy = library == "cupy"
    stream = module.cuda.Stream(non_blocking=True) if is_cupy else module.cuda.Stream()
    results = [bl.usm_empty(8 * COUNT, "f4", run) for _ in range(5)]
    place = {} if is_cupy else {"device": "cuda"}
    theirs = module.zeros(8 * COUNT, dtype=module.float32, **place)
    (module.cuda.Device() if is_cupy else module.cuda).synchronize()
    waited = 0
    for number in range(10):
        with stream if is_cupy else module.cuda.stream(stream):
            for value in range(60):
                theirs.fill(float(value)) if is_cupy else theirs.fill_(float(value))
            theirs.fill(2000.0 + number) if is_cupy else theirs.fill_(2000.0 + number)
            array = bl.from_dlpack(theirs, run)
        events = [run.memcpy(result, array) for result in results]  # alternates between the streams of the queue
        waited += bool(stream.done if is_cupy else stream.query())
        for event, result in zip(events, results):
            event.wait()
            for part in (result[:1000], result[COUNT : COUNT + 1000], result[-1000:]):
                assert (part.numpy() == 2000.0 + number).all()
    assert waited < 10  # the host did not wait for their work


@pytest.mark.cupy
def test_streams_after_each_other_without_arrays(run, cupy):
    """Our stream, theirs, ours: the device alone orders each pair."""
    array = bl.usm_empty(COUNT, "f4", run).copy_from(0)
    theirs = cupy.from_dlpack(array)
    stream = cupy.cuda.Stream(non_blocking=True)
    for number in range(50):
        event = burden(run, array, float(number))
        bl.order_stream_after(stream.ptr, event)
        with stream:
            theirs += 0.5
        bl.order_after_stream(run, stream.ptr)
    run.wait()
    assert (array.numpy() == 49.5).all()


@pytest.mark.parametrize(
    "library", [pytest.param("cupy", marks=pytest.mark.cupy), pytest.param("torch", marks=pytest.mark.torch)]
)
def test_a_queue_over_their_stream(device, request, library):
    """Our commands and theirs run in one order, without events; the library keeps its stream."""
    module = request.getfixturevalue(library)
    is_cupy = library == "cupy"
    stream = module.cuda.Stream(non_blocking=True) if is_cupy else module.cuda.Stream()
    handle = stream.ptr if is_cupy else stream.cuda_stream
    context = bl.make_context("cuda", bl.get_native(bl.Context(device)), ownership="keep")
    place = {} if is_cupy else {"device": "cuda"}
    with bl.make_queue("cuda", handle, context, ownership="keep") as queue:
        with stream if is_cupy else module.cuda.stream(stream):
            theirs = module.zeros(COUNT, dtype=module.float32, **place)
        array = bl.usm_empty(COUNT, "f4", queue)
        ours = bl.from_dlpack(theirs, queue)
        for _ in range(100):
            with stream if is_cupy else module.cuda.stream(stream):
                theirs += 1
            queue.memcpy(array, ours)
            queue.memcpy(ours, array)
        with stream if is_cupy else module.cuda.stream(stream):
            theirs *= 2
        stream.synchronize()
        assert bool((theirs == 200).all()) and (array.numpy() == 100).all()
        ours.close()
        array.close()
    stream.synchronize()  # the stream still exists


@pytest.mark.cupy
def test_the_page_about_native_objects_is_true(cupy):
    page = (Path(__file__).parents[2] / "docs" / "guide" / "interop.md").read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (snippet,) = [text for text in snippets if "cupy" in text]
    names = {}
    exec(snippet, names)
    array = bl.usm_empty(COUNT, "f4", names["queue"])
    names["queue"].fill(array, 2.5)
    names["stream"].synchronize()
    assert (array.numpy() == 2.5).all()
    array.close()
    names["queue"].close()


@pytest.mark.torch
@pytest.mark.cupy
def test_nothing_is_left(run, cupy, torch):
    """Device memory in use by all three libraries is equal before and after a thousand exchanges."""
    array = filled(run, shape=(1 << 20,))
    theirs = torch.zeros(1 << 20, device="cuda")
    cupy.from_dlpack(array)
    bl.from_dlpack(theirs, run)
    torch.cuda.synchronize()
    gc.collect()
    ours, pool = run.context._native.allocations, cupy.get_default_memory_pool()
    before = set(ours), pool.used_bytes(), torch.cuda.memory_allocated()
    for _ in range(500):
        cupy.from_dlpack(array)
        torch.from_dlpack(array)
        bl.from_dlpack(theirs, run)
        made = bl.usm_empty(1 << 20, "f4", run)
        seen = torch.from_dlpack(made)
        made.close()
        del seen
    gc.collect()
    run.wait()
    torch.cuda.synchronize()
    assert (set(ours), pool.used_bytes(), torch.cuda.memory_allocated()) == before
