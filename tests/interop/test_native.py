"""``get_native`` and ``make_*`` on the device under test; the folder ``native`` has the drivers' own objects."""

from __future__ import annotations

import bindless as bl
from tests.support.compile_kernels import load
from tests.support.error_checks import raises

AXPY = b"kernel void axpy(global float *y, global float const *x, float a) { y[get_global_id(0)] += a * x[0]; }"
# Native types of device, context, queue, event, kernel and module.
TYPES = {
    "cuda": ["CUdevice", "CUcontext", "CUstream", "CUevent", "CUfunction", "CUmodule"],
    "reference": ["blr_device_t", "blr_context_t", "blr_queue_t", "blr_event_t", "blr_kernel_t", "blr_module_t"],
    "opencl": ["cl_device_id", "cl_context", "cl_command_queue", "cl_event", "cl_kernel", "cl_program"],
    "level_zero": [
        "ze_device_handle_t",
        "ze_context_handle_t",
        "ze_command_list_handle_t",
        "ze_event_handle_t",
        "ze_kernel_handle_t",
        "ze_module_handle_t",
    ],
}


def native_of(event: bl.Event) -> bl.NativeHandle:
    """The single native event of a command."""
    found = bl.get_native(event)
    (handle,) = found if event._home.backend == "opencl" else (found,)
    return handle


def test_every_kind_of_object_has_its_handle(queue: bl.Queue, device: bl.Device, context: bl.Context) -> None:
    name = str(device.backend)
    with bl.Queue(device, context, in_order=True) as ordered:
        array = bl.usm_empty(4, "int32", ordered)
        event = ordered.fill(array, 1)
        bundle = load(ordered, "simple") if name != "opencl" else bl.load_kernel_bundle(AXPY, ordered)
        kernel = bundle.get_kernel("axpy")
        handles = [bl.get_native(context, name), bl.get_native(ordered, name), native_of(event)]
        handles.append(bl.get_native(kernel, name))
        assert all(isinstance(handle, int) and handle > 0 for handle in handles)
        assert bl.get_native(device) >= 0  # a CUDA device is an ordinal
        natives = bl.get_native(bundle)
        types = [handle.type for handle in (bl.get_native(device), *handles, *natives)]
        assert types == TYPES[name]
        assert len(natives) == 1 and natives[0] > 0
        assert handles[0] == bl.get_native(ordered.context) and handles[1] != bl.get_native(queue)
        event.wait()
        array.close()
        bundle.close()
    for closed in (ordered, bundle, kernel):
        with raises(bl.InvalidError):
            bl.get_native(closed)


def test_the_handle_of_a_command_that_the_host_starts(queue: bl.Queue) -> None:
    gate = bl.Buffer(4, "int32")
    with gate.get_host_access("write"):
        event = queue.submit(lambda handler: handler.fill(gate.get_access(handler, "write"), 1))
    assert native_of(event) > 0  # waits until the driver has the event
    gate.close()


def test_the_handle_of_work_of_the_host(device: bl.Device, context: bl.Context) -> None:
    """The event of a host task has a native event, too: of a barrier after it, the same one each time."""
    ended: list[int] = []
    for in_order in (False, True):
        with bl.Queue(device, context, in_order=in_order, async_handler=lambda errors: None) as own:
            first = own.submit(lambda handler: handler.host_task(lambda: ended.append(1)))
            both = own.ext_oneapi_submit_barrier([first, own.submit(lambda handler: handler.host_task(lambda: None))])
            failed = own.submit(lambda handler: handler.host_task(lambda: 1 / 0))
            for event in (first, both, failed):
                handle = native_of(event)
                assert handle > 0 and handle.type == TYPES[str(device.backend)][3]
                assert native_of(event) == handle
            own.wait()
    assert ended == [1, 1]
