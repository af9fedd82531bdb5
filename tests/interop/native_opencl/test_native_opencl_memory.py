"""Buffers and images of the package made of OpenCL's, and the other way round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import opencl
from tests.interop.raw_opencl import Raw, ffi, lib
from tests.support.error_checks import raises

pytestmark = pytest.mark.opencl

NEGATE = b"kernel void negate(global int *data) { data[get_global_id(0)] *= -1; }"


# ---------------------------------------------------------------------- buffers


def test_the_native_buffers_of_a_buffer(raw: Raw, context: bl.Context, queue: bl.Queue) -> None:
    buffer = bl.Buffer(np.arange(8, dtype=np.int32))
    with raises(bl.FeatureNotSupportedError, names="get_native_mem"):
        bl.get_native(buffer)
    assert bl.get_native(buffer, "opencl") == ()  # no context has it yet
    seen = []

    def group(handler: bl.Handler) -> None:
        accessor = buffer.get_access(handler, "read_write")
        handler.host_task(lambda interop: seen.append((interop.get_native_mem(accessor), interop.get_native_queue())))

    bundle = bl.load_kernel_bundle(NEGATE, queue)
    negate = bundle.get_kernel("negate")
    queue.submit(lambda handler: handler.parallel_for(8, negate, buffer.get_access(handler, "read_write"))).wait()
    natives = bl.get_native(buffer)
    assert [handle.type for handle in natives] == ["cl_mem"]
    plain = raw.queue()
    found = raw.read(plain, ffi.cast("cl_mem", int(natives[0])), np.empty(8, np.int32))
    assert list(found) == [0, -1, -2, -3, -4, -5, -6, -7]
    queue.submit(group).wait()
    assert seen and seen[0][0] > 0 and seen[0][1] == bl.get_native(queue)
    with bl.Context(raw.facade) as second, bl.Queue(raw.facade, second) as other:
        other.submit(lambda handler: handler.fill(buffer.get_access(handler, "write"), 1)).wait()
        both = bl.get_native(buffer)
        assert len(set(both)) == 2 and natives[0] in both
        contexts = {opencl.get_reference_count(handle) > 0 for handle in both}
        assert contexts == {True}
        del both
        buffer.close()
    with raises(bl.InvalidError):
        bl.get_native(buffer)
    bundle.close()
    del natives, other, second


# ---------------------------------------------------------------------- images

PIXELS = {
    1: np.arange(8 * 4, dtype=np.float32).reshape(8, 4),
    2: np.arange(3 * 8 * 4, dtype=np.float32).reshape(3, 8, 4),
    3: np.arange(2 * 3 * 8 * 4, dtype=np.float32).reshape(2, 3, 8, 4),
}
_TYPES = {1: ("image1d_t", "x"), 2: ("image2d_t", "(int2)(x, y)"), 3: ("image3d_t", "(int4)(x, y, z, 0)")}


def image_kernels(dimensions: int) -> bytes:
    """Kernels over every pixel: one reads by a sampler, one writes twice the place's number."""
    kind, place = _TYPES[dimensions]
    enabled = "#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable\n" if dimensions == 3 else ""
    where = """    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    size_t at = x + get_global_size(0) * (y + get_global_size(1) * z);
"""
    return f"""{enabled}
kernel void fetch(read_only {kind} image__bindless_image, sampler_t image__bindless_sampler, global float4 *out)
{{
{where}    out[at] = read_imagef(image__bindless_image, image__bindless_sampler, {place});
}}
kernel void apart(read_only {kind} image, sampler_t sampler, global float4 *out)
{{
{where}    out[at] = read_imagef(image, sampler, {place});
}}
kernel void plain(read_only {kind} image, global float4 *out)
{{
{where}    out[at] = read_imagef(image, {place});
}}
kernel void put(write_only {kind} image)
{{
{where}    write_imagef(image, {place}, (float4)(2.0f * at));
}}
""".encode()


