"""States of kernel bundles: input, object, executable; specialization constants; several devices."""

from __future__ import annotations

import gc
import struct

import pytest

import bindless as bl
from bindless.backends import registry
from bindless.backends.cuda.backend import CudaBackend
from bindless.backends.level_zero.backend import LevelZeroBackend
from bindless.backends.opencl.backend import OpenCLBackend
from bindless.backends.reference.backend import ReferenceBackend
from bindless.model.enums import Backend, DeviceType
from bindless.sycl.kernel.module_choice import choose_modules
from tests.support.error_checks import raises
from tests.support.fake_backend import KERNELS, FakeBackend, LinkingBackend


@pytest.fixture
def queue(fake):
    with bl.Queue() as made:
        yield made


@pytest.fixture
def linking(fakes, monkeypatch):
    """Level Zero with two devices and a linker."""
    backend = LinkingBackend(Backend.level_zero, (DeviceType.gpu, DeviceType.gpu))
    monkeypatch.setitem(registry._backends, Backend.level_zero, backend)
    return backend


def loads(backend):
    return [details for method, details in backend.calls if method == "load_module"]


# ---------------------------------------------------------------------- states


def test_an_input_builds_nothing_and_tells_its_kernels(fake, queue):
    bundle = bl.load_kernel_bundle(b"source", queue, state="input")
    assert bundle.state is bl.BundleState.input and bundle.log == ""
    assert bundle.kernel_names == tuple(KERNELS) and bundle.has_kernel("scale")
    assert fake.created["module"] == 0
    with raises(bl.InvalidError, names=("get_kernel('scale')", "'input'", "bundle.build()")):
        bundle.get_kernel("scale")
    assert repr(bundle) == "<KernelBundle on cuda:gpu:0 'cuda gpu 0', input>"


def test_an_input_is_built_again_and_again(fake, queue):
    bundle = bl.load_kernel_bundle(b"source", queue, options="-a", state=bl.BundleState.input)
    first, second = bundle.build(), bundle.build("-b")
    assert [options for _, _, options in loads(fake)] == ["-a", "-a -b"]
    assert first.state is second.state is bl.BundleState.executable and bundle.state is bl.BundleState.input
    assert first.log == "built source"
    first.close()
    queue.parallel_for(4, second.get_kernel("empty")).wait()
    bundle.close()
    with raises(bl.InvalidError):
        bundle.build()
    second.close()
    assert fake.alive["module"] == 0


def test_one_object_is_linked_without_a_linker(fake, queue):
    compiled = bl.load_kernel_bundle(b"source", queue, state="object", options="-a")
    assert compiled.state is bl.BundleState.object and compiled.log == "built source"
    assert fake.alive["module"] == 0 and compiled.has_kernel("scale")
    with raises(bl.InvalidError, names=("'object'", "bundle.link()")):
        compiled.get_kernel("scale")
    linked = compiled.link(options="-b")
    assert linked.state is bl.BundleState.executable
    assert [options for _, _, options in loads(fake)] == ["-a", "-a -b"]
    queue.single_task(linked.get_kernel("empty")).wait()
    with raises(bl.FeatureNotSupportedError, names=("2 bundles", "'online_linker'")):
        compiled.link(bl.load_kernel_bundle(b"more", queue, state="object"))
    assert fake.alive["module"] == 1


def test_objects_are_linked_where_there_is_a_linker(linking):
    queue = bl.Queue("level_zero")
    first = bl.load_kernel_bundle(b"one", queue, state="object")
    second = bl.load_kernel_bundle(b"two", queue, state="object", options="-x")
    linked = first.link(second, options="-y")
    assert linking.calls == [
        ("compile_module", (b"one", None, "")),
        ("compile_module", (b"two", None, "-x")),
        ("link_modules", ([b"one", b"two"], "-y")),
    ]
    assert (first.log, linked.log) == ("compiled one", "built one two")
    queue.parallel_for(8, linked.get_kernel("empty")).wait()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda i, o, e, q: o.build(), ("build", "'object'", "'input'")),
        (lambda i, o, e, q: e.build(), ("build", "'executable'", "state='input'")),
        (lambda i, o, e, q: o.compile(), ("compile: ", " 'object'")),
        (lambda i, o, e, q: i.link(), ("'input'", "'object'")),
        (lambda i, o, e, q: e.link(), "'executable'"),
        (lambda i, o, e, q: o.link(e), "'executable'"),
        (lambda i, o, e, q: o.link(3), ("link(3)", "KernelBundle")),
        (lambda i, o, e, q: i.build(3), "options=3"),
        (lambda i, o, e, q: o.link(options=b""), "options=b''"),
        (lambda i, o, e, q: e.set_specialization_constant(7, 1), ("set_specialization_constant", "'executable'")),
        (lambda i, o, e, q: o.set_specialization_constant(7, 1), ("set_specialization_constant", "'object'")),
        (lambda i, o, e, q: bl.load_kernel_bundle(b"x", q, state="raw"), ("state='raw'", "'input'")),
        (
            lambda i, o, e, q: o.link(bl.load_kernel_bundle(b"x", bl.Queue(context=bl.Context()), state="object")),
            None,
        ),
    ],
)
def test_a_state_that_does_not_fit(queue, call, message):
    made = [bl.load_kernel_bundle(b"constants", queue, state=state) for state in bl.BundleState]
    with raises(bl.InvalidError, names=message):
        call(*made, queue)


