"""Queues and events of the package made of Level Zero's, and the other way round."""

from __future__ import annotations

import pytest

import bindless as bl
from tests.interop.native_level_zero.level_zero_objects import FORMS, filled
from tests.interop.raw_level_zero import Raw, ffi
from tests.support.error_checks import raises

pytestmark = [pytest.mark.level_zero, pytest.mark.on_level_zero]


# ---------------------------------------------------------------------- queues


def test_what_get_native_gives_of_a_queue(device: bl.Device) -> None:
    for options, kind in (
        ({}, "ze_command_list_handle_t"),
        ({"immediate_command_list": True}, "ze_command_list_handle_t"),
        ({"no_immediate_command_list": True}, "ze_command_queue_handle_t"),
    ):
        with bl.Queue(device, in_order=True, **options) as queue:
            native = bl.get_native(queue)
            assert native.type == kind
            again = bl.make_queue("level_zero", native, queue.context, ownership="keep")
            assert filled(again, 3) == [3] * 4
            again.close()
            assert filled(queue, 4) == [4] * 4
            with raises(bl.InvalidError):
                bl.make_queue("level_zero", native, queue.context)


def test_a_queue_without_device_takes_the_contexts_first(raw: Raw, kept: bl.Context) -> None:
    for immediate in (False, True):
        native = raw.queue(immediate)
        with bl.make_queue("level_zero", native, kept) as queue:
            assert queue.device == kept.devices[0]
            assert filled(queue, 1) == [1] * 4


def test_a_number_is_a_queue_and_a_typed_handle_may_be_a_list(raw: Raw, kept: bl.Context) -> None:
    immediate, command_queue = raw.queue(True), raw.queue(False)
    queue = bl.make_queue("level_zero", int(ffi.cast("uintptr_t", command_queue)), kept)
    with raises(bl.InvalidError):
        bl.make_queue("level_zero", command_queue, kept)
    typed = bl.NativeHandle(int(ffi.cast("uintptr_t", immediate)), "ze_command_list_handle_t")
    with bl.make_queue("level_zero", typed, kept, ownership="keep") as again:
        assert filled(again, 2) == [2] * 4
    queue.close()
    assert raw.is_alive(immediate) and not raw.is_alive(command_queue)
    raw.destroy(immediate)


@FORMS
def test_a_kept_queue_that_its_owner_destroyed_fails_and_does_no_harm(
    raw: Raw, kept: bl.Context, immediate: bool
) -> None:
    native = raw.queue(immediate)
    queue = bl.make_queue("level_zero", native, kept, ownership="keep")
    array = bl.usm_empty(10, "int32", queue, kind="shared")
    raw.destroy(native)
    with pytest.raises(bl.Error, match="INVALID"):
        queue.fill(array, 1)
    queue.close()
    array.close()


# ---------------------------------------------------------------------- events
