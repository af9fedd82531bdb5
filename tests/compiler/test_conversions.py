"""``convert_T`` in every form, compared with numpy and exact arithmetic: tool, translator and device."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl

pytestmark = [
    pytest.mark.skipif(not bl.kernels_available(), reason="needs a kernel compiler: pip install 'bindless[kernels]'"),
    pytest.mark.usefixtures("needs_spirv"),
]

Array = npt.NDArray[Any]
INTEGERS = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "long": "i8", "ulong": "u8",
}  # fmt: skip
FLOATS = {"half": "f2", "float": "f4", "double": "f8"}
SCALARS = {**INTEGERS, **FLOATS}
MODES = ("", "_rte", "_rtz", "_rtp", "_rtn")


def _forms(source: str, target: str) -> list[str]:
    """Return modes for a pair of types; floats that may not fit an integer saturate."""
    if target in FLOATS:
        return list(MODES)
    return [f"_sat{mode}" for mode in MODES] + ([""] if source in INTEGERS else [])


def _source() -> str:
    text = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    for source in SCALARS:
        for target in SCALARS:
            forms = _forms(source, target)
            lines = "".join(
                f"    out[{k} * n + i] = convert_{target}{mode}(in[i]);\n"
                f"    vstore4(convert_{target}4{mode}(vload4(i / 4, in)), i / 4, out + {k + len(forms)} * n);\n"
                for k, mode in enumerate(forms)
            )
            text += (
                f"kernel void {source}_{target}(global {target} *out, global const {source} *in)\n{{\n"
                f"    const size_t i = get_global_id(0), n = get_global_size(0);\n{lines}}}\n"
            )
    return text


@cache
def _built() -> bl.KernelFile:
    return bl.build(_source(), targets="spirv")


def _values(code: str) -> Array:
    dtype = np.dtype(code)
    rng = np.random.default_rng(dtype.num)
    if dtype.kind == "f":
        values = (rng.standard_normal(64) * 10.0 ** rng.integers(-3, 6, 64)).clip(-60000, 60000).astype(dtype)
        special = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0, -0.0, np.inf, -np.inf, 127.5, 255.5, -128.5, 1e-8, 65504]
        values[: len(special)] = special
        if dtype.itemsize > 2:
            values[20:27] = [2.0**31, -(2.0**31), 2.0**63, -(2.0**63), 2.0**64, 65519.9, 65520]
        if dtype.itemsize == 8:
            values[27:33] = [1e300, -1e300, 1 + 2**-30, 1 + 3 * 2.0**-25, 1e-46, 3.4028235677973366e38]
        return values
    limits = np.iinfo(dtype)
    values = rng.integers(limits.min, limits.max, 64, dtype, endpoint=True)
    values[:4] = limits.min, limits.max, 0, 1
    return values


def _round(value: Fraction, mode: str) -> int:
    if mode == "_rte":
        return round(value)  # Python rounds ties to even
    whole = value.numerator // value.denominator
    if mode == "_rtn" or whole == value:
        return whole
    return whole + 1 if mode == "_rtp" or value < 0 else whole


def _integer(value: Any, dtype: Any, mode: str) -> int:
    limits = np.iinfo(dtype)
    if np.isnan(value):
        return 0
    if np.isinf(value):
        return int(limits.max if value > 0 else limits.min)
    return min(max(_round(Fraction(value.item()), mode or "_rtz"), int(limits.min)), int(limits.max))


def _float(value: Any, dtype: Any, mode: str) -> Any:
    """Return the float next to an exact value in the direction of the rounding mode."""
    with np.errstate(over="ignore"):
        near = _nearest(value, dtype)
        if mode in ("", "_rte") or not np.isfinite(value):
            return near
        exact = Fraction(value.item())
        up = mode == "_rtp" or (mode == "_rtz" and exact < 0)
        over = np.isinf(near) or (Fraction(float(near)) > exact if not up else False)
        under = up and ((np.isinf(near) and near < 0) or (np.isfinite(near) and Fraction(float(near)) < exact))
        if up:
            return np.nextafter(near, dtype.type(np.inf)) if under else near
        return np.nextafter(near, dtype.type(-np.inf)) if (over and near > 0) or (over and np.isfinite(near)) else near


def _nearest(value: Any, dtype: Any) -> Any:
    """Round to the nearest; numpy rounds integers to half through double, which is exact unless it overflows."""
    return np.asarray(value).astype(dtype)[()]


def _wanted(values: Array, target: str, mode: str) -> Array:
    dtype = np.dtype(SCALARS[target])
    if target in FLOATS:
        return np.array([_float(value, dtype, mode) for value in values], dtype)
    if not mode:
        return values.astype(dtype)  # modulo 2 to the power of its width
    return np.array([_integer(value, dtype, mode.removeprefix("_sat")) for value in values], dtype)


@pytest.mark.parametrize("source", SCALARS)
def test_conversions(source: str, queue: bl.Queue) -> None:
    if queue.device.backend is bl.Backend.cuda:
        pytest.skip("libclc has not all forms for NVIDIA GPUs")
    bundle = bl.load_kernel_bundle(_built(), queue)
    values = _values(SCALARS[source])
    given = bl.usm_empty(values.shape, values.dtype, queue)
    given.copy_from(values)
    for target, code in SCALARS.items():
        forms = _forms(source, target)
        out = bl.usm_empty((2 * len(forms), values.size), code, queue)
        queue.parallel_for(values.size, bundle.get_kernel(f"{source}_{target}"), out, given).wait_and_throw()
        found = out.numpy(queue)
        for number, mode in enumerate(forms):
            wanted = _wanted(values, target, mode)
            for row, count in ((number, ""), (number + len(forms), "4")):
                np.testing.assert_array_equal(found[row], wanted, err_msg=f"convert_{target}{count}{mode}({source})")
