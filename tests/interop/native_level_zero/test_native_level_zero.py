"""Level Zero's platforms, devices and contexts made into objects of the package and back, on the package's own driver.

The driver counts what is alive and refuses what is not, which shows whose an object is.
"""

from __future__ import annotations

import gc
import re
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import bindless as bl
from tests.interop.native_level_zero.level_zero_objects import fill_all
from tests.interop.raw_level_zero import Raw, lib
from tests.support.error_checks import raises

pytestmark = [pytest.mark.level_zero, pytest.mark.on_level_zero]


# ---------------------------------------------------------------------- platforms, devices, selection


def test_a_device_is_one_of_the_listed(device: bl.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    devices = [found for found in bl.get_devices() if found.backend is bl.Backend.level_zero]
    for number in range(4):
        if "partition_by_affinity_domain" in devices[number].get_info("partition_properties"):
            devices += devices[number].create_sub_devices("partition_by_affinity_domain", "next_partitionable")
        if number + 1 == len(devices):
            break
    natives = [bl.get_native(found) for found in devices]
    assert len(set(natives)) == len(devices)
    for found, native in zip(devices, natives):
        made = bl.make_device("level_zero", native)
        assert (made, made.parent, made.uuid) == (found, found.parent, found.uuid)
    with raises(bl.InvalidError):
        bl.make_device("level_zero", 0x1000)
    with raises(bl.InvalidError, names=("ze_driver_handle_t", "ze_device_handle_t")):
        bl.make_device("level_zero", bl.get_native(device.platform))
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "reference:*")
    with raises(bl.InvalidError, names="ONEAPI_DEVICE_SELECTOR='reference:*'"):
        bl.make_device("level_zero", natives[0])


def test_the_backend_is_chosen_by_environment_and_program(device: bl.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bl.Backend.level_zero in {found.backend for found in bl.get_devices("level_zero:*:*")}
    assert bl.Device("level_zero:*:0").platform.backend is bl.Backend.level_zero
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "level_zero:*")
    assert {found.backend for found in bl.get_devices()} == {bl.Backend.level_zero}
    assert bl.Device().backend is bl.Backend.level_zero
    monkeypatch.delenv("ONEAPI_DEVICE_SELECTOR")
    monkeypatch.setenv("SYCL_DEVICE_FILTER", "level_zero")
    with pytest.warns(DeprecationWarning, match="ONEAPI_DEVICE_SELECTOR"):
        assert {found.backend for found in bl.get_devices()} == {bl.Backend.level_zero}


# ---------------------------------------------------------------------- contexts


def test_a_context_is_transferred_once(raw: Raw) -> None:
    native = raw.new_context()
    first = bl.make_context("level_zero", native, raw.facade)
    with raises(bl.InvalidError):
        bl.make_context("level_zero", native, raw.facade)
    second = bl.make_context("level_zero", native, raw.facade, ownership="keep")
    assert bl.get_native(first) == bl.get_native(second)
    own = bl.Context(raw.facade)
    with raises(bl.InvalidError, names="get_native"):
        bl.make_context("level_zero", bl.get_native(own), raw.facade)
    del own, second, first


# ---------------------------------------------------------------------- threads, the end


def test_threads_make_and_drop_objects_of_their_own(raw: Raw, kept: bl.Context) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(10):
                ownership = "transfer" if turn % 2 else "keep"
                native, memory = raw.queue(turn % 3 == 0), raw.memory("shared", 4 * 4)
                with bl.make_queue("level_zero", native, kept, ownership=ownership) as queue:
                    buffer = bl.make_buffer("level_zero", memory, kept, "int32", ownership=ownership)
                    queue.submit(partial(fill_all, buffer, number))
                    with buffer.get_host_access("read") as host:
                        assert list(host) == [number] * 4
                    buffer.close()
                buffer = queue = host = None
                if ownership == "keep":
                    raw.destroy(native)
                    assert lib.zeMemFree(raw.context, memory) == 0
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_of_several_threads_one_transfers_a_handle(raw: Raw, kept: bl.Context) -> None:
    native, threads = raw.queue(True), 4
    begin = threading.Barrier(threads)
    made: list[bl.Queue] = []
    refused: list[str] = []

    def transfer() -> None:
        begin.wait()
        try:
            made.append(bl.make_queue("level_zero", native, kept))
        except bl.InvalidError as error:
            refused.append(str(error))

    workers = [threading.Thread(target=transfer) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert (len(made), len(refused)) == (1, threads - 1) and all("transferred once" in text for text in refused)
    made.pop().close()


def test_a_context_outlives_those_who_made_it(raw: Raw) -> None:
    native = raw.new_context()
    context = bl.make_context("level_zero", native, raw.facade)
    queue = bl.make_queue("level_zero", raw.queue(True, native), context)
    array = bl.usm_empty(4, "int32", queue, kind="shared")
    buffer = bl.make_buffer("level_zero", raw.memory("shared", 64, native), context, "int8")
    del context
    gc.collect()
    assert raw.is_alive(native)
    queue.fill(array, 1).wait()
    del queue, buffer
    gc.collect()
    assert raw.is_alive(native) and list(array.numpy()) == [1] * 4  # the last of it
    del array
    gc.collect()
    assert not raw.is_alive(native)


def test_the_page_about_native_objects_is_true(device: bl.Device) -> None:
    page = (Path(__file__).parents[3] / "docs" / "guide" / "interop.md").read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (snippet,) = [text for text in snippets if "level_zero" in text]
    names: dict[str, object] = {}
    exec(compile(snippet, "docs/guide/interop.md", "exec"), names)
    assert np.array_equal(names["result"], np.full(1000, 1.5))
    for native in ("native_context", "native_queue"):
        assert not Raw(device).is_alive(names[native])
