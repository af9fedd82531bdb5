"""Functions that kernels call: compiled for the types of each call, and linked."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, ClassVar

from numba.core import compiler, types, typing, utils
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import PassManager
from numba.core.target_extension import target_override
from numba.core.typed_passes import AnnotateTypes, IRLegalization, NativeLowering, NoPythonBackend
from numba.core.typing.templates import fold_arguments

from .numba_names import KeywordTypes, NumbaType, PythonFunction, Signature, Types

if TYPE_CHECKING:
    from .contexts import KernelTarget

__all__ = ["DeviceDispatcher", "compile_function"]


class KernelCompiler(CompilerBase):
    """Numba's passes up to LLVM IR."""

    def define_pipelines(self) -> list[PassManager]:
        manager = PassManager("bindless")
        manager.passes.extend(DefaultPassBuilder.define_untyped_pipeline(self.state).passes)
        manager.passes.extend(DefaultPassBuilder.define_typed_pipeline(self.state).passes)
        manager.add_pass(IRLegalization, "ensure IR is legal prior to lowering")
        manager.add_pass(AnnotateTypes, "annotate types")
        manager.add_pass(NativeLowering, "native lowering")
        manager.add_pass(NoPythonBackend, "nopython mode backend")
        manager.finalize()
        return [manager]


def compile_function(
    function: PythonFunction, args: Types, target: KernelTarget, *, kernel: bool = False
) -> compiler.CompileResult:
    """Compile a function for types, to LLVM IR; return Numba's result.

    Parameters
    ----------
    kernel
        Whether it is a kernel, which returns nothing.
    """
    flags = Flags()
    flags.no_compile = True
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.error_model = "numpy"
    flags.nrt = False
    flags.debuginfo = target.typing_context.launch.lines
    flags.dbg_directives_only = True
    with target_override("bindless"):
        return compiler.compile_extra(
            target.typing_context,
            target.target_context,
            function,
            args,
            types.none if kernel else None,
            flags,
            {},
            pipeline_class=KernelCompiler,
        )


class DeviceDispatcher:
    """A function of a kernel, as Numba's types know it.

    Parameters
    ----------
    function
        The Python function.
    target
        That compiles it.
    """

    targetdescr: ClassVar[KernelTarget | None] = None  # Numba finds the target's registries by it

    def __init__(self, function: PythonFunction, target: KernelTarget) -> None:
        self.py_func = function
        self.__name__ = function.__name__
        self._target = target
        self._results: dict[Types, compiler.CompileResult] = {}
        self._numba_type_ = types.Dispatcher(self)
        self._compiling: set[Types] = set()

    @property
    def is_compiling(self) -> bool:
        return bool(self._compiling)

    @property
    def nopython_signatures(self) -> list[Signature]:
        return [result.signature for result in self._results.values()]

    def get_call_template(self, args: Types, kws: KeywordTypes) -> tuple[type, inspect.Signature, Types, KeywordTypes]:
        """The template of a call, for Numba: the function is compiled here."""
        signature = _without_kinds(utils.pysignature(self.py_func))
        folded = tuple(self._folded(signature, args, kws))
        self._compiled(folded)
        template = typing.make_concrete_template(
            f"CallTemplate({self.__name__})", key=self.__name__, signatures=[self._results[folded].signature]
        )
        return template, signature, folded, {}

    def get_overload(self, args: Types) -> int:
        return self._compiled(tuple(args))

    def compile(self, args: Types) -> int:
        return self._compiled(tuple(args))

    def _folded(self, signature: inspect.Signature, args: Types, kws: KeywordTypes) -> Types:
        def normal(index: int, param: object, value: NumbaType) -> NumbaType:
            return types.unliteral(value) if not isinstance(value, types.Omitted) else value

        def default(index: int, param: object, value: object) -> NumbaType:
            return types.Omitted(value)

        def rest(index: int, param: object, values: Types) -> NumbaType:
            return types.BaseTuple.from_types(values)

        folded: Types = fold_arguments(signature, args, dict(kws), normal, default, rest)
        return folded

    def _compiled(self, args: Types) -> int:
        if args not in self._results:
            if args in self._compiling:
                from .errors import Unsupported

                raise Unsupported(f"{self.__name__} calls itself: devices have no stack for recursion; use a loop")
            self._compiling.add(args)
            try:
                result = compile_function(self.py_func, args, self._target)
            finally:
                self._compiling.discard(args)
            self._results[args] = result
            result.target_context.insert_user_function(id(result), result.fndesc, [result.library])
        return id(self._results[args])


def _without_kinds(signature: inspect.Signature) -> inspect.Signature:
    """The signature with keyword-only parameters as ordinary ones, as Numba knows them."""
    ordinary = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        part.replace(kind=ordinary) if part.kind is inspect.Parameter.KEYWORD_ONLY else part
        for part in signature.parameters.values()
    ]
    return signature.replace(parameters=parameters)
