"""Run passes of LLVM's optimiser through llvmlite, in a separate process: MODULE OUTPUT KERNEL,KERNEL PASS,PASS..."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import llvmlite.binding as llvm

_PASSES = {
    "globalopt": "global_opt",
    "instcombine": "instruction_combine",
    "mem2reg": "sroa",  # sroa includes mem2reg, which llvmlite lacks
    "simplifycfg": "simplify_cfg",
}


def main() -> None:
    source, output, kernels, passes = sys.argv[1:]
    llvm.initialize_all_targets()
    module = llvm.parse_assembly(Path(source).read_text())
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name not in kernels.split(",") and not value.name.startswith("llvm."):
            value.linkage = "internal"
    machine = llvm.Target.from_triple(module.triple).create_target_machine()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
    manager = llvm.create_new_module_pass_manager()
    manager.add_global_dead_code_eliminate_pass()
    for name in re.findall(r"\w+", passes):
        if name != "function":
            getattr(manager, f"add_{_PASSES[name]}_pass")()
    manager.run(module, builder)
    Path(output).write_text(str(module))


if __name__ == "__main__":
    main()
