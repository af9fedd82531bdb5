"""Parse preprocessed headers into an `Api`: typedefs, structs, enums, functions, macros."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from pycparser import c_ast, c_generator, c_parser  # type: ignore[import-untyped]

from api import Api, Function, Parameter
from manifests import Manifest, Pass
from preprocess import declarations, expand, macro_names

__all__ = ["RecordSource", "Source", "parse"]

# Types of the C library, for the parser only: (name, stand-in).
LIBRARY_TYPES = {
    "int8_t": "signed char",
    "uint8_t": "unsigned char",
    "int16_t": "short",
    "uint16_t": "unsigned short",
    "int32_t": "int",
    "uint32_t": "unsigned int",
    "int64_t": "long long",
    "uint64_t": "unsigned long long",
    "intptr_t": "long",
    "uintptr_t": "unsigned long",
    "size_t": "unsigned long",
    "ptrdiff_t": "long",
    "wchar_t": "int",
}
PRELUDE = "".join(f"typedef {stand_in} {name};\n" for name, stand_in in LIBRARY_TYPES.items())
INTEGER_WORDS = {"char", "short", "int", "long", "signed", "unsigned", "_Bool"} | set(LIBRARY_TYPES)


@dataclass
class RecordSource:
    """A struct or union to measure: public name, C name, paths of its members."""

    name: str
    c_name: str
    paths: list[str]


@dataclass
class Source:
    """Result of parsing, before the probe program adds values and layouts."""

    api: Api
    records: list[RecordSource] = field(default_factory=list)
    enums: list[tuple[str, list[str]]] = field(default_factory=list)
    macros: dict[str, str] = field(default_factory=dict)


class EnumRemover(c_ast.NodeVisitor):  # type: ignore[misc]
    """Replaces uses of enum types by integers of the same size, so that calls need no conversion table.

    Attributes:
        found: (tag or None, enumerator names) of every enum defined on the way.
    """

    def __init__(self) -> None:
        self.found: list[tuple[str | None, list[str]]] = []

    def generic_visit(self, node: c_ast.Node) -> None:
        for _, child in node.children():
            if isinstance(child, c_ast.TypeDecl) and isinstance(child.type, c_ast.Enum):
                self.visit_Enum(child.type)
                child.type = c_ast.IdentifierType([ENUM_TYPE])
            self.visit(child)

    def visit_Enum(self, node: c_ast.Enum) -> None:
        if node.values is not None:
            self.found.append((node.name, [item.name for item in node.values.enumerators]))


# Every enum of these APIs is four bytes wide; the probe program checks it.
ENUM_TYPE = "int"


class Parser:
    """Parser of one driver's headers."""

    def __init__(self, manifest: Manifest, headers: Path) -> None:
        self.manifest = manifest
        self.headers = headers
        self.generator = c_generator.CGenerator()
        self.source = Source(Api(manifest.name, ""))
        self.seen: set[str] = set()
        self.typedefs: dict[str, c_ast.Node] = {}
        self.aliases: dict[str, str] = {}
        self.tag_names: dict[str, str] = {}

    def parse(self) -> Source:
        """Read all passes and the macros."""
        self.read_macros()
        first, *others = self.manifest.passes
        public = self.read_pass(first)
        symbols = {name for name, _ in public}
        for name, node in public:
            for alias in [a for a, target in self.aliases.items() if target == name]:
                self.add_function(alias, name, node, first.name)
            self.add_function(name, name, node, "versioned" if name in self.aliases.values() else first.name)
        for which in others:
            for name, node in self.read_pass(which):
                if name in symbols:
                    continue
                symbols.add(name)
                taken = name in self.aliases
                group = "per-thread default stream" if re.search(r"_pt[sd][sz]$", name) else which.name
                self.add_function(name + which.rename_suffix if taken else name, name, node, group)
        return self.source

    def read_macros(self) -> None:
        """Split macros into constants to evaluate, aliases of functions, and the rest."""
        names, functions = macro_names(self.manifest, self.headers)
        bodies = expand(self.manifest, self.headers, names)
        for name in names:
            body = bodies[name]
            if self.manifest.alias and re.search(self.manifest.alias, name):
                if body != name:
                    self.aliases[name] = body
                continue
            self.source.macros[name] = body
        for name in functions:
            self.source.api.skipped.append((name, "macro with parameters: no value of its own"))

    def read_pass(self, which: Pass) -> list[tuple[str, c_ast.Decl]]:
        """Add the types of one pass; return its functions."""
        text = PRELUDE + "enum _end_of_prelude { _END };\n" + declarations(self.manifest, self.headers, which)
        tree = c_parser.CParser().parse(text, filename=self.manifest.name)
        functions: list[tuple[str, c_ast.Decl]] = []
        in_prelude = True
        for node in tree.ext:
            if in_prelude:
                in_prelude = not (isinstance(node.type, c_ast.Enum) and node.type.name == "_end_of_prelude")
            elif isinstance(node, c_ast.FuncDef):
                self.source.api.skipped.append((node.decl.name, "inline function: has no symbol"))
            elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
                if re.search(self.manifest.function, node.name):
                    self.remove_enums(node, node.name)
                    functions.append((node.name, node))
                else:
                    self.source.api.skipped.append((node.name, "function of another API"))
            else:
                self.add_type(node)
        return functions

    def add_type(self, node: c_ast.Node) -> None:
        """Declare one typedef, struct, union or enum, once."""
        typed = node.type.type if isinstance(node, c_ast.Typedef) else node.type
        tag = getattr(typed, "name", None) if isinstance(typed, c_ast.Struct | c_ast.Union | c_ast.Enum) else None
        name = node.name or tag
        if isinstance(typed, c_ast.Enum) and isinstance(node, c_ast.Decl) and node.name is None and tag is None:
            self.source.enums.append(("", [item.name for item in typed.values.enumerators]))
            return
        key = f"{type(node).__name__} {name}" if name else self.generator.visit(node)
        if key in self.seen and isinstance(node, c_ast.Typedef) and getattr(typed, "decls", None) and tag:
            # The name was declared before its members: define the struct alone.
            node = c_ast.Decl(None, [], [], [], [], typed, None, None)
            name, key = tag, f"Decl {tag}"
        if isinstance(node, c_ast.Decl) and getattr(typed, "decls", None):
            key = "definition " + key
        if key in self.seen:
            return
        self.seen.add(key)
        if tag and getattr(typed, "decls", None):
            self.seen.add(f"definition Decl {tag}")
        if isinstance(node, c_ast.Typedef):
            self.typedefs[node.name] = node.type
            if isinstance(typed, c_ast.Struct | c_ast.Union) and isinstance(node.type, c_ast.TypeDecl):
                kind = "struct" if isinstance(typed, c_ast.Struct) else "union"
                self.tag_names.setdefault(f"{kind} {typed.name}", node.name)
        enum = isinstance(typed, c_ast.Enum)
        self.remove_enums(node, name)
        if enum and isinstance(node, c_ast.Decl):
            return
        self.source.api.declarations.append(self.generator.visit(node) + ";")
        self.add_record(node, typed)

    def remove_enums(self, node: c_ast.Node, name: str | None) -> None:
        """Turn enum types below a node into integers, keeping their enumerators."""
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.Enum):
            if node.type.values is not None:
                self.source.enums.append((node.type.name, [item.name for item in node.type.values.enumerators]))
            return
        remover = EnumRemover()
        remover.visit(node)
        for tag, members in remover.found:
            self.source.enums.append(((name if isinstance(node, c_ast.Typedef) else tag) or "", members))

    def add_record(self, node: c_ast.Node, typed: c_ast.Node) -> None:
        """Remember a struct or union with members, for the layout check."""
        if not isinstance(typed, c_ast.Struct | c_ast.Union) or typed.decls is None:
            return
        if isinstance(node, c_ast.Typedef) and not isinstance(node.type, c_ast.TypeDecl):
            raise SystemExit(f"{node.name}: a struct defined inside a pointer typedef is not understood")
        kind = "struct" if isinstance(typed, c_ast.Struct) else "union"
        tagged = f"{kind} {typed.name}"
        name = node.name or self.tag_names.get(tagged, typed.name)
        c_name = name if isinstance(node, c_ast.Typedef) or tagged in self.tag_names else tagged
        self.source.records.append(RecordSource(name, c_name, self.paths(typed)))

    def paths(self, record: c_ast.Node) -> list[str]:
        """Paths of all members; members of unnamed structs have their own names."""
        paths: list[str] = []
        for member in record.decls:
            if member.bitsize is not None:
                self.source.api.skipped.append((member.name, "bit-field: has no offset to check"))
                continue
            inner = member.type.type if isinstance(member.type, c_ast.TypeDecl) else member.type
            nested = isinstance(inner, c_ast.Struct | c_ast.Union) and inner.decls is not None
            if member.name is not None:
                paths.append(member.name)
            if nested:
                prefix = f"{member.name}." if member.name is not None else ""
                paths.extend(prefix + path for path in self.paths(inner))
        return paths

    def add_function(self, name: str, symbol: str, node: c_ast.Decl, group: str) -> None:
        """Declare one function under its public name."""
        declared = node.type
        parameters: list[Parameter] = []
        for index, parameter in enumerate(declared.args.params if declared.args else []):
            text = self.generator.visit(parameter)
            if text == "void":
                continue
            label = parameter.name
            if label is None:
                label = f"arg{index}"
                parameter = c_ast.Decl(label, [], [], [], [], self.named(parameter.type, label), None, None)
                text = self.generator.visit(parameter)
            parameters.append(Parameter(text, label, self.python_type(parameter.type)))
        result = self.generator.visit(c_ast.Typename(None, [], None, declared.type)).strip()
        result = re.sub(rf"\b{re.escape(node.name)}\b", "", result).strip()
        self.source.api.functions.append(
            Function(name, symbol, result, self.python_type(declared.type), tuple(parameters), group)
        )

    def named(self, node: c_ast.Node, name: str) -> c_ast.Node:
        """Give an unnamed parameter's type the name that its declaration needs."""
        inner = node
        while not isinstance(inner, c_ast.TypeDecl):
            inner = inner.type
        inner.declname = name
        return node

    def python_type(self, node: c_ast.Node) -> str:
        """The Python type of a parameter or result of this C type."""
        if not isinstance(node, c_ast.TypeDecl):
            return "CData"
        if not isinstance(node.type, c_ast.IdentifierType):
            return "CData"
        words = node.type.names
        if words == ["void"]:
            return "None"
        if set(words) & {"float", "double"}:
            return "float"
        if words == ["_Bool"]:
            return "bool"
        if set(words) <= INTEGER_WORDS:
            return "bytes" if words == ["char"] else "int"
        target = self.typedefs.get(words[0])
        return self.python_type(target) if target is not None else "CData"


