"""Numba's target ``bindless``: typing and lowering contexts of kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from llvmlite import binding as llvm
from numba.core import base, datamodel, itanium_mangler, typing
from numba.core.callconv import MinimalCallConv
from numba.core.descriptors import TargetDescriptor
from numba.core.options import TargetOptions
from numba.core.target_extension import GPU, dispatcher_registry, jit_registry, target_override, target_registry

from ...device.declaration import LaunchFacts
from ...model.arrays import Array
from . import float16
from .codegen import IrCodegen
from .numba_names import Builder, IrModule, KeywordTypes, NumbaType, PythonFunction, Signature, Types, Value

if TYPE_CHECKING:
    from .dispatcher import DeviceDispatcher

__all__ = ["TARGET", "KernelTarget", "TargetContext", "TypingContext", "kernel_target"]

TARGET = "bindless"


class Bindless(GPU):
    """Numba's name of the target."""


class TypingContext(typing.BaseContext):
    """Types of values and calls. ``number_rules`` changes those of numbers.

    Attributes
    ----------
    launch
        Facts of the launch that is compiled.
    group_function
        A function of work-groups that the kernel calls, or empty.
    """

    launch: LaunchFacts
    group_function: str

    def load_additional_registries(self) -> None:
        from numba.core.typing import cmathdecl, enumdecl, mathdecl, npydecl

        from . import device_calls, number_rules, reducers, vectors

        for registry in (
            enumdecl.registry,
            mathdecl.registry,
            cmathdecl.registry,
            npydecl.registry,
            device_calls.TYPING,
            vectors.TYPING,
            reducers.TYPING,
            number_rules.TYPING,
        ):
            self.install_registry(registry)

    def resolve_value_type(self, val: object) -> NumbaType | None:
        from .device_calls import type_of_value
        from .number_rules import type_of_constant
        from .numpy_scalars import same_function

        val = same_function(val) or val
        type_ = type_of_value(val) or type_of_constant(val, self.launch)
        return type_ if type_ is not None else float16.with_half(super().resolve_value_type(val))

    def resolve_function_type(
        self, func: NumbaType | PythonFunction, args: Types, kws: KeywordTypes
    ) -> Signature | None:
        from .number_rules import signature_of

        signature = signature_of(self, func, args, kws, super().resolve_function_type)
        return signature if signature is not None else super().resolve_function_type(func, args, kws)


class TargetContext(base.BaseContext):
    """Lowering to LLVM IR in which pointers without address space are generic ones."""

    implement_powi_as_math_call = True
    strict_alignment = False  # packed structures are read byte by byte
    allow_dynamic_globals = True
    calling_convention = ""
    sources: dict[str, str]
    enable_boundscheck = False
    enable_nrt = False

    def __init__(self, typing_context: TypingContext, triple: str, data_layout: str) -> None:
        self._triple, self._data_layout = triple, data_layout
        self._is_refreshing = False
        super().__init__(typing_context, TARGET)
        self.data_model_manager = float16.MODELS.chain(datamodel.default_manager)

    def init(self) -> None:
        self._codegen = IrCodegen(self._triple, self._data_layout)

    def refresh(self) -> None:
        """Load what was registered since. Numba asks for it within a refresh, too, for each overloaded attribute."""
        if self._is_refreshing:
            return
        self._is_refreshing = True
        try:
            super().refresh()
        finally:
            self._is_refreshing = False

    def load_additional_registries(self) -> None:
        # Imported for their effect: they register with Numba's builtin registry.
        from numba.cpython import (  # noqa: F401
            charseq,
            cmathimpl,
            enumimpl,
            iterators,
            numbers,
            rangeobj,
            slicing,
            tupleobj,
            unicode,
        )
        from numba.np import arrayobj  # noqa: F401
        from numba.np.unsafe import ndarray  # noqa: F401

        from . import device_calls, math_functions, reducers, vectors

        for registry in (
            cmathimpl.registry,
            math_functions.LOWERING,
            device_calls.LOWERING,
            vectors.LOWERING,
            reducers.LOWERING,
        ):
            self.install_registry(registry)

    def codegen(self) -> IrCodegen:
        return self._codegen

    def create_module(self, name: str) -> IrModule:
        return self._codegen._create_empty_module(name)

    @cached_property
    def target_data(self) -> llvm.TargetData:
        return llvm.create_target_data(self._data_layout)

    @cached_property
    def call_conv(self) -> MinimalCallConv:
        return MinimalCallConv(self)

    def mangler(self, name: str, argtypes: Types, *, abi_tags: Sequence[str] = (), uid: int | None = None) -> str:
        return str(itanium_mangler.mangle(name, argtypes, abi_tags=abi_tags, uid=uid))

    def get_ufunc_info(self, ufunc_key: np.ufunc) -> Mapping[str, PythonFunction]:
        from numba.np import ufunc_db

        loops: Mapping[str, PythonFunction] = ufunc_db.get_ufunc_info(ufunc_key)
        return loops

    def make_constant_array(self, builder: Builder, aryty: NumbaType, arr: Array) -> Value:
        """Constant arrays of the module, such as lookup tables among the globals of a kernel."""
        from .constant_arrays import make_constant_array

        return make_constant_array(self, builder, aryty, arr)

    def insert_const_string(self, mod: IrModule, string: str) -> Value:
        from .constant_arrays import insert_text

        return insert_text(mod, string)


class KernelTarget(TargetDescriptor):
    """The two contexts of one kind of module.

    Parameters
    ----------
    triple, data_layout
        Of LLVM, as the preludes of the target have them.
    """

    options = TargetOptions

    def __init__(self, triple: str, data_layout: str) -> None:
        super().__init__(TARGET)
        self._typing = TypingContext()
        self._typing.launch = LaunchFacts()
        self._lowering = TargetContext(self._typing, triple, data_layout)
        self.composed: dict[PythonFunction, DeviceDispatcher] = {}  # of the kernel that is compiled

    def type_of_composed(self, function: PythonFunction) -> NumbaType:
        """Return the type of a function of ``bindless.device`` that is written in the language of kernels."""
        from .dispatcher import DeviceDispatcher

        if function not in self.composed:
            self.composed[function] = DeviceDispatcher(function, self)
        return self.composed[function]._numba_type_

    @property
    def typing_context(self) -> TypingContext:
        return self._typing

    @property
    def target_context(self) -> TargetContext:
        return self._lowering


_targets: list[KernelTarget] = []


def kernel_target(triple: str, data_layout: str) -> KernelTarget:
    """Return the target, and register it with Numba when it is made. A process has one: Numba's library functions
    remember the target that they were first compiled for.
    """
    from . import index_checks, ranges
    from .dispatcher import DeviceDispatcher

    if not _targets:
        target_registry[TARGET] = Bindless
        target = KernelTarget(triple, data_layout)
        _targets.append(target)
        DeviceDispatcher.targetdescr = target
        dispatcher_registry[Bindless] = DeviceDispatcher

        def jit(*_: object, **__: object) -> Callable[[PythonFunction], object]:
            """As Numba's implementations of library functions use it."""
            return lambda function: DeviceDispatcher(function, target)

        jit_registry[Bindless] = jit
        with target_override(TARGET):  # else Numba loads its processor target, and again for each overloaded attribute
            target.target_context.refresh()
        ranges.define(target.target_context)
        index_checks.install()
    return _targets[0]
