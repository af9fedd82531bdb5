"""Write the tables between the Level Zero loader and this project's driver: level_zero_ddi.h and .c.

Each function has a default and an entry. The default is a weak symbol that returns UNSUPPORTED_FEATURE; a definition
of the same name in the driver replaces it. The tables hold the entries, which call `blz_call_enter` first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from api import Api, Function
from emit_c import heading, signature

__all__ = ["ddi_c", "ddi_h", "read_tables"]

# Number of entries of a table since version 1.N of the API. Tables grow at their end, and a loader passes a table of
# the length it knows: write no more entries than its version has. Tables not listed have the length of the newest
# version.
LENGTHS: dict[str, dict[int, int]] = {
    "ze_rtas_builder": {13: 5},
    "ze_rtas_builder_exp": {7: 4},
    "ze_rtas_parallel_operation": {13: 4},
    "ze_rtas_parallel_operation_exp": {7: 4},
    "ze_global": {0: 1, 10: 2},
    "ze_driver": {0: 6, 6: 7, 13: 8, 14: 9},
    "ze_driver_exp": {7: 1},
    "ze_device": {4: 18, 7: 19, 12: 21, 13: 22, 14: 23, 15: 24},
    "ze_device_exp": {4: 1},
    "ze_context": {1: 9},
    "ze_command_queue": {0: 4, 9: 6},
    "ze_command_list": {4: 28, 9: 34, 12: 36, 14: 38},
    "ze_command_list_exp": {9: 6, 10: 8},
    "ze_image": {3: 4, 5: 5},
    "ze_image_exp": {2: 2, 9: 3},
    "ze_mem": {3: 10, 6: 11, 9: 12, 15: 13},
    "ze_mem_exp": {6: 2, 7: 4},
    "ze_fence": {0: 5},
    "ze_event_pool": {0: 5, 6: 6, 9: 8},
    "ze_event": {0: 7, 6: 8, 9: 11, 15: 16},
    "ze_event_exp": {2: 1},
    "ze_module": {3: 9},
    "ze_module_build_log": {0: 2},
    "ze_kernel": {0: 12},
    "ze_kernel_exp": {2: 2, 11: 3, 14: 4},
    "ze_sampler": {0: 2},
    "ze_physical_mem": {0: 2, 15: 3},
    "ze_virtual_mem": {0: 7},
    "ze_fabric_vertex_exp": {4: 4},
    "ze_fabric_edge_exp": {4: 3},
}


@dataclass(frozen=True)
class Table:
    """One table: its name without `_dditable_t`, its getter function, and (member, function, minor version)."""

    name: str
    getter: str
    entries: tuple[tuple[str, Function, int], ...]


def read_tables(api: Api, header: Path) -> list[Table]:
    """The tables of ze_ddi.h."""
    text = header.read_text(encoding="utf-8")
    functions = {function.name: function for function in api.functions}
    newest = int(api.version.partition(".")[2])
    getters = dict(
        re.findall(r"(zeGet\w+ProcAddrTable)\(\s*ze_api_version_t \w+,[^\n]*\n\s*(\w+)_dditable_t\s*\*", text)
    )
    getter_of = {table: getter for getter, table in getters.items()}
    tables = []
    for name, body in re.findall(r"typedef struct _(ze_\w+)_dditable_t\s*\{(.*?)\n\}", text, re.DOTALL):
        entries = []
        for index, (kind, member) in enumerate(re.findall(r"ze_pfn(\w+)_t\s+(\w+);", body)):
            since = [minor for minor, length in LENGTHS.get(name, {}).items() if index < length]
            entries.append((member, functions[f"ze{kind}"], min(since, default=newest)))
        if name in getter_of:
            tables.append(Table(name, getter_of[name], tuple(entries)))
    return tables


def entries_of(tables: list[Table]) -> list[Function]:
    """Every function of the tables, once."""
    return list({function.name: function for table in tables for _, function, _ in table.entries}.values())


def ddi_h(tables: list[Table]) -> str:
    """Write the types of the tables, the numbers of their functions, and the getters."""
    lines = [heading("level_zero"), "#ifndef BINDLESS_LEVEL_ZERO_DDI_H\n#define BINDLESS_LEVEL_ZERO_DDI_H\n"]
    for table in tables:
        members = "".join(f"  {signature(function, f'(*{member})')};\n" for member, function, _ in table.entries)
        lines.append(f"typedef struct {table.name}_dditable {{\n{members}}} {table.name}_dditable_t;\n")
    numbers = "".join(f"  BLZ_CALL_{function.name},\n" for function in entries_of(tables))
    lines.append(f"enum blz_call {{\n{numbers}  BLZ_CALL_COUNT\n}};\n")
    lines.append("extern const char *const blz_call_names[BLZ_CALL_COUNT];\n")
    lines.append("extern void (*const blz_call_entries[BLZ_CALL_COUNT])(void);\n")
    lines.extend(f"{getter(table)};\n" for table in tables)
    return "".join([*lines, "#endif\n"])


def getter(table: Table) -> str:
    """Write the declaration of a table's getter."""
    return f"ze_result_t {table.getter}(ze_api_version_t version, {table.name}_dditable_t *table)"


def ddi_c(tables: list[Table]) -> str:
    """Write defaults, entries and getters."""
    functions = entries_of(tables)
    names = "".join(f'  "{function.name}",\n' for function in functions)
    parts = [
        heading("level_zero"),
        '#include "level_zero_driver/core/fault_injection.h"\n\n#define DEFAULT __attribute__((weak))\n',
        '#define EXPORT __attribute__((visibility("default")))\n',
        f"const char *const blz_call_names[BLZ_CALL_COUNT] = {{\n{names}}};\n\n",
    ]
    for function in functions:
        arguments = ", ".join(parameter.name for parameter in function.parameters)
        unused = " ".join(f"(void){parameter.name};" for parameter in function.parameters)
        call = f"BLZ_CALL_{function.name}"
        refusal = f"return blz_call_unsupported({call});"
        failure = "return result;"
        if function.result != "ze_result_t":
            refusal = f"blz_call_unsupported({call});\n  return 0;"
            failure = "return 0;"
        parts.append(
            f"DEFAULT {signature(function, function.name)}\n{{\n  {unused}\n  {refusal}\n}}\n"
            f"static {signature(function, f'enter_{function.name}')}\n{{\n"
            f"  ze_result_t result = blz_call_enter({call});\n"
            f"  if (result != ZE_RESULT_SUCCESS) {failure}\n  return {function.name}({arguments});\n}}\n\n"
        )
    addresses = "".join(f"  (void (*)(void))enter_{function.name},\n" for function in functions)
    parts.append(f"void (*const blz_call_entries[BLZ_CALL_COUNT])(void) = {{\n{addresses}}};\n\n")
    for table in tables:
        assignments = []
        known = -1
        for member, function, since in table.entries:
            if since != known:
                assignments.append(f"  if (minor < {since}) return ZE_RESULT_SUCCESS;\n" if since > 0 else "")
                known = since
            assignments.append(f"  table->{member} = enter_{function.name};\n")
        parts.append(
            f"EXPORT {getter(table)}\n{{\n  int minor = 0;\n"
            "  ze_result_t result = blz_call_table(version, table, &minor);\n"
            f"  if (result != ZE_RESULT_SUCCESS) return result;\n{''.join(assignments)}"
            "  return ZE_RESULT_SUCCESS;\n}\n\n"
        )
    return "".join(parts)
