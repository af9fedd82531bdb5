"""Elements of arrays that drivers fill."""

from __future__ import annotations

import gc

from bindless.drivers import opencl
from bindless.drivers.common.array_elements import elements


def test_structs_keep_their_array() -> None:
    array = opencl.ffi.new("cl_image_format[]", 1000)
    for index in range(1000):
        array[index].image_channel_order = index
    formats = elements(opencl.ffi, array, 900)
    freed: list[int] = []
    sentinel = opencl.ffi.gc(array, lambda _: freed.append(1))
    del array, sentinel
    gc.collect()
    filler = [opencl.ffi.new("cl_image_format[]", 1000) for _ in range(100)]  # would overwrite freed memory
    assert [item.image_channel_order for item in formats] == list(range(900))
    assert len(filler) == 100 and freed == [1]


def test_handles_are_what_the_array_holds() -> None:
    array = opencl.ffi.new("cl_device_id[]", [opencl.ffi.cast("cl_device_id", number) for number in (16, 32)])
    assert [int(opencl.ffi.cast("uintptr_t", item)) for item in elements(opencl.ffi, array, 5)] == [16, 32]
