"""Docstrings of the public names: present, in numpydoc sections, with examples that run on the reference device."""

from __future__ import annotations

import doctest
import enum
import importlib
import importlib.util
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import bindless

PACKAGES = (
    "bindless",
    "bindless.cv2",
    "bindless.cv2.fisheye",
    "bindless.device",
    "bindless.interop",
    "bindless.level_zero",
    "bindless.ndimage",
    "bindless.opencl",
)
PACKAGES += ("bindless.nvtx",) if importlib.util.find_spec("nvtx") else ()
PACKAGES += ("bindless.torch",) if importlib.util.find_spec("torch") else ()
PACKAGES += ("bindless.jax",) if importlib.util.find_spec("jax") else ()
PACKAGES += ("bindless.dask",) if importlib.util.find_spec("dask") else ()
DRIVERS = tuple(f"bindless.drivers.{name}" for name in ("cuda", "level_zero", "nvrtc", "opencl", "reference"))
SECTION = re.compile(r"^(\w[\w ]*)\n-+$", re.MULTILINE)
SECTIONS = (
    "Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns", "See Also", "Notes", "Examples",
)  # fmt: skip
GOOGLE = re.compile(r"^ *(Args|Arguments|Raises|Returns|Yields|Attributes|Warns|Examples?|Notes?):", re.MULTILINE)


def described(thing: object) -> bool:
    """Whether an object has a docstring of its own, not one that Python generates or inherits from a builtin."""
    text = inspect.getdoc(thing) or ""
    if isinstance(thing, type):
        text = thing.__doc__ or ""
        return bool(text.strip()) and not text.startswith(f"{thing.__name__}(")
    return bool(text.strip())


def is_documentable(thing: object) -> bool:
    return isinstance(thing, (type, FunctionType, ModuleType)) or (callable(thing) and hasattr(thing, "__doc__"))


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties of a class, with those of its bases in this package."""
    for base in cls.__mro__:
        if not base.__module__.startswith("bindless"):
            continue
        for name, value in vars(base).items():
            function = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
            if not name.startswith("_") and isinstance(function, (FunctionType, property)):
                yield f"{base.__module__}.{base.__qualname__}.{name}", function


def public(packages: tuple[str, ...] = PACKAGES) -> dict[str, Any]:
    """The public objects by their full names."""
    found = {}
    for package in packages:
        module = importlib.import_module(package)
        for name in module.__all__:
            thing = getattr(module, name)
            if is_documentable(thing):
                found[f"{package}.{name}"] = thing
                if isinstance(thing, type):
                    found.update(members(thing))
    return found


def sections(text: str) -> list[str]:
    return SECTION.findall(inspect.cleandoc(text))


PUBLIC = public()
NEED_LEVEL_ZERO = {"bindless.level_zero.create_image_view"}
WITH_EXAMPLES = sorted(
    name for name, thing in PUBLIC.items() if ">>>" in (inspect.getdoc(thing) or "") and name not in NEED_LEVEL_ZERO
)


def test_public_objects_have_docstrings() -> None:
    assert [name for name, thing in PUBLIC.items() if not described(thing)] == []


@pytest.mark.parametrize("module", DRIVERS)
def test_modules_of_drivers_have_docstrings(module: str) -> None:
    found = public((module,))
    assert importlib.import_module(module).__doc__
    assert [
        name for name, thing in found.items() if isinstance(thing, (type, FunctionType)) and not thing.__doc__
    ] == []


def test_sections_are_numpydoc() -> None:
    wrong = {}
    for name, thing in PUBLIC.items():
        text = inspect.getdoc(thing) or ""
        used = sections(text)
        if GOOGLE.search(text) or used != [section for section in SECTIONS if section in used]:
            wrong[name] = used
    assert wrong == {}


def test_documented_parameters_exist() -> None:
    """Parameters in docstrings exist in the signature, so that a rename changes both."""
    wrong = {}
    for name, thing in PUBLIC.items():
        text = inspect.getdoc(thing) or ""
        parts = re.split(SECTION, text)
        titled = dict(zip(parts[1::2], parts[2::2], strict=True))
        if "Parameters" not in titled or (isinstance(thing, type) and issubclass(thing, enum.Enum)):
            continue
        headings = [line.split(" : ")[0] for line in titled["Parameters"].splitlines() if line[:1].strip()]
        named = {item.strip().lstrip("*") for heading in headings for item in heading.split(",")}
        taken = inspect.signature(thing).parameters
        if any(p.kind is p.VAR_KEYWORD for p in taken.values()) or ("arguments" in taken and len(taken) == 1):
            continue
        if unknown := named - set(taken):
            wrong[name] = unknown
    assert wrong == {}


def free_functions() -> list[str]:
    names: list[str] = []
    for name in bindless.__all__:
        if isinstance(getattr(bindless, name), FunctionType):
            names.append(name)
    return names


# Functions whose examples need another library, another process, or a driver's handles.
_NEED_MORE = {
    "build",
    "compile_cuda",
    "import_external_memory",
    "import_external_semaphore",
    "load_kernel_bundle",
    "make_buffer",
    "make_context",
    "make_event",
    "make_kernel",
    "make_kernel_bundle",
    "make_platform",
    "make_queue",
    "make_sampled_image",
    "make_unsampled_image",
    "map_external_image_memory",
    "map_external_linear_memory",
    "order_after_stream",
    "order_stream_after",
    "release_external_memory",
    "release_external_semaphore",
    "unmap_external_image_memory",
    "unmap_external_linear_memory",
    "view",
}


@pytest.mark.parametrize("name", free_functions())
def test_functions_have_examples(name: str) -> None:
    assert (">>>" in (getattr(bindless, name).__doc__ or "")) is (name not in _NEED_MORE)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_run(name: str) -> None:
    finder = doctest.DocTestParser()
    example = finder.get_doctest(inspect.getdoc(PUBLIC[name]) or "", {"bindless": bindless, "np": np}, name, None, 0)
    lines: list[str] = []
    write: Callable[[str], object] = lines.append
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    result = runner.run(example, out=write)
    assert result.attempted > 0
    assert result.failed == 0, "".join(lines)


@pytest.mark.parametrize("package", PACKAGES)
def test_dir_shows_public_names(package: str) -> None:
    """Runs in a separate process, without other imports of the package's modules."""
    program = f"import {package} as package; print(*dir(package)); print(*package.__all__)"
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60)
    shown, exported = (set(line.split()) for line in ran.stdout.splitlines())
    packages = {
        "bricks", "cv2", "device", "drivers", "interop", "level_zero", "ndimage", "nvtx", "opencl", "space",
        "tomography",
    }  # fmt: skip
    assert shown == exported | (packages if package == "bindless" else set())


def test_names_in_dir_are_attributes() -> None:
    assert [name for name in dir(bindless) if not hasattr(bindless, name)] == []
