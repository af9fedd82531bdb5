"""Branches, loops, switches, calls: work-items that diverge and reconverge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

COUNT = 333
X = np.random.default_rng(5).integers(0, 1000, COUNT).astype(np.int32)


def _collatz(n: int) -> int:
    steps = 0
    while n > 1 and steps < 200:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps


def _nested(n: int) -> int:
    total = 0
    for i in range(n % 7):
        if i == 3 and n % 2:
            continue
        for j in range(n % 5):
            if j * i > 6:
                break
            total += i * 10 + j
        if total > 90:
            return -total
    return total


def _switch(n: int) -> int:
    out = {0: 11, 1: 23, 5: 23, 7: 31}.get(n % 9, 41)
    return out + (1000 if n % 9 == 3 else 0)


def _goto(n: int) -> int:
    """A loop with two entries."""
    i, total, place = n % 11, 0, "b" if n % 2 else "a"
    while True:
        if place == "a":
            total += 3
            i -= 1
            place = "b"
        if i <= 0:
            return total
        total += 5
        i -= 2
        if i % 3 == 0:
            total += 100
        if i <= 0:
            return total
        place = "a"


def _states(n: int) -> int:
    state, total = n % 4, 0
    for step in range(20):
        if state == 0:
            total += 1
            state = 2 if total % 2 else 3
        elif state == 1:
            total += 7
            state = 0
        elif state == 2:
            total *= 2
            state = 1
        else:
            total -= 3
            if total < -20:
                return total - 1000
            state = 1 if step % 2 else 2
    return total


CASES: dict[str, tuple[str, Any]] = {
    "collatz": (
        "int s = 0; while (n > 1 && s < 200) { n = n % 2 ? 3 * n + 1 : n / 2; s++; } out[i] = s;",
        _collatz,
    ),
    "nested": (
        """int total = 0;
        for (int k = 0; k < n % 7; k++) {
            if (k == 3 && n % 2) continue;
            for (int j = 0; j < n % 5; j++) { if (j * k > 6) break; total += k * 10 + j; }
            if (total > 90) { out[i] = -total; return; }
        }
        out[i] = total;""",
        _nested,
    ),
    "switched": (
        """int r;
        switch (n % 9) {
        case 0: r = 11; break;
        case 1: case 5: r = 23; break;
        case 7: r = 31; break;
        case 3: r = 1000; /* falls through */
        default: r = (n % 9 == 3 ? 1000 : 0) + 41;
        }
        out[i] = r;""",
        _switch,
    ),
    "entered_twice": (
        """int k = n % 11, total = 0;
        if (n % 2) goto b;
    a:  total += 3; k -= 1;
    b:  if (k <= 0) goto end;
        total += 5; k -= 2;
        if (k % 3 == 0) total += 100;
        if (k > 0) goto a;
    end: out[i] = total;""",
        _goto,
    ),
    "states": (
        """int state = n % 4, total = 0;
        for (int step = 0; step < 20; step++) {
            switch (state) {
            case 0: total += 1; state = total % 2 ? 2 : 3; break;
            case 1: total += 7; state = 0; break;
            case 2: total *= 2; state = 1; break;
            default: total -= 3; if (total < -20) { out[i] = total - 1000; return; } state = step % 2 ? 1 : 2;
            }
        }
        out[i] = total;""",
        _states,
    ),
}


def _source(body: str) -> str:
    head = "kernel void test(global const int *in, global int *out) { size_t i = get_global_id(0); int n = in[i];"
    return f"{head} {body} }}"


# LLVM's optimisation before the build: full, with calls kept, with variables kept in memory.
PASSES = {"optimised": "", "calls": "function(mem2reg,instcombine,simplifycfg)", "plain": "globalopt"}


@pytest.mark.parametrize("passes", PASSES)
@pytest.mark.parametrize("case", CASES)
def test_shapes(run: Any, case: str, passes: str) -> None:
    body, model = CASES[case]
    out = run(_source(body), "test", COUNT, X, np.zeros_like(X), passes=PASSES[passes])[-1]
    np.testing.assert_array_equal(out, [model(int(n)) for n in X])


@pytest.mark.parametrize("passes", PASSES)
def test_calls(run: Any, passes: str) -> None:
    """Calls that are not inlined: with several returns, in loops, from several places."""
    text = """
    static int pick(int n, int *extra)
    {
        if (n % 3 == 0) { *extra += 1; return n / 3; }
        if (n % 5 == 0) return -n;
        return n + 1;
    }
    static float twice(float x) { return x + x; }
    kernel void test(global const int *in, global int *out)
    {
        size_t i = get_global_id(0);
        int extra = 0, total = 0;
        for (int k = 0; k < in[i] % 10; k++) total += pick(in[i] + k, &extra);
        out[i] = total + 1000 * extra + (int)twice((float)pick(in[i], &extra));
    }"""

    def model(n: int) -> int:
        extra = total = 0

        def pick(n: int) -> int:
            nonlocal extra
            if n % 3 == 0:
                extra += 1
                return n // 3
            return -n if n % 5 == 0 else n + 1

        for k in range(n % 10):
            total += pick(n + k)
        before = extra
        return total + 1000 * before + 2 * pick(n)

    out = run(text, "test", COUNT, X, np.zeros_like(X), passes=PASSES[passes])[-1]
    np.testing.assert_array_equal(out, [model(int(n)) for n in X])


def test_values_of_loops_that_others_left(run: Any) -> None:
    """A value computed in a loop keeps its state after the work-item leaves, while other work-items continue."""
    text = _source("int a = 1, b = n; while (b > 3) { a = a * 3 + b; b -= 7; } out[i] = a - b;")

    def model(n: int) -> int:
        a, b = 1, n
        while b > 3:
            a = (a * 3 + b) & 0xFFFFFFFF
            b -= 7
        return int(np.array((a - b) & 0xFFFFFFFF, np.uint32).astype(np.int32))

    out = run(text, "test", COUNT, X, np.zeros_like(X))[-1]
    np.testing.assert_array_equal(out, [model(int(n)) for n in X])


def test_exchanged_phis(run: Any) -> None:
    """Two values that swap in every iteration of a loop."""
    text = _source(
        "int a = 1, b = 2; for (int k = 0; k < n % 13; k++) { int t = a; a = b; b = t; } out[i] = a * 10 + b;"
    )
    out = run(text, "test", COUNT, X, np.zeros_like(X))[-1]
    np.testing.assert_array_equal(out, np.where(X % 13 % 2 == 0, 12, 21))
