"""``SingleOwner``: objects that own a resource, and can therefore be neither copied nor pickled."""

from __future__ import annotations

from typing import Any, ClassVar

from .errors import CopyError

__all__ = ["SingleOwner", "Singleton"]


class SingleOwner:
    """Base of classes whose objects own native objects or memory: a copy would release them twice."""

    __slots__ = ()

    _instead: ClassVar[str] = "share the object, or copy its contents"
    """Advice in errors: the way to share the object without a copy."""

    def __copy__(self) -> Any:
        raise _refusal(self, "copied")

    def __deepcopy__(self, memo: object) -> Any:
        raise _refusal(self, "copied")

    def __reduce_ex__(self, protocol: object) -> Any:
        raise _refusal(self, "pickled")


def _refusal(owner: SingleOwner, what: str) -> CopyError:
    return CopyError(f"objects of {type(owner).__name__} are not {what}, each has one owner: {owner._instead}")


class Singleton:
    """Base of classes with one object per system entity: a copy is the object itself."""

    __slots__ = ()

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: object) -> Any:
        return self

    def __reduce_ex__(self, protocol: object) -> Any:
        raise CopyError(
            f"a {type(self).__name__} cannot be pickled, for it belongs to this process: send its name, as "
            "Device(selector) takes it"
        )
