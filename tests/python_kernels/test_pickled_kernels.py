"""Pickles of kernels and device functions: as those of plain functions."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device


@bl.device_function
def doubled(x):
    return 2 * x


@bl.kernel(default_float=np.float64)
def fills(out, value):
    out[device.item_id(0)] = doubled(value)


def plain(out, value):
    out[device.item_id(0)] = value


undecorated = bl.kernel(contract=True)(plain)


class Holder:
    @bl.kernel
    def within(out):
        out[device.item_id(0)] = 1


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("value", [fills, doubled, Holder.within], ids=["kernel", "device_function", "of a class"])
def test_what_a_module_has_is_pickled_by_name(value: Any, protocol: int) -> None:
    if protocol < 4 and value is Holder.within:
        pytest.skip("older protocols have no nested names")
    data = pickle.dumps(value, protocol)
    assert pickle.loads(data) is value
    assert len(data) < 150
    assert copy.copy(value) is copy.deepcopy(value) is value


def test_a_kernel_of_a_function_of_a_module_keeps_its_options(queue: bl.Queue) -> None:
    found = pickle.loads(pickle.dumps(undecorated))
    assert found is not undecorated
    assert (found._kernel_function, found._contract, found._default_float) == (plain, True, "float32")
    out = bl.usm_empty(3, np.float32, queue)
    queue.parallel_for(3, found, out, 2.5).wait()
    np.testing.assert_array_equal(out.numpy(), [2.5] * 3)


def test_a_local_kernel_is_pickled_as_a_local_function(queue: bl.Queue) -> None:
    factor = 3

    def local(out):
        out[device.item_id(0)] = factor

    for value in (local, bl.kernel(local), bl.device_function(local)):
        with pytest.raises((AttributeError, pickle.PicklingError)):
            pickle.dumps(value)
    cloudpickle = pytest.importorskip("cloudpickle")
    found = pickle.loads(cloudpickle.dumps(bl.kernel(local)))
    out = bl.usm_empty(3, np.float32, queue)
    queue.parallel_for(3, found, out).wait()
    np.testing.assert_array_equal(out.numpy(), [3] * 3)


def test_processes_take_kernels_of_programs(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("""
import multiprocessing
import numpy as np
import bindless as bl

@bl.kernel
def ones(out):
    out[bl.device.item_id(0)] = 1

def filled(kernel):
    out = np.zeros(3, np.float32)
    kernel.run_in_python(3, out)
    return out.tolist()

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(filled, [ones]))
""")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.strip() == "[[1.0, 1.0, 1.0]]", done.stderr
