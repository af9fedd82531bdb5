"""Arrays of all libraries as arguments: linear functions of arrays, in the process and on devices, applied to them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..image.array_library import hand_over, library_of, view
from ..image.default_queue import is_own, queue_of_array
from ..image.results import overlap
from ..model.arrays import Array, DType
from ..model.dlpack import DLDeviceType
from ..model.enums import Backend
from ..model.errors import ArgumentError, FeatureNotSupportedError
from ..model.filter import CoordinateMap
from ..model.message_values import shown
from ..ndimage.device_call import DeviceCall, device_call
from ..ndimage.repeated import recall
from ..ndimage.source import source_of, wait_unless_ordered
from ..ndimage.target import Output, to_device
from ..sampling.packing import After, contiguous
from ..sampling.rays import Halves
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from ..sycl.usm.functions import new_array

__all__ = ["LinearFunction", "apply", "operand", "require_shape", "storage_of"]

_FLOAT32, _FLOAT16 = np.dtype(np.float32), np.dtype(np.float16)
_NO_MAP = CoordinateMap.pictures()
_HOST_TYPES = (DLDeviceType.cpu, DLDeviceType.cuda_host)
_MOST_CALLS = 16


class LinearFunction:
    """A linear function from arrays of one shape to those of another.

    Parameters
    ----------
    name : str
        Of the argument, for errors.
    source_shape, shape : tuple[int, ...]
        Of the argument and of the result.
    on_host : Callable[[NDArray, NDArray], object]
        Writes the result for the first array to the second one; both are contiguous, float32.
    launch : Callable[[Queue, Halves], ArrayLaunch]
        The launch that does the same in memory of the queue's device; both arrays have the precision that is said.
    dtype : DType, default float32
        Of the result: float32 or float16.
    """

    def __init__(
        self, name: str, source_shape: tuple[int, ...], shape: tuple[int, ...],
        on_host: Callable[[Array, Array], object], launch: Callable[[Queue, Halves], Any], dtype: DType = _FLOAT32,
    ) -> None:  # fmt: skip
        self.name, self.source_shape, self.shape, self.dtype = name, source_shape, shape, dtype
        self._write, self._launch_of = on_host, launch
        self._launches: dict[tuple[int, Halves], Any] = {}  # of own queues
        self._calls: dict[Any, DeviceCall] = {}  # by layouts of arrays on devices

    def __call__(self, value: Any, out: Any = None, queue: Queue | None = None) -> Any:
        """The result, in the library of the argument and where it lies, or in ``out``; without derivatives."""
        if queue is None and not _is_on_device(value):
            return self._on_host(value, out)
        return self._on_device(value, out, queue)

    def _on_host(self, value: Any, out: Any) -> Any:
        library = library_of(value)
        array = _floats(value if library is None else np.from_dlpack(value))
        require_shape(self.name, array, self.source_shape)
        if out is None:
            result = self._compute(array)
            return result if library is None else library(result)
        target = view("out", out, queue_of_array(out))
        if target.shape != self.shape or target.dtype != self.dtype:
            raise ArgumentError(
                f"out of shape {target.shape} and {target.dtype}: {self.shape} and {self.dtype} are needed"
            )
        if isinstance(target, UsmArray) or (self.dtype != _FLOAT32 and target.flags.writeable):
            target[...] = self._compute(array)
        elif target.flags.c_contiguous and target.flags.writeable and not np.shares_memory(target, array):
            self._write(array, target)
        else:
            raise ArgumentError(
                "out is read-only, not contiguous, or shares memory with the argument: give another array"
            )
        return out

    def _compute(self, array: Array) -> Array:
        result = np.empty(self.shape, np.float32)
        self._write(array, result)
        with np.errstate(over="ignore"):  # infinite in half precision
            return result.astype(self.dtype, copy=False)

    def _on_device(self, value: Any, out: Any, queue: Queue | None) -> Any:
        key = None if queue is not None else recall(self.name, None, value, out, 0.0, ())[0]
        call = self._calls.get(key)
        result = None if call is None or call.queue._stream.closed else call.submit(value, out)
        if result is not None:
            return result
        source = source_of(self.name, value, None, queue)
        require_shape(self.name, source, self.source_shape)
        target = Output(self.name, source, self.dtype if out is None else out, self.shape)
        queue, pixels = source.queue, source.pixels
        if target.dtype != self.dtype:
            raise ArgumentError(f"out of {target.dtype}: {self.dtype} is needed")
        if target.array is not None and overlap(pixels, target.array):
            raise ArgumentError(f"out shares memory with {self.name}: give another array")
        after: After = ()
        if isinstance(pixels, UsmArray):
            packed, after = contiguous(queue, pixels, pixels.shape, _stored(pixels.dtype), self.name)
        else:
            packed = to_device(_floats(pixels).astype(_stored(pixels.dtype), copy=False), queue)
        values = target.memory(self.dtype, in_usm=True)
        if not isinstance(values, UsmArray):
            values = new_array((*self.shape, 1), self.dtype, queue)
        run = self._launch(queue, Halves(packed.dtype == _FLOAT16, self.dtype == _FLOAT16))
        if 0 not in self.shape:
            wait_unless_ordered(queue, (run.submit(_NO_MAP, packed, values, after=after),))
        is_direct = pixels.is_contiguous if isinstance(pixels, UsmArray) and source.dtype == packed.dtype else False
        is_direct = is_direct and (target.array is None or values is target.array) and 0 not in self.shape
        if key is not None and is_direct and is_own(queue) and not isinstance(run, _HostLaunch):
            dims = len(self.source_shape), len(self.shape), len(self.shape)
            forms = (self.source_shape, packed.dtype), (self.shape, self.dtype)
            call = device_call(key[1], queue, run, _NO_MAP, dims, *forms, None, None, source.library, 0)
            if call is not None:
                if len(self._calls) >= _MOST_CALLS:
                    self._calls.clear()
                self._calls[key] = call
        if isinstance(pixels, UsmArray):
            hand_over(source.value, pixels)
        return target.deliver(values)

    def _launch(self, queue: Queue, halves: Halves) -> Any:
        if queue.device.backend is Backend.reference:
            return _HostLaunch(queue, self)
        if not is_own(queue):
            return self._launch_of(queue, halves)
        key = id(queue), halves
        launch = self._launches.get(key)
        if launch is None or launch.queue is not queue:
            launch = self._launches[key] = self._launch_of(queue, halves)
        return launch


class _HostLaunch:
    """The function for arrays of the reference device, whose memory the process computes on; waits."""

    def __init__(self, queue: Queue, function: LinearFunction) -> None:
        self.queue, self._function = queue, function

    def submit(
        self, map_: object, source: UsmArray, values: UsmArray, coords: object = None, /, after: Any = ()
    ) -> Any:
        """As that of ``ArrayLaunch``."""
        function = self._function
        return self.queue.memcpy(values, function._compute(_floats(source.numpy().reshape(function.source_shape))))


def apply(
    value: Any, function: LinearFunction, transpose: LinearFunction | None = None, out: Any = None,
    queue: Queue | None = None,
) -> Any:  # fmt: skip
    """The result of a linear function, in the library of its argument; of torch's tensors differentiable.

    Parameters
    ----------
    value : Any
        numpy's array, or one of a library with DLPack or an interface of arrays, in the process or on a device. Axes
        before those of the function are of several arguments, and of the result.
    function, transpose : LinearFunction
        Without a transpose there is no derivative.
    out : array, optional
        Where the result goes, of the function's type; a tensor that needs a gradient takes none.
    queue : Queue, optional
        Computes it; by default the process, or a queue of the device where the argument lies.

    Raises
    ------
    ArgumentError
        The argument makes no array of real numbers of the shape, or ``out`` does not fit.
    """
    if len(getattr(value, "shape", ())) > len(function.source_shape):
        return _apply_to_each(value, function, transpose, out, queue)
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return function(value, out, queue)
    if out is None:
        return _linear().apply(value, function, transpose, queue)
    if value.requires_grad and torch.is_grad_enabled():
        raise ArgumentError("out of a tensor that needs a gradient: leave it out, or give value.detach()")
    return function(value.detach(), out, queue)


def _apply_to_each(
    values: Any, function: LinearFunction, transpose: LinearFunction | None, out: Any, queue: Queue | None
) -> Any:
    """The results of the parts along the first axis."""
    count = int(values.shape[0])
    if count == 0:
        raise ArgumentError(f"{function.name} of shape {tuple(values.shape)}: one {function.source_shape} is needed")
    if out is not None:
        if tuple(out.shape)[:1] != (count,):
            raise ArgumentError(f"out of shape {tuple(out.shape)}: it is for {count} results")
        for number in range(count):
            apply(values[number], function, transpose, out[number], queue)
        return out
    parts = [apply(values[number], function, transpose, None, queue) for number in range(count)]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(values, torch.Tensor):
        return torch.stack(parts)
    if isinstance(values, np.ndarray):
        return np.stack(parts)
    if isinstance(values, UsmArray):
        result: UsmArray = new_array((count, *parts[0].shape), function.dtype, queue or queue_of_array(values))
        for number, part in enumerate(parts):
            result[number] = part
        return result
    return values.__array_namespace__().stack(parts)


def operand(name: str, value: Any, shape: tuple[int, ...]) -> tuple[Any, Callable[[Any], Any]]:
    """An argument of this shape as an array that has arithmetic, float32, and what makes a result of such an array.

    There may be axes of several before the shape.

    Raises
    ------
    ArgumentError
        Another shape.
    FeatureNotSupportedError
        An array on a device, whose library has no arithmetic.
    """
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _require_last(name, value.detach().float(), shape), _itself
    if not _is_on_device(value):
        library = library_of(value)
        array = _floats(value if library is None else np.from_dlpack(value))
        return _require_last(name, array, shape), library or _itself
    if not hasattr(value, "__mul__") or not hasattr(value, "astype"):
        raise FeatureNotSupportedError(
            f"{name}: a {type(value).__name__} has no arithmetic for iterations; give an array of CuPy, torch or dpnp "
            "over the same memory, or a copy as numpy array"
        )
    return _require_last(name, value, shape).astype("float32"), _itself


def _require_last(name: str, array: Any, shape: tuple[int, ...]) -> Any:
    """The array, if its last axes have this shape, and none is empty before them."""
    sizes = tuple(array.shape)
    if sizes[-len(shape) :] != shape or 0 in sizes[: -len(shape)]:
        raise ArgumentError(f"{name} of shape {sizes}: {shape} is needed, after axes of several volumes")
    return array


def storage_of(dtype: Any) -> DType:
    """The type of results that are stored: float32 or float16, by its name or as that of any library.

    Raises
    ------
    ArgumentError
        Another one.
    """
    name = getattr(dtype, "__name__", str(dtype)).rpartition(".")[2]
    if name not in ("float32", "float16"):
        raise ArgumentError(f"dtype={shown(dtype)}: float32 or float16 is needed")
    return np.dtype(name)


def require_shape(name: str, array: Any, shape: tuple[int, ...]) -> Any:
    """The array, if it has this shape."""
    if tuple(array.shape) != shape:
        raise ArgumentError(f"{name} of shape {tuple(array.shape)}: {shape} is needed")
    return array


def _itself(array: Any) -> Any:
    return array


def _stored(dtype: DType) -> DType:
    """The type in which kernels read numbers of a type."""
    return _FLOAT16 if dtype == _FLOAT16 else _FLOAT32


def _is_on_device(value: Any) -> bool:
    if isinstance(value, (np.ndarray, UsmArray)):
        return isinstance(value, UsmArray)
    place = getattr(value, "__dlpack_device__", None)
    if place is not None:
        return place()[0] not in _HOST_TYPES
    return hasattr(value, "__cuda_array_interface__") or hasattr(value, "__sycl_usm_array_interface__")


def _floats(value: Any) -> Array:
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise ArgumentError(f"an array of {array.dtype}: real numbers are needed")
    return np.ascontiguousarray(array, np.float32)


@cache
def _linear() -> Any:
    """The function of torch, whose derivative is the transpose."""
    import torch

    class Linear(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, tensor: Any, function: LinearFunction, transpose: Any, queue: Queue | None) -> Any:
            ctx.functions = function, transpose, queue
            ctx.dtype = tensor.dtype
            return function(tensor.detach(), None, queue)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> tuple[Any, None, None, None]:
            function, transpose, queue = ctx.functions
            if transpose is None:
                raise FeatureNotSupportedError("a derivative of this function: a Projector's call and adjoint have one")
            return Linear.apply(gradient, transpose, function, queue).to(ctx.dtype), None, None, None

        @staticmethod
        def jvp(ctx: Any, tangent: Any, *_: Any) -> Any:
            return Linear.apply(tangent, *ctx.functions)

    return Linear