def parse(manifest: Manifest, headers: Path) -> Source:
    """Parse the headers of one driver."""
    return Parser(manifest, headers).parse()


def comment_groups(manifest: Manifest, headers: Path, typedefs: set[str]) -> list[tuple[str, bool, list[str]]]:
    """Return (class, bit-field, macro names) of the macro groups whose heading names their type."""
    groups: dict[str, tuple[bool, dict[str, None]]] = {}
    for include in manifest.includes:
        current: list[str] = []
        bits = False
        for line in (headers / include).read_text().splitlines():
            define = re.match(r"\s*#\s*define\s+(CL_\w+)\s+\S", line)
            heading = re.fullmatch(r"/\*+\s*(.*?)\s*\*+/", line.strip())
            if define and not re.search(r"_EXTENSION_(NAME|VERSION)$", define[1]):
                for name in current:
                    known_bits, members = groups.setdefault(name, (bits, {}))
                    groups[name] = (known_bits or bits, members)
                    members[define[1]] = None
            elif heading and "eserved" not in heading[1]:
                words = re.findall(r"cl_\w+", heading[1].split(" - ")[0])
                current = [word for word in words if word in typedefs]
                special = manifest.comment_groups.get(heading[1].lower())
                if special:
                    current = [special]
                bits = "bitfield" in heading[1]
            elif re.match(r"(typedef|extern|struct|/\*\*\*)", line):
                current = []
    return [(name, bits, list(members)) for name, (bits, members) in groups.items()]