def test_a_build_that_fails_has_a_log_and_leaves_nothing(fake, queue):
    bundle = bl.load_kernel_bundle(b"error", queue, state="input")
    for attempt in (bundle.build, bundle.compile):
        with pytest.raises(bl.BuildError) as caught:
            attempt()
        assert caught.value.log == "line 1: error" and caught.value.code is bl.Errc.build
    assert fake.created["module"] == 0 and bundle.state == "input"


def test_a_source_that_tells_nothing_does_so_when_it_is_built(queue):
    bundle = bl.load_kernel_bundle(b"binary", queue, state="input")
    with raises(bl.FeatureNotSupportedError, names="bundle.build()"):
        bundle.has_kernel("scale")
    assert bundle.build().has_kernel("scale")


# ---------------------------------------------------------------------- specialization constants


def test_constants_are_set_before_the_build(fake, queue):
    bundle = bl.load_kernel_bundle(b"constants", queue, state="input", specialization={8: 2})
    assert bundle.contains_specialization_constants
    assert bundle.has_specialization_constant(9) and not bundle.has_specialization_constant(1)
    assert bundle.specialization_constants == {7: -3, 8: 2, 9: True}
    bundle.set_specialization_constant(7, 1 << 40)
    built = bundle.build()
    bundle.set_specialization_constant(9, False)
    again = bundle.build()
    one, two = (constants for _, constants, _ in loads(fake))
    assert one == {7: struct.pack("<q", 1 << 40), 8: struct.pack("<e", 2)}
    assert two == {**one, 9: b"\0"}
    assert built.get_specialization_constant(9) is True and again.get_specialization_constant(9) is False
    assert built.get_specialization_constant(7) == 1 << 40 and built.specialization_constants[8] == 2


@pytest.mark.parametrize(
    "number, value, message",
    [
        (1, 5, ("constant 1", "7, 8, 9")),
        ("x", 5, "'x'"),
        (2**32, 5, None),
        (7, 1.5, "specialization[7]=1.5: it is a float; the constant is int of 8 bytes"),
        (7, 2**64, None),
    ],
)
def test_constants_that_cannot_be_set(queue, number, value, message):
    bundle = bl.load_kernel_bundle(b"constants", queue, state="input")
    with raises(bl.InvalidError, names=message):
        bundle.set_specialization_constant(number, value)
    with raises(bl.InvalidError, names=message):
        bl.load_kernel_bundle(b"constants", queue, specialization={number: value})
    assert bundle.specialization_constants == {7: -3, 8: 1.0, 9: True}


def test_a_source_without_constants_has_none(queue):
    bundle = bl.load_kernel_bundle(b"source", queue)
    assert not bundle.contains_specialization_constants and bundle.specialization_constants == {}
    with raises(bl.InvalidError, names="constant 0"):
        bundle.get_specialization_constant(0)


# ---------------------------------------------------------------------- several devices


def test_a_bundle_of_a_context_runs_on_each_of_its_devices(fake):
    devices = bl.get_devices("cuda")
    context = bl.Context(devices)
    bundle = bl.load_kernel_bundle(b"source", context)
    assert bundle.devices == devices and bundle.device == devices[0] and fake.alive["module"] == 2
    kernel = bundle.get_kernel("empty")
    modules = []
    for device in devices:
        queue = bl.Queue(device, context)
        for chosen in (kernel, bundle.get_kernel("empty", device)):
            queue.parallel_for(4, chosen).wait()
            queue.parallel_for(bl.NdRange(4, 2), chosen).wait()
        modules.append(bundle.get_kernel("empty", device)._native[0])
    launched = [details[0] for method, details in fake.calls if method == "launch"]
    assert launched == ["empty"] * 8 and modules[0] is not modules[1]
    assert [module.ran for module in modules] == [4, 4]
    assert bundle.has_kernel("empty", devices[1]) and kernel.get_info("work_group_size", devices[1]) == 1024
    bundle.close()
    assert fake.alive["module"] == 0


def test_a_bundle_of_one_device_does_not_run_on_another(fake):
    first, second = bl.get_devices("cuda")
    context = bl.Context([first, second])
    bundle = bl.load_kernel_bundle(b"source", second, context)
    kernel = bundle.get_kernel("empty")
    assert bundle.devices == (second,) and not bundle.has_kernel("empty", first)
    with raises(bl.InvalidError, names=("cuda:gpu:0", "<KernelBundle", "cuda:gpu:1 'cuda")):
        bl.Queue(first, context).parallel_for(4, kernel)
    with raises(bl.InvalidError):
        bundle.get_kernel("empty", first)
    bl.Queue(second, context).parallel_for(4, kernel).wait()


