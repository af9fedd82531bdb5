"""numba-cuda: grids, shared memory, atomics, warps, ufuncs, device functions, local arrays and random numbers."""

import math

import numba
import numpy as np
from numba import cuda
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

GENERATOR = np.random.default_rng(0)


@cuda.jit(device=True)
def clamp(x, low, high):
    return min(max(x, low), high)


@cuda.jit
def map_values(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = clamp(x[i], -1.0, 1.0) ** 2 + math.floor(x[i])


@cuda.jit
def sum_blocks(x, out):
    tile = cuda.shared.array(128, numba.int64)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 64
    while step:
        if t < step:
            tile[t] += tile[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, tile[0])


@cuda.jit
def rotate(x, out):
    i = cuda.grid(1)
    own = cuda.local.array(4, numba.int32)
    for k in range(4):
        own[k] = cuda.shfl_sync(0xFFFFFFFF, x[i], (cuda.laneid + k) % 32)
    out[i] = own[0] + 10 * own[1] + 100 * own[2] + 1000 * own[3]


@cuda.jit
def multiply(a, b, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        out[i, j] = total


@cuda.jit
def draw(states, out):
    i = cuda.grid(1)
    out[i] = xoroshiro128p_uniform_float32(states, i)


@numba.vectorize(["float32(float32, float32)"], target="cuda")
def hypotenuse(a, b):
    return math.sqrt(a * a + b * b)


x = GENERATOR.integers(-300, 300, 1000) / 128  # exact, with one rounding or two
y = np.zeros_like(x)
map_values[8, 128](x, y)
np.testing.assert_array_equal(y, np.clip(x, -1, 1) ** 2 + np.floor(x))

whole = GENERATOR.integers(-(10**9), 10**9, 1024)
total = np.zeros(1, np.int64)
sum_blocks[8, 128](whole, total)
assert total[0] == whole.sum()

digits = GENERATOR.integers(0, 10, 64).astype(np.int32)
out = np.zeros_like(digits)
rotate[1, 64](digits, out)
rows = digits.reshape(2, 32)
np.testing.assert_array_equal(out, sum(10**k * np.roll(rows, -k, 1) for k in range(4)).ravel())

a, b = GENERATOR.integers(-9, 9, (20, 30)).astype(float), GENERATOR.integers(-9, 9, (30, 10)).astype(float)
product = np.zeros((20, 10))
multiply[(2, 1), (16, 16)](a, b, product)
np.testing.assert_array_equal(product, a @ b)

states, numbers = create_xoroshiro128p_states(256, seed=1), np.zeros(256, np.float32)
draw[2, 128](states, numbers)
assert np.unique(numbers).size > 250 and 0 <= numbers.min() < 0.1 and 0.9 < numbers.max() < 1

legs = [GENERATOR.integers(0, 99, 100).astype(np.float32) for _ in range(2)]
np.testing.assert_array_equal(hypotenuse(*legs), np.sqrt(legs[0] ** 2 + legs[1] ** 2))
