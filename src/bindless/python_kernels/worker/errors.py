"""Errors of Numba as a few lines: the place in the user's file, the expression, the reason, and the way out."""

from __future__ import annotations

import difflib
import dis
import linecache
import marshal
import re
import traceback
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING

import llvmlite
import numba
from numba.core import errors

from ..function_source import FunctionSource, ModuleNames

if TYPE_CHECKING:
    from ..compiler_process import Answer

__all__ = ["Unsupported", "explain", "require_supported", "versions"]

_MOST_LINES, _MOST_LETTERS = 10, 300
_PLACE = re.compile(r"\bat (\S[^\n]*?) \((\d+)\)\s*$|^\s*File \"([^\"\n]+)\", line (\d+)", re.MULTILINE)
_NAME = re.compile(r"devices do not have (\w+)\(\)")
_SIGNATURE = re.compile(r"No implementation of function (.*?) found for signature:\s*>>> ([^\n]*)", re.DOTALL)
_REASONS = (
    (re.compile(r"Untyped global name '([^']*)':\s*it (.*)"), r"the name '\1' \2"),
    (re.compile(r"unsupported NumPy function '([^']*)'"), r"there is no \1"),
    (re.compile(r"Unknown attribute '_allocate'"), "an operation with a whole array: compute its elements"),
    (re.compile(r"(Unknown attribute '[^']*' of type .*)"), r"\1"),
    (
        re.compile(r"Cannot bind 'args=.*? due to \"TypeError: (.*?)\"", re.DOTALL),
        r"a device function is called with other arguments than it has: \1",
    ),
    (re.compile(r"'expected (\d+), got (\d+)'"), r"a tuple of \2 elements is assigned to \1 names"),
    (re.compile(r"(Cannot unify .*)"), r"\1: a variable has one type in a kernel"),
    (
        re.compile(r"No conversion from (.*?) to none for"),
        r"a kernel returns nothing, and here \1: write results into an array",
    ),
    (re.compile(r"^(?:\w*Error|Unsupported): (.*)", re.MULTILINE), r"\1"),
    (re.compile(r"No definition for lowering <built-in function (\w+)>"), r"devices do not have \1()"),
)
_HINTS = (
    (re.compile(r"<built-in function empty>|function (?:ol_np_)?(?:zeros|empty|ones|full)|np_?(?:zeros|empty)"),
     "kernels create no arrays: device.local_array(shape, dtype) is memory of a work-group, tuples hold a few values"),
    (re.compile(r"devices do not have print"), "device.printf prints, and in run_in_python print works"),
    (re.compile(r"\b(?:reflected )?list\("), "kernels have no lists: use a tuple, or an array among the arguments"),
    (re.compile(r"unsupported NumPy function"),
     "kernels take numpy's functions of numbers; combine elements in a loop, or by device.work_group_reduce"),
    (re.compile(r"Unsupported array index type float"), "indices are integers: int(x)"),
    (re.compile(r"no getitem\(Image"), "device.fetch_image(image, x, y) reads a pixel"),
    (re.compile(r"takes an? (?:un)?sampled image, not an array|takes an image, not an array"),
     "pass a bindless.Image of the array"),
    (re.compile(r"Unknown attribute '(?:sample|fetch|write)\w*' of type Image"),
     "device.sample_image(image, x, y), fetch_image and write_image are functions"),
    (re.compile(r"Unknown attribute '\w*' of type Image"),
     "an image has no attributes in kernels: pass its size among the arguments"),
    (re.compile(r"Unknown attribute '\w*' of type Module\(<module 'bindless'"),
     "functions of kernels are those of bindless.device"),
    (re.compile(r"Module\(<module 'numpy\.random'|Untyped global name 'random'"),
     "kernels have no random numbers: pass an array of them"),
    (re.compile(r"there is no (?:max|min|sum|abs|round)\(array"),
     "it takes numbers: combine elements in a loop, or by device.work_group_reduce"),
    (re.compile(r"^tuple index out of range"), "elements are counted from 0: a pixel has 0 to 3"),
    (re.compile(r"no setitem\(Image"), "device.write_image(image, x, y, value) writes a pixel"),
    (re.compile(r"no setitem\(array .*, u?(?:int|float|half)\d*x[2-4]\)"),
     "an element is one number, and the value is a vector: take one of its components, as in value[0]"),
    (re.compile(r"no getitem\(Tuple\("),
     "an index that varies needs a tuple of one type: convert its elements, as in (np.float32(1), np.float32(2.5))"),
    (re.compile(r"no setitem\((?:u?int|float|bool)\d*, "), "a number is passed by value: write results into an array"),
    (re.compile(r"no bool\(array"), "an array is neither true nor false: test an element, or len(array)"),
    (re.compile(r"unicode_type|Literal\[str\]"), "texts exist in kernels as constants alone"),
)  # fmt: skip
_OPCODES = {
    "RAISE_VARARGS": "raise and assert: exceptions do not exist on devices; write a code into an array, or use "
    "run_in_python",
    "PUSH_EXC_INFO": "try and with: exceptions do not exist on devices",
    "SETUP_FINALLY": "try and with: exceptions do not exist on devices",
    "SETUP_WITH": "try and with: exceptions do not exist on devices",
    "BUILD_LIST": "a list: kernels have no memory of their own to grow; use a tuple, or device.local_array",
    "LIST_APPEND": "a list: kernels have no memory of their own to grow; use a tuple, or device.local_array",
    "BUILD_SET": "a set: kernels have tuples, numbers and arrays alone",
    "BUILD_MAP": "a dictionary: kernels have tuples, numbers and arrays alone",
    "BUILD_CONST_KEY_MAP": "a dictionary: kernels have tuples, numbers and arrays alone",
    "FORMAT_VALUE": "a formatted text: device.printf formats on the device",
    "FORMAT_SIMPLE": "a formatted text: device.printf formats on the device",
    "FORMAT_WITH_SPEC": "a formatted text: device.printf formats on the device",
    "IMPORT_NAME": "import: write it above the kernel",
    "UNPACK_EX": "a starred target: name each element of the tuple",
    "DELETE_FAST": "del: a variable of a kernel ends with it",
    "DELETE_SUBSCR": "del: arrays have all their elements",
    "STORE_GLOBAL": "global names are constants in kernels: pass an array to write to",
    "YIELD_VALUE": "yield: devices run no generators",
    "MAKE_FUNCTION": "a function within a kernel: decorate one outside with @bindless.device_function",
}  # fmt: skip


