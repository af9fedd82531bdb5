"""Worker process that links, optimises and translates with llvmlite: a crash of LLVM ends it, not the program.

A request is a JSON object. The answer is ``{}``, or ``{"error": text}`` where LLVM refuses a module. Options of the
code generator are global variables of LLVM: a process accepts one set of them.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm

from ..process.worker_loop import serve


def parse(path: str) -> Any:
    """Parse a file of LLVM IR, text or bitcode."""
    with open(path, "rb") as file:
        data = file.read()
    return llvm.parse_bitcode(data) if data[:2] == b"BC" else llvm.parse_assembly(data.decode())


def write(module: Any, path: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(str(module))


def link(modules: list[str], output: str, library: str | None) -> None:
    first = parse(modules[0])
    for other in modules[1:]:
        first.link_in(parse(other))
    if library is not None:
        own = {value.name for value in (*first.functions, *first.global_variables) if not value.is_declaration}
        other = parse(library)
        for value in (*other.functions, *other.global_variables):
            if value.name in own and not value.is_declaration:
                value.linkage = "internal"
        first.link_in(other)
        internalize(first, own)
        tidy(first, pass_builder(first, 0))
    write(first, output)


def promote(module: str, output: str) -> None:
    parsed = parse(module)
    passes = llvm.create_new_function_pass_manager()
    passes.add_sroa_pass()
    builder = pass_builder(parsed, 2)
    for function in parsed.functions:
        if not function.is_declaration:
            passes.run(function, builder)
    write(parsed, output)


def optimise(module: str, output: str, kernels: list[str], level: int, passes: list[str]) -> None:
    _set(passes)
    parsed = parse(module)
    internalize(parsed, set(kernels))
    builder = pass_builder(parsed, level)
    builder.getModulePassManager().run(parsed, builder)
    tidy(parsed, builder)
    write(parsed, output)


def translate(
    module: str, output: str, machine: str, cpu: str, features: str, options: list[str], binary: bool
) -> None:
    _set(options)
    target = llvm.Target.from_triple(machine).create_target_machine(
        cpu=cpu, features=features, opt=3, codemodel="default"
    )
    target.set_asm_verbosity(False)
    parsed = parse(module)
    data = target.emit_object(parsed) if binary else target.emit_assembly(parsed).encode()
    with open(output, "wb") as file:
        file.write(data)


def _set(options: list[str]) -> None:
    """Set options of LLVM, which stay set in this process."""
    for option in options:
        if option not in _options:
            llvm.set_option("bindless", option)
            _options.append(option)


def internalize(module: Any, public: set[str]) -> None:
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name not in public and not value.name.startswith("llvm."):
            value.linkage = "internal"
            value.visibility = "default"


def tidy(module: Any, builder: Any) -> None:
    """Remove unreferenced definitions."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(module, builder)


def pass_builder(module: Any, level: int) -> Any:
    """Create a pass builder that optimises like `opt` for the module's triple."""
    machine = llvm.Target.from_triple(module.triple).create_target_machine(opt=2, codemodel="default")
    tuning = llvm.create_pipeline_tuning_options(speed_level=level)
    _machines.append(machine)
    return llvm.create_pass_builder(machine, tuning)


_STEPS: dict[str, Callable[..., None]] = {
    "link": link,
    "promote": promote,
    "optimise": optimise,
    "translate": translate,
}
_options: list[str] = []
_machines: list[Any] = []  # pass builders refer to machines, which must stay alive


def main() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    serve(_answer)


def _answer(data: bytes) -> bytes:
    request = json.loads(data)
    step = _STEPS[request.pop("step")]
    answer = {}
    try:
        if step is translate:
            apart(lambda: step(**request))
        else:
            step(**request)
    except (RuntimeError, ValueError, OSError) as error:
        answer = {"error": str(error)}
    return json.dumps(answer).encode()


def apart(step: Callable[[], None]) -> None:
    """Run a step in a child process: LLVM's SPIR-V backend caches labels by block addresses across modules, and options
    stay set. If the child ends by a fault, this process ends with the same status.

    Raises
    ------
    RuntimeError
        The step failed.
    """
    if not hasattr(os, "fork"):
        step()
        return
    reading, writing = os.pipe()
    seconds, _ = signal.getitimer(signal.ITIMER_REAL)
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_REAL, seconds)  # a fork has no timer
        status = 1
        try:
            step()
            status = 0
        except (RuntimeError, ValueError, OSError) as error:
            with os.fdopen(writing, "w", encoding="utf-8", errors="replace") as pipe:
                pipe.write(str(error) or type(error).__name__)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        error_text = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        os.kill(os.getpid(), -status)
    if status:
        os._exit(status)
    if error_text:
        raise RuntimeError(error_text)
