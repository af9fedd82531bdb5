"""Buffers over memory that Level Zero allocated."""

from __future__ import annotations

import gc

import pytest

import bindless as bl
from bindless.backends.level_zero import context as _context
from tests.interop.native_level_zero.level_zero_objects import BOTH, fill_all
from tests.interop.raw_level_zero import Raw, ffi, lib
from tests.support.error_checks import raises

pytestmark = [pytest.mark.level_zero, pytest.mark.on_level_zero]


@BOTH
def test_memory_of_another_context_is_refused(raw: Raw, ownership: str) -> None:
    """At the call, and not when the buffer is to free it."""
    memory = raw.memory("device", 64)
    other = bl.make_context("level_zero", raw.new_context(), raw.facade)
    with pytest.raises(bl.InvalidError) as refused:
        bl.make_buffer("level_zero", memory, other, "int8", ownership=ownership)
    assert refused.value.code == bl.Errc.invalid
    assert raw.is_memory(memory)
    own = bl.usm_empty(64, "uint8", raw.facade, other)
    kept = bl.make_context("level_zero", raw.context, raw.facade, ownership="keep")
    with pytest.raises(bl.InvalidError):
        bl.make_buffer("level_zero", int(own.pointer), kept, "int8", ownership=ownership)
    own.close()
    bl.make_buffer("level_zero", memory, kept, "int8").close()
    gc.collect()
    assert not raw.is_memory(memory)


def test_the_default_context_borrows_memory_of_others(raw: Raw, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is what libraries of one process share; it could not free the memory."""
    memory = raw.memory("shared", 64)
    default = bl.Context(raw.facade)
    # Old loaders have no default contexts: there the package makes one of its own.
    monkeypatch.setattr(_context, "_default_of", lambda owner: default._native.handle)
    with pytest.raises(bl.InvalidError):
        bl.make_buffer("level_zero", memory, default, "int8", ownership="transfer")
    with (
        bl.make_buffer("level_zero", memory, default, "int8", ownership="keep") as buffer,
        bl.Queue(raw.facade, default) as queue,
    ):
        queue.submit(lambda handler: fill_all(buffer, 7, handler)).wait()
    assert bytes(ffi.buffer(memory, 64)) == bytes([7]) * 64
    assert lib.zeMemFree(raw.context, memory) == 0


def test_a_buffer_of_a_context_with_several_devices_is_refused(raw: Raw) -> None:
    devices = [found for found in bl.get_devices("level_zero:*:*") if found.platform == raw.facade.platform]
    context = bl.make_context("level_zero", raw.context, devices, ownership="keep")
    memory = raw.memory("shared", 64)
    if len(devices) > 1:
        with raises(bl.InvalidError):
            bl.make_buffer("level_zero", memory, context, "int8")
        alone = bl.make_context("level_zero", raw.context, devices[1], ownership="keep")
        with raises(bl.InvalidError):
            bl.make_buffer("level_zero", memory, alone, "int8")
        del alone
    else:
        bl.make_buffer("level_zero", memory, context, "int8", ownership="keep").close()
    assert lib.zeMemFree(raw.context, memory) == 0
