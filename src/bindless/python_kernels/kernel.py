"""``kernel``: Python functions that run on devices."""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, overload

import numpy as np
import numpy.typing as npt

from ..core._submission import Variants
from ..core.lock import Lock
from ..device.declaration import LaunchFacts
from ..model.errors import FeatureNotSupportedError, InvalidError
from ..model.message_values import shown
from ..model.ranges import NdRange, RangeLike, as_range
from ..sycl.kernel.bound_launch import BoundLaunch, LaunchQueue
from ..sycl.kernel.bundle import load_kernel_bundle
from ..sycl.kernel.kernel import Kernel
from ..sycl.kernel.kernel_template import KernelTemplate
from ..sycl.kernel.reduction import require_values, with_filled_variables
from .argument_type import ArgumentType
from .argument_types import own_arguments, type_of
from .compilation import Compiled, compiled_kernel
from .device_function import OfFunction, plain_function
from .expansion import Step, expansion
from .function_digest import digest_of
from .function_source import FunctionSource, source_of

if TYPE_CHECKING:
    from ..sycl.device.context import Context
    from ..sycl.device.queue_base import QueueBase

__all__ = ["PythonKernel", "kernel"]

_FLOATS = ("float32", "float64")
_MOST_VALUES = 256  # that core/_submission describes


