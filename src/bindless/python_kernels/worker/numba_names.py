"""Classes of Numba and llvmlite by the names of this package's signatures. Neither library is annotated.

Typing works on ``NumbaType`` and ``Signature``, lowering on ``Value`` and ``LlvmType``, which a ``Builder`` writes into
an ``IrModule``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, Union

from llvmlite import ir
from numba.core import base, types, typing
from numba.core.compiler import CompileResult
from numba.core.datamodel import DataModelManager

__all__ = [
    "Builder",
    "CompileResult",
    "Context",
    "IrModule",
    "KeywordTypes",
    "LlvmType",
    "ModelManager",
    "NumbaType",
    "Operand",
    "PythonFunction",
    "Resolve",
    "Signature",
    "Types",
    "TypingContext",
    "Value",
]

NumbaType: TypeAlias = types.Type
Signature: TypeAlias = typing.Signature
TypingContext: TypeAlias = typing.BaseContext
Context: TypeAlias = base.BaseContext
ModelManager: TypeAlias = DataModelManager
Builder: TypeAlias = ir.IRBuilder
IrModule: TypeAlias = ir.Module
LlvmType: TypeAlias = ir.Type
Value: TypeAlias = ir.Value

Types: TypeAlias = tuple[NumbaType, ...]
KeywordTypes: TypeAlias = Mapping[str, NumbaType]
Operand: TypeAlias = tuple[NumbaType, Value]

PythonFunction: TypeAlias = Callable[..., object]
"""A function that a kernel calls: of Python, numpy, ``operator`` or ``bindless.device``."""

Resolve: TypeAlias = Callable[[Union[NumbaType, PythonFunction], Types, KeywordTypes], Union[Signature, None]]
"""Numba's resolution of a call."""
