"""Errors of the compilation of kernels in Python: few lines with file, line and expression."""

from __future__ import annotations

import inspect
import os
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device
from tests.python_kernels.conftest import takes_none
from tests.support import error_checks

A_LIST = [1, 2]


def plain(x):
    return x


@bl.device_function
def recursive(x):
    return recursive(x - 1) if x > 0 else 0


@bl.device_function
def two(x, y):
    return x + y


@bl.device_function
def inner(x):
    return x.foo  # MARK bad_attribute


def undefined_name(out):
    out[0] = nothing + 1  # noqa: F821 MARK undefined_name


def uses_a_list(out):
    out[0] = A_LIST[0]  # MARK uses_a_list


def uses_a_plain_function(out):
    out[0] = plain(2)  # MARK uses_a_plain_function


def bad_attribute(out):
    i = device.item_id(0)
    out[i] = inner(out)


def calls_itself(out):
    out[0] = recursive(3)


def adds_a_text(out):
    i = device.item_id(0)
    s = "a" + i  # MARK adds_a_text
    out[i] = len(s)


def catches(out):
    try:
        out[0] = 1
    except ValueError:
        out[0] = 2


def makes_an_array(out):
    a = np.zeros(3)  # MARK makes_an_array
    out[0] = a[1]


def too_many_indices(out):
    out[0, 1] = 1  # MARK too_many_indices


def prints(out):
    print(out[0])  # MARK prints


def raises(out):
    if out[0] > 1:
        raise ValueError("no")  # MARK raises


def makes_a_list(out):
    a = [i * i for i in range(3)]  # MARK makes_a_list
    out[0] = a[1]


def samples_an_array(out):
    out[0] = device.sample_image(out, 1.0, 2.0)[0]  # MARK samples_an_array


def returns(out):
    out[0] = 1
    return 5


def misspells(out):
    out[0] = device.sample_imag(out, 1.0)  # MARK misspells


def has_a_star(out):
    a, *_b = (1, 2, 3)  # MARK has_a_star
    out[0] = a


def adds_vectors(out):
    out[0] = (device.float3(1) + device.float2(2)).x  # MARK adds_vectors


def deletes(out):
    a = out[0]
    del a  # MARK deletes
    out[1] = 1


def adds_up_an_array(out):
    out[0] = np.sum(out)  # MARK adds_up_an_array


def indexes_by_a_float(out):
    out[0.5] = 2.0  # MARK indexes_by_a_float


def indexes_a_mixed_tuple(out):
    numbers = (1, 2.5)
    for i in range(2):
        out[i] = numbers[i]  # MARK indexes_a_mixed_tuple


def unpacks_too_many(out):
    a, b, _c = 1.0, 2.0  # MARK unpacks_too_many
    out[0] = a + b


def adds_to_an_array(out):
    more = out + 1  # MARK adds_to_an_array
    out[0] = more[0]


def asks_an_array(out):
    if out:  # MARK asks_an_array
        out[0] = 1


def stores_a_vector(out):
    out[0] = device.float3(1)  # MARK stores_a_vector


def forgets_an_argument(out):
    out[0] = two(1)  # MARK forgets_an_argument


KERNELS = (
    adds_up_an_array, indexes_by_a_float, indexes_a_mixed_tuple, unpacks_too_many, adds_to_an_array, asks_an_array,
    stores_a_vector, forgets_an_argument,
    misspells, has_a_star, adds_vectors, deletes,
    undefined_name, uses_a_list, uses_a_plain_function, bad_attribute, calls_itself, adds_a_text, catches,
    makes_an_array, too_many_indices, prints, raises, makes_a_list, samples_an_array, returns,
)  # fmt: skip


@pytest.mark.parametrize("function", KERNELS, ids=lambda function: function.__name__)
def test_errors_name_file_line_and_expression(queue: bl.Queue, function: Any) -> None:
    out = bl.usm_empty(4, np.float32, queue)
    with pytest.raises(bl.BuildError) as caught:
        queue.parallel_for(4, bl.kernel(function), out)
    message = str(caught.value)
    assert message.count("\n") < 10
    assert "$" not in message, "a variable of Numba's, not of the program"
    name = os.path.basename(__file__)
    lines = inspect.getsource(inspect.getmodule(function)).splitlines()
    marked = [number for number, line in enumerate(lines, 1) if line.endswith(f"MARK {function.__name__}")]
    if marked:
        assert f"{name}:{marked[0]}:" in message
        assert lines[marked[0] - 1].strip() in message
    else:
        assert name in message


def test_functions_that_no_device_runs_are_refused() -> None:
    def generator(out):
        yield out

    def variable(*arguments):
        pass

    for function in (3, len, generator, variable):
        with pytest.raises(bl.InvalidError):
            bl.kernel(function)
    with pytest.raises(bl.InvalidError):
        bl.kernel(default_float=np.int32)
    with pytest.raises(bl.InvalidError):
        bl.device_function(print)


