"""Calls of ``make_*`` and ``get_native`` that are refused: the native object stays the program's."""

from __future__ import annotations

import gc
from typing import Any

import bindless as bl
from tests.interop.native.native_rig import MAKE, OTHER, SCALE, Refusal, Rig, base
from tests.support.compile_kernels import compiled_text
from tests.support.error_checks import raises

MISMATCH, INVALID = bl.BackendMismatchError, bl.InvalidError


def refusals_of_all(rig: Rig, kind: str, native: Any) -> list[Refusal]:
    """Rows that hold for every back end."""
    name, reference = base(kind), bl.Device("reference:*:*")
    behind = rig.arguments(kind)
    rows: list[tuple[type[bl.Error], object, tuple[Any, ...], dict[str, Any]]] = [
        (INVALID, None, (rig.null, *behind), {}),
        (INVALID, None, (0, *behind), {}),
        (INVALID, None, (2**64, *behind), {}),
        (INVALID, None, (-rig.number(native), *behind), {}),
        (INVALID, None, (True, *behind), {}),
        (INVALID, None, ("object", *behind), {}),
        (INVALID, None, (None, *behind), {}),
        (INVALID, "ownership='take'", (native, *behind), {"ownership": "take"}),
    ]
    wrong = rig.native if name != "context" else rig.wrong
    if name != "buffer":
        types = None if rig.backend == "reference" else (rig.type_of(wrong), rig.kinds[kind])
        rows.append((INVALID, types, (wrong, *behind), {}))
    if name == "context":
        rows.append((INVALID, "Device", (native, ["gpu"]), {}))
        if rig.backend != "reference":
            rows.append((MISMATCH, None, (native, [rig.device, reference]), {}))
    else:
        closed = rig.adopt("context", rig.native, "keep")
        closed.close()
        rows.append((INVALID, None, (native, closed, *behind[1:]), {}))
        if name != "kernel":  # which has a test of its own
            rows.append((INVALID, "Context", (native, rig.native, *behind[1:]), {}))
        if rig.backend != "reference" and name != "kernel":
            rows.append((MISMATCH, None, (native, bl.Context(reference), *behind[1:]), {}))
        if rig.other is not None and kind in rig.with_context:
            rows.append((INVALID, rig.kinds["context"], (native, rig.other, *behind[1:]), {}))
    if name == "queue":
        rows.append((INVALID, "Device", (native, rig.context, "gpu"), {}))
    if name in ("queue", "bundle") and rig.backend != "reference":
        rows.append((MISMATCH, None, (native, rig.context), {"device": reference}))
    if name == "buffer":
        rows.append((INVALID, "Event", (native, *behind), {"available_event": rig.native}))
    return [Refusal(kind, *row) for row in rows]


def test_a_refused_object_stays_the_callers(rig: Rig, kind: str) -> None:
    native = rig.new(kind)
    rows = [*refusals_of_all(rig, kind, native), *(row for row in rig.refusals() if row.kind == kind)]
    references = rig.references(native)
    for row in rows:
        for ownership in ("keep", "transfer"):
            with raises(row.error, names=row.names):
                MAKE[base(kind)](rig.backend, *row.arguments, **{"ownership": ownership, **row.options})
    with raises(INVALID, names="backend='metal'"):
        MAKE[base(kind)]("metal", native, *rig.arguments(kind))
    gc.collect()
    assert rig.references(native) == references
    rig.bundle, rows = None, []
    assert rig.is_alive(native) is not False
    rig.release(native)


def test_kernels_of_other_bundles_are_refused(rig: Rig) -> None:
    native = rig.spare("kernel")
    bundle, module = rig.bundle, rig.spare("bundle", OTHER)
    assert bundle is not None
    other = rig.adopt("bundle", module, "keep")
    reference = bl.Device("reference:*:*")
    rows: list[tuple[type[bl.Error], object, tuple[Any, ...]]] = [
        (INVALID, "KernelBundle", (native, None)),
        (INVALID, "KernelBundle", (native, module)),
        (INVALID, None, (native, other)),
        (INVALID, None, (native, bundle, bl.Context(rig.device))),
    ]
    if rig.backend != "reference":
        code = compiled_text(SCALE, "spirv")
        foreign = bl.load_kernel_bundle(code, reference, bl.Context(reference))
        rows.append((MISMATCH, None, (native, foreign)))
    if rig.backend == "opencl":
        rows.append((MISMATCH, None, (native, bl.Context(reference))))
        rows.append((INVALID, "cl_context", (native, rig.other)))
    for error, names, arguments in rows:
        for ownership in ("keep", "transfer"):
            with raises(error, names=names):
                bl.make_kernel(rig.backend, *arguments, ownership=ownership)
    unbuilt = rig.load("input")
    with raises(INVALID):
        bl.make_kernel(rig.backend, native, unbuilt)
    unbuilt.close()
    bundle.close()
    with raises(INVALID):
        bl.make_kernel(rig.backend, native, bundle)
    other.close()


def test_platforms_and_devices_of_other_numbers_are_refused(rig: Rig) -> None:
    device = bl.get_native(rig.device)
    assert device.type == rig.types[-1]
    numbers = [device, int(device)]
    if rig.backend != "cuda":  # whose devices are ordinals
        numbers.append(rig.cast(rig.types[-1], int(device)))
    for native in numbers:
        assert bl.make_device(rig.backend, native) == rig.device
    for wrong in (0x1000, rig.native, *(() if rig.backend == "cuda" else (rig.null,))):
        with raises(INVALID):
            bl.make_device(rig.backend, wrong)
    if rig.backend in ("cuda", "reference"):
        with raises(bl.FeatureNotSupportedError, names="make_platform"):
            bl.make_platform(rig.backend, 1)
        return
    platform = bl.get_native(rig.device.platform, rig.backend)
    assert platform.type == rig.types[0]
    for native in (platform, int(platform), rig.cast(rig.types[0], int(platform))):
        assert bl.make_platform(rig.backend, native) == rig.device.platform in bl.get_platforms()
    for wrong in (0x1000, rig.null):
        with raises(INVALID):
            bl.make_platform(rig.backend, wrong)
    with raises(INVALID, names=rig.types):
        bl.make_device(rig.backend, platform)
    with raises(INVALID):
        bl.make_device(rig.backend, int(platform))


def test_objects_without_a_native_one_are_refused(rig: Rig) -> None:
    other = "cuda" if rig.backend != "cuda" else "level_zero"
    with bl.Queue(rig.device, rig.context) as queue:
        for item in (queue, rig.device, queue.context):
            with raises(MISMATCH, names=(rig.backend, other)):
                bl.get_native(item, other)
        with raises(INVALID, names="backend='metal'"):
            bl.get_native(queue, "metal")
        for wrong in (3, None, bl.Range(3), "queue", bl.usm_empty(1, "int8", queue), bl.Event()):
            with raises(INVALID):
                bl.get_native(wrong)
    with bl.Buffer(4, "int32") as buffer, raises(bl.FeatureNotSupportedError, names="get_native_mem"):
        bl.get_native(buffer)
