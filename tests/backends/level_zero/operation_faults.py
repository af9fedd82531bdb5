"""Program: run operations of the package while the Level Zero driver fails at each call in turn; print the errors.

Run like ``level_zero_faults.py``, which does this with the back end alone.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

import numpy as np

import bindless as bl
from bindless import device as dev
from tests.backends.level_zero.level_zero_faults import FAILURE, Driver, lowest

VOLUME = np.arange(4 * 5 * 6, dtype=np.float32).reshape(4, 5, 6, 1)
PICTURE = np.arange(12 * 16 * 4, dtype=np.uint8).reshape(12, 16, 4)


@bl.kernel
def total_of(values, total, largest):
    value = values[dev.item_id(0)]
    total += value
    largest.combine(value)


def volume(queue: bl.Queue) -> None:
    with bl.Image(VOLUME, queue=queue) as image:
        assert image.fetch([1, 2, 3]) == VOLUME[3, 2, 1]
        image.sample(np.full((3, 3), 1.5, np.float32))


def update(queue: bl.Queue) -> None:
    with bl.Image(PICTURE, queue=queue) as image:
        for pixels in (PICTURE[::-1], PICTURE[:, ::-1]):
            image.update(pixels)
            assert np.array_equal(image.numpy(), pixels)


def resize(queue: bl.Queue) -> None:
    with bl.Image(PICTURE, queue=queue) as image:
        assert image.resize((8, 6)).shape == (8, 6, 4)


def reduction(queue: bl.Queue) -> None:
    values = bl.usm_empty(64, np.float32, queue).copy_from(np.arange(64))
    total, largest = (bl.usm_empty((), np.float32, queue) for _ in range(2))
    results = (
        bl.reduction(total, initialize_to_identity=True),
        bl.reduction(largest, "max", initialize_to_identity=True),
    )
    queue.parallel_for(64, total_of, values, *results).wait()
    assert (total.numpy(), largest.numpy()) == (63 * 32, 63)


def run(device: bl.Device, operation: Callable[[bl.Queue], None]) -> None:
    with bl.Queue(device) as queue:
        operation(queue)
    gc.collect()


def main() -> None:
    device = bl.Device("level_zero:*:*")
    driver = Driver(device._record.native.driver.handle)
    operations = [volume, update, resize] + [reduction] * bl.kernels_available("python")
    for operation in operations:
        left = list[int]()
        for is_last in (False, True):  # the first round fills the caches
            run(device, operation)
            driver.fail("")
            run(device, operation)
            calls, errors = driver.calls, 0
            for number in range(1, calls + 1):
                driver.fail(f"{number}={FAILURE}")
                try:
                    run(device, operation)
                except bl.Error as error:
                    errors += 1
                    assert str(error), number
                driver.fail("")
                if is_last:
                    run(device, operation)
            run(device, operation)
            left.append(lowest(driver))
        assert left[1] <= left[0], (operation.__name__, left)
        print(f"{operation.__name__}: {calls} calls, {errors} errors, none left")


if __name__ == "__main__":
    main()
