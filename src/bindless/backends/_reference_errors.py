"""What the reference driver's results mean, as exceptions of the package."""

from __future__ import annotations

from typing import Any

from ..model.enums import Errc
from ..model.errors import Error, error_of

__all__ = ["NOT_READY", "RESULTS", "SUCCESS", "TIMEOUT", "failure"]

SUCCESS = 0
NOT_READY = 1
TIMEOUT = 11

# Result of the driver: its name and the code of the exception that carries it.
RESULTS: dict[int, tuple[str, Errc]] = {
    1: ("BLR_RESULT_NOT_READY", Errc.runtime),
    2: ("BLR_RESULT_INVALID_ARGUMENT", Errc.invalid),
    3: ("BLR_RESULT_INVALID_HANDLE", Errc.invalid),
    4: ("BLR_RESULT_INVALID_SIZE", Errc.invalid),
    5: ("BLR_RESULT_INVALID_FORMAT", Errc.invalid),
    6: ("BLR_RESULT_OUT_OF_MEMORY", Errc.memory_allocation),
    7: ("BLR_RESULT_UNSUPPORTED", Errc.feature_not_supported),
    8: ("BLR_RESULT_IN_USE", Errc.runtime),
    9: ("BLR_RESULT_DEPENDENCY_FAILED", Errc.runtime),
    10: ("BLR_RESULT_OUT_OF_RANGE", Errc.invalid),
    11: ("BLR_RESULT_TIMEOUT", Errc.runtime),
    12: ("BLR_RESULT_UNKNOWN", Errc.runtime),
}


def failure(driver: Any, result: int, call: str) -> Error:
    """The exception of a failed call, with the sentence that the driver left on this thread."""
    ffi, lib = driver.ffi, driver.lib
    code, text = ffi.new("blr_result_t *"), ffi.new("char const **")
    sentence = ""
    if lib.blrGetLastError(code, text) == SUCCESS and int(code[0]) == result and text[0] != ffi.NULL:
        sentence = ffi.string(text[0]).decode("utf-8", "replace")
    name, errc = RESULTS.get(result, (f"result {result}", Errc.runtime))
    return error_of(
        errc,
        f"{sentence or 'the reference driver gave no reason'} ({call}: {name})",
        backend="reference",
        native_code=result,
        native_name=name,
    )