_SYNONYMS = {
    "get_global_id": "item_id", "global_id": "item_id", "grid": "item_id", "get_id": "item_id",
    "get_global_size": "item_range", "gridsize": "item_range", "get_local_id": "local_id", "threadIdx": "local_id",
    "get_group_id": "group_id", "blockIdx": "group_id", "blockDim": "local_range", "gridDim": "group_range",
    "syncthreads": "barrier", "tex2D": "sample_image", "print": "printf",
}  # fmt: skip
"""Functions of ``bindless.device`` by their names in OpenCL, SYCL, CUDA and numba."""


class Unsupported(errors.TypingError):  # type: ignore[misc, unused-ignore]
    """Something that no device can do."""


class _Refused(Exception):
    """Code that no device can execute, and its place."""

    def __init__(self, file: str, line: int, reason: str) -> None:
        super().__init__(reason)
        self.place = file, line
        self.reason = reason


def versions() -> dict[str, str]:
    """Return the versions of the packages that compile."""
    return {"numba": numba.__version__, "llvmlite": llvmlite.__version__}


def require_supported(source: FunctionSource) -> None:
    """Raise the error of code that no device can execute, in the kernel or in a function that it calls."""
    for code in _codes(source, set()):
        line = code.co_firstlineno
        for instruction in dis.get_instructions(code):
            starts = instruction.starts_line
            positions = getattr(instruction, "positions", None)
            line = (positions.lineno if positions is not None else None) or (
                starts if isinstance(starts, int) and not isinstance(starts, bool) else line
            )
            name = instruction.opname
            if name == "MAKE_FUNCTION" and any("comp>" in getattr(value, "co_name", "") for value in code.co_consts):
                name = "BUILD_LIST"
            reason = _OPCODES.get(name)
            if reason is not None:
                raise _Refused(code.co_filename, line, reason)


def _codes(source: object, visits: set[int]) -> Iterator[types.CodeType]:
    """Yield the code of a function and of the functions that it calls."""
    if isinstance(source, ModuleNames):
        for value in source.names.values():
            yield from _codes(value, visits)
    if isinstance(source, FunctionSource) and id(source) not in visits:
        visits.add(id(source))
        yield marshal.loads(source.code)
        for value in source.names.values():
            yield from _codes(value, visits)