class PythonKernel(OfFunction, KernelTemplate):
    """A kernel written in Python; ``bindless.kernel`` makes one.

    ``Queue.parallel_for``, ``Queue.single_task``, handlers and graphs take it like a ``Kernel``. It is compiled at the
    first launch with arguments of new types, and cached in memory and on disk. It can be pickled where its function can
    be: a kernel of a module by its name, one of a function or a notebook by ``cloudpickle``.

    Attributes
    ----------
    name : str
        Of the function.
    """

    __slots__ = (
        "__dict__", "__weakref__", "_contract", "_default_float", "_digest", "_kernel_function", "_lock", "_source",
        "_token", "name",
    )  # fmt: skip

    def __init__(self, _function: types.FunctionType, _default_float: str, _contract: bool) -> None:
        super().__init__(_function)
        self._contract = _contract
        self._default_float = _default_float
        self._lock = Lock()
        self._token = object()  # the kernel in the registries of contexts, which do not keep it alive
        self._source: FunctionSource | None = None
        self._digest = b""
        self.name = _function.__name__

    def _options(self) -> tuple[object, ...]:
        return self._default_float, self._contract

    def __call__(self, *arguments: object) -> NoReturn:
        raise InvalidError(
            f"kernel {self.name!r} runs over a range of work-items: queue.parallel_for(range, {self.name}, ...) "
            f"launches it, {self.name}.run_in_python(range, ...) interprets it"
        )

    def run_in_python(self, index_space: RangeLike | NdRange, *arguments: object) -> None:
        """Interpret the kernel in this process, work-item by work-item; breakpoints and ``print`` work.

        Parameters
        ----------
        index_space
            As for ``Queue.parallel_for``.
        arguments
            As for a launch; arrays are numpy arrays or memory that the host reaches.

        Raises
        ------
        InvalidError
            An argument that the host does not reach.
        KernelArgumentError, NdRangeError
            Local memory, or a call of a function of work-groups, over a plain range.
        """
        from ..device.interpreter import run

        run(self._kernel_function, index_space, arguments)

    def bind(self, queue: LaunchQueue, index_space: RangeLike | NdRange, *arguments: object) -> BoundLaunch:
        """A launch to be submitted many times, as ``Kernel.bind`` makes it; ``launch[i] = value`` takes values of the
        types that the kernel was compiled for.
        """
        require_values(arguments)
        made, values = self._specialised(queue, index_space, arguments)
        return BoundPythonLaunch(queue, made, index_space, values, _python=self, _launch_arguments=arguments)

    def specialise(self, queue: QueueBase, index_space: RangeLike | NdRange, *arguments: object) -> Kernel:
        """Compile the kernel for a launch without launching it.

        Returns
        -------
        Kernel
            For the queue's context. Its parameters are those of the compiled function: arrays have sizes of their own.
        """
        return self._specialised(queue, index_space, with_filled_variables(arguments))[0]

    def _specialised(
        self, queue: QueueBase, index_space: RangeLike | NdRange, arguments: tuple[object, ...]
    ) -> tuple[Kernel, tuple[object, ...]]:
        dimensions = _dimensions(index_space)
        variants: Variants | None = queue.context._kernels.get(self._token)
        found = variants.find(dimensions, arguments) if variants is not None else None
        if found is not None:
            return found
        own = own_arguments(arguments, queue)
        with self._lock:
            if variants is None and (variants := queue.context._kernels.get(self._token)) is None:
                variants = queue.context._kernels[self._token] = Variants()
                weakref.finalize(self, _forget, weakref.ref(queue.context), self._token)
            found = variants.find(dimensions, own)
            if found is None:
                variants.add(dimensions, own, *self._specialise(queue, dimensions, own))
                found = variants.find(dimensions, own)
                assert found is not None
        return found

    def _specialise(
        self, queue: QueueBase, dimensions: int, arguments: tuple[object, ...]
    ) -> tuple[Kernel, tuple[Step, ...]]:
        """Compile and load the kernel for the types of arguments."""
        if not 1 <= dimensions <= 3:
            raise InvalidError(f"kernel {self.name!r}: a range of {dimensions} dimensions; it has 1 to 3")
        language, traits = _language(queue), queue._backend.traits
        launch = LaunchFacts(
            dimensions, language, self._default_float, language == "spirv", self._contract,
            image_arguments=traits.images_are_arguments, checks_indices=traits.checks_indices,
        )  # fmt: skip
        compiled = self._compiled(launch, self._types(arguments))
        try:
            bundle = load_kernel_bundle(compiled.file, queue.context)
        except FeatureNotSupportedError as error:
            if "opencl_c" not in traits.module_languages:
                raise
            raise FeatureNotSupportedError(
                f"kernel {self.name!r}: kernels in Python become SPIR-V there, and {queue.device.name} takes OpenCL C "
                "alone: run it on another device, or write it in OpenCL C (`bindless build --target opencl_c`)",
                backend=str(queue.backend),
            ) from error
        return bundle.get_kernel(compiled.file.kernels[0].name), expansion(compiled.paths)

    def _types(self, arguments: tuple[object, ...]) -> tuple[ArgumentType, ...]:
        code = self._kernel_function.__code__
        names, defaults = code.co_varnames[: code.co_argcount], self._kernel_function.__defaults__ or ()
        if len(arguments) != len(names):
            raise InvalidError(
                f"kernel {self.name!r} takes {len(names)} arguments ({', '.join(names)}), {len(arguments)} were given"
                + (": a launch gives all of them, also those with default values" if defaults else "")
            )
        listed = tuple(self._plain(type_of(value, name)) for value, name in zip(arguments, names))
        count = sum(type_.size for type_ in listed)
        if count > _MOST_VALUES:
            raise InvalidError(
                f"kernel {self.name!r}: {count} arguments and elements of tuples, and a launch takes {_MOST_VALUES}: "
                "put numbers into an array"
            )
        return listed

    def _plain(self, type_: ArgumentType) -> ArgumentType:
        """Python's floats, those in tuples too, as numbers of the kernel's precision."""
        if type_.kind == "float":
            return ArgumentType("number", self._default_float)
        if type_.kind == "tuple":
            return ArgumentType("tuple", elements=tuple(map(self._plain, type_.elements)))
        return type_

    def _compiled(self, launch: LaunchFacts, listed: tuple[ArgumentType, ...]) -> Compiled:
        if self._source is None:
            self._source = source_of(self._kernel_function)
            self._digest = digest_of(self._source)
        return compiled_kernel(self._source, self._digest, launch, listed)

    def __repr__(self) -> str:
        return f"<PythonKernel {self.name!r}>"


