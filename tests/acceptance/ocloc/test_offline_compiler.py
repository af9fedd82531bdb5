"""Intel's compiler accepts the SPIR-V of the package and of the examples for three GPUs, and agrees with reflection.

The tests execute nothing: they check the modules and their reflected descriptions.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

import pytest

import bindless as bl
from bindless import kernels
from bindless.model.module import spirv
from tests.acceptance.ocloc.offline_compiler import Binary, compile_all

pytestmark = pytest.mark.ocloc

DEVICES = ("dg2", "bmg", "ptl")
WITHOUT_FP64 = ("dg2",)
EXAMPLES = Path(__file__).parents[3] / "docs" / "gallery" / "programs"

_ENTRY_POINT, _CAPABILITY, _FUNCTION, _CALL = 15, 17, 54, 57
_FLOAT64 = 10
_DOES = {88: "has_sample", 98: "has_bindless_image_read", 99: "writes_images"}  # OpImageSampleExplicitLod, Read, Write
_SPACES = {"pointer": ("__global", "__constant"), "local": ("__local",), "value": ("__private",)}


@pytest.fixture(scope="module")
def modules() -> dict[str, bytes]:
    """Return SPIR-V by name: all shipped modules, and all kernels of the examples."""
    found = {name: kernels.source(name, "spirv") for name in kernels.modules("spirv")}
    for source in sorted(EXAMPLES.glob("*.cl")):
        sections = bl.build(source, targets="spirv").sections
        found.update((f"example_{source.stem}_{number}", section.data) for number, section in enumerate(sections))
    return found


@pytest.fixture(scope="module", params=DEVICES)
def binaries(
    request: pytest.FixtureRequest, modules: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Binary]:
    """Return the compiled binaries for one device, of the modules that a device with its aspects loads."""
    device = request.param
    fitting = {name: module for name, module in modules.items() if device not in WITHOUT_FP64 or not _doubles(module)}
    return compile_all(fitting, device, tmp_path_factory.mktemp("ocloc") / device)


def _doubles(module: bytes) -> bool:
    """Return whether a module declares the capability of 64-bit floats."""
    words = struct.unpack(f"<{len(module) // 4}I", module)
    at = 5
    while words[at] & 0xFFFF == _CAPABILITY:
        if words[at + 1] == _FLOAT64:
            return True
        at += words[at] >> 16
    return False


def _images(module: bytes) -> dict[str, set[str]]:
    """Return the image accesses of each kernel, from the instructions of its function and of all called functions."""
    words = struct.unpack(f"<{len(module) // 4}I", module)
    kernels_: dict[str, int] = {}
    does: dict[int, set[str]] = {}
    calls: dict[int, set[int]] = {}
    at, function = 5, 0
    while at < len(words):
        code, length = words[at] & 0xFFFF, words[at] >> 16
        if code == _ENTRY_POINT:
            text = struct.pack(f"<{length - 3}I", *words[at + 3 : at + length])
            kernels_[text.partition(b"\0")[0].decode()] = words[at + 2]
        elif code == _FUNCTION:
            function = words[at + 2]
            does[function], calls[function] = set(), set()
        elif code == _CALL:
            calls[function].add(words[at + 3])
        elif code in _DOES:
            does[function].add(_DOES[code])
        at += length

    def all_of(function: int) -> set[str]:
        return does[function].union(*map(all_of, calls[function]))

    return {name: all_of(function) for name, function in kernels_.items()}


def test_images_are_seen(modules: Mapping[str, bytes], binaries: Mapping[str, Binary]) -> None:
    seen: set[str] = set()
    for name, binary in binaries.items():
        wanted = _images(modules[name])
        assert set(binary.flags) == set(wanted), name
        reads = {"has_bindless_image_read", "has_sample"} & set().union(*wanted.values())
        for kernel, does in wanted.items():
            # The compiler reports a sample as a read too, and a read for all kernels of the module.
            least = does | ({"has_bindless_image_read"} if reads else set())
            assert binary.flags[kernel] & {*_DOES.values()} == least, f"{kernel} of {name}"
            seen |= does
    assert seen == {*_DOES.values()}


def test_arguments_are_those_that_reflection_tells(
    modules: Mapping[str, bytes], binaries: Mapping[str, Binary]
) -> None:
    for name, binary in binaries.items():
        for kernel, signature in spirv.describe(modules[name]).kernels.items():
            parameters, arguments = signature.parameters, binary.arguments[kernel]
            assert parameters is not None
            assert len(arguments) == len(parameters), f"{kernel} of {name}"
            for parameter, argument in zip(parameters, arguments):
                assert argument.space in _SPACES[parameter.kind], f"{parameter} of {kernel}: {argument}"
                assert argument.size == parameter.size, f"{parameter} of {kernel}: {argument}"
                assert argument.name in ("", parameter.name), f"{parameter} of {kernel}: {argument}"


def test_all_shipped_kernels_are_there(
    modules: Mapping[str, bytes], binaries: Mapping[str, Binary], request: pytest.FixtureRequest
) -> None:
    built = {kernel for binary in binaries.values() for kernel in binary.flags}
    left_out = {kernel for name in set(modules) - set(binaries) for kernel in _images(modules[name])}
    assert not left_out or request.node.callspec.params["binaries"] in WITHOUT_FP64
    assert built | left_out >= set(kernels.kernels("spirv"))
    assert {"raycast", "lay_out", "undistort", "photograph", "draw", "trace", "develop", "make_cubemap"} <= built
