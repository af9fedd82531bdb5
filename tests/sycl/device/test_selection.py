"""Devices by score, name, filter string and environment."""

from __future__ import annotations

import pytest

import bindless as bl
from bindless.backends import registry
from bindless.model.enums import Backend, DeviceType
from bindless.sycl.device.filter_string import parse_filters, parse_selector_variable
from tests.support.error_checks import raises
from tests.support.fake_backend import FakeBackend


def names(devices: tuple[bl.Device, ...]) -> list[str]:
    return [f"{device.backend}:{device.type}:{device.index}" for device in devices]


ALL = [
    "cuda:gpu:0",
    "cuda:gpu:1",
    "level_zero:gpu:0",
    "opencl:cpu:0",
    "opencl:gpu:1",
    "reference:cpu:0",
]


def test_all_devices_are_listed_in_the_order_of_preference(fakes):
    assert names(bl.get_devices()) == ALL
    assert [platform.name for platform in bl.get_platforms()] == [
        "fake cuda",
        "fake level_zero",
        "fake opencl",
        "fake reference",
    ]


def test_an_active_backend_is_one_that_works(device):
    """``is_backend_active`` is true where a driver starts, whatever devices are visible."""
    assert bl.is_backend_active(device.backend) and bl.is_backend_active(str(device.backend))
    assert bl.is_backend_active("reference")
    for name in bl.Backend:
        listed = any(platform.backend is name for platform in bl.get_platforms())
        assert bl.is_backend_active(name) or not listed
    assert bl.is_backend_active("ext_oneapi_level_zero") is bl.is_backend_active("level_zero")
    with raises(bl.InvalidError):
        bl.is_backend_active("metal")


def test_a_driver_without_devices_is_an_empty_platform(fakes, monkeypatch):
    monkeypatch.setitem(registry._backends, Backend.level_zero, FakeBackend(Backend.level_zero, ()))
    empty = bl.get_platforms()[1]
    assert (empty.backend, empty.get_devices(), empty.get_info("vendor")) == ("level_zero", (), "nobody")
    with raises(bl.InvalidError, names="'level_zero'"):
        bl.Device("level_zero")
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "cuda:*")
    assert [platform.backend for platform in bl.get_platforms()] == ["cuda", "level_zero"]


def test_a_platform_has_what_all_its_devices_have(fakes):
    platform = bl.get_platforms()[0]
    assert platform.has("queue_profiling") and not platform.has(bl.Aspect.fp64)
    with raises(bl.InvalidError, names="aspect='wings'"):
        platform.has("wings")


def test_listing_and_choosing_devices_makes_nothing_on_them(fakes):
    bl.get_devices("gpu")
    bl.Device().get_info("name")
    assert bl.get_platforms()[0].has("fp64") is False
    assert all(set(backend.created.values()) == {0} for backend in fakes.values())


@pytest.mark.parametrize(
    "selector, best",
    [
        (None, "cuda:gpu:0"),
        ("default", "cuda:gpu:0"),
        ("gpu", "cuda:gpu:0"),
        ("cpu", "reference:cpu:0"),
        ("opencl", "opencl:cpu:0"),
        ("opencl:gpu", "opencl:gpu:1"),
        ("opencl:gpu:0", "opencl:gpu:1"),
        ("OpenCL:*:1", "opencl:gpu:1"),
        ("*:gpu:2", "level_zero:gpu:0"),
        ("gpu:3", "opencl:gpu:1"),
        ("5", "reference:cpu:0"),
        ("ext_oneapi_level_zero", "level_zero:gpu:0"),
        ("hip,reference", "reference:cpu:0"),
        (bl.Backend.level_zero, "level_zero:gpu:0"),
        (lambda device: device.index, "cuda:gpu:1"),
        (lambda device: 1 if device.backend == "opencl" else -1, "opencl:cpu:0"),
    ],
)
def test_the_best_device_of_a_selector(fakes, selector, best):
    assert names((bl.Device(selector),)) == [best]


def test_an_opencl_processor_is_never_the_default(fakes, monkeypatch):
    monkeypatch.setattr(registry, "_backends", {Backend.opencl: FakeBackend(Backend.opencl, (DeviceType.cpu,))})
    monkeypatch.setattr(registry, "_TABLE", {Backend.opencl: ("", "")})
    with raises(bl.InvalidError, names="opencl:cpu:0"):
        bl.Device()
    assert bl.Device("cpu").backend == "opencl"
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "opencl:cpu")
    assert bl.Device().backend == "opencl"


def test_a_device_is_a_value(fakes):
    assert bl.Device("cuda:gpu:1") == bl.Device(lambda device: device.index) != bl.Device("cuda")
    assert len({bl.Device("cuda"), bl.Device(), bl.Device(bl.Device())}) == 1


