"""The short way of launches; csrc/launch."""

from collections.abc import Iterable
from typing import Any

REAP_EVERY: int

class Lock:
    """Of a queue; reentrant, and Ctrl-C ends a wait for it."""

    def acquire(self) -> bool: ...
    def release(self) -> None: ...
    def __enter__(self) -> bool: ...
    def __exit__(self, *_: object) -> None: ...

class Owner:
    """What releases a native object when it is dropped: its destructor calls ``_finalize``, which no signal splits."""

    def _finalize(self) -> None: ...

class Openable:
    """Memory, and bundles of kernels: commands ask whether they are open still."""

    _open: bool

class Mark:
    """The end of a command in a lane; the driver's event of this ``number`` ends with it, given back by a function at
    ``let_go``.
    """

    stream: Any
    native: Any
    index: int
    number: int
    let_go: int

class Lane:
    """A stream of the driver, whose last mark is recorded only if somebody keeps it, or whose commands leave their
    events at the address ``made``, to be asked by a function at ``query`` and given back by one at ``let_go``, and wait
    for those at ``waits``: their number and 8 places. The function at ``wait_for``, given ``asked``, asks the stream.
    """

    pending: Any
    submitted: int
    done: int
    used: bool
    wait_for: int
    asked: int
    made: int
    query: int
    let_go: int
    waits: int

class Event:
    """A command's end, as users hold it; ``wait`` calls ``_wait_any`` for what is not the short wait of a command."""

    _stream: Any
    _native: Any
    _task: Any
    _error: Any
    _done: bool

    def wait(self, timeout: float | None = None) -> None: ...

class Prepared:
    """A launch to be repeated; ``DirectLaunch`` says of what."""

    watch: object

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
    """A copy to be repeated; ``DirectCopy`` says of what."""

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
        /,
    ) -> Copy: ...
    def forget(self, _: object, /) -> None: ...

class Copies:
    """The copies prepared for a queue, of these types of images, memory and arrays."""

    def __new__(cls, image: type, memory: type, host: type, /) -> Copies: ...
    def remember(self, copy: Copy, /) -> None: ...
    def forget(self) -> None: ...
    def count(self) -> int: ...

class Commands:
    """The commands of a queue, with the launches prepared for it."""

    native: Any
    blocker: Any
    context: Any
    bundles: Any
    copies: Copies | None
    batch: int
    outside: Any
    tasks: Any
    _lanes: tuple[Lane, ...] | None
    _active: set[Any]
    _held: Any
    _last_bundle: Any
    _event: Any
    lock: Lock
    _batch: Any
    _countdown: int
    closed: bool
    _dirty: bool
    in_order: bool
    _in_batches: bool

    def submit_one(self, launch: Prepared, value: object, /) -> Any: ...
    def remember(self, launch: Prepared, /) -> None: ...
    def forget_launches(self) -> None: ...
    def forget_dropped(self) -> None: ...
    def count_launches(self) -> int: ...

class Submitter:
    """A queue: ``parallel_for`` and ``ext_oneapi_copy``, which call ``_parallel_for_any`` and ``_copy_any`` for what
    was not prepared.
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
    """A bound launch: calling it calls ``_again`` where it is not prepared."""

    _stream: Any
    _direct: Prepared | None
    _arguments: list[Any]

    def __call__(self, *, depends_on: Iterable[Any] | Any = ...) -> Any: ...
