"""``Rig``: a backend with a context and a queue, for tests of the contract."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bindless.backends.contract import BackendProtocol, NativeEvent
from bindless.backends.contract.prepared_image_call import ARRAYS
from bindless.backends.reference.objects import Event
from bindless.model.copy_region import CopyRegion, HostMemory, ImageMemory, UsmMemory
from bindless.model.enums import ImageChannelType, UsmKind
from bindless.model.image_call import ImageCall
from bindless.model.image_descriptor import ImageDescriptor
from bindless.model.sampler import BindlessImageSampler
from tests.support.opencl_known_bugs import has_four_channels_alone, lacks_format, spoils_format

__all__ = ["Array", "Rig", "pixels_of"]

Array = npt.NDArray[Any]


_kept: dict[int, Any] = {}


def _context(backend: BackendProtocol, device: Any) -> Any:
    """A new context; OpenCL GPUs share one context for all tests, because making one takes a quarter of a second."""
    if backend.backend != "opencl" or device.type != "gpu":
        return backend.create_context([device])
    if id(device) not in _kept:
        _kept[id(device)] = backend.create_context([device])
    return _kept[id(device)]


class _Keeper:
    """A backend whose events need an explicit release: the teardown releases those that a test did not."""

    def __init__(self, backend: BackendProtocol) -> None:
        self._backend = backend
        self._events: dict[int, Event] = {}

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._backend, name)
        if not callable(found):
            return found

        @functools.wraps(found)
        def call(*arguments: Any, **options: Any) -> Any:
            if name == "release_event":
                self._events.pop(id(arguments[0]), None)
            made = found(*arguments, **options)
            if isinstance(made, Event):
                self._events[id(made)] = made
            return made

        return call

    def release_events(self) -> None:
        for event in self._events.values():
            self._backend.release_event(event)
        self._events.clear()


class Rig:
    """One backend with a context and an in-order queue, and short forms for tests.

    The teardown releases everything made through it.
    """

    def __init__(self, backend: BackendProtocol, device: Any) -> None:
        keeps = not backend.traits.events_release_themselves
        self.backend: Any = _Keeper(backend) if keeps else backend
        self.device = device
        self.context = _context(backend, device)
        self.queue = backend.create_queue(self.context, device, in_order=True, profiling=False)
        self._queues = [self.queue]
        self._undo: list[Callable[[], object]] = []

    def close(self) -> None:
        for queue in self._queues:
            self.backend.release_queue(queue)
        for undo in reversed(self._undo):
            undo()
        if isinstance(self.backend, _Keeper):
            self.backend.release_events()
        if self.context is not _kept.get(id(self.device)):
            self.backend.release_context(self.context)

    def make_queue(self, *, in_order: bool = True, profiling: bool = False) -> Any:
        queue = self.backend.create_queue(self.context, self.device, in_order=in_order, profiling=profiling)
        self._queues.append(queue)
        return queue

    def wait(self, event: NativeEvent) -> None:
        self.backend.wait_event(event)

    # ------------------------------------------------------------------ memory

    def allocate(self, nbytes: int, kind: UsmKind = UsmKind.device, alignment: int = 0) -> int:
        address = self.backend.allocate(self.context, self.device, kind, nbytes, alignment)
        self._undo.append(lambda: self.backend.free(self.context, address))
        return address

    def pitched(self, desc: ImageDescriptor) -> tuple[int, int]:
        address, pitch = self.backend.allocate_pitched(
            self.context, self.device, desc.row_size, desc.height or 1, desc.pixel_size
        )
        self._undo.append(lambda: self.backend.free(self.context, address))
        return address, pitch

    def upload(self, array: Array, kind: UsmKind = UsmKind.device) -> int:
        """Allocate memory and copy an array into it."""
        array = np.ascontiguousarray(array)
        address = self.allocate(max(array.nbytes, 1), kind)
        self.wait(self.backend.copy(self.queue, address, array.ctypes.data, array.nbytes))
        return address

    def download(self, address: int, like: Array) -> Array:
        """Copy memory to a new array."""
        out = np.empty_like(like)
        self.wait(self.backend.copy(self.queue, out.ctypes.data, address, out.nbytes))
        return out

    # ------------------------------------------------------------------ images

    def image(self, desc: ImageDescriptor, pixels: Array | None = None) -> int:
        """Allocate image memory and fill it with pixels (a list of arrays for the levels of a mipmap)."""
        handle = self.backend.allocate_image(self.context, self.device, desc)
        self._undo.append(lambda: self.backend.free_image(self.context, handle, desc))
        if pixels is not None:
            self.write(handle, desc, pixels)
        return handle

    def write(self, handle: int, desc: ImageDescriptor, pixels: Array) -> None:
        region = CopyRegion(self.host(pixels, desc), ImageMemory(handle, desc), desc.extent)
        self.wait(self.backend.copy_image(self.queue, region))

    def counts(self, channel_type: ImageChannelType | str) -> tuple[int, ...]:
        """Supported numbers of channels: 1, 2 and 4, except on some OpenCL drivers."""
        kind = ImageChannelType(channel_type)
        found = tuple(count for count in (1, 2, 4) if self.backend.supports_format(self.device, kind, count))
        if not found and self.backend.backend == "opencl" and lacks_format(self.platform, kind):
            pytest.skip(f"{self.platform} lists no images of {kind}")
        if self.backend.backend == "opencl" and has_four_channels_alone(self.platform, self.device.driver_version):
            assert found == (4,)
            return found
        if self.backend.backend != "opencl":
            assert found == (1, 2, 4)
            return found
        version = self.device.driver_version
        there = {count for count in (1, 4) if not spoils_format(self.platform, version, kind, count)}
        assert there == set(found) - {2}
        return found

    @property
    def platform(self) -> str:
        """Name of the platform."""
        return next(found.platform.name for found in self.backend.devices() if found.native is self.device)

    def read(self, handle: int, desc: ImageDescriptor) -> Array:
        out = np.full(desc.shape, 77, desc.dtype)
        region = CopyRegion(ImageMemory(handle, desc), self.host(out, desc), desc.extent)
        self.wait(self.backend.copy_image(self.queue, region))
        return out

    def host(self, array: Array, desc: ImageDescriptor, offset: tuple[int, int, int] = (0, 0, 0)) -> HostMemory:
        """A host endpoint over an array with the shape of a descriptor's image."""
        assert array.flags.c_contiguous
        assert array.nbytes == desc.extent[0] * desc.extent[1] * desc.extent[2] * desc.pixel_size
        return HostMemory(array.ctypes.data, desc.extent, desc.pixel_size, array.nbytes, offset)

    def usm(
        self, address: int, desc: ImageDescriptor, pitch: int = 0, offset: tuple[int, int, int] = (0, 0, 0)
    ) -> UsmMemory:
        return UsmMemory(address, pitch, desc, offset)

    def unsampled(self, handle: int, desc: ImageDescriptor) -> int:
        image = self.backend.create_unsampled_image(self.context, self.device, handle, desc)
        self._undo.append(lambda: self.backend.destroy_image(self.context, image, sampled=False))
        return image

    def sampled(self, handle: int, desc: ImageDescriptor, sampler: BindlessImageSampler) -> int:
        image = self.backend.create_sampled_image(self.context, self.device, handle, desc, sampler)
        self._undo.append(lambda: self.backend.destroy_image(self.context, image, sampled=True))
        return image

    def sampled_usm(self, address: int, pitch: int, desc: ImageDescriptor, sampler: BindlessImageSampler) -> int:
        image = self.backend.create_sampled_image_usm(self.context, self.device, address, pitch, desc, sampler)
        self._undo.append(lambda: self.backend.destroy_image(self.context, image, sampled=True))
        return image

    # ------------------------------------------------------------------ device functions

    def call(
        self,
        operation: Any,
        image: int,
        desc: ImageDescriptor,
        coords: Array,
        *,
        sampled: bool,
        values: Array | None = None,
        dtype: Any = None,
        channels: int | None = None,
        usm: bool = False,
        layers: Array | None = None,
        layer: int = 0,
        levels: Array | None = None,
        level: float = 0.0,
        dx: Array | None = None,
        dy: Array | None = None,
        waits: Sequence[NativeEvent] = (),
    ) -> Array:
        """Run a device function over arrays and return the values, read or written."""
        coords = np.ascontiguousarray(coords, "float32" if operation.startswith("sample") else "int32")
        count = len(coords)
        if values is None:
            shape = (count, channels or desc.num_channels)
            values = np.full(shape, 55, dtype or desc.value_dtype)
        address = self.upload(values)

        def put(array: Array | None, kind: str) -> int:
            return 0 if array is None else self.upload(np.ascontiguousarray(array, kind))

        call = ImageCall(
            operation,
            image,
            sampled,
            desc,
            count,
            self.upload(coords),
            address,
            values.dtype,
            values.shape[1],
            usm=usm,
            layers=put(layers, "uint32"),
            layer=layer,
            levels=put(levels, "float32"),
            level=level,
            dx=put(dx, "float32"),
            dy=put(dy, "float32"),
        )
        self.wait(self.backend.image_call(self.queue, call, waits))
        result = self.download(address, values)
        if count:
            self._call_again(call, values, result)
        return result

    def _call_again(self, call: ImageCall, values: Array, result: Array) -> None:
        """The call prepared with other arrays, whose addresses it then gets, has the same result."""
        elsewhere = self.upload(values)
        arrays: dict[str, int] = {name: getattr(call, name) for name in ARRAYS if getattr(call, name)}
        placed: dict[str, Any] = dict.fromkeys(arrays, self.allocate(16))
        command = self.backend.prepare_image_call(self.queue, replace(call, **placed))
        if command is None:
            return
        assert [place is not None for place in command.places] == [name in arrays for name in ARRAYS]
        arrays["values"] = elsewhere
        for name, place in zip(ARRAYS, command.places):
            if place is not None:
                ctypes.c_uint64.from_address(place).value = arrays[name]
        submit = _function(command.submit)
        result_code = submit(command.descriptions[0])
        if result_code == -(2**31):  # Python finds the driver's objects of addresses without meaning to the driver
            self.wait(self.backend.image_call(self.queue, replace(call, **arrays)))
            result_code = submit(command.descriptions[0])
        assert result_code == 0
        self.backend.wait_queue(self.queue)
        if (lane := command.lanes[0]).last_event:
            _function(lane.let_go)(ctypes.c_uint64.from_address(lane.last_event).value)
        np.testing.assert_array_equal(self.download(elsewhere, values), result)


def _function(address: int) -> Callable[[int], int]:
    return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address)


def pixels_of(desc: ImageDescriptor, seed: int = 1) -> Array:
    """Random pixels of an image: all codes of integer formats, finite floats."""
    random = np.random.default_rng(seed)
    if desc.dtype.kind == "f":
        return random.uniform(-4, 4, desc.shape).astype(desc.dtype)
    limits = np.iinfo(desc.dtype)
    return random.integers(limits.min, limits.max, desc.shape, desc.dtype, endpoint=True)