@pytest.mark.parametrize(
    "selector, message",
    [
        ("nope", ("'nope' is neither a backend ", " Devices: cuda:gpu:0")),
        ("gpu:cuda", "'cuda'"),
        ("cuda:gpu:0:1", None),
        ("", None),
        ("cuda:gpu:7", "no device fits selector 'cuda:gpu:7'. Devices: cuda:gpu:0"),
        ("accelerator", None),
        (3, "selector=3"),
        (lambda device: None, ("gave None for ", ": a score is a number")),
        (lambda device: float("nan"), "gave nan"),
        (lambda device: -1, None),
    ],
)
def test_a_selector_that_fits_nothing_or_is_none(fakes, selector, message):
    with raises(bl.InvalidError, names=message):
        bl.Device(selector)


def test_an_error_of_a_callable_selector_comes_through(fakes):
    with pytest.raises(ZeroDivisionError):
        bl.Device(lambda device: 1 / 0)


@pytest.mark.parametrize(
    "value, expected",
    [
        ("cuda:*", ["cuda:gpu:0", "cuda:gpu:1"]),
        ("*:gpu", ["cuda:gpu:0", "cuda:gpu:1", "level_zero:gpu:0", "opencl:gpu:1"]),
        ("cuda:1;opencl:cpu", ["cuda:gpu:1", "opencl:cpu:0"]),
        ("CUDA:0,1", ["cuda:gpu:0", "cuda:gpu:1"]),
        ("opencl:cpu,gpu", ["opencl:cpu:0", "opencl:gpu:1"]),
        ("!cuda:*", ALL[2:]),
        ("*:*;!cuda:1;!opencl:*", ["cuda:gpu:0", "level_zero:gpu:0", "reference:cpu:0"]),
        ("opencl:*;!opencl:gpu", ["opencl:cpu:0"]),
        ("hip:*", []),
        ("*:fpga", []),
        ("cuda:0.1", []),
        ("cuda:*.*", []),
        ("*:1,0.1;!opencl:*", ["cuda:gpu:1"]),
        (" reference : cpu ", ["reference:cpu:0"]),
    ],
)
def test_the_environment_limits_what_is_seen(fakes, monkeypatch, value, expected):
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", value)
    assert names(bl.get_devices()) == expected


@pytest.mark.parametrize(
    "value, message",
    [
        ("cuda", "'cuda' is incomplete; write 'cuda:*'"),
        ("gpu", "'gpu' is incomplete"),
        ("cuda:", "incomplete"),
        ("!cuda:0;cuda:1", "comes after a discarding term"),
        ("cuda:*;", "a term is empty"),
        ("!", "a term is empty"),
        ("vulkan:*", "'vulkan' is no backend; it is *, cuda"),
        ("cuda:tpu", "'tpu' is no device; it is *, cpu, gpu"),
        ("cuda:-1", "'-1' is no device"),
        ("cuda:0.x", "'0.x' is no sub-device; it is 'n.m', 'n.*' or '*.*'"),
        ("cuda:gpu.0", "'gpu.0' is no sub-device"),
        ("cuda:0.", "'0.' is no sub-device"),
        ("cuda:0.1.2.3", "'0.1.2.3' has 4 parts"),
        ("cuda:*.1", "after '*' there is only '*', as in '*.*'"),
    ],
)
def test_a_wrong_environment_says_what_is_wrong(fakes, monkeypatch, value, message):
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", value)
    with raises(bl.InvalidError, names=("ONEAPI_DEVICE_SELECTOR=", message)):
        bl.get_devices()


def test_no_device_names_the_variable_that_hides_them(fakes, monkeypatch):
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "hip:*")
    with raises(bl.InvalidError, names="ONEAPI_DEVICE_SELECTOR='hip:*'"):
        bl.Queue()


@pytest.mark.parametrize(
    "value, expected",
    [
        ("cuda:gpu:1", ["cuda:gpu:1"]),
        ("1", ["cuda:gpu:1", "opencl:gpu:1"]),
        ("gpu:1", ["cuda:gpu:1", "opencl:gpu:1"]),
        ("opencl:gpu:0", []),
        ("opencl:*:1,cuda:0", ["cuda:gpu:0", "opencl:gpu:1"]),
        ("opencl,level_zero", ["level_zero:gpu:0", "opencl:cpu:0", "opencl:gpu:1"]),
    ],
)
def test_the_old_variable_works_with_a_warning(fakes, monkeypatch, value, expected):
    monkeypatch.setenv("SYCL_DEVICE_FILTER", value)
    with pytest.warns(DeprecationWarning, match="SYCL_DEVICE_FILTER is deprecated: use ONEAPI_DEVICE_SELECTOR"):
        assert names(bl.get_devices()) == expected


