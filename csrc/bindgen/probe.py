"""Values of constants and layouts of structs, as the compiler reports them for the real headers."""

from __future__ import annotations

import re
from pathlib import Path

from pycparser import c_ast, c_parser  # type: ignore[import-untyped]
from pycparser.c_parser import ParseError  # type: ignore[import-untyped]

from api import Api, Constant, Enumeration, Field, Record
from header_parser import ENUM_TYPE, LIBRARY_TYPES, Source, comment_groups, parse
from manifests import Manifest
from preprocess import include_lines, run_program

__all__ = ["measure", "read_api"]

HEADING = """
#include <stdio.h>
#include <stdint.h>
#define IS_UNSIGNED(x) _Generic((x), unsigned int: 1, unsigned long: 1, unsigned long long: 1, default: 0)
#define INTEGER(name, x) \\
    if (IS_UNSIGNED(x)) printf("integer\\t%s\\t%llu\\n", name, (unsigned long long)(x)); \\
    else printf("integer\\t%s\\t%lld\\n", name, (long long)(x))
#define REAL(name, x) printf("real\\t%s\\t%.17g\\n", name, (double)(x))
#define RECORD(name, type) printf("record\\t%s\\t%zu\\t%zu\\n", name, sizeof(type), _Alignof(type))
#define FIELD(name, type, path) \\
    printf("field\\t%s\\t%s\\t%zu\\t%zu\\n", name, #path, offsetof(type, path), sizeof(((type *)0)->path))
"""

STRING = r'"(?:[^"\\]|\\["\\])*"'


class Operands(c_ast.NodeVisitor):  # type: ignore[misc]
    """The names in an expression, and whether one of its numbers has a fraction."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.real = False

    def visit_Constant(self, node: c_ast.Constant) -> None:
        self.real = self.real or node.type in {"float", "double", "long double"}

    def visit_ID(self, node: c_ast.ID) -> None:
        self.names.add(node.name)


def kind_of(name: str, body: str, types: set[str], enumerators: set[str]) -> str:
    """Classify a macro's expansion as `integer`, `real` or `string`; else return why it is not a constant."""
    if name.startswith("__"):
        return "reserved name, for the headers themselves"
    if not body:
        return "expands to nothing (guard, attribute or calling convention)"
    if re.fullmatch(rf"\(?\s*({STRING}\s*)+\)?", body):
        return "string"
    used = set(re.findall(r"[A-Za-z_]\w*", body)) & types
    prelude = "".join(f"typedef int {name};" for name in sorted(used))
    try:
        tree = c_parser.CParser().parse(f"{prelude} int value = ({body});")
    except ParseError as error:
        return f"not an expression ({type(error).__name__})"
    finder = Operands()
    finder.visit(tree)
    unknown = finder.names - enumerators
    if unknown or isinstance(tree.ext[-1].init, c_ast.FuncCall):
        return f"stands for {body}, which is no constant"
    return "real" if finder.real else "integer"


def text_of(body: str) -> str:
    """The value of a string macro."""
    parts = [re.sub(r'\\(["\\])', r"\1", part[1:-1]) for part in re.findall(STRING, body)]
    return "".join(parts)


def read_api(manifest: Manifest, headers: Path) -> Api:
    """Parse the headers, and let the compiler evaluate constants and struct layouts."""
    source = parse(manifest, headers)
    api = source.api
    enumerators = {name for _, members in source.enums for name in members}
    typedefs = {word for text in api.declarations for word in re.findall(r"\b(\w+)(?:\[[^\]]*\])?;$", text)}
    types = typedefs | set(LIBRARY_TYPES) | set(re.findall(r"typedef [^;]*?\(\*(\w+)\)", "\n".join(api.declarations)))
    kinds = {
        name: manifest.skipped_macros.get(name) or kind_of(name, body, types, enumerators)
        for name, body in source.macros.items()
    }
    values, layouts = measure(manifest, headers, source, kinds)
    api.records = layouts
    flags = re.compile(manifest.flags)
    for name, members in source.enums:
        api.enumerations.append(
            Enumeration(name, tuple((m, int(values[m])) for m in members), bool(name and flags.search(name)), ENUM_TYPE)
        )
    for name, kind in kinds.items():
        if kind == "string":
            api.constants.append(Constant(name, text_of(source.macros[name])))
        elif kind in {"integer", "real"}:
            api.constants.append(Constant(name, values[name]))
        else:
            api.skipped.append((name, kind))
    if manifest.comment_enums:
        integers = {c.name: c.value for c in api.constants if isinstance(c.value, int)}
        bit_types = {n for n in typedefs if is_bit_field(n, api.declarations)}
        for name, bits, macros in comment_groups(manifest, headers, typedefs):
            group = tuple((m, integers[m]) for m in macros if m in integers)
            if group:
                api.macro_enumerations.append(Enumeration(name, group, bits or name in bit_types))
    if manifest.structure_type:
        api.structure_types = structure_types(manifest, api)
    api.version = version_of(api)
    return api


