"""DLPack's capsules; csrc/dlpack/dlpack_module.c."""

from typing import TypedDict, type_check_only

@type_check_only
class Tensor(TypedDict):
    address: int
    device: tuple[int, int]
    dtype: tuple[int, int, int]
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    flags: int
    version: tuple[int, int]

def make_capsule(
    owner: object,
    address: int,
    device: tuple[int, int],
    dtype: tuple[int, int],
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    flags: int,
    versioned: bool,
    /,
) -> object: ...
def read_capsule(capsule: object, /) -> Tensor: ...
def take_capsule(capsule: object, /) -> tuple[int, bool]: ...
def delete_taken(address: int, versioned: bool, /) -> None: ...
def count_exports() -> int: ...
def finish() -> None: ...
