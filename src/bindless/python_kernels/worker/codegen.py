"""Numba's code generation without machine code: libraries collect LLVM IR, which ``module_text`` joins."""

from __future__ import annotations

from collections.abc import Iterator

from llvmlite import ir
from numba.core import cgutils, codegen

from .numba_names import IrModule

__all__ = ["IrCodegen", "IrLibrary"]


class IrLibrary(codegen.CodeLibrary):
    """LLVM IR of one function, and the libraries that it calls."""

    def __init__(self, codegen_: IrCodegen, name: str) -> None:
        super().__init__(codegen_, name)
        self._modules: list[IrModule] = []
        self._linked: dict[int, IrLibrary] = {}

    def add_ir_module(self, ir_module: IrModule) -> None:
        self._raise_if_finalized()
        self._modules.append(ir_module)

    def add_linking_library(self, library: IrLibrary) -> None:
        self._linked[id(library)] = library

    def finalize(self) -> None:
        self._finalized = True

    def get_function(self, name: str) -> ir.Function:
        for module in self._modules:
            if name in module.globals:
                return module.globals[name]
        raise KeyError(name)

    def get_llvm_str(self) -> str:
        return "\n".join(map(str, self.modules()))

    def get_asm_str(self) -> str:
        return ""

    def modules(self) -> list[IrModule]:
        """Return the modules of this library and of all that it links, each once."""
        return list({id(module): module for library in self._closure({}) for module in library._modules}.values())

    def _closure(self, libraries: dict[int, IrLibrary]) -> Iterator[IrLibrary]:
        if id(self) not in libraries:
            libraries[id(self)] = self
            yield self
            for library in list(self._linked.values()):
                yield from library._closure(libraries)


class IrCodegen(codegen.Codegen):
    """Creates modules of one target.

    Parameters
    ----------
    triple, data_layout
        Of LLVM, as the preludes of the target have them.
    """

    _library_class = IrLibrary

    def __init__(self, triple: str, data_layout: str) -> None:
        self._triple = triple
        self._data_layout = data_layout

    def _create_empty_module(self, name: str) -> IrModule:
        module = ir.Module(cgutils.normalize_ir_text(name))
        module.triple = self._triple
        module.data_layout = self._data_layout
        return module

    def _add_module(self, module: IrModule) -> None:
        """Nothing is loaded into this process."""

    def magic_tuple(self) -> tuple[str, str]:
        return self._triple, self._data_layout
