"""Conversion of the arguments of a device function to one ``ImageCall``, for host arrays and USM arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.contract import NativeEvent
from ..model.arrays import Array
from ..model.aspects import Aspect
from ..model.enums import ImageChannelType, ImageType
from ..model.errors import InvalidError
from ..model.host_array import as_dtype
from ..model.image_call import ImageCall
from ..model.image_descriptor import CUBEMAP_FACES, ImageDescriptor
from ..model.image_handles import SampledImageHandle, UnsampledImageHandle
from ..model.message_values import shown
from ..submission.event import Event
from ..sycl.device.native_stream import order_libraries_after
from ..sycl.device.peer_access import memory_out_of_reach
from ..sycl.usm import UsmArray
from .call_form import ArrayLike, CallImage, Form
from .computed_samples import computed_samples, require_computed
from .context_tables import HandleRecord
from .device_limits import require
from .host_copy import ImageCopy, compute_on_host
from .prepared_call import Arguments, report_error, submit_prepared
from .scratch_memory import give_back, room, take
from .value_formats import DTypeLike, ValueFormat

if TYPE_CHECKING:
    from ..sycl.queue.queue import Queue

__all__ = [
    "check_out",
    "enqueue",
    "find_image",
    "with_coords",
    "with_layers",
    "with_level",
    "with_numbers",
]


_FETCH_ASPECTS = {
    (False, 1): Aspect.ext_oneapi_bindless_sampled_image_fetch_1d,
    (False, 2): Aspect.ext_oneapi_bindless_sampled_image_fetch_2d,
    (False, 3): Aspect.ext_oneapi_bindless_sampled_image_fetch_3d,
    (True, 1): Aspect.ext_oneapi_bindless_sampled_image_fetch_1d_usm,
    (True, 2): Aspect.ext_oneapi_bindless_sampled_image_fetch_2d_usm,
}
_SAMPLE_ASPECTS = {
    1: Aspect.ext_oneapi_bindless_images_sample_1d_usm,
    2: Aspect.ext_oneapi_bindless_images_sample_2d_usm,
}
_FUNCTIONS_OF_TYPE = {
    ImageType.standard: "fetch_image, sample_image and write_image",
    ImageType.mipmap: "sample_mipmap",
    ImageType.array: "fetch_image_array, sample_image_array and write_image_array",
    ImageType.cubemap: "fetch_cubemap, sample_cubemap and write_cubemap",
}
_CHANNEL_OF_RAW = {
    np.dtype("float32"): ImageChannelType.fp32,
    np.dtype("float16"): ImageChannelType.fp16,
    np.dtype("int8"): ImageChannelType.signed_int8,
    np.dtype("int16"): ImageChannelType.signed_int16,
    np.dtype("int32"): ImageChannelType.signed_int32,
    np.dtype("uint8"): ImageChannelType.unsigned_int8,
    np.dtype("uint16"): ImageChannelType.unsigned_int16,
    np.dtype("uint32"): ImageChannelType.unsigned_int32,
}
_UINT32_MAX = 2**32 - 1


def find_image(
    queue: Queue, form: Form, handle: object, coords: ArrayLike, num_channels: int | None, dtype: DTypeLike
) -> CallImage:
    """The image behind a handle; the function must be one for its type.

    A handle of a bare number that no ``create_image`` of this context returned is taken as it is: then ``num_channels``
    and ``dtype`` say what it holds.
    """
    sampled = isinstance(handle, SampledImageHandle)
    if not sampled and not isinstance(handle, UnsampledImageHandle):
        raise InvalidError(
            f"{form.name}: {type(handle).__name__} is neither an image nor a handle; Image(array) makes an image of "
            "an array, create_image a handle of image memory, SampledImageHandle(number) and "
            "UnsampledImageHandle(number) one of a raw handle"
        )
    if sampled and not form.sampled:
        why = "sampled images are read-only" if form.operation == "write" else "it is for unsampled images"
        raise InvalidError(f"{form.name}: {handle!r} is sampled; {why}")
    if not sampled and not form.unsampled:
        raise InvalidError(f"{form.name}: {handle!r} is unsampled; create it with a sampler")
    raw = handle._raw_handle  # type: ignore[attr-defined]
    try:
        handles = queue.context._handles
    except AttributeError:
        raise InvalidError(
            f"{form.name}: queue={shown(queue)} is no Queue: bindless.Queue(selector) makes one"
        ) from None
    key = raw << 1 | sampled  # handle_key
    record: HandleRecord | None = handles.get(key)
    if record is None:
        if handle.descriptor is not None:  # type: ignore[attr-defined]
            raise InvalidError(
                f"{form.name}: {handle!r} is no image of the queue's context: it was destroyed, or made in another one"
            )
        return CallImage(raw, _raw_descriptor(form, handle, coords, num_channels, dtype), sampled, False)
    desc = record.descriptor
    if desc.type is not form.type:
        way = "; Image(array, mipmaps=True) has mipmaps" if form.type is ImageType.mipmap else ""
        raise InvalidError(
            f"{form.name}: {handle!r} is a {desc.type} image; {desc.type} images take "
            f"{_FUNCTIONS_OF_TYPE[desc.type]}{way}"
        )
    if record.device is not queue.device and record.device != queue.device:
        raise InvalidError(f"{form.name}: {handle!r} was made on {record.device}, the queue runs on {queue.device}")
    if sampled and form.operation == "fetch":
        require(
            queue.device,
            _FETCH_ASPECTS[record.usm, desc.dimensions],
            f"fetching from sampled {desc.dimensions}D images{' in USM' if record.usm else ''}",
        )
    elif sampled and record.usm:
        require(queue.device, _SAMPLE_ASPECTS[desc.dimensions], f"sampling {desc.dimensions}D images in USM")
    keep = record.keep(queue.context)
    if keep is None:
        raise InvalidError(f"{form.name}: {handle!r} was destroyed by another thread just now")
    return CallImage(raw, desc, sampled, record.usm, (keep, record.memory), key, record)


def _raw_descriptor(
    form: Form, handle: object, coords: ArrayLike, num_channels: int | None, dtype: DTypeLike
) -> ImageDescriptor:
    element = as_dtype("dtype", dtype) if dtype is not None else None
    channel = None if element is None else _CHANNEL_OF_RAW.get(element)
    if num_channels is None or channel is None:
        raise InvalidError(
            f"{form.name}: {handle!r} was made from a number, and nothing says what it holds: "
            "give num_channels= and dtype= (float32 for normalized types)"
        )
    shape: tuple[int, ...] = getattr(coords, "shape", ())
    dims = 2 if form.type is ImageType.cubemap else shape[1] if len(shape) == 2 else 1
    sizes = [1 if axis < dims else 0 for axis in range(3)] if dims in (1, 2, 3) else [1, 0, 0]
    layers = {ImageType.array: 2, ImageType.cubemap: CUBEMAP_FACES}.get(form.type, 1)
    return ImageDescriptor(
        *sizes,
        num_channels=num_channels,
        channel_type=channel,
        type=form.type,
        num_levels=2 if form.type is ImageType.mipmap else 1,
        array_size=layers,
    )


# ---------------------------------------------------------------------- arrays of arguments


def with_coords(form: Form, argument: str, value: object, dims: int, dtype: str, count: int | None = None) -> ArrayLike:
    """Checks (N, dims) or, in one dimension, (N,); host arrays that are not contiguous are copied.

    Parameters
    ----------
    count : int, optional
        N where another argument has fixed it.
    """
    if not isinstance(value, (np.ndarray, UsmArray)):
        raise InvalidError(
            f"{form.name}: {argument} is a {type(value).__name__}; it is a numpy array or a UsmArray of {dtype}"
        )
    shape = f"(N, {dims}) or (N,)" if dims == 1 else f"(N, {dims})"
    if value.dtype != np.dtype(dtype):
        raise InvalidError(
            f"{form.name}: {argument} is {value.dtype}; it is {dtype} here: convert with {argument}.astype({dtype!r})"
        )
    fits = value.shape[1:] == (dims,) or (len(value.shape) == 1 and dims == 1)
    if not fits:
        raise InvalidError(
            f"{form.name}: {argument} of shape {value.shape}; it is {shape}, in (x, y, z) order: "
            f"reshape with {argument}.reshape(-1, {dims})"
        )
    if count is not None and value.shape[0] != count:
        raise InvalidError(f"{form.name}: {argument} has {value.shape[0]} items, coords has {count}")
    return _contiguous(form, argument, value)


def _contiguous(form: Form, argument: str, array: ArrayLike) -> ArrayLike:
    if isinstance(array, np.ndarray):
        return np.ascontiguousarray(array)
    if not array._contiguous:
        raise InvalidError(f"{form.name}: {argument} {array!r} is not contiguous: copy it into usm_empty first")
    return array


def with_numbers(form: Form, argument: str, value: object, count: int, *dtypes: str) -> ArrayLike | None:
    """An (N,) array of one of the dtypes, or None where the argument is one number."""
    if not isinstance(value, (np.ndarray, UsmArray)) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return None
    if value.dtype not in dtypes:
        raise InvalidError(
            f"{form.name}: {argument} is {value.dtype}; it is {' or '.join(dtypes)} here: convert with "
            f"{argument}.astype({dtypes[0]!r})"
        )
    if value.shape != (count,):
        raise InvalidError(f"{form.name}: {argument} of shape {value.shape}; it is one number or ({count},)")
    return _contiguous(form, argument, value)


def with_layers(
    form: Form, argument: str, value: object, count: int, desc: ImageDescriptor
) -> tuple[ArrayLike | None, int]:
    """Layers or faces: an array, or one number, which is checked against the image here.

    SYCL's layers are ``unsigned int``, its faces ``int``; the bits of both are the same where there is such a layer.
    """
    array = with_numbers(form, argument, value, count, "uint32", "int32")
    if array is not None:
        return array, 0
    try:
        layer = int(value.__index__())  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        raise InvalidError(
            f"{form.name}: {argument}={shown(value)}; it is one number or a uint32 or int32 array of shape ({count},)"
        ) from None
    if not 0 <= layer <= _UINT32_MAX or layer >= desc.array_size:
        raise InvalidError(f"{form.name}: {argument}={layer}; the image has layers 0 to {desc.array_size - 1}")
    return None, layer


def with_level(form: Form, value: object, count: int) -> tuple[ArrayLike | None, float]:
    """Levels: an array, or one number."""
    array = with_numbers(form, "level", value, count, "float32")
    if array is not None:
        return array, 0.0
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return None, float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InvalidError(
            f"{form.name}: level={shown(value)}; it is one number or a float32 array of shape ({count},)"
        ) from None


# ---------------------------------------------------------------------- submission


def enqueue(
    queue: Queue,
    form: Form,
    image: CallImage,
    inputs: dict[str, ArrayLike | None],
    values: ArrayLike,
    fields: dict[str, Any],
    depends_on: Event | Iterable[Event],
    arguments: Arguments = (),
    prepare: bool = False,
    result_array: object = None,
) -> Event | None:
    """Submits a call whose arrays are all on the host (waits, returns None) or all in USM (returns its event).

    Parameters
    ----------
    inputs : dict[str, ArrayLike | None]
        Arrays by the field of ``ImageCall`` that holds their address.
    values : ArrayLike
        The result, or the colours of a write.
    fields : dict[str, Any]
        The fields of ``ImageCall`` that are neither addresses nor the image's own.
    arguments : Arguments, default ()
        Arguments of the caller.
    prepare : bool, default False
        Whether to prepare the call.
    result_array : object, optional
        Array that was made for the result.
    """
    arrays: dict[str, ArrayLike] = {}
    on_host = isinstance(values, np.ndarray)
    for name, array in inputs.items():
        if array is None:
            continue
        arrays[name] = array
        if isinstance(array, np.ndarray) is not on_host:
            raise InvalidError(
                f"{form.name}: {name} is {_place(array)} and the values are {_place(values)}: "
                "give all arrays as numpy arrays, or all as UsmArray (with out= one for the result)"
            )
    backend, native = queue._backend, queue._stream.native or queue._native
    if fields["count"] == 0:
        return None if on_host else queue._enqueue(lambda waits: backend.barrier(native, waits), depends_on)
    if "precision" in fields and not backend.traits.computes_precisions:
        if not on_host:
            _check_usm(queue, form, (*arrays.values(), values))
        compute = _gradients_on_host if form.operation == "sample_grad" else computed_samples
        event = compute(queue, form, image, inputs, values, fields, depends_on)
        if event is not None:
            order_libraries_after(queue, arguments, event)
        return event
    arrays["values"] = values
    fields |= {
        "operation": form.operation,
        "handle": image.raw,
        "sampled": image.sampled,
        "descriptor": image.desc,
        "usm": image.usm,
    }
    if not on_host:
        _check_usm(queue, form, arrays.values())
    for name, array in arrays.items():
        fields[name] = array.__array_interface__["data"][0] if type(array) is np.ndarray else _address(array)
    call = ImageCall(**fields)
    staged = on_host and Aspect.usm_system_allocations not in (queue.device._aspects or queue.device.aspects)
    if prepare:
        result = submit_prepared(
            queue, image.key, image.keep, call, arguments, arrays, result_array, depends_on, staged
        )
        if result is not NotImplemented:
            return None if on_host else result
    if staged:
        _through_device(queue, call, arrays, image, depends_on)
        return None
    keep = (*image.keep, *arrays.values())
    event = queue._stream.submit(lambda waits: backend.image_call(native, call, waits), depends_on, keep)
    if not on_host:
        order_libraries_after(queue, arguments, event)
        return event
    _finish(event)
    return None


def _gradients_on_host(
    queue: Queue,
    form: Form,
    image: CallImage,
    inputs: dict[str, ArrayLike | None],
    values: ArrayLike,
    fields: dict[str, Any],
    depends_on: Event | Iterable[Event],
) -> Event | None:
    """``computed_samples`` with gradients, which the reference device alone follows, on a copy of the image."""
    record, precision = require_computed(form, image, fields["precision"]), fields["precision"]
    arrays: dict[str, ArrayLike | None] = {}
    copy = ImageCopy(queue, record, image.desc, depends_on)
    before = copy.events
    for name, array in inputs.items():
        arrays[name] = array
        if isinstance(array, UsmArray):
            there = arrays[name] = np.empty(array.shape, array.dtype)
            before.append(queue.memcpy(there, array, depends_on=depends_on))

    def compute(result: Array) -> None:
        with copy.image(precision=precision) as (host, handle):
            here = find_image(host, form, handle, result, None, None)
            enqueue(host, form, here, arrays, result, fields, ())

    return compute_on_host(queue, compute, values, before)


def _finish(event: Event) -> None:
    """Waits; a call that waits reports its own failure, also where the queue has an ``async_handler``."""
    event.wait()
    report_error(event)


def _place(array: ArrayLike) -> str:
    return "on the host" if isinstance(array, np.ndarray) else "in USM"


def _address(array: ArrayLike) -> int:
    if isinstance(array, np.ndarray):
        return int(array.__array_interface__["data"][0])
    owner = array._owner
    if not owner.open:
        raise owner.freed()
    return owner.address + array._offset


def _check_usm(queue: Queue, form: Form, arrays: Iterable[ArrayLike]) -> None:
    for array in arrays:
        assert isinstance(array, UsmArray)
        context = array._owner.context
        if context is not queue.context and context != queue.context:
            raise InvalidError(f"{form.name}: {array!r} is memory of another context than the queue's")
        if queue.context._unreached and (reason := memory_out_of_reach(array._owner, queue)):
            raise InvalidError(f"{form.name}: {array!r}: {reason}")


def _through_device(
    queue: Queue,
    here: ImageCall,
    arrays: dict[str, ArrayLike],
    image: CallImage,
    depends_on: Event | Iterable[Event],
) -> None:
    """Host arrays of a device that reaches its own memory alone: in, call, out; waits."""
    calls = queue._backend.host_calls
    if calls is not None:
        operation = calls.host_call(queue._native, here)
        if operation is not None:
            _finish(queue._enqueue(operation, depends_on, (*image.keep, *arrays.values())))
            return
    is_write = here.operation == "write"
    offsets: dict[str, int] = {}
    size = 0
    for name, array in arrays.items():
        offsets[name] = size
        size += room(array.nbytes)
    block = take(queue, size)
    backend, native = queue._backend, queue._native
    places: dict[str, Any] = {name: block.address + offset for name, offset in offsets.items()}
    call = replace(here, **places)
    uploads = [
        (places[name], _address(array), array.nbytes) for name, array in arrays.items() if is_write or name != "values"
    ]
    result = arrays["values"]

    def submit(waits: Sequence[NativeEvent]) -> NativeEvent:
        events: list[NativeEvent] = []
        try:
            for destination, source, nbytes in uploads:
                events.append(backend.copy(native, destination, source, nbytes, waits))
            last = backend.image_call(native, call, events or waits)
            if is_write:
                return last
            events.append(last)
            return backend.copy(native, _address(result), places["values"], result.nbytes, [last])
        finally:
            for event in events:
                backend.release_event(event)

    _finish(queue._enqueue(submit, depends_on, (block, *image.keep, *arrays.values())))
    give_back(queue, block)


def check_out(form: Form, out: object, format_: ValueFormat, count: int, inputs: Iterable[ArrayLike | None]) -> None:
    """The result's array has the right shape and dtype, can be written, and lies apart from the arguments."""
    if not isinstance(out, (np.ndarray, UsmArray)):
        raise InvalidError(f"{form.name}: out is a {type(out).__name__}; it is a numpy array or a UsmArray")
    if out.dtype != format_.item or tuple(out.shape) != format_.shape(count):
        raise InvalidError(
            f"{form.name}: out is {out.dtype} of shape {tuple(out.shape)}; the result is {format_.item} of shape "
            f"{format_.shape(count)}"
        )
    if isinstance(out, UsmArray):
        _contiguous(form, "out", out)
        out._owner.require_writable(f"{form.name}: out")
    else:
        if not out.flags.c_contiguous or not out.flags.writeable:
            raise InvalidError(f"{form.name}: out is not C-contiguous or not writable: give a fresh np.empty array")
        for array in inputs:
            if isinstance(array, np.ndarray) and np.may_share_memory(out, array):
                raise InvalidError(f"{form.name}: out shares memory with an argument: give another array")