def test_the_old_variable_has_its_own_error(fakes, monkeypatch):
    monkeypatch.setenv("SYCL_DEVICE_FILTER", "cuda:tpu")
    with raises(bl.InvalidError, names="SYCL_DEVICE_FILTER='cuda:tpu': 'tpu'"):
        bl.get_devices()


def test_both_variables_at_once_are_refused(fakes, monkeypatch):
    monkeypatch.setenv("SYCL_DEVICE_FILTER", "cuda")
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "cuda:*")
    with raises(bl.InvalidError, names="SYCL_DEVICE_FILTER"):
        bl.get_devices()


def test_filters_parse_to_values():
    (one,) = parse_filters("opencl:*:3")
    assert (one.backend, one.type, one.index) == ("opencl", None, 3)
    selector = parse_selector_variable("*:cpu;!opencl:*")
    assert len(selector.accepts) == len(selector.discards) == 1


def test_a_missing_backend_is_told_once_with_its_reason(fakes, monkeypatch):
    monkeypatch.setattr(registry, "_TABLE", {Backend.cuda: ("bindless.backends.nowhere", "None")})
    monkeypatch.setattr(registry, "_backends", {})
    with raises(bl.InvalidError, match="cuda is missing: the cuda backend cannot be loaded"):
        bl.Device()
    assert isinstance(registry.failures()[Backend.cuda], bl.PlatformError)
    with raises(bl.PlatformError):
        registry.backend("cuda")


def test_a_selector_of_one_backend_is_told_of_that_alone(fakes, monkeypatch):
    missing = {backend: bl.PlatformError(f"no driver of {backend}") for backend in Backend}
    monkeypatch.setattr(registry, "failures", lambda: missing)
    monkeypatch.setattr(fakes[Backend.cuda], "devices", lambda: ())
    for selector, told in (
        ("cuda", {"cuda"}),
        ("cuda:gpu:9,opencl:*:9", {"cuda", "opencl"}),
        ("accelerator", set(Backend)),
    ):
        with raises(bl.InvalidError) as caught:
            bl.Device(selector)
        assert {backend for backend in Backend if f"no driver of {backend}" in str(caught.value)} == told


def test_a_library_that_is_not_there_is_told_in_one_line(fakes, monkeypatch):
    """``bindless doctor`` lists the paths that were tried; the error does not."""
    error = bl.PlatformError("the driver could not be loaded. Tried:\n  /nowhere/lib.so: no such file")
    monkeypatch.setattr(registry, "failures", lambda: {Backend.cuda: error})
    with raises(bl.InvalidError, names=("cuda", "`bindless doctor`")):
        bl.Device("accelerator")


def test_an_unknown_backend_and_one_without_support_are_refused(fakes, monkeypatch):
    with raises(bl.InvalidError, names="backend='vulkan'"):
        registry.backend("vulkan")
    monkeypatch.setattr(registry, "_TABLE", {})
    monkeypatch.setattr(registry, "_backends", {})
    with raises(bl.PlatformError, names="opencl"):
        registry.backend("opencl")


# ---------------------------------------------------------------------- on the device of --device


def test_the_device_answers_for_itself(device):
    assert device.name and device.vendor and device.driver_version
    assert len(device.uuid) == 16
    assert device.get_info(bl.info.device.name) == device.get_info("name") == device.name
    assert device.platform.has("usm_device_allocations") == all(
        other.has("usm_device_allocations") for other in device.platform.get_devices()
    )
    assert device in device.platform.get_devices()
    assert device.platform in bl.get_platforms()
    assert device.platform.get_info("name") == device.platform.name
    assert device.is_gpu() == (device.type == "gpu") and device.is_cpu() == (device.type == "cpu")
    assert device.has(bl.Aspect.ext_oneapi_bindless_images)
    assert str(device.type) in {"cpu", "gpu"} and bl.Aspect(str(device.type)) in device.aspects


@pytest.mark.parametrize("descriptor", list(bl.info.device), ids=str)
def test_every_info_descriptor_answers_or_says_that_the_driver_does_not(device, descriptor):
    try:
        answer = device.get_info(descriptor)
    except bl.FeatureNotSupportedError as error:
        assert str(descriptor) in str(error)
    else:
        assert answer is not None or descriptor is bl.info.device.parent_device


def test_unknown_names_list_what_there_is(device):
    with raises(bl.InvalidError, names=("aspect='wings'", "'fp16'")):
        device.has("wings")
    with raises(bl.InvalidError, names=("descriptor='weight'", "'max_compute_units'")):
        device.get_info("weight")
    with raises(bl.InvalidError, names=("descriptor='weight'", "'vendor'")):
        device.platform.get_info("weight")
