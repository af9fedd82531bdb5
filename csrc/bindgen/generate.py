"""Generate the bindings: python csrc/bindgen/generate.py DRIVER|all --headers DIR [--check].

DIR holds `cuda.h`, `level_zero/` and `CL/`, as fetch_headers.py leaves them; the reference driver's header is the
project's own. With --check nothing is written: the committed files are compared, a difference is printed, and the
exit status is 1.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterator
from pathlib import Path

from emit_c import functions_h, layout_txt, types_h, wrappers_c
from emit_ddi import ddi_c, ddi_h, read_tables
from emit_exports import exports_c, exports_h
from emit_python import enums_py, structs_py, stub_pyi
from emit_report import report_md
from manifests import MANIFESTS
from probe import read_api

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "csrc" / "bindgen" / "generated"
PACKAGE = ROOT / "src" / "bindless" / "drivers"


def outputs(name: str, headers: Path) -> Iterator[tuple[Path, str]]:
    """(path, content) of every file of one driver."""
    manifest = MANIFESTS[name]
    api = read_api(manifest, ROOT / "include" if name == "reference" else headers)
    yield GENERATED / f"{name}_types.h", types_h(api)
    yield GENERATED / f"{name}_functions.h", functions_h(api)
    yield GENERATED / f"{name}_wrappers.c", wrappers_c(manifest, api)
    yield GENERATED / f"{name}_layout.txt", layout_txt(api)
    yield GENERATED / f"{name}_report.md", report_md(manifest, api)
    yield PACKAGE / name / "_enums.py", enums_py(api)
    yield PACKAGE / name / "_bindings.pyi", stub_pyi(api)
    if api.structure_types:
        yield PACKAGE / name / "_struct_types.py", structs_py(api)
    if manifest.tables:
        tables = read_tables(api, headers / manifest.tables)
        yield GENERATED / f"{name}_ddi.h", ddi_h(tables)
        yield GENERATED / f"{name}_ddi.c", ddi_c(tables)
    if name == "cuda":
        yield GENERATED / f"{name}_exports.h", exports_h(api)
        yield GENERATED / f"{name}_exports.c", exports_c(api)


def difference(path: Path, content: str) -> list[str]:
    """Compare the committed file with the generated one."""
    committed = path.read_text(encoding="utf-8") if path.exists() else ""
    name = str(path.relative_to(ROOT))
    lines = difflib.unified_diff(committed.splitlines(), content.splitlines(), name, f"{name} (generated)", lineterm="")
    return list(lines)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("driver", choices=[*MANIFESTS, "all"])
    parser.add_argument("--headers", type=Path, default=Path("/usr/include"), help="folder of the vendors' headers")
    parser.add_argument("--check", action="store_true", help="compare with the committed files instead of writing them")
    options = parser.parse_args()
    names = list(MANIFESTS) if options.driver == "all" else [options.driver]
    stale = False
    for name in names:
        for path, content in outputs(name, options.headers):
            if options.check:
                lines = difference(path, content)
                stale = stale or bool(lines)
                print("\n".join(lines[:200]), end="\n" if lines else "")
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
        print(f"{name}: {'checked' if options.check else 'generated'}")
    if stale:
        print("The committed bindings differ from what the headers give: run the generator and commit its output.")
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
