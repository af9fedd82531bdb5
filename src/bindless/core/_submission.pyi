"""Submission of prepared commands in C; csrc/submission."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

REAP_EVERY: int
MOST_ARGUMENTS: int

def know_types(array: type, number: type, boolean: type, /) -> None:
    """Store numpy's types: of arrays, numbers and truth values."""

def know_arguments(array: type, image: type, plain: frozenset[type], key: Callable[[Any], Any], /) -> None:
    """Store the types of arguments of kernels in Python: of arrays, the base of images' owners, types that decide by
    themselves, and the function that makes a key of another value, or None of an array to be imported first."""

class Lock:
    """Reentrant lock of a queue; Ctrl-C interrupts a wait for it."""

    @property
    def _acquired(self) -> bool:
        """Acquire the lock; true."""

    @property
    def depth(self) -> int: ...
    @property
    def is_mine(self) -> bool:
        """Whether this thread holds the lock."""

    def acquire(self) -> bool: ...
    def release(self) -> None: ...
    def __enter__(self) -> bool: ...
    def __exit__(self, *_: object) -> None: ...

class Owner:
    """Base of objects that own a native object: the destructor calls ``_finalize``, which signals cannot interrupt."""

    def _finalize(self) -> None: ...

def is_new_child() -> bool:
    """Whether this is the child of a fork that has not called ``end_fork`` yet."""

def expect_end_fork() -> None:
    """From now on, in the child of a fork, objects that end are not released until ``end_fork`` is called."""

def end_fork() -> None:
    """In the child of a fork, when what the parent owns is forgotten: from now on objects that end are released."""

def uninterrupted(function: Callable[..., object], /) -> Callable[..., None]:
    """Make a callback that calls a function. Ctrl-C is raised in the code that was running."""

class Openable:
    """Base of memory and kernel bundles: commands check that they are open."""

    _open: bool

class Mark:
    """The end of a command in a lane. ``number`` is its driver event, released by the function at ``let_go``; or 0."""

    stream: Any
    native: Any
    index: int
    number: int
    let_go: int

class Lane:
    """A driver stream. The event of its last mark is recorded only if a reference to the mark exists.

    Alternatively each command stores its event at the address ``last_event``; the functions at ``query`` and ``let_go``
    query and release it, and ``waits`` is the address of the wait list: a count and 8 events. The function at
    ``wait_for``, with the argument ``driver_stream``, queries the stream. A submission holds ``lock``, if there is one.
    The function at ``record_at`` makes the driver signal an event after all commands of the stream ``driver_stream``.
    """

    pending: Any
    lock: Lock
    submitted: int
    done: int
    used: bool
    wait_for: int
    driver_stream: int
    last_event: int
    query: int
    let_go: int
    waits: int
    order: int
    order_after: int
    order_before: int
    record_at: int

class Event:
    """The event of a command; ``wait`` calls ``_wait_any`` unless the wait is short."""

    _stream: Any
    _native: Any
    _task: Any
    _error: Any
    _done: bool

    def wait(self, timeout: float | None = None) -> None: ...

class Prepared:
    """A prepared launch; ``PreparedCommand`` describes its arguments."""

    def __new__(
        cls,
        kernel: object,
        space: object,
        bundle: object,
        mark: type[Mark],
        lanes: tuple[Lane, ...],
        settle: object,
        refused: object,
        keep: object,
        submit: int,
        descriptions: tuple[int, ...],
        slots: tuple[tuple[str, int, int, bool, bool, object], ...],
        /,
    ) -> Prepared: ...
    def forget(self, _: object, /) -> None: ...

class Copy:
    """A prepared copy; ``PreparedCopy`` describes its arguments."""

    def __new__(
        cls,
        copies: Copies,
        source: object,
        destination: object,
        source_places: tuple[int, ...],
        destination_places: tuple[int, ...],
        source_offset: int,
        destination_offset: int,
        names: tuple[str, ...],
        values: tuple[object, ...],
        launch: Prepared,
        size: int,
        /,
    ) -> Copy:
        """``size``: the bytes of a copy of bytes; 0 for one of pixels."""

    def forget(self, _: object, /) -> None: ...

class Copies:
    """Cache of a queue's prepared copies, for the given types of images, memory and arrays."""

    def __new__(cls, image: type, memory: type, host: type, /) -> Copies: ...
    @property
    def declined(self) -> bool:
        """Whether the last call found a prepared copy, and left it to Python."""

    @property
    def image(self) -> type: ...
    def submit(self, commands: Commands, copy: Copy, source: Any, destination: Any, depends_on: Any, /) -> Any: ...
    def remember(self, copy: Copy, levels: bool, /) -> None:
        """Add a copy; ``levels``: it fills all levels of a mipmap."""

    def forget(self) -> None: ...
    def count(self) -> int: ...

class ImageCall:
    """A prepared device function."""

    def forget(self, _: object, /) -> None: ...

