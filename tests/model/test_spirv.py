"""Reflection of SPIR-V modules."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import bindless as bl
from bindless import kernels
from bindless.model.module import spirv
from bindless.model.module.description import Constant, pack_constant
from tests.support.error_checks import raises


def text(value: str) -> list[int]:
    data = value.encode() + b"\0"
    data += bytes(-len(data) % 4)
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def module(*instructions: list[int], order: str = "<") -> bytes:
    words = [0x07230203, 0x00010000, 0, 100, 0]
    for code, *operands in instructions:
        words += [(len(operands) + 1) << 16 | code, *operands]
    return struct.pack(f"{order}{len(words)}I", *words)


# SPIR-V opcodes: EntryPoint 15 (model 6 is Kernel), TypeInt 21, TypeFloat 22, SpecConstantTrue 48,
# SpecConstantFalse 49, SpecConstant 50, Decorate 71 (SpecId is 1).
EXAMPLE = [
    [15, 6, 1, *text("scale")],
    [15, 5, 2, *text("not_a_kernel")],
    [15, 6, 3, *text("add.more")],
    [71, 10, 1, 7],
    [71, 11, 1, 0],
    [71, 12, 1, 2],
    [71, 13, 1, 3],
    [71, 14, 1, 4],
    [71, 10, 44],
    [21, 20, 32, 0],
    [21, 21, 64, 0],
    [22, 22, 64],
    [21, 23, 16, 0],
    [20, 24],
    [50, 20, 10, 5],
    [50, 21, 11, 0xFFFFFFFF, 0xFFFFFFFF],
    [50, 22, 12, *struct.unpack("<2I", struct.pack("<d", 0.1))],
    [50, 23, 13, 9],
    [48, 24, 14],
    [50, 20, 99, 1],  # a constant without a SpecId cannot be set
]


@pytest.mark.parametrize("order", "<>")
def test_kernels_and_constants(order):
    found = spirv.describe(module(*EXAMPLE, order=order))
    assert found.kernel_names == (("scale", "add.more") if order == "<" else found.kernel_names)
    assert {number: (row.kind, row.size, row.value(row.default)) for number, row in found.constants.items()} == {
        7: ("int", 4, 5),
        0: ("int", 8, -1),
        2: ("float", 8, 0.1),
        3: ("int", 2, 9),
        4: ("bool", 1, True),
    }


@pytest.mark.parametrize("name", kernels.modules("spirv"))
def test_the_built_in_kernels_are_named_as_their_manifest_says(name):
    found = spirv.describe(kernels.source(name, "spirv"))
    assert sorted(found.kernel_names) == sorted(kernels.manifest()["modules"][name]["kernels"])


@pytest.mark.parametrize("size", range(20, len(module(*EXAMPLE)), 4))
def test_a_module_that_ends_early_is_damaged_or_shorter(size):
    """A module cut between two instructions is a module; one cut within an instruction is damaged."""
    borders = {20}
    for code, *operands in EXAMPLE:
        borders.add(max(borders) + 4 * (len(operands) + 1))
        assert code
    data = module(*EXAMPLE)[:size]
    if size in borders:
        spirv.describe(data)
    else:
        with raises(bl.BuildError):
            spirv.describe(data)


def test_a_module_that_ends_within_a_function_is_damaged():
    whole = kernels.source("fetch_2d_f", "spirv")
    with raises(bl.BuildError, match="ends within a function") as caught:
        spirv.describe(whole[:-4])
    assert caught.value.log


@pytest.mark.parametrize(
    "instruction", [[15, 6], [71, 10, 1], [21, 20, 32], [22, 5], [50, 20, 10], [48, 20]], ids=lambda words: words[0]
)
def test_instructions_that_are_too_short(instruction):
    with raises(bl.BuildError):
        spirv.describe(module(instruction))


@pytest.mark.parametrize("data", [b"", b"\x03\x02", b".version 6.3\n", bytes(64), module()[:4] + b"\0" * 20])
def test_what_is_no_spirv(data):
    assert not spirv.is_spirv(b".version 6.3")
    with raises(bl.BuildError, match=r"it is no SPIR-V|is damaged"):
        spirv.describe(data)


@pytest.mark.parametrize(
    "kind, size, value, data",
    [
        ("int", 4, 5, b"\5\0\0\0"),
        ("int", 4, -1, b"\xff" * 4),
        ("int", 4, 2**32 - 1, b"\xff" * 4),
        ("int", 8, True, b"\1" + bytes(7)),
        ("int", 2, np.uint16(7), b"\7\0"),
        ("float", 4, 1, struct.pack("<f", 1)),
        ("float", 8, 0.1, struct.pack("<d", 0.1)),
        ("float", 2, 1.5, np.float16(1.5).tobytes()),
        ("bool", 1, False, b"\0"),
        ("bool", 1, 1, b"\1"),
        ("int", 4, b"abcd", b"abcd"),
    ],
)
def test_values_become_bytes_of_the_constant(kind, size, value, data):
    constant = Constant(3, kind, size, bytes(size))
    assert constant.pack(value) == data
    assert constant.pack(constant.value(data)) == data


@pytest.mark.parametrize(
    "kind, size, value, reason",
    [
        ("int", 4, 2**32, "does not fit"),
        ("int", 1, -129, "does not fit"),
        ("int", 4, 1.0, "is a float"),
        ("int", 4, np.int64(1), "has 8 bytes"),
        ("float", 2, 1e9, "too large"),
        ("float", 4, "x", "is a str"),
        ("bool", 1, 2, "is a int"),
        ("bool", 1, b"ab", "has 2 bytes"),
    ],
)
def test_values_that_do_not_fit_say_what_the_constant_is(kind, size, value, reason):
    with raises(bl.InvalidError, names=("specialization[3]=", reason, kind, size)):
        Constant(3, kind, size, bytes(size)).pack(value)


def test_values_of_unknown_constants_have_a_size_of_their_own():
    assert [len(pack_constant(0, value)) for value in (True, 1, 2**40, 1.5, np.int16(1), b"abc")] == [1, 4, 8, 4, 2, 3]
    with raises(bl.InvalidError, names="specialization[0]='x'"):
        pack_constant(0, "x")