def explain(error: Exception, source: FunctionSource) -> Answer:
    """Return the answer for an error of the compilation."""
    log = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    if isinstance(error, _Refused):
        return {"error": _message(error.place, error.reason), "log": log}
    codes = list(_codes(source, set()))
    if isinstance(error, AttributeError) and isinstance(error.obj, types.ModuleType):
        name = str(error.name)
        close = [_SYNONYMS[name]] if name in _SYNONYMS else difflib.get_close_matches(name, dir(error.obj), 1)
        reason = f"{error.obj.__name__} has no {name}" + (f": {close[0]}?" if close else "")
        return {"error": _message(_place_of(name, codes) or _first(codes), reason), "log": log}
    if not isinstance(error, (errors.NumbaError, NotImplementedError)):
        return {"error": f"kernel {source.name!r}: the compiler failed: {type(error).__name__}: {error}", "log": log}
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    reason = _reason(text)
    named = _NAME.search(reason) or re.search(r"Untyped global name '([^']*)'", text)
    place = (_place_of(named[1], codes) if named is not None else None) or _place(text, codes) or _place_of_error(error)
    hint = next((hint for pattern, hint in _HINTS if pattern.search(f"{reason}\n{text}")), None)
    if hint is not None and hint not in reason:
        reason = f"{reason}: {hint}"
    return {"error": _message(place or _first(codes), reason), "log": text}


def _first(codes: list[types.CodeType]) -> tuple[str, int]:
    """Return the place of the kernel."""
    return codes[0].co_filename, codes[0].co_firstlineno


def _message(place: tuple[str, int], reason: str) -> str:
    """Return the message: place, reason, and the line of the source."""
    file, line = place
    text = linecache.getline(file, line).strip()
    first = f"{file}:{line}: {reason}"
    return "\n".join([first, f"    {text}"] if text else [first])


def _reason(text: str) -> str:
    """Return the sentence that says what is wrong."""
    match = _SIGNATURE.search(text)
    if match is not None:
        inner = re.findall(r"Rejected as the implementation raised a specific error:\s*(?:\w+: )?([^\n]*)", text)
        name = re.search(r"<(?:built-in function|function|ufunc|class|intrinsic) '?([\w.]+)", match[1])
        call = match[2].strip()
        call = f"{name[1]}{call[call.find('(') :]}" if name is not None and "(" in call else call
        reasons = [line for line in inner if "Failed in" not in line and "No implementation of" not in line]
        return _short(f"there is no {call}" + (f": {reasons[-1]}" if reasons else ""))
    for pattern, words in _REASONS:
        match = pattern.search(text)
        if match is not None:
            return _short(match.expand(words))
    lines = [
        line.strip()
        for line in text.splitlines()
        if line.strip() and not re.match(r"\s*(Failed in|During:|File |<source|\^|-)", line)
    ]
    return _short(lines[0]) if lines else _short(text)


def _short(text: str) -> str:
    """Return one line with the names of types that users know."""
    text = re.sub(r"Literal\[(\w+)\]\(([^()]*)\)", r"\1 \2", text)
    text = re.sub(r"array\((\w+), (\d)d, [A-Z]\)", r"array of \1 with \2 dimensions", text)
    text = re.sub(r"\bwith 1 dimensions", "with 1 dimension", text)
    return " ".join(text.split())[:_MOST_LETTERS]


def _place(text: str, codes: list[types.CodeType]) -> tuple[str, int] | None:
    """Return the first place in the user's files: Numba lists calls from the inside."""
    files = {code.co_filename: code.co_filename for code in codes}
    names = {file.replace("\\", "/").rpartition("/")[2]: file for file in files}
    for match in _PLACE.finditer(text):
        file, line = match[1] or match[3], int(match[2] or match[4])
        path = files.get(file) or (
            names.get(file.replace("\\", "/").rpartition("/")[2]) if "/numba/" not in file else None
        )
        if path is not None:
            return path, line
    return None


def _place_of(name: str, codes: list[types.CodeType]) -> tuple[str, int] | None:
    """Return the first place that loads a name."""
    for code in codes:
        line = code.co_firstlineno
        for instruction in dis.get_instructions(code):
            positions = getattr(instruction, "positions", None)
            line = (positions.lineno if positions is not None else instruction.starts_line) or line
            if instruction.argval == name and instruction.opname.startswith("LOAD"):
                return code.co_filename, int(line)
    return None


def _place_of_error(error: BaseException) -> tuple[str, int] | None:
    place = getattr(error, "loc", None)
    return (str(place.filename), int(place.line)) if place is not None else None
