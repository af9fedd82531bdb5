"""tinygrad: elementwise work, reductions, products of matrices, a convolution, and gradients."""

import numpy as np
from tinygrad import Tensor, dtypes

GENERATOR = np.random.default_rng(0)
a, b = (GENERATOR.integers(-9, 9, shape).astype(np.float32) for shape in ((17, 33), (33, 9)))

np.testing.assert_array_equal((Tensor(a) * 2 + 1).numpy(), a * 2 + 1)
np.testing.assert_array_equal(Tensor(a).sum(axis=1).numpy(), a.sum(1))
np.testing.assert_array_equal(Tensor(a).max(axis=0).numpy(), a.max(0))
np.testing.assert_array_equal((Tensor(a) @ Tensor(b)).numpy(), a @ b)
np.testing.assert_allclose(Tensor(a).exp().numpy(), np.exp(a), rtol=1e-5)
np.testing.assert_allclose(Tensor(a).softmax().sum(axis=1).numpy(), np.ones(17), rtol=1e-6)
whole = GENERATOR.integers(-1000, 1000, 300).astype(np.int64)
np.testing.assert_array_equal(
    (Tensor(whole) // 7 + (Tensor(whole) << 3)).numpy(), np.floor_divide(whole, 7) + (whole << 3)
)
np.testing.assert_array_equal(Tensor(a).cast(dtypes.half).numpy(), a.astype(np.float16))

image, kernel = (GENERATOR.integers(-5, 5, shape).astype(np.float32) for shape in ((1, 2, 8, 9), (3, 2, 3, 3)))
expected = np.zeros((1, 3, 6, 7), np.float32)
for row in range(6):
    for column in range(7):
        window = image[0, :, row : row + 3, column : column + 3]
        expected[0, :, row, column] = (kernel * window).sum((1, 2, 3))
np.testing.assert_array_equal(Tensor(image).conv2d(Tensor(kernel)).numpy(), expected)

weights = Tensor(b)
(slope,) = (Tensor(a) @ weights).square().sum().gradient(weights)
np.testing.assert_array_equal(slope.numpy(), 2 * a.T @ (a @ b))
