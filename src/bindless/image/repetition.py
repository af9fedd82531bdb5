"""Pictures that come again: a picture that Python has drawn is added to those that C code repeats for its image.

``csrc/submission/pictures`` has the table. A call with another matrix, and with arrays of the same layout at other
addresses, is then submitted without Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..bindless_images.prepared_call import ALIGNMENT, prepare_read, report_error
from ..bindless_images.result_arrays import SMALLEST, empty_of_size
from ..core._submission import PictureCalls
from ..model.arrays import DType
from ..model.aspects import Aspect
from ..model.dlpack import DLDeviceType
from ..model.enums import ImageType, Precision, UsmKind
from ..model.filter import CoordinateMap
from ..model.image_call import ImageCall
from ..model.image_handles import SampledImageHandle
from ..model.resampling import FieldKind
from ..sampling.area import AreaPlan
from ..sampling.fields import Field, kind_of_fields, numbers_of_fields, pack_fields
from ..sampling.plan import Plan, Program
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from ..sycl.usm.functions import new_array
from .array_library import Library
from .results import copies_result

if TYPE_CHECKING:
    from .coefficients import Coefficients
    from .device_image import ImageStore
    from .drawing import Frame
    from .image import Image
    from .uploading import Uploads

__all__ = [
    "DISPLACE",
    "REMAP",
    "REPROJECT",
    "RESIZE",
    "SAMPLE",
    "WARP",
    "forget_uploads",
    "picture_calls",
    "remember",
    "remember_means",
    "remember_sample",
    "remember_view",
]

_SOMEWHERE = 1 << 12  # in place of addresses
_IDENTITY = CoordinateMap.pictures().matrix
# Bytes of host arrays that the device reads and writes over the bus: on an H100 a picture of 1 MiB then takes 0.13 ms,
# by way of the device's memory 0.23 ms; one of 2 MiB 0.31 and 0.45 ms; one of 4 MiB as long both ways.
_MAX_STAGED = 1 << 21
_AFFINE = (0.0, 0.0, 0.0, 1.0)
_convert = partial(np.array, dtype=np.float64, order="C")


# Methods of ``Image``; DISPLACE is ``remap`` with ``relative=True``.
WARP, REMAP, DISPLACE, RESIZE, SAMPLE, REPROJECT = range(6)


def picture_calls(queue: Queue) -> PictureCalls:
    """The pictures of a new image."""
    return PictureCalls(queue._stream, UsmArray, np.ndarray, queue.context._handles, report_error, _convert)


def remember(
    image: Image,
    method: int,
    sizes: tuple[int, ...],
    shape: tuple[int, ...],
    out: object,
    picture: object,
    *,
    frame: object = None,
    matrix: Any = None,
    fixed: Any = None,
    vectors: object = None,
    vectors_dtype: DType | None = None,
    library: Library | None = None,
    dtype: DType | None = None,
    edges: bool = False,
) -> None:
    """Adds a picture that was drawn, if C code can repeat it.

    Parameters
    ----------
    method : int
        What has drawn it: WARP, REMAP, DISPLACE, RESIZE or SAMPLE.
    sizes, shape, edges
        As of ``draw``.
    out : object
        The caller's array, or None.
    picture : object
        The result.
    frame : object
        The caller's ``shape``; None for methods without.
    matrix : array
        The caller's matrix, which the next call may replace; None for methods without.
    fixed : Any
        Otherwise the matrix of all calls.
    vectors : object
        The caller's displacement or coordinates.
    vectors_dtype : np.dtype | None
        Their dtype.
    library : Library | None
        What takes a new result that lies on the host.
    dtype : np.dtype | None
        Of the result; default the image's.
    """
    calls, pair = image._pictures, image._sources.get((edges, vectors is None and not edges))
    if pair is None:
        return
    store, source = pair
    uploads = image._coefficients or store._uploads
    if calls.declined:
        forget_uploads(store, uploads)
    if calls.declined or uploads.ready is None or copies_result(image._queue, out):
        return
    if vectors is not None and source.unit is not None:
        return
    if method == SAMPLE and source.largest is not None:  # a second command divides the values by the largest code
        return
    described, dims = image._described, len(image._size)
    layers, several = described.array_size, matrix is not None and np.ndim(matrix) == 3
    if several and layers == 1:
        return
    values = image._dtype if dtype is None else dtype
    count, on_host = math.prod(sizes), _is_on_host(picture)
    nbytes = count * described.num_channels * values.itemsize
    vector_bytes = 0 if vectors_dtype is None else count * dims * vectors_dtype.itemsize
    if on_host and nbytes * layers + vector_bytes > _MAX_STAGED and image._queue._backend.resampling is None:
        return
    kind = None if vectors is None else (vectors_dtype, (dims, 1), FieldKind.none)
    maps = source.maps_of(matrix, layers) if several else (source.map_of(fixed if matrix is None else matrix),)
    is_affine = maps[0].matrix[12:] == _AFFINE
    if any((map_.matrix[12:] == _AFFINE) is not is_affine for map_ in maps):
        return
    number = 0 if matrix is None else layers if several else 1
    rule = (number, dims, source.unit, source.margin, () if number else maps[0].matrix, is_affine)
    arrays = _Arrays(shape, values, nbytes, out, picture, library, vectors, vector_bytes)
    for is_aligned in (True, False):
        programs = _programs(image, source.plans, sizes, values, kind, maps[0], is_aligned=is_aligned)
        if programs and _add(image, method, frame, programs, rule, arrays, uploads, source.handle):
            return


def remember_means(image: Image, plan: AreaPlan, frame: Frame, shape: object, out: object, picture: object) -> None:
    """Adds a smaller picture that a plan has computed, if C code can repeat it.

    Parameters
    ----------
    shape : object
        As the caller gave it.
    out, picture
        As of ``remember``.
    """
    calls, store, uploads = image._pictures, image._native, image._native._uploads
    if calls.declined:
        forget_uploads(store, uploads)
    programs = [] if calls.declined or copies_result(image._queue, out) else plan.programs()
    if programs:
        nbytes = math.prod(frame.shape) * image._dtype.itemsize
        rule = (0, len(frame.sizes), None, (), _IDENTITY, True)
        handle = store.reader(image._sampler).handle
        arrays = _Arrays(frame.shape, image._dtype, nbytes, out, picture, image._library)
        _add(image, RESIZE, shape, programs, rule, arrays, uploads, handle)


def remember_view(
    image: Image,
    view: tuple[int, ...],
    sizes: tuple[int, ...],
    shape: tuple[int, ...],
    matrix: Any,
    fields: Sequence[Field],
    out: object,
    picture: object,
) -> None:
    """Adds a picture on the device that was drawn through a lens, if C code can repeat it: its lens stays there.

    Parameters
    ----------
    view : tuple[int, ...]
        What tells the picture from others of the image: its shape, and the number of the lens.
    sizes, shape, matrix, fields, out
        As of ``draw``.
    picture : object
        The result.
    """
    calls, pair, queue = image._pictures, image._sources.get((False, False)), image._queue
    if pair is None or calls.declined or _is_on_host(picture) or copies_result(queue, out):
        return
    store, source = pair
    if store._uploads.ready is None or image._coefficients is not None:
        return
    map_, values = source.map_of(matrix, has_fields=True), image._dtype
    numbers = numbers_of_fields(fields)
    kind = np.dtype(np.float64), (numbers, 0), kind_of_fields(fields)
    rule = 0, len(image._size), source.unit, source.margin, map_.matrix, map_.matrix[12:] == _AFFINE
    nbytes = math.prod(sizes) * image.num_channels * values.itemsize
    arrays = _Arrays(shape, values, nbytes, out, picture, image._library)
    lens = image._lenses.get(view[-1])
    for is_aligned in (True, False):
        programs = _programs(image, source.plans, sizes, values, kind, map_, is_aligned=is_aligned)
        if not programs:
            continue
        if lens is None:
            packed, _ = pack_fields(queue, source.fields_of(fields), on_device=False)
            lens = usm_empty(packed.shape, packed.dtype, queue)
            queue.memcpy(lens, packed).wait()
            image._lenses[view[-1]] = lens
        fixed = [program.with_coords(lens) for program in programs]
        if _add(image, REPROJECT, view, fixed, rule, arrays, store._uploads, source.handle):
            return


class _Arrays(NamedTuple):
    """The arrays of a picture.

    Attributes
    ----------
    shape : tuple[int, ...]
        Of the result.
    dtype : np.dtype
        Of it.
    nbytes : int
        Of a layer of it.
    out, picture : object
        The caller's array or None, and the result.
    library : Library | None
        What takes a new result that lies on the host.
    vectors : object
        The caller's displacement or coordinates.
    vector_bytes : int
        Of them.
    """

    shape: tuple[int, ...]
    dtype: DType
    nbytes: int
    out: object
    picture: object
    library: Library | None
    vectors: object = None
    vector_bytes: int = 0


def _add(
    image: Image,
    method: int,
    frame: object,
    programs: list[Program],
    rule: tuple[Any, ...],
    arrays: _Arrays,
    uploads: Uploads | Coefficients,
    handle: SampledImageHandle,
) -> bool:
    """Adds commands that make a picture; whether nothing else is to be tried.

    Those without an array of values come first, and make what the others read; each of the others writes a layer.
    """
    key, on_host, vectors, out = handle._raw_handle << 1 | 1, _is_on_host(arrays.picture), arrays.vectors, arrays.out
    record, last, staging = image._queue.context._handles.get(key), programs[-1], None
    first = sum(program.values < 0 for program in programs)
    if record is None:
        return True
    if on_host and last.stages:
        of_host = arrays.vector_bytes if vectors is not None and _is_on_host(vectors) else 0
        staging = _staging(image._queue, arrays.nbytes * (len(programs) - first), of_host)
        if staging is None:
            return True
    maker, example = None, out
    if out is None:
        maker, example = _maker(image, arrays.shape, arrays.dtype, arrays.picture, vectors, on_host)
    steps = tuple([(program.command, program.arguments, program.keep) for program in programs])
    places = (steps, last.values, last.coords, last.packed, last.entries, last.alignment, 1, first)
    return example is None or image._pictures.add(
        method, frame, vectors, example, maker, arrays.library if out is None and on_host else None, rule, places,
        arrays.nbytes, arrays.vector_bytes, uploads, key, record, staging,
    )  # fmt: skip


def remember_sample(image: Image, coords: object, out: object, picture: object, library: Library | None) -> None:
    """Adds samples that the texture unit has read at coordinates in the handle's own units, if C code can repeat them.

    Parameters
    ----------
    coords : object
        The caller's coordinates.
    out, picture, library
        As of ``remember``.
    """
    calls, store, queue, dims = image._pictures, image._native, image._queue, len(image._size)
    desc, shape = store.descriptor, tuple(getattr(coords, "shape", ()))
    count = math.prod(shape[:-1])
    if calls.declined:
        forget_uploads(store, store._uploads)
    if calls.declined or desc.type is not ImageType.standard or shape[-1:] != (dims,) or not count:
        return
    reader, dtype = store.reader(image._sampler), desc.value_dtype
    if reader.scale is not None or image._handle_precision is not Precision.hardware or not _is_float32(coords):
        return
    on_host = _is_on_host(picture)
    channels = (image.num_channels,) if image._has_channel_axis else ()
    result = (*shape[:-1], *channels)
    maker, example = (None, out) if out is not None else _maker(image, result, dtype, picture, coords, on_host)
    nbytes, vector_bytes = count * image.num_channels * dtype.itemsize, count * dims * 4
    key = reader.handle._raw_handle << 1 | 1
    record = queue.context._handles.get(key)
    if example is None or record is None:
        return
    call = ImageCall(
        "sample", reader.handle._raw_handle, True, desc, count, _SOMEWHERE, _SOMEWHERE + vector_bytes, dtype,
        image.num_channels,
    )  # fmt: skip
    call.values = -(-call.values // _SOMEWHERE) * _SOMEWHERE
    out_of_reach, staging = on_host and not queue.device.has(Aspect.usm_system_allocations), None
    of_host = vector_bytes if _is_on_host(coords) else 0
    if out_of_reach and (queue._backend.host_calls is None or not of_host):
        out_of_reach, staging = False, _staging(queue, nbytes, of_host)
        if staging is None:
            return
    prepared = prepare_read(queue, call, on_host=out_of_reach)
    if prepared is None:
        return
    keep = record.keep(queue.context)
    steps = ((prepared, (None, None), (keep, record.memory)),)
    calls.add(
        SAMPLE, None, coords, example, maker, library if out is None and on_host else None,
        (0, dims, None, (), _IDENTITY, True), (steps, 1, 0, -1, (), ALIGNMENT, ALIGNMENT, 0), nbytes, vector_bytes,
        store._uploads, key, record, staging,
    )  # fmt: skip


def forget_uploads(store: ImageStore, uploads: Uploads | Coefficients) -> None:
    """Takes complete uploads from what pictures wait for: C code does not wait for events that Python submitted."""
    ready = uploads.ready
    if ready and all(event._poll() and event._error is None for event in ready):
        with store._lock:
            if uploads.ready is ready:
                uploads.ready = ()


def _is_float32(array: object) -> bool:
    """Whether the elements of an array of any library are float32."""
    return str(getattr(array, "dtype", "")).rpartition(".")[2] == "float32"


def _programs(
    image: Image,
    plans: Mapping[tuple[Any, ...], Plan],
    sizes: tuple[int, ...],
    dtype: DType,
    kind: object,
    map_: CoordinateMap,
    *,
    is_aligned: bool,
) -> list[Program]:
    """The program of each layer; none where one is missing."""
    described, programs = image._described, []
    for layer in range(described.array_size):
        plan = plans.get((sizes, layer, dtype, described.num_channels, kind))
        program = None if plan is None else plan.program(map_, is_aligned=is_aligned)
        if program is None:
            return []
        programs.append(program)
    return programs


def _is_on_host(array: object) -> bool:
    if isinstance(array, UsmArray):
        return False
    place = getattr(array, "__dlpack_device__", None)
    return isinstance(array, np.ndarray) or (place is not None and place()[0] == DLDeviceType.cpu)


def _staging(queue: Queue, nbytes: int, vector_bytes: int) -> tuple[Any, ...] | None:
    """Memory that host and device reach for a picture, and for its vectors; None where copies are quicker."""
    if nbytes + vector_bytes > _MAX_STAGED or not queue.device.has(Aspect.usm_host_allocations):
        return None
    values = usm_empty(nbytes, np.uint8, queue, kind=UsmKind.host)
    coords = usm_empty(vector_bytes, np.uint8, queue, kind=UsmKind.host) if vector_bytes else None
    return (*_addresses(values), *_addresses(coords))


def _addresses(array: UsmArray | None) -> tuple[Any, int, int]:
    if array is None:
        return None, 0, 0
    return array, array.address, int(np.asarray(array).__array_interface__["data"][0])


def _maker(
    image: Image, shape: tuple[int, ...], dtype: DType, picture: object, vectors: object, on_host: bool
) -> tuple[Callable[[], Any] | bool | None, Any]:
    """What makes the array of the result of a call without ``out``, and one like it; None where Python makes it."""
    nbytes = math.prod(shape) * dtype.itemsize
    like_vectors = type(vectors) is type(picture) and type(picture) is not np.ndarray
    if like_vectors and (nbytes < SMALLEST or not on_host) and hasattr(type(picture), "__dlpack_c_exchange_api__"):
        return True, picture
    if on_host:
        maker = partial(empty_of_size(nbytes), shape, dtype)
        return maker, maker()
    if type(picture) is UsmArray:
        return partial(new_array, shape, dtype, image._queue), picture
    return (None, None) if like_vectors or image._maker is None else (image._maker(shape, dtype), picture)
