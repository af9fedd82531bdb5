"""Users' kernels on the driver of ``fake_cuda.c``: selection of PTX, and layout of arguments in the parameter
buffer."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

import bindless as bl
from tests.backends.cuda.fake_cuda import Fake

SOURCE = """
#include <bindless/device.h>
typedef struct { float4 weight; int3 offset; uchar flags[4]; } how_t;
kernel void mixed(global float *out, sampled_image_handle image, how_t how, local float *piece, float3 bias,
                  uchar small, double wide, short4 corners)
{
    const size_t i = get_global_id(0);
    piece[get_local_id(0)] = sample_image_float(image, how.weight.xy) + convert_float(wide) * small;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = piece[how.offset.y] + dot(bias, how.weight.xyz) + how.flags[1] + corners.z + sin(bias.x);
}
kernel void other(global int *out) { atomic_inc(out); }
"""


@pytest.fixture
def fake() -> Fake:
    made = Fake()
    made.clear()
    return made


def test_arguments_arrive(fake: Fake, queue: bl.Queue) -> None:
    file = bl.build(SOURCE)
    bundle = bl.load_kernel_bundle(file, queue)
    kernel = bundle.get_kernel("mixed")
    told = [(a.name, a.kind, a.size, a.type) for a in kernel.arguments or ()]
    assert told[2:5] == [
        ("how", "value", 48, "how_t"),
        ("piece", "local", 8, "float*"),
        ("bias", "value", 16, "float3"),
    ]
    how = np.zeros(1, [("weight", "4f4"), ("offset", "3i4"), ("_gap", "i4"), ("flags", "4u1"), ("_end", "3i4")])
    how["weight"], how["offset"], how["flags"] = (1, 2, 3, 4), (5, 6, -7), (8, 9, 10, 11)
    out = bl.usm_empty((64,), np.float32, queue)
    fake.parameters(8, 8, 48, 8, 16, 1, 8, 8)
    handle = bl.SampledImageHandle(0x1234)
    queue.parallel_for(
        bl.NdRange(64, 32),
        kernel,
        out,
        handle,
        how,
        bl.LocalAccessor(128),
        (1, 2, 3),
        200,
        2,
        np.array([1, -2, 3, 4], "i2"),
    ).wait_and_throw()
    line = fake.lines("cuLaunchKernel")[-1]
    head, _, sent = line.partition(": ")
    assert head.startswith("cuLaunchKernel mixed 2 1 1 32 1 1 shared")
    words = [bytes.fromhex(word) for word in sent.split()]
    assert words[0] == out.address.to_bytes(8, "little") and words[1] == (0x1234).to_bytes(8, "little")
    assert words[2] == how.tobytes() and words[3] == bytes(8)
    assert words[4][:12] == struct.pack("<3f", 1, 2, 3) and words[5] == b"\xc8"
    assert words[6] == struct.pack("<d", 2) and words[7] == struct.pack("<4h", 1, -2, 3, 4)


def test_local_memory_of_a_module_that_has_no_source(fake: Fake, queue: bl.Queue) -> None:
    """PTX declares offsets of local memory as plain numbers."""
    text = "kernel void test(global int *out, local int *a, local long *b) { out[0] = a[1] + b[2]; }\n"
    ptx = bl.build(text, targets="ptx").sections[0].data
    kernel = bl.load_kernel_bundle(ptx, queue).get_kernel("test")
    assert [argument.kind for argument in kernel.arguments or ()] == ["pointer", "value", "value"]
    fake.parameters(8, 8, 8)
    out = bl.usm_empty((64,), np.int32, queue)
    local = bl.LocalAccessor(100), bl.LocalAccessor(24)
    queue.parallel_for(bl.NdRange(64, 32), kernel, out, *local).wait_and_throw()
    head, _, sent = fake.lines("cuLaunchKernel")[-1].partition(": ")
    assert "shared 136" in head
    assert [int.from_bytes(bytes.fromhex(word), "little") for word in sent.split()[1:]] == [0, 112]


def test_ptxas_takes_it(tmp_path: Path) -> None:
    module = next(section.data for section in bl.build(SOURCE).sections if section.language == "ptx")
    assert b".entry mixed" in module and b".entry other" in module
    assembler = shutil.which("ptxas")
    if assembler is not None:
        (tmp_path / "k.ptx").write_bytes(module)
        command = [assembler, "-arch=sm_90", str(tmp_path / "k.ptx"), "-o", str(tmp_path / "k.cubin")]
        assert subprocess.run(command, check=False, timeout=120).returncode == 0
