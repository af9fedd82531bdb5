"""OpenCL section of ``bindless doctor``: the loader's list of drivers, and platforms without a device."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

__all__ = ["examine_drivers"]

_VARIABLE = "OCL_ICD_VENDORS"
_SYSTEM = Path("/etc/OpenCL/vendors")


def _icd_files() -> tuple[str, list[Path]]:
    """Return the loader's folder and its .icd files."""
    setting = os.environ.get(_VARIABLE, "")
    place = Path(setting) if setting else _SYSTEM
    if setting and not place.is_dir():
        return str(place), [place] if place.suffix == ".icd" else []
    try:
        return str(place), sorted(place.glob("*.icd"))
    except OSError:
        return str(place), []


def _library_of(file: Path) -> tuple[str, str]:
    """The library that an .icd file names, and what is wrong with it."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        return "", f"cannot be read: {error.strerror}"
    name = next((line.strip() for line in lines if line.strip()), "")
    if not name:
        return "", "names no library"
    if os.path.isabs(name) and not os.path.exists(name):
        return name, "no such file"
    try:
        library = ctypes.CDLL(name)  # as the loader has done
    except (OSError, ValueError) as error:
        return ascii(name), f"cannot be loaded: {error}"
    entries = ("clIcdGetPlatformIDsKHR", "clGetExtensionFunctionAddress")
    return name, "" if any(hasattr(library, entry) for entry in entries) else "no OpenCL driver"


def examine_drivers() -> bool:
    """Prints the drivers that the loader is told of; whether all of them can be there."""
    place, files = _icd_files()
    set_to = os.environ.get(_VARIABLE)
    print(f"  {_VARIABLE}: {set_to or 'not set'}; drivers are listed in {place}")
    if not files and not (set_to and Path(place).is_file()):
        print("  to use it: install a driver, such as apt install pocl-opencl-icd or intel-opencl-icd; none is listed")
    healthy = True
    for file in files:
        library, wrong = _library_of(file)
        print(f"  {file.name}: {library or '-'}{f': {wrong}' if wrong else ''}")
        if wrong:
            print(f"  fix: install the driver of {file} again, or remove that file")
            healthy = False
    return healthy