class ImageCalls:
    """Cache of a queue's prepared device functions, for the given types of memory and arrays.

    ``handles`` is the context's table of images; ``report`` raises the error of a completed event.
    """

    def __new__(cls, memory: type, host: type, handles: dict[int, Any], report: object, /) -> ImageCalls: ...
    def submit(
        self, commands: Commands, call: ImageCall, arguments: tuple[object, ...], depends_on: object, /
    ) -> Any: ...
    def prepare(
        self,
        arguments: tuple[object, ...],
        result: object,
        addresses: tuple[int, ...],
        image: object,
        key: int,
        places: tuple[int | None, ...],
        writes: bool,
        waits: bool,
        make_result: object,
        result_arguments: tuple[object, ...],
        command: Prepared,
        staging: object,
        staged: tuple[int, ...],
        /,
    ) -> ImageCall | None: ...
    def forget(self) -> None: ...
    def count(self) -> int: ...

class Picture:
    """A prepared picture of ``PictureCalls``."""

    def forget(self, _: object, /) -> None: ...

class PictureCalls:
    """Pictures of one image that are repeated in C; see ``csrc/submission/pictures/picture_call.h``.

    ``images`` is the context's table of images, ``report`` raises the error of a completed event, and ``convert`` makes
    a packed array of float64 of a matrix.
    """

    def __new__(
        cls,
        commands: Commands,
        memory: type,
        host: type,
        images: dict[int, Any],
        report: object,
        convert: Callable[..., Any],
        /,
    ) -> PictureCalls: ...
    @property
    def declined(self) -> bool:
        """Whether the last call found a prepared picture, and left it to Python."""

    def repeat(self, method: int, matrix: object, shape: object, vectors: object, out: object, /) -> Any:
        """The picture of a prepared call: ``out``, or a new array; None for all others."""

    def add(
        self,
        method: int,
        shape: object,
        vectors: object,
        out: object,
        maker: Callable[[], Any] | bool | None,
        library: Callable[[Any], Any] | None,
        rule: tuple[Any, ...],
        program: tuple[Any, ...],
        nbytes: int,
        vector_bytes: int,
        uploads: object,
        key: int,
        record: object,
        staging: tuple[Any, ...] | None,
        /,
    ) -> bool:
        """Adds a picture; False where C code cannot repeat it.

        ``maker`` makes the result of a call without an array, True one of the library of the vectors, and ``library``
        takes the result. ``rule`` has the number of matrices of a call, 0 for the map that it has, the dimensions, unit
        and margin of ``Source``, the map, and whether it is affine. ``program`` has the commands of the layers, and the
        other fields of ``Program``; ``nbytes`` are those of one layer. ``staging`` has memory for values and for
        vectors, each with its addresses for the device and for the host.
        """

    def forget(self) -> None: ...
    def count(self) -> int: ...

def array_layout(array: object, /) -> tuple[type, Any, Any, Any, Any]:
    """The type, place, dtype, shape and strides of an array of any library: equal for arrays that differ in their
    addresses alone. The errors of its attributes, of what is no array."""

def empty_like_foreign(value: object, shape: tuple[int, ...], code: int, bits: int, /) -> Any:
    """A new array of the value's library; None where C code does not read it."""

def free_item(items: list[_Item], /) -> _Item | None:
    """An item that nothing else refers to."""

def stream_of_foreign(value: object, /) -> int | None:
    """The current stream of the value's library, on its device; None where C code does not know it."""

def device_function(
    otherwise: Callable[..., _Result],
    function: object,
    queue: object,
    handle: object,
    coords: object,
    layers: object,
    level: object,
    dx: object,
    dy: object,
    values: object,
    num_channels: object,
    dtype: object,
    hint: object,
    depends_on: object,
    /,
) -> _Result:
    """The result of a prepared call; others call ``otherwise`` with the other arguments and whether to prepare."""

