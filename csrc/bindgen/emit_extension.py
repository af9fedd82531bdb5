"""Write the C source of one extension module with cffi: python csrc/bindgen/emit_extension.py DRIVER OUTPUT.c.

Run by CMake at build time; cffi is a build requirement. The generated headers are read twice: by the C compiler as
they are, by cffi with numbers left to the compiler and with over-aligned structs marked as such.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from cffi import FFI  # type: ignore[import-untyped]

HERE = Path(__file__).resolve().parent
DRIVER_CALLS = HERE.parent / "driver_calls"
GENERATED = HERE / "generated"

TABLE = """
int bindless_open(const char *path, char *message, size_t size);
void bindless_close(void);
int bindless_path(char *path, size_t size);
int bindless_is_open(void);
int bindless_function_count(void);
const char *bindless_function_name(int index);
const char *bindless_function_symbol(int index);
int bindless_function_available(int index);
int bindless_function_offered(int index, const void *owner);
int bindless_trivial(uint32_t *first, uint32_t *second, uint32_t *third);
"""

# Additions to the driver's own API: the header with the declarations, and the header with the code.
ADDITIONS = {
    "cuda": ("cuda/declarations.h", "cuda/all.h"),
    "level_zero": ("level_zero/declarations.h", "level_zero/all.h"),
    "opencl": ("opencl/declarations.h", "opencl/all.h"),
    "reference": ("reference/declarations.h", "reference/all.h"),
}

# cffi's argument conversion takes most of the compile time of the large modules and little of a call's time: it is
# compiled without optimisation. The wrappers and the run-time code before it are optimised.
LARGE = ("cuda", "level_zero", "opencl")
UNOPTIMISED = """
#if defined(__clang__)
#pragma clang optimize off
#elif defined(__GNUC__)
#pragma GCC optimize("O0")
#endif
"""


def for_cffi(types: str) -> str:
    """Convert the types header to cffi's dialect."""
    types = re.sub(r"^/\*.*?\*/\n", "", types)
    types = re.sub(r"^(#define \w+) .*$", r"\1 ...", types, flags=re.MULTILINE)
    types = re.sub(r"\[[^\]]*sizeof[^\]]*\]", "[...]", types)
    # A cdef cannot express an alignment: cffi takes the struct's layout from the compiler instead.
    blocks = re.split(r"(?<=;)\n(?=[^\s}])", types)
    return "\n".join(partial(block) if "_Alignas" in block else block for block in blocks)


def partial(block: str) -> str:
    """A struct without its alignments, open at the end of its outermost braces."""
    block = re.sub(r"_Alignas\([^)]*\) ", "", block)
    end = block.rindex("}")
    return f"{block[:end]}  ...;\n{block[end:]}"


def main() -> None:
    """Run from the command line."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    name, output = sys.argv[1], Path(sys.argv[2])
    ffi = FFI()
    ffi.cdef(for_cffi((GENERATED / f"{name}_types.h").read_text(encoding="utf-8")))
    ffi.cdef((GENERATED / f"{name}_functions.h").read_text(encoding="utf-8"))
    ffi.cdef(TABLE)
    source = f'#include "{name}_wrappers.c"\n'
    if name in ADDITIONS:
        declarations, code = ADDITIONS[name]
        ffi.cdef((DRIVER_CALLS / declarations).read_text(encoding="utf-8").replace("static ", ""))
        source += f'#include "{code}"\n'
    if name in LARGE:
        source += UNOPTIMISED
    ffi.set_source(f"bindless.drivers.{name}._bindings", source)
    output.unlink(missing_ok=True)
    ffi.emit_c_code(str(output))


if __name__ == "__main__":
    main()
