"""Storage of each channel type in images, defined independently of the package."""

from __future__ import annotations

# Channel type: (dtype in memory, the code that a fetch reads as 1.0, or None).
STORAGE: dict[str, tuple[str, int | None]] = {
    "snorm_int8": ("int8", 127),
    "snorm_int16": ("int16", 32767),
    "unorm_int8": ("uint8", 255),
    "unorm_int16": ("uint16", 65535),
    "signed_int8": ("int8", None),
    "signed_int16": ("int16", None),
    "signed_int32": ("int32", None),
    "unsigned_int8": ("uint8", None),
    "unsigned_int16": ("uint16", None),
    "unsigned_int32": ("uint32", None),
    "fp16": ("float16", None),
    "fp32": ("float32", None),
}
