"""Kernel metadata of clang in LLVM IR: names and types of arguments, and work-group sizes."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["KernelWords", "read_kernels"]

_KERNEL = re.compile(r'^define [^@\n]*\b(?:spir_kernel|ptx_kernel)\b[^@\n]*@"?([\w.$]+)"?\(([^\n]*)$', re.MULTILINE)
_NODE = re.compile(r"^(!\d+) = (?:distinct )?!\{(.*)\}$", re.MULTILINE)
_REFERENCE = re.compile(r"!(kernel_arg_\w+|reqd_work_group_size|work_group_size_hint|intel_reqd_sub_group_size) (!\d+)")
_STRING = re.compile(r'!"((?:[^"\\]|\\.)*)"')
_NUMBER = re.compile(r"i32 (-?\d+)")
_LOCAL, _PRIVATE = 3, 0


@dataclass(frozen=True)
class KernelWords:
    """Signature of a kernel in its source.

    Attributes
    ----------
    name
        Name of the kernel.
    names, types
        Its arguments, as written in the source.
    kinds
        ``value``, ``pointer``, ``local``, ``image`` or ``sampler``.
    required_work_group_size
        In the native order, or None.
    work_group_size_hint
        In the native order, or None.
    """

    name: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    kinds: tuple[str, ...]
    required_work_group_size: tuple[int, ...] | None = None
    work_group_size_hint: tuple[int, ...] | None = None


def read_kernels(text: str) -> tuple[KernelWords, ...]:
    """Return the kernels of a module that clang compiled with ``-cl-kernel-arg-info``, ordered by name."""
    nodes = dict(_NODE.findall(text))
    kernels = [_kernel(match[1], dict(_REFERENCE.findall(match[2])), nodes) for match in _KERNEL.finditer(text)]
    return tuple(sorted(kernels, key=lambda kernel: kernel.name))


def _kernel(name: str, references: dict[str, str], nodes: dict[str, str]) -> KernelWords:
    def strings(key: str) -> tuple[str, ...]:
        return tuple(_STRING.findall(nodes.get(references.get(key, ""), "")))

    def numbers(key: str) -> tuple[int, ...]:
        return tuple(map(int, _NUMBER.findall(nodes.get(references.get(key, ""), ""))))

    types = strings("kernel_arg_type")
    spaces = numbers("kernel_arg_addr_space")
    kinds = tuple(_kind(type_, space) for type_, space in zip(types, spaces))
    return KernelWords(
        name,
        strings("kernel_arg_name"),
        types,
        kinds,
        numbers("reqd_work_group_size") or None,
        numbers("work_group_size_hint") or None,
    )


def _kind(type_: str, space: int) -> str:
    if type_.endswith("*"):
        return "local" if space == _LOCAL else "pointer" if space != _PRIVATE else "value"
    if re.fullmatch(r"image\w+_t", type_):
        return "image"
    return "sampler" if type_ == "sampler_t" else "value"
