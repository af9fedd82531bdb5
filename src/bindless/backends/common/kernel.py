"""What kernels have in common, whatever the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from ...model.errors import InvalidError

__all__ = ["KernelBase", "Shaped", "kernel_of", "unknown_kernel"]

_MOST_SHAPES = 1024

_Shape = TypeVar("_Shape")
_Kernel = TypeVar("_Kernel")

Sizes = tuple[int, ...]


class _Module(Protocol):
    native: Any
    kernels: Any

    def names(self) -> tuple[str, ...]: ...


class Shaped(Generic[_Shape]):
    """A kernel that remembers the ranges it was launched over.

    Attributes:
        shapes: ranges as the driver takes them, by global and local size.
    """

    def __init__(self) -> None:
        self.shapes: dict[tuple[Sizes, Sizes | None], _Shape] = {}

    def shape(self, global_size: Sizes, local_size: Sizes | None) -> _Shape:
        """A range as the driver takes it; its work-groups divide it exactly."""
        key = (global_size, local_size)
        found = self.shapes.get(key)
        if found is None:
            if len(self.shapes) >= _MOST_SHAPES:
                self.shapes.clear()
            found = self.shapes[key] = self._new_shape(global_size, local_size)
        return found

    def _new_shape(self, global_size: Sizes, local_size: Sizes | None) -> _Shape:
        """``shape`` of sizes that were not launched yet; raises ``NdRangeError``."""
        raise NotImplementedError


class KernelBase(Shaped[_Shape]):
    """The arguments that a kernel takes one by one.

    Attributes:
        backend: for errors.
        name: of the kernel.
        device: it runs on.
        sizes: of its parameters, None where the source does not tell.
        count: of its parameters.
    """

    backend: ClassVar[str]
    name: str
    device: Any

    def __init__(self, sizes: Sizes | None, count: int) -> None:
        super().__init__()
        self.sizes = sizes
        self.count = count
        self._total = -1 if sizes is None else sum(sizes)

    def packed(self, arguments: Sequence[bytes | int]) -> bytes | None:
        """The arguments one behind the other, where they are values alone, as many bytes as the parameters together;
        quick, and enough for most."""
        try:
            found = b"".join(arguments)  # type: ignore[arg-type]
        except TypeError:
            return None
        return found if len(found) == self._total and len(arguments) == self.count else None

    def require(self, arguments: Sequence[bytes | int]) -> None:
        """Refuses arguments that the kernel has no parameters for.

        Raises:
            InvalidError: the count, a size, or more local memory than the device has.
        """
        found = [argument if isinstance(argument, int) else len(argument) for argument in arguments]
        if len(found) != self.count or (
            self.sizes is not None
            and any(
                not isinstance(argument, int) and len(argument) != size for argument, size in zip(arguments, self.sizes)
            )
        ):
            wanted = f"{self.count} parameters" + ("" if self.sizes is None else f" of {list(self.sizes)} bytes")
            raise InvalidError(f"kernel {self.name!r} has {wanted}, the arguments have {found}", backend=self.backend)
        shared = sum(argument for argument in arguments if isinstance(argument, int))
        most = self._most_local() if shared else 0
        if shared > most:
            raise InvalidError(
                f"kernel {self.name!r} asks for {shared} bytes of local memory; {self.device.name} has at most {most} "
                "a work-group",
                backend=self.backend,
            )

    def _most_local(self) -> int:
        """Bytes of local memory that a work-group of the device may have."""
        raise NotImplementedError


def unknown_kernel(names: Iterable[str], name: str, backend: str) -> InvalidError:
    """The error of a name that a module, which has kernels of these names, has no kernel of."""
    listed = ", ".join(names) or "none"
    return InvalidError(f"no kernel is named {name!r}; the module has kernels {listed}", backend=backend)


def kernel_of(module: _Module, name: str, make: Callable[[], _Kernel], backend: str) -> _Kernel:
    """A kernel of a module, the same one each time; made where it is the first.

    Raises:
        InvalidError: there is none of that name, or the module was released.
    """
    if module.native is None:
        raise InvalidError(f"kernel {name!r}: the module was released", backend=backend)
    found: _Kernel | None = module.kernels.get(name)
    if found is None:
        if name not in module.names():
            raise unknown_kernel(module.names(), name, backend)
        found = module.kernels.setdefault(name, make())
    return found