def is_bit_field(name: str, declarations: list[str]) -> bool:
    """Whether an OpenCL type is a typedef of cl_bitfield."""
    return f"typedef cl_bitfield {name};" in declarations


def measure(
    manifest: Manifest, headers: Path, source: Source, kinds: dict[str, str]
) -> tuple[dict[str, int | float], list[Record]]:
    """Compile and run a program over the real headers: values of constants, layouts of records."""
    body: list[str] = []
    for _, members in source.enums:
        body += [f'INTEGER("{name}", {name});' for name in members]
        body.append(f'printf("enum\\t{members[0]}\\t%zu\\n", sizeof({members[0]}));')
    for name, kind in kinds.items():
        if kind == "integer":
            body.append(f'INTEGER("{name}", {name});')
        elif kind == "real":
            body.append(f'REAL("{name}", {name});')
    for record in source.records:
        body.append(f'RECORD("{record.name}", {record.c_name});')
        body += [f'FIELD("{record.name}", {record.c_name}, {path});' for path in record.paths]
    # All types are visible in every pass but the public one, which may hide superseded structs.
    which = manifest.passes[1] if len(manifest.passes) > 1 else manifest.passes[0]
    program = include_lines(manifest) + HEADING + "int main(void) {\n" + "\n".join(body) + "\nreturn 0;\n}\n"
    values: dict[str, int | float] = {}
    records: list[Record] = []
    fields: list[Field] = []
    for row in run_program(program, headers, which):
        if row[0] == "integer":
            values[row[1]] = int(row[2])
        elif row[0] == "real":
            values[row[1]] = float(row[2])
        elif row[0] == "enum" and row[2] != "4":
            raise SystemExit(f"{row[1]}: its enum is {row[2]} bytes wide, not 4; {ENUM_TYPE} cannot stand for it")
        elif row[0] == "record":
            fields = []
            c_name = next(r.c_name for r in source.records if r.name == row[1])
            records.append(Record(row[1], c_name, int(row[2]), int(row[3]), ()))
        elif row[0] == "field":
            fields.append(Field(row[2], int(row[3]), int(row[4])))
            last = records[-1]
            records[-1] = Record(last.name, last.c_name, last.size, last.alignment, tuple(fields))
    return values, records


def structure_types(manifest: Manifest, api: Api) -> dict[str, int]:
    """Map each struct that has an `stype` to its value."""
    constants = dict(api.enumerators())
    table: dict[str, int] = {}
    for record in api.records:
        if not record.fields or record.fields[0].path != "stype":
            continue
        stem = re.sub(r"_t$", "", re.sub(r"^ze_", "", record.name)).upper()
        stem = manifest.structure_types.get(record.name, stem)
        if stem == "":
            continue
        constant = manifest.structure_type + stem
        if constant not in constants:
            raise SystemExit(f"{record.name}: there is no {constant}; name its constant in the manifest")
        table[record.name] = constants[constant]
    return table


def version_of(api: Api) -> str:
    """The version the headers state."""
    if api.name == "cuda":
        value = api.value_of("CUDA_VERSION")
        return f"{value // 1000}.{value % 1000 // 10}"
    if api.name == "level_zero":
        value = api.value_of("ZE_API_VERSION_CURRENT")
        return f"{value >> 16}.{value & 0xFFFF}"
    if api.name == "opencl":
        value = api.value_of("CL_TARGET_OPENCL_VERSION")
        return f"{value // 100}.{value // 10 % 10}"
    return "of the package"