class BoundPythonLaunch(BoundLaunch):
    """A launch of a kernel in Python with its arguments, which become those of the compiled kernel."""

    __slots__ = ("_launch_arguments", "_python")

    def __init__(
        self,
        _queue: LaunchQueue,
        _kernel: Kernel,
        _index_space: RangeLike | NdRange,
        _arguments: tuple[object, ...],
        _python: PythonKernel,
        _launch_arguments: tuple[object, ...],
    ) -> None:
        super().__init__(_queue, _kernel, _index_space, _arguments)
        self._python = _python
        self._launch_arguments = list(_launch_arguments)

    def __len__(self) -> int:
        return len(self._launch_arguments)

    def __getitem__(self, index: int) -> object:
        return self._launch_arguments[index]

    def __setitem__(self, index: int, value: object) -> None:
        """Another value for an argument, from the next launch on.

        Raises
        ------
        InvalidError
            A value of another type than the kernel was compiled for; the argument stays what it was.
        IndexError
            There is no such argument.
        """
        index = range(len(self._launch_arguments))[index]
        arguments = [*self._launch_arguments]
        arguments[index] = value
        made, values = self._python._specialised(self._queue, self._space, tuple(arguments))
        if made is not self._kernel:
            raise InvalidError(
                f"argument {index}: {shown(value)} is not of the type that the launch was bound with; bind the kernel "
                "again"
            )
        for place, one in enumerate(values):
            if one is not self._values[place]:
                super().__setitem__(place, one)
        self._launch_arguments = arguments


@overload
def kernel(function: Callable[..., object], /) -> PythonKernel: ...


@overload
def kernel(
    *, default_float: npt.DTypeLike = ..., contract: bool = ...
) -> Callable[[Callable[..., object]], PythonKernel]: ...


def kernel(
    function: Callable[..., object] | None = None,
    /,
    *,
    default_float: npt.DTypeLike = np.float32,
    contract: bool = False,
) -> PythonKernel | Callable[[Callable[..., object]], PythonKernel]:
    """Make a kernel of a Python function, which runs on every device.

    The function is executed once by each work-item of a launch. ``bindless.device`` has what it may call: work-items,
    images, atomic operations, local memory. Numbers, tuples, loops, conditions, ``math``, numpy's scalar functions and
    casts, and functions with ``bindless.device_function`` work as in Python; objects, exceptions, lists and recursion
    do not exist on devices. Compilation needs ``pip install 'bindless[kernels]'``.

    Parameters
    ----------
    function
        A Python function. Its global names and the variables around it are constants, read at the first launch.
    default_float
        Type of Python's floats, of constants and arguments, and of quotients of integers: float32 or float64. Together
        with float64 values all are float64.
    contract
        Whether the compiler may turn ``a * b + c`` into one operation that rounds once, as CUDA's does by default. It
        is quicker on GPUs where a kernel computes more than it reads, and results differ between devices. Without,
        only ``device.fma`` does that.

    Returns
    -------
    PythonKernel
        For ``Queue.parallel_for``.

    Raises
    ------
    InvalidError
        It is no function that devices can run.

    Examples
    --------
    >>> from bindless import device
    >>> @bindless.kernel
    ... def scale(values, factor):
    ...     i = device.item_id(0)
    ...     values[i] *= factor
    >>> if bindless.kernels_available("python"):
    ...     queue = bindless.Queue("reference")
    ...     values = bindless.usm_empty(4, np.float32, queue).copy_from([1, 2, 3, 4])
    ...     queue.parallel_for(4, scale, values, 2.5).wait()
    """
    name = str(np.dtype(default_float))
    if name not in _FLOATS:
        raise InvalidError(f"default_float={name}: Python's floats are float32 or float64")
    if function is None:
        return lambda decorated: PythonKernel(plain_function(decorated, "kernel"), name, bool(contract))
    return PythonKernel(plain_function(function, "kernel"), name, bool(contract))


def _forget(context: weakref.ref[Context], token: object) -> None:
    """Drop what was compiled in a context for a kernel that has gone."""
    alive = context()
    if alive is not None:
        alive._kernels.pop(token, None)


def _dimensions(index_space: RangeLike | NdRange) -> int:
    if type(index_space) is tuple:
        return len(index_space)
    if isinstance(index_space, NdRange):
        return len(index_space.global_range)
    return len(tuple(as_range(index_space)))


def _language(queue: QueueBase) -> str:
    """Return the language of a queue's device.

    Raises
    ------
    FeatureNotSupportedError
        It takes no module that the compiler can write.
    """
    languages = queue._backend.traits.module_languages
    for language in ("ptx", "spirv"):
        if language in languages:
            return language
    raise FeatureNotSupportedError(
        f"{queue.device.name} of the {queue.backend} backend takes {' and '.join(languages)}: kernels in Python become "
        "PTX or SPIR-V",
        backend=str(queue.backend),
    )
