"""Messages about calls that fit no device function: the user's line and the function's forms, without macros."""

from __future__ import annotations

import pytest

import bindless as bl

CALLS = {
    "out[0] = sample_image_float(image, out);": "sample_image_T(sampled_image_handle, float | float2 | float3)",
    "write_image(image, (int2)(1, 2), 3.0);": "write_image(unsampled_image_handle, int | int2 | int3, T)",
    "out[0] = sample_mipmap_float(image, (float2)(1, 2), (int2)(3, 4), 3);": "sample_mipmap_T(",
    "out[0] = undefined_thing(3);": "undefined_thing",
}


@pytest.mark.parametrize("call", CALLS)
def test_messages_are_short(call: str) -> None:
    if not bl.kernels_available():
        pytest.skip("kernels in OpenCL C need clang: pip install 'bindless[kernels]'")
    source = f"#include <bindless/device.h>\nkernel void k(ulong image, global float *out)\n{{\n    {call}\n}}\n"
    with pytest.raises(bl.BuildError) as caught:
        bl.build(source, targets="spirv")
    message = str(caught.value)
    assert "source.cl:4:" in message and call in message and CALLS[call] in message
    assert message.count("\n") <= 7
    assert "expanded from" not in message and "BINDLESS" not in message
    assert len(caught.value.log) >= len(message.partition("\n")[2].partition("\n    T ")[0])
