"""Random programs, as kernels and as host C: the same numbers for every work-item."""

from __future__ import annotations

import ctypes
import random
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.needs import c_compiler

COUNT = 200
VARIABLES = ("a", "b", "c", "d")
PASSES = ("", "function(mem2reg,simplifycfg)", "globalopt")


class Program:
    """A function of two numbers with loops, branches, switches, jumps, arrays and calls; it terminates for every
    argument.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._labels = 0
        helper = self._expression(3)
        body = "".join(self._statement(3) for _ in range(5))
        self.text = f"""
static uint helper(uint a, uint b)
{{
    uint c = a ^ b, d = a + 7u;
    if (a % 3u == 0u) return {helper};
    for (uint k = 0u; k < b % 5u; k++) {{ if (c % 7u == k) return c * 31u; c += a >> (k & 7u); }}
    return c + d;
}}
static uint program(uint a, uint b)
{{
    uint c = a * 3u + 1u, d = b ^ 0x55u, fuel = 300u;
    uint memory[8] = {{a, b, c, d, 1u, 2u, 3u, 4u}};
{body}
    for (uint k = 0u; k < 8u; k++) c = c * 31u + memory[k];
    return a + b * 3u + c * 5u + d * 7u;
}}
"""

    def _pick(self, *choices: Any) -> Any:
        return self._random.choice(choices)

    def _expression(self, depth: int) -> str:
        if depth == 0 or self._random.random() < 0.2:
            return str(self._pick(*VARIABLES, f"{self._random.randrange(1, 99)}u"))
        left, right = self._expression(depth - 1), self._expression(depth - 1)
        form = self._random.randrange(9)
        if form < 5:
            return f"({left} {self._pick('+', '-', '*', '^', '|', '&')} {right})"
        if form == 5:
            return f"({left} >> ({right} & 15u))"
        if form == 6:
            return f"({left} {self._pick('/', '%')} ({right} | 1u))"
        return f"({left} {self._pick('<', '>', '==', '!=')} {right} ? {self._expression(depth - 1)} : {right})"

    def _condition(self) -> str:
        return f"({self._expression(2)} % {self._random.randrange(2, 6)}u {self._pick('==', '!=', '<')} 1u)"

    def _block(self, depth: int) -> str:
        return "{ " + "".join(self._statement(depth - 1) for _ in range(self._random.randrange(1, 4))) + "}\n"

    def _statement(self, depth: int) -> str:
        form = self._random.randrange(12) if depth > 0 else self._random.randrange(3)
        if form == 0:
            return f"memory[{self._expression(1)} & 7u] = {self._expression(2)};\n"
        if form <= 2:
            value = f"memory[{self._expression(1)} & 7u]" if form == 2 else self._expression(3)
            return f"{self._pick(*VARIABLES)} = {value};\n"
        if form == 3:
            return f"{self._pick(*VARIABLES)} = helper({self._expression(2)}, {self._expression(1)});\n"
        if form <= 5:
            other = f"else {self._block(depth)}" if form == 5 else ""
            return f"if {self._condition()} {self._block(depth)}{other}"
        if form == 6:
            count = self._random.randrange(1, 5)
            cases = "".join(f"case {n}u: {self._block(depth)}{self._pick('break;', '')}\n" for n in range(count))
            return f"switch ({self._expression(2)} % 6u) {{ {cases} default: {self._block(depth)} }}\n"
        if form == 7:  # a loop with an entry in its middle
            self._labels += 1
            n = self._labels
            return (
                f"if {self._condition()} goto middle{n};\nstart{n}: {self._block(depth)}middle{n}: {self._block(depth)}"
                f"if (fuel && fuel-- && {self._condition()}) goto start{n};\n"
            )
        if form == 8:
            return f"if (fuel < 100u && {self._condition()}) return {self._expression(2)};\n"
        leave = f"if {self._condition()} {self._pick('break', 'continue')};\n" if form > 9 else ""
        return f"while (fuel && fuel-- && {self._condition()}) {{ {leave}{self._block(depth)} }}\n"


@pytest.mark.parametrize("seed", range(24))
def test_random_programs(run: Any, tmp_path: Path, seed: int) -> None:
    text = Program(seed).text
    source, library = tmp_path / "program.c", tmp_path / "program.so"
    source.write_text(f"typedef unsigned uint;\n{text}\nuint entry(uint a, uint b) {{ return program(a, b); }}\n")
    subprocess.run(
        [c_compiler(), "-O1", "-w", "-shared", "-fPIC", str(source), "-o", str(library)], check=True, timeout=120
    )
    entry = ctypes.CDLL(str(library)).entry
    entry.restype, entry.argtypes = ctypes.c_uint32, [ctypes.c_uint32, ctypes.c_uint32]
    generator = np.random.default_rng(seed)
    a = generator.integers(0, 60, COUNT).astype(np.uint32)
    b = generator.integers(0, 2**32, COUNT).astype(np.uint32)
    wanted = np.array([entry(int(x), int(y)) for x, y in zip(a, b)], np.uint32)
    assert np.unique(wanted).size > 1
    kernel = (
        '#pragma clang diagnostic ignored "-Weverything"\n' + text + "kernel void test(global const uint *a, "
        "global const uint *b, global uint *out) { size_t i = get_global_id(0); out[i] = program(a[i], b[i]); }"
    )
    out = run(kernel, "test", COUNT, a, b, np.zeros(COUNT, np.uint32), passes=PASSES[seed % 3])[-1]
    np.testing.assert_array_equal(out, wanted)