class Commands:
    """Submitted commands of a queue, and the cache of its prepared launches."""

    native: Any
    blocker: Any
    context: Any
    bundles: Any
    copies: Copies | None
    image_calls: ImageCalls | None
    batch: int
    _dlpack_type: int
    _dlpack_id: int
    _dlpack_alone: bool
    outside: Any
    tasks: Any
    _lanes: tuple[Lane, ...] | None
    _active: set[Any]
    _held: Any
    _doubtful: Any
    _last_bundle: Any
    _event: Any
    lock: Lock
    _batch: Any
    _countdown: int
    closed: bool
    _dirty: bool
    in_order: bool
    _in_batches: bool

    _handles: dict[int, Any] | None
    device: Any

    @property
    def declined(self) -> bool:
        """Whether the driver function of the last submission left the command to Python."""

    @property
    def waiters(self) -> int:
        """Threads in ``ask``, and in the waits of C code."""

    ended: bool

    def ask(self, function: Callable[..., _Result], /, *arguments: Any) -> _Result: ...
    def submit_prepared(
        self,
        command: Prepared,
        values: tuple[object, ...],
        depends_on: Iterable[Any] | Any = ...,
        keep: tuple[object, ...] = ...,
        /,
    ) -> Any: ...
    def wait_shortly(self) -> bool:
        """Wait for all commands, about a millisecond, and let go of what they used; False where Python must do that."""

    def restart(self) -> None: ...
    def release_all(self) -> bool: ...
    def took(self, event: Any, keep: tuple[object, ...], /) -> None: ...
    def find(self, kernel: object, space: object, count: int, /) -> Prepared | None: ...
    def remember(self, launch: Prepared, /) -> None: ...
    def layout_of_foreign(self, value: object, /) -> tuple[tuple[int, ...], int, int] | None:
        """Shape, and DLPack's code and bits, of another library's packed array that commands of the queue may read.

        None for any other value.
        """

    def copy_bytes(self, source: object, destination: object, nbytes: int | None, depends_on: object, /) -> Any:
        """The event of a prepared copy of bytes, all of both sides without a number; None where Python must copy."""

    def upload(
        self,
        array: object,
        image: object,
        shape: tuple[int, ...],
        code: int,
        bits: int,
        host: int,
        levels: bool,
        pinned: list[Any] | None,
        /,
    ) -> Any:
        """Submit the prepared copy of an array of a shape and a type of DLPack's into an image, or into all
        levels of a mipmap.

        Its event, or True where pixels of the host have been read; None where Python must handle the copy. ``host``: 0
        leaves pixels of the host to Python, 1 waits for their copy, 2 copies them first, to a free array of ``pinned``
        if there is one.
        """

    def place_of_foreign(self, value: object, shape: tuple[int, ...], code: int, bits: int, /) -> int | None:
        """The address of another library's packed array that commands may read, of a shape and a type of DLPack's;
        None for any other value."""

    def place_apart(
        self, output: object, form: tuple[Any, ...], values: tuple[object, ...], forms: tuple[tuple[Any, ...], ...], /
    ) -> int | None:
        """The address of another library's packed array that commands may write, and that shares no memory with the
        first of the values, of which there are forms; None otherwise. A form is (shape, code, bits, bytes, dtype)."""

    def forget_launches(self) -> None: ...
    def count_launches(self) -> int: ...

class Template:
    """Base of a kernel in Python: ``context._kernels[template._token]`` has its variants."""

class Variant:
    """A kernel of ``Variants``."""

class Variants:
    """The kernels that a kernel in Python was compiled to in a context, by dimensions and types of arguments.

    A step computes a parameter of the compiled kernel: the position of the argument and of elements of tuples, None
    for the value, ``"shape"`` or ``"strides"`` and an index, or a function of the value.
    """

    def find(self, dimensions: int, arguments: tuple[object, ...], /) -> tuple[Any, tuple[Any, ...]] | None: ...
    def add(
        self,
        dimensions: int,
        arguments: tuple[object, ...],
        kernel: object,
        steps: tuple[tuple[tuple[int, ...], str | Callable[[Any], object] | None, int], ...],
        /,
    ) -> None: ...
    def kernels(self) -> list[Any]: ...

class Submitter:
    """Base of the queue. ``parallel_for`` and ``ext_oneapi_copy`` call ``_parallel_for_any`` and ``_copy_any`` for
    commands that are not prepared.
    """

    _stream: Any

    def parallel_for(
        self, index_space: Any, kernel: Any, *arguments: object, depends_on: Iterable[Any] | Any = ...
    ) -> Any: ...
    def ext_oneapi_copy(
        self,
        src: Any,
        dst: Any,
        *,
        src_desc: Any = ...,
        dst_desc: Any = ...,
        src_offset: Any = ...,
        dst_offset: Any = ...,
        src_extent: Any = ...,
        dst_extent: Any = ...,
        copy_extent: Any = ...,
        src_pitch: Any = ...,
        dst_pitch: Any = ...,
        depends_on: Iterable[Any] | Any = ...,
    ) -> Any: ...

class Bound:
    """Base of a bound launch: a call that is not prepared calls ``_again``."""

    _stream: Any
    _direct: Prepared | None
    _arguments: list[Any]

    def __call__(self, *, depends_on: Iterable[Any] | Any = ...) -> Any: ...

class TensorCall:
    """A call of ``TensorCalls``."""

class TensorCalls:
    """Calls of one function on tensors, of which those with the layouts of an earlier call need no Python."""

    def __init__(self, types: tuple[type, ...], /) -> None: ...
    def repeat(self, options: object, /, *operands: Any) -> tuple[Any, ...] | None:
        """New results of a call that was added, with the tensors given; None for others."""

    def has(self, options: object, /, *operands: Any) -> bool:
        """Whether a call was added."""

    def add(
        self,
        options: object,
        operands: tuple[Any, ...],
        makers: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...],
        results: tuple[int | None, ...],
        words: bytes,
        functions: tuple[int, ...],
        cuda: tuple[int, ...] | None,
        /,
    ) -> bool:
        """Add a call.

        ``makers`` allocate the arrays that it writes, of which ``results`` names those to return, or None. The program
        ``words`` names functions by their index among the addresses. ``cuda`` has the addresses of cuCtxGetCurrent,
        cuMemsetD8Async and cuLaunchKernel.
        """
