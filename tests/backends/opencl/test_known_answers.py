"""Formats and layers that a driver handles wrongly: the backend denies or emulates them, although the driver lists
them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.backends.opencl import image_format, image_handle, known_answer_tests
from bindless.backends.opencl.known_answer_tests import LayerCoordinate, layer_coordinate, spoiled_formats
from bindless.cli.doctor_sampling import KnownImage, known_images
from bindless.drivers import opencl as driver
from bindless.model.enums import ImageChannelType
from tests.support.opencl_known_bugs import spoils_format

pytestmark = pytest.mark.opencl

lib, ffi = driver.lib, driver.ffi

NORMALIZED = bl.BindlessImageSampler("clamp_to_edge", "normalized", "nearest")
PIXELS = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "nearest")

TEXT = """kernel void sampled(read_only image2d_array_t image, sampler_t how, global float *out)
{
    const float layer = get_global_id(0);
    out[get_global_id(0)] = read_imagef(image, how, (float4)(0.5f, 0.5f, layer, 0)).x;
}"""
TOOL = """#include <bindless/device.h>
kernel void sampled(sampled_image_handle image, global float *out)
{
    const uint layer = get_global_id(0);
    out[layer] = sample_image_array_float(image, (float2)(0.5f, 0.5f), layer);
}"""


class Spoiling:
    """The driver's functions; reads of images of one format return one wrong byte."""

    def __init__(self, order: int, type_: int) -> None:
        self._format = order, type_

    def __getattr__(self, name: str) -> Any:
        found = getattr(lib, name)
        if name != "clEnqueueReadImage":
            return found

        def call(queue: Any, image: Any, *rest: Any) -> Any:
            result, slot = found(queue, image, *rest), ffi.new("cl_image_format *")
            lib.clGetImageInfo(image, lib.CL_IMAGE_FORMAT, ffi.sizeof("cl_image_format"), slot, ffi.NULL)
            if (slot.image_channel_order, slot.image_channel_data_type) == self._format:
                memory = ffi.buffer(rest[5], 1)
                memory[0] = bytes([memory[0][0] ^ 1])
            return result

        return call


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clear results that earlier tests cached."""
    monkeypatch.setenv("BINDLESS_CACHE", "0")


def clear() -> None:
    for remembered in (spoiled_formats, layer_coordinate, image_format._formats):
        remembered.cache_clear()


def test_a_format_that_a_driver_spoils_is_denied(
    cl: bl.Device, cl_queue: bl.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoiled, right = ("unorm_int8", 4), ("fp32", 4)
    desc = bl.ImageDescriptor(4, 4, num_channels=4, channel_type="unorm_int8")
    monkeypatch.setattr(known_answer_tests, "lib", Spoiling(lib.CL_RGBA, lib.CL_UNORM_INT8))
    clear()
    try:
        offers, native = cl._backend.supports_format, cl._record.native
        assert not offers(native, ImageChannelType(spoiled[0]), spoiled[1])
        assert offers(native, ImageChannelType(right[0]), right[1])
        with pytest.raises(bl.FeatureNotSupportedError) as caught:
            bl.ImageMem(desc, cl_queue)
        assert caught.value.code is bl.Errc.feature_not_supported
    finally:
        clear()


def test_only_what_is_known_to_be_spoiled_is_denied(cl: bl.Device) -> None:
    """The backend denies only those of the driver's formats that are known to be wrong."""
    native = cl._record.native
    listed = image_format._listed(native)
    denied = listed - image_format._formats(native)
    names = {
        (image_format._CHANNEL_TYPES[type_], image_format._COUNTS[order]): (order, type_) for order, type_ in listed
    }
    known = {
        found
        for (kind, count), found in names.items()
        if spoils_format(cl.platform.name, cl.driver_version, str(kind), count)
    }
    assert denied == known


def test_every_kind_and_format_samples_right(cl: bl.Device, cl_queue: bl.Queue) -> None:
    found = list(known_images(cl))
    assert {(image.dimensions, image.layered) for image in found} == {
        (1, False), (2, False), (3, False), (1, True), (2, True),
    }  # fmt: skip
    assert not {str(image): fault for image in found if (fault := image.fault(cl_queue))}