def test_devices_without_spirv_refuse(queue: bl.Queue) -> None:
    out = bl.usm_empty(4, np.float32, queue)

    @bl.kernel
    def run(out):
        out[device.item_id(0)] = 1

    if not takes_none(queue.device):
        pytest.skip("the device takes SPIR-V")
    with pytest.raises(bl.FeatureNotSupportedError):
        queue.parallel_for(4, run, out)


def test_a_wrong_access_names_the_line(queue: bl.Queue) -> None:
    if queue.device.backend is not bl.Backend.reference:
        pytest.skip("other devices do not check addresses")

    @bl.kernel
    def run(out, count):
        i = device.item_id(0)
        if i < count:
            out[i] = 1

    out = bl.usm_empty(10, np.float32, queue)
    first = run._kernel_function.__code__.co_firstlineno
    with pytest.raises(bl.KernelError, match=rf"test_kernel_errors\.py, line {first + 4}\b"):
        queue.parallel_for(100000, run, out, 100000).wait()


def test_an_image_of_other_dimensions_names_the_line(queue: bl.Queue) -> None:
    if queue.device.backend is not bl.Backend.reference:
        pytest.skip("other devices do not check images")

    @bl.kernel
    def run(image, out):
        i = device.item_id(0)
        out[i] = device.sample_image(image, i + 0.5, 0.5, 0.5)[0]

    out = bl.usm_empty(4, np.float32, queue)
    first = run._kernel_function.__code__.co_firstlineno
    image = bl.Image(np.zeros((4, 4), np.float32), queue=queue)
    with image, pytest.raises(bl.KernelError, match=rf"test_kernel_errors\.py, line {first + 3}\b"):
        queue.parallel_for(4, run, image, out).wait()


def takes_an_attribute(image, out):
    out[0, 0] = image.shape[0]


def calls_a_method(image, out):
    out[0, 0] = image.sample(1.0, 2.0)[0]


def calls_the_function_of_the_host(image, out):
    out[0, 0] = bl.sample_image(image, 1.0, 2.0)[0]


def gives_a_tuple_of_coordinates(image, out):
    out[0, 0] = device.sample_image(image, (1.0, 2.0))[0]


def stores_a_pixel(image, out):
    out[0, 0] = device.sample_image(image, 1.0, 2.0)


def samples_another_array(image, out):
    out[0, 0] = device.sample_image(out, 1.0, 2.0)[0]


def gives_a_level_by_position(image, out):
    out[0, 0] = device.sample_mipmap(image, 1.0, 2.0, 0.0)[0]


def asks_for_doubles(image, out):
    out[0, 0] = device.sample_image(image, 1.0, 2.0, dtype="float64")[0]


def takes_the_name_of_opencl(image, out):
    out[device.get_global_id(0), 0] = 1


def draws_numbers(image, out):
    out[0, 0] = np.random.rand()


def forgets_the_index(image, out):
    device.atomic_add(out[0, 0], 1.0)


WAYS_OUT = [
    (takes_an_attribute, "argument"), (calls_a_method, "device.sample_image"),
    (calls_the_function_of_the_host, "bindless.device"), (gives_a_tuple_of_coordinates, "x, y, z"),
    (stores_a_pixel, "[0]"), (samples_another_array, "bindless.Image"), (gives_a_level_by_position, "level="),
    (asks_for_doubles, "'float64'"), (takes_the_name_of_opencl, "item_id"), (draws_numbers, "array"),
    (forgets_the_index, "array, index, value"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "way"), WAYS_OUT, ids=lambda value: getattr(value, "__name__", ""))
def test_errors_name_a_way_out(queue: bl.Queue, function: Any, way: str) -> None:
    out = bl.usm_empty((4, 4), np.float32, queue)
    with bl.Image(np.zeros((4, 4), np.float32), queue=queue) as image, pytest.raises(bl.BuildError) as caught:
        queue.parallel_for((4, 4), bl.kernel(function), image, out)
    assert way in str(caught.value)


def test_launches_that_are_refused(queue: bl.Queue) -> None:
    @bl.kernel
    def run(image, out):
        out[0, 0] = device.sample_image(image, 1.0, 2.0)[0]

    out = bl.usm_empty((4, 4), np.float32, queue)
    for space, kernel, image, word in (
        (4, run, np.zeros((4, 4), np.float32), "bindless.Image("),
        (4, run, [1.0, 2.0], "tuple"),
        (4, samples_another_array, 1.0, "@bindless.kernel"),
        (run, 4, 1.0, "parallel_for(range, kernel"),
        ((1, 1, 1, 4), run, 1.0, "1 to 3"),
    ):
        with error_checks.raises(bl.InvalidError) as caught:
            queue.parallel_for(space, kernel, image, out)
        assert word in str(caught.value)
