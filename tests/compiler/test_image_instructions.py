"""Every image function of user kernels, in every geometry, compared with the package's device functions."""

from __future__ import annotations

import os

import numpy as np
import pytest

import bindless as bl

pytestmark = pytest.mark.skipif(
    not bl.kernels_available() and not os.environ.get("BINDLESS_TEST_KERNELS"),
    reason="needs a kernel compiler: pip install 'bindless[kernels]'",
)

_WIDTHS = {1: "", 2: "2", 3: "4"}
_CLASSES = {"float4": "fp32", "int4": "signed_int32", "uint4": "unsigned_int32"}


def _kernel(dims: int, layered: bool, value: str) -> str:
    """Return a kernel that fetches, samples in two forms and writes at item i of a list of float4 (x, y, z, layer)."""
    form, layer = ("_array", ", (uint)p.w") if layered else ("", "")
    parts = ["p.x", "p.y", "p.z, 0"][:dims]
    floats, ints = ", ".join(parts), ", ".join(f"(int){part}" if "," not in part else "(int)p.z, 0" for part in parts)
    at = f"(float{_WIDTHS[dims]})({floats})" if dims > 1 else "p.x"
    whole = f"(int{_WIDTHS[dims]})({ints})" if dims > 1 else "(int)p.x"
    if dims == 3:
        at, whole = f"({at}).xyz", f"({whole}).xyz"
    name = f"k{dims}{form}_{value}"
    level = "" if layered else f"    out[3 * n + i] = sample_mipmap_{value}(mipmap, {at} / 8.0f, p.w);\n"
    return (
        f"kernel void {name}(sampled_image_handle image, unsampled_image_handle from, unsampled_image_handle to,\n"
        f"                   sampled_image_handle mipmap, global const float4 *places, global {value} *out)\n"
        "{\n    const size_t i = get_global_id(0), n = get_global_size(0);\n    const float4 p = places[i];\n"
        f"    out[i] = fetch_image{form}_{value}(from, {whole}{layer});\n"
        f"    out[n + i] = fetch_sampled_image{form}_{value}(image, {whole}{layer});\n"
        f"    out[2 * n + i] = sample_image{form}_{value}(image, {at}{layer});\n{level}"
        f"    write_image{form}(to, {whole}{layer}, out[i]);\n}}\n"
    )


GEOMETRIES = [(1, False), (2, False), (3, False), (1, True), (2, True)]
SOURCE = "#include <bindless/device.h>\n" + "".join(_kernel(*form, value) for form in GEOMETRIES for value in _CLASSES)


@pytest.fixture(scope="module")
def built() -> bl.KernelFile:
    return bl.build(SOURCE)


@pytest.mark.parametrize("value", _CLASSES)
@pytest.mark.parametrize(("dims", "layered"), GEOMETRIES)
def test_functions(dims: int, layered: bool, value: str, built: bl.KernelFile, queue: bl.Queue) -> None:  # R58 R59 R68
    rng = np.random.default_rng(dims)
    form = {"type": "array", "array_size": 3} if layered else {}
    desc = bl.ImageDescriptor(*(8, 8, 8)[:dims], channel_type=_CLASSES[value], **form)
    pixels = (rng.random(desc.shape, np.float32) if value == "float4" else rng.integers(0, 2**31, desc.shape)).astype(
        desc.dtype
    )
    source, target = bl.ImageMem(desc, queue), bl.ImageMem(desc, queue)
    queue.ext_oneapi_copy(pixels, source).wait()
    filtering = "linear" if value == "float4" else "nearest"
    sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", filtering)
    levels = bl.ImageDescriptor(*(8, 8, 8)[:dims], channel_type=_CLASSES[value], type="mipmap", num_levels=3)
    mipmap = bl.ImageMem(levels, queue)
    for level in range(3):
        part = levels.get_mip_level_desc(level)
        fill = rng.random(part.shape, np.float32) if value == "float4" else rng.integers(0, 99, part.shape)
        queue.ext_oneapi_copy(fill.astype(desc.dtype), mipmap.get_mip_level_mem_handle(level), dst_desc=part).wait()
    smooth = bl.BindlessImageSampler(
        "repeat", "normalized", filtering, mipmap_filtering=filtering, max_mipmap_level_clamp=2
    )
    image, lod = (
        bl.create_image(source, desc, queue, sampler=sampler),
        bl.create_image(mipmap, levels, queue, sampler=smooth),
    )
    handles = [bl.create_image(memory, desc, queue) for memory in (source, target)]
    places = rng.uniform(0, 8, (500, 4)).astype(np.float32)
    places[:, 3] = rng.integers(0, 3, 500)
    given, out = bl.usm_empty((500, 4), np.float32, queue), bl.usm_empty((4, 500, 4), desc.dtype, queue)
    given.copy_from(places)
    name = f"k{dims}{'_array' if layered else ''}_{value}"
    kernel = bl.load_kernel_bundle(built, queue).get_kernel(name)
    queue.parallel_for(500, kernel, image, *handles, lod, given, out).wait_and_throw()
    found = out.numpy(queue)
    at, layers = places[:, :dims].copy(), places[:, 3].astype(np.uint32)
    whole = at.astype(np.int32)
    if layered:
        wanted = [bl.fetch_image_array(queue, handles[0], whole, layers)] * 2
        wanted.append(bl.sample_image_array(queue, image, at, layers))
    else:
        wanted = [bl.fetch_image(queue, handles[0], whole)] * 2
        wanted.append(bl.sample_image(queue, image, at))
        wanted.append(bl.sample_mipmap(queue, lod, at / np.float32(8), level=places[:, 3].copy()))
    for mine, theirs in zip(found, wanted):
        np.testing.assert_array_equal(mine, theirs)
    after = np.zeros_like(pixels)
    queue.ext_oneapi_copy(target, after).wait()
    index = tuple(whole[:, axis] for axis in reversed(range(dims)))
    np.testing.assert_array_equal(after[(layers, *index) if layered else index], found[0])
    for handle in (image, lod, *handles):
        bl.destroy_image_handle(handle, queue)
    for memory in (source, target, mipmap):
        memory.close()