def test_bundles_are_linked_for_the_devices_that_they_share(linking):
    first, second = bl.get_devices("level_zero")
    context = bl.Context([first, second])
    both = bl.load_kernel_bundle(b"both", context, state="object")
    one = bl.load_kernel_bundle(b"one", second, context, state="object")
    assert both.link(one).devices == (second,)
    with raises(bl.InvalidError):
        bl.load_kernel_bundle(b"x", first, context, state="object").link(one)


def test_a_build_that_fails_for_one_device_leaves_nothing_on_the_others(fake, monkeypatch):
    load, count = FakeBackend.load_module, []

    def refuse(self, context, device, source, **rest):
        count.append(device)
        if len(count) == 2:
            raise bl.BuildError("no code for this device")
        return load(self, context, device, source, **rest)

    monkeypatch.setattr(FakeBackend, "load_module", refuse)
    with raises(bl.BuildError):
        bl.load_kernel_bundle(b"source", bl.Context(bl.get_devices("cuda")))
    assert (fake.created["module"], fake.alive["module"]) == (1, 0)


def test_a_dropped_bundle_is_released_with_its_kernels(fake, queue):
    kernel = bl.load_kernel_bundle(b"source", bl.Context(bl.get_devices("cuda"))).get_kernel("empty")
    gc.collect()
    assert fake.alive["module"] == 2
    del kernel
    gc.collect()
    assert fake.alive["module"] == 0


# ---------------------------------------------------------------------- kernels


def test_kernels_answer_for_each_device(fake, queue):
    fake.info["sub_group_sizes"] = (16, 32)
    bundle = bl.load_kernel_bundle(b"source", queue)
    kernel, shaped = bundle.get_kernel("scale"), bundle.get_kernel("shaped")
    ask = bl.info.kernel_device_specific
    assert kernel.get_info(ask.work_group_size) == kernel.get_info("work_group_size", queue.device) == 256
    assert kernel.get_info(ask.compile_work_group_size) == (0, 0, 0)
    assert shaped.get_info(ask.compile_work_group_size) == (1, 2, 4)
    assert kernel.get_info(ask.preferred_work_group_size_multiple) == kernel.get_info(ask.max_sub_group_size) == 32
    assert kernel.get_info(ask.max_num_sub_groups) == 8 and shaped.get_info(ask.max_num_sub_groups) == 2
    assert kernel.get_info(ask.private_mem_size) == 12 and kernel.get_info(ask.local_mem_size) == 34
    assert kernel.get_info(ask.compile_num_sub_groups) == kernel.get_info(ask.compile_sub_group_size) == 0
    assert kernel.get_info(ask.ext_codeplay_num_regs) == 20 and kernel.get_info("context") is queue.context
    with raises(bl.FeatureNotSupportedError, names="kernel 'shaped'"):
        shaped.get_info(ask.ext_codeplay_num_regs)
    with raises(bl.InvalidError, names=("descriptor='colour'", "'function_name'")):
        kernel.get_info("colour")
    with raises(bl.InvalidError):
        kernel.get_info("work_group_size", bl.Device("reference"))


SOURCES = {
    "SPIR-V": b"\x03\x02\x23\x07" + bytes(16),
    "PTX": b".version 6.3\n.target sm_75\n.address_size 64\n",
    "a cubin": b"\x7fELF" + bytes(60),
    "a fat binary of CUDA": b"\x50\xed\x55\xba" + bytes(12),
    "OpenCL C": b"kernel void k(global int *out) { *out = 1; }",
    "CUDA C++": b'extern "C" __global__ void k(int *out) { *out = 1; }',
}
BACKENDS = {
    bl.Backend.cuda: CudaBackend,
    bl.Backend.opencl: OpenCLBackend,
    bl.Backend.level_zero: LevelZeroBackend,
    bl.Backend.reference: ReferenceBackend,
}
TAKEN = {
    bl.Backend.cuda: ("PTX", "a cubin", "a fat binary of CUDA"),
    bl.Backend.opencl: ("SPIR-V", "OpenCL C", "PTX", "a cubin"),  # the driver's language, or none
    bl.Backend.level_zero: ("SPIR-V", "a cubin"),  # the latter as a binary of the driver
    bl.Backend.reference: ("SPIR-V",),
}


@pytest.mark.parametrize("backend", TAKEN)
@pytest.mark.parametrize("language", SOURCES)
def test_a_source_in_another_language_is_told_by_its_name(backend, language):
    source = SOURCES[language]
    if language in TAKEN[backend]:
        assert choose_modules(source, BACKENDS[backend](), ()) == (source,)
        return
    with raises(bl.BuildError, names=(language, backend, "build")):
        choose_modules(source, BACKENDS[backend](), ())