def test_a_known_image_finds_what_is_wrong(cl_queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that reads the wrong layer, and one that permutes channels."""
    from bindless.cli import doctor_sampling

    sample = bl.sample_image_array

    def wrong(queue: bl.Queue, handle: Any, coords: Any, layers: Any, **more: Any) -> Any:
        return sample(queue, handle, coords, np.minimum(layers * 3, 2).astype(np.uint32), **more)

    monkeypatch.setattr(doctor_sampling, "sample_image_array", wrong)
    assert KnownImage(2, True, ImageChannelType.unorm_int8, 4).fault(cl_queue)
    monkeypatch.setattr(
        doctor_sampling, "sample_image", lambda *given, **more: bl.sample_image(*given, **more)[:, ::-1]
    )
    assert KnownImage(2, False, ImageChannelType.fp32, 4).fault(cl_queue)
    assert not KnownImage(2, False, ImageChannelType.fp32, 1).fault(cl_queue)


@pytest.mark.parametrize("rows", [False, True], ids=["planes", "rows"])
@pytest.mark.parametrize("layers", [2, 3, 7, 100, 2000])
def test_layers_at_normalized_coordinates(cl_queue: bl.Queue, layers: int, rows: bool) -> None:
    """A layer index is not a coordinate: normalization does not apply to it (BI; OpenCL C, "read_imagef")."""
    if layers > cl_queue.device.get_info("image_max_array_size"):
        pytest.skip("the device has fewer layers")
    desc = bl.ImageDescriptor(2, 0 if rows else 2, type="array", array_size=layers, num_channels=1)
    numbers = np.arange(layers, dtype=np.float32)
    pixels = np.ascontiguousarray(np.broadcast_to(numbers.reshape(-1, *[1] * (len(desc.shape) - 1)), desc.shape))
    with bl.ImageMem(desc, cl_queue) as memory:
        cl_queue.ext_oneapi_copy(pixels, memory).wait()
        for sampler in (NORMALIZED, PIXELS):
            handle = bl.create_image(memory, desc, cl_queue, sampler=sampler)
            coords = np.full((layers, 1 if rows else 2), 0.5, np.float32)
            found = bl.sample_image_array(cl_queue, handle, coords, numbers.astype(np.uint32))
            np.testing.assert_array_equal(found[:, 0], numbers)
            bl.destroy_image_handle(handle, cl_queue)


@pytest.mark.parametrize("language", ["opencl_c", "the tool"])
def test_kernels_of_users_find_layers(cl: bl.Device, cl_queue: bl.Queue, language: str) -> None:
    """Kernels read the right layers, or are refused if native kernels of the driver read wrong ones."""
    if language == "the tool" and not bl.kernels_available() and not os.environ.get("BINDLESS_TEST_KERNELS"):
        pytest.skip("needs clang-22: apt install clang-22 llvm-22")
    source = TEXT.encode() if language == "opencl_c" else bl.build(TOOL, targets="opencl_c")
    desc = bl.ImageDescriptor(2, 2, type="array", array_size=5, num_channels=1)
    pixels = np.ascontiguousarray(np.broadcast_to(np.arange(5, dtype="f4")[:, None, None, None], desc.shape))
    out = bl.usm_empty(5, np.float32, cl_queue)
    with bl.ImageMem(desc, cl_queue) as memory, bl.load_kernel_bundle(source, cl_queue) as bundle:
        cl_queue.ext_oneapi_copy(pixels, memory).wait()
        for sampler in (PIXELS, NORMALIZED):
            handle = bl.create_image(memory, desc, cl_queue, sampler=sampler)
            given = (handle, handle, out) if language == "opencl_c" else (handle, out)
            refused = (
                language == "opencl_c"
                and sampler is NORMALIZED
                and layer_coordinate(cl._record.native) == LayerCoordinate.SCALED
            )
            if refused:
                with pytest.raises(bl.FeatureNotSupportedError):
                    cl_queue.parallel_for(5, bundle.get_kernel("sampled"), *given)
            else:
                cl_queue.parallel_for(5, bundle.get_kernel("sampled"), *given).wait()
                assert out.numpy(cl_queue).tolist() == [0, 1, 2, 3, 4]
            bl.destroy_image_handle(handle, cl_queue)


def test_a_driver_that_finds_no_layers_at_all(cl_queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_handle, "layer_coordinate", lambda device: LayerCoordinate.UNKNOWN)
    desc = bl.ImageDescriptor(2, 2, type="array", array_size=3, num_channels=1)
    with bl.ImageMem(desc, cl_queue) as memory:
        with pytest.raises(bl.Error) as caught:
            bl.create_image(memory, desc, cl_queue, sampler=NORMALIZED)
        assert isinstance(caught.value.__cause__ or caught.value, bl.FeatureNotSupportedError)
        bl.destroy_image_handle(bl.create_image(memory, desc, cl_queue, sampler=PIXELS), cl_queue)


def test_answers_are_kept_for_other_processes(cl: bl.Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BINDLESS_CACHE", "1")
    monkeypatch.setenv("BINDLESS_CACHE_DIR", str(tmp_path))
    native = cl._record.native
    clear()
    try:
        first = image_format._formats(native), layer_coordinate(native)
        clear()
        monkeypatch.setattr(known_answer_tests, "_spoiled", None)
        monkeypatch.setattr(known_answer_tests, "_chosen", None)
        assert (image_format._formats(native), layer_coordinate(native)) == first
    finally:
        clear()