NEAREST = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "nearest")


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("late", [False, True], ids=["at_once", "available_event"])
def test_images_of_native_ones(raw: Raw, context: bl.Context, queue: bl.Queue, dimensions: int, late: bool) -> None:
    pixels = PIXELS[dimensions]
    native = raw.image(pixels)
    before = raw.count(native)
    options: dict[str, Any] = {}
    gate = None
    if late:
        gate = raw.event()
        options["available_event"] = bl.make_event("opencl", gate, context)
    bundle = bl.load_kernel_bundle(image_kernels(dimensions), queue)
    sampled = bl.make_sampled_image("opencl", native, context, NEAREST, **options)
    plain = bl.make_unsampled_image("opencl", native, context, **options)
    options.clear()
    assert raw.count(native) == before + 2
    for image in (sampled, plain):
        assert tuple(image.get_range()) == pixels.shape[-2::-1]
        assert image.descriptor.channel_type == "fp32" and image.descriptor.num_channels == 4
        assert [(int(handle), handle.type) for handle in bl.get_native(image)] == [(raw.number(native), "cl_mem")]
    range_ = pixels.shape[:-1]
    out = bl.usm_empty((*range_, 4), "float32", queue)

    def fetch(handler: bl.Handler) -> None:
        handler.parallel_for(range_, bundle.get_kernel("fetch"), sampled.get_access(handler), out)

    def read(handler: bl.Handler) -> None:
        handler.parallel_for(range_, bundle.get_kernel("plain"), plain.get_access(handler, "read"), out)

    event = queue.submit(fetch)
    if gate is not None:
        assert event.status is not bl.EventStatus.complete
        assert lib.clSetUserEventStatus(gate, lib.CL_COMPLETE) == 0
    event.wait()
    assert np.array_equal(out.numpy(), pixels)
    queue.memset(out, 0, out.nbytes).wait()

    def fetch_apart(handler: bl.Handler) -> None:
        access = sampled.get_access(handler)
        handler.parallel_for(range_, bundle.get_kernel("apart"), access, access, out)

    def fetch_without(handler: bl.Handler) -> None:
        handler.parallel_for(range_, bundle.get_kernel("apart"), *[plain.get_access(handler, "read")] * 2, out)

    queue.submit(fetch_apart).wait()  # the image and its sampler, by one accessor
    assert np.array_equal(out.numpy(), pixels)
    with raises(bl.InvalidError, names="argument 1"):
        queue.submit(fetch_without)
    if dimensions < 3 or opencl.has_extension(raw.facade, "cl_khr_3d_image_writes"):
        for loaded in (bundle, bl.load_kernel_bundle(image_kernels(dimensions), queue)):  # the second from the cache
            put = loaded.get_kernel("put")
            with raises(bl.InvalidError, names="argument 0"):  # R63
                queue.submit(lambda handler, put=put: handler.parallel_for(range_, put, sampled.get_access(handler)))
        del put, loaded
    queue.memset(out, 0, out.nbytes).wait()
    queue.submit(read).wait()
    assert np.array_equal(out.numpy(), pixels)
    sampled.close()
    # "only allowed on a device if the extension cl_khr_3d_image_writes is supported"
    if dimensions < 3 or opencl.has_extension(raw.facade, "cl_khr_3d_image_writes"):
        queue.submit(
            lambda handler: handler.parallel_for(range_, bundle.get_kernel("put"), plain.get_access(handler, "write"))
        )
        expected = np.broadcast_to(2.0 * np.arange(pixels.size // 4, dtype=np.float32)[:, None], (pixels.size // 4, 4))
        with plain.get_host_access("read") as values:
            assert np.array_equal(values.reshape(-1, 4), expected)
        plain.close()  # waits: the pixels are the program's again
        with raises(bl.InvalidError):
            bl.get_native(plain)
        assert np.array_equal(raw.read_image(raw.queue(), native, pixels).reshape(-1, 4), expected)
    plain.close()
    bundle.close()
    out.close()
    del event


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_at_its_end_an_image_gives_its_memory_back(
    raw: Raw, context: bl.Context, queue: bl.Queue, dimensions: int
) -> None:
    """With the pixels that the host wrote last."""
    pixels = PIXELS[dimensions]
    native = raw.image(pixels)
    image = bl.make_unsampled_image("opencl", native, context)
    with image.get_host_access("write") as values:
        values[...] = -pixels.reshape(values.shape)
    image.close()
    if raw.facade.platform.name != "rusticl":  # as above
        assert raw.counts_after([native], [1]) == [1]
    assert np.array_equal(raw.read_image(raw.queue(), native, pixels), -pixels)


def test_images_that_are_refused_stay_the_program_s(raw: Raw, context: bl.Context) -> None:
    image = raw.image(PIXELS[2])
    array = raw.image(np.zeros((2, 3, 8, 4), np.float32), lib.CL_MEM_OBJECT_IMAGE2D_ARRAY, layers=2)
    buffer = raw.buffer(64)
    before = raw.counts([image, array, buffer])
    for ownership in ("keep", "transfer"):
        for error, match, arguments in (
            (bl.InvalidError, "is a buffer", (buffer, context, NEAREST)),
            (bl.InvalidError, "is an array", (array, context, NEAREST)),
            (bl.InvalidError, "BindlessImageSampler", (image, context, "linear")),
            (bl.InvalidError, "cl_context", (image, bl.Context(raw.facade), NEAREST)),
            (bl.InvalidError, None, (ffi.NULL, context, NEAREST)),
            (
                bl.FeatureNotSupportedError,
                "one mode for all dimensions|unique_addressing",
                (image, context, bl.BindlessImageSampler(("repeat", "clamp_to_edge", "repeat"), "normalized")),
            ),
        ):
            with raises(error, match=match):
                bl.make_sampled_image("opencl", *arguments, ownership=ownership)
        with raises(bl.InvalidError, names="Event"):
            bl.make_unsampled_image("opencl", image, context, available_event=raw.context, ownership=ownership)
    assert raw.counts([image, array, buffer]) == before
    made = bl.make_unsampled_image("opencl", image, context, ownership="transfer")
    made.close()
    raw.made.remove(image)
    with raises(bl.FeatureNotSupportedError):
        bl.make_unsampled_image("reference", 1, bl.Context("reference:*:*"))
