"""Copies of random regions compared with numpy slicing, and invalid regions against the rules (R46, R49, R50, R52)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import bindless as bl
from tests.support.error_checks import raises
from tests.support.pixels import Array, random_pixels

Extent = tuple[int, int, int]
KINDS = ("host", "usm", "image")
FORMATS = ((1, "unorm_int8"), (2, "unsigned_int16"), (4, "unorm_int8"), (4, "fp16"), (1, "fp32"), (4, "fp32"))
FAR = st.one_of(st.integers(0, 9), st.sampled_from([2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1]))
ROUNDS = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@dataclass(frozen=True)
class Shape:
    """Extent of an image in dimensions and layers, and how the descriptor spells it."""

    kind: str
    extent: Extent

    def desc(self, num_channels: int, channel_type: str) -> bl.ImageDescriptor:
        x, y, z = self.extent
        options: dict[str, Any] = {"num_channels": num_channels, "channel_type": channel_type}
        if self.kind == "lines":
            return bl.ImageDescriptor(x, type="array", array_size=z, **options)
        if self.kind == "layers":
            return bl.ImageDescriptor(x, y, type="array", array_size=z, **options)
        if self.kind == "cube":
            return bl.ImageDescriptor(x, y, type="cubemap", array_size=6, **options)
        sizes = {"line": (x,), "plane": (x, y), "volume": (x, y, z)}[self.kind]
        return bl.ImageDescriptor(*sizes, **options)


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    kind = draw(st.sampled_from(["line", "plane", "volume", "lines", "layers", "cube"]))
    x, y, z = (draw(st.integers(1, 9)) for _ in range(3))
    extents = {
        "line": (x, 1, 1),
        "plane": (x, y, 1),
        "volume": (x, y, z),
        "lines": (x, 1, z + 1),
        "layers": (x, y, z + 1),
        "cube": (x, x, 6),
    }
    return Shape(kind, extents[kind])


@st.composite
def regions(draw: st.DrawFn) -> tuple[Shape, Shape, Extent, Extent, Extent]:
    """Two images, two offsets and an extent that lies within both images."""
    src, dst = draw(shapes()), draw(shapes())
    extent, offsets = [], ([], [])
    for one, other in zip(src.extent, dst.extent):
        size = draw(st.integers(1, min(one, other)))
        extent.append(size)
        offsets[0].append(draw(st.integers(0, one - size)))
        offsets[1].append(draw(st.integers(0, other - size)))
    return src, dst, tuple(offsets[0]), tuple(offsets[1]), tuple(extent)  # type: ignore[return-value]


def volume(array: Array, desc: bl.ImageDescriptor) -> Array:
    """The pixels as an array of shape (z, y, x, channels), for every kind of image."""
    x, y, z = desc.extent
    return array.reshape(z, y, x, desc.num_channels)


def place(queue: bl.Queue, kind: str, desc: bl.ImageDescriptor, pixels: Array) -> tuple[Any, dict[str, Any], Any]:
    """The operand of the copy, its arguments without their prefix, and a function that reads it back."""
    if kind == "host":
        array = pixels.reshape(-1).copy()
        return array, {"extent": desc.extent}, lambda: array.reshape(desc.shape)
    if kind == "image":
        if desc.type == "cubemap":
            assume(queue.device.has(bl.Aspect.ext_oneapi_cubemap))
        try:
            memory = bl.ImageMem(desc, queue)
        except bl.FeatureNotSupportedError:
            assume(queue.device.backend != "opencl" or desc.num_channels != 2)  # some drivers list no such formats
            raise
        queue.ext_oneapi_copy(pixels, memory).wait()

        def from_image() -> Array:
            out = np.empty_like(pixels)
            queue.ext_oneapi_copy(memory, out).wait()
            return out

        return memory, {}, from_image
    align = queue.device.get_info("image_row_pitch_align")
    pitch = (-(-desc.row_size // align) + 1) * align
    rows = desc.extent[1] * desc.extent[2]
    padded = np.full((rows, pitch), 0xEE, np.uint8)
    padded[:, : desc.row_size] = pixels.reshape(rows, -1).view(np.uint8)
    array = bl.usm_empty(padded.shape, np.uint8, queue).copy_from(padded, queue)

    def from_usm() -> Array:
        raw = array.numpy(queue)
        assert (raw[:, desc.row_size :] == 0xEE).all(), "the copy wrote between the rows"
        return np.ascontiguousarray(raw[:, : desc.row_size]).view(desc.dtype).reshape(desc.shape)

    return array, {"desc": desc, "pitch": pitch}, from_usm


@pytest.mark.parametrize("kinds", [(a, b) for a in KINDS for b in KINDS if (a, b) != ("host", "host")], ids="-".join)
@ROUNDS
@given(region=regions(), format_=st.sampled_from(FORMATS))
def test_against_slicing(
    queue: bl.Queue, kinds: tuple[str, str], region: tuple[Shape, Shape, Extent, Extent, Extent], format_: Any
) -> None:  # R46 R49 R50 R52
    src_shape, dst_shape, src_offset, dst_offset, extent = region
    src_desc, dst_desc = src_shape.desc(*format_), dst_shape.desc(*format_)
    source, target = random_pixels(src_desc, 1), random_pixels(dst_desc, 2)
    src, src_options, _ = place(queue, kinds[0], src_desc, source)
    dst, dst_options, read = place(queue, kinds[1], dst_desc, target)
    options = {f"src_{name}": value for name, value in src_options.items()}
    options |= {f"dst_{name}": value for name, value in dst_options.items()}
    queue.ext_oneapi_copy(src, dst, src_offset=src_offset, dst_offset=dst_offset, copy_extent=extent, **options).wait()
    wanted = target.copy()
    (sx, sy, sz), (dx, dy, dz), (w, h, d) = src_offset, dst_offset, extent
    part = volume(source, src_desc)[sz : sz + d, sy : sy + h, sx : sx + w]
    volume(wanted, dst_desc)[dz : dz + d, dy : dy + h, dx : dx + w] = part
    np.testing.assert_array_equal(read(), wanted)


@ROUNDS
@given(
    kinds=st.tuples(st.sampled_from(KINDS), st.sampled_from(KINDS)).filter(lambda pair: pair != ("host", "host")),
    src_shape=shapes(),
    dst_shape=shapes(),
    src_offset=st.tuples(FAR, FAR, FAR),
    dst_offset=st.tuples(FAR, FAR, FAR),
    extent=st.tuples(FAR, FAR, FAR),
)
def test_what_leaves_an_image_is_refused(
    queue: bl.Queue,
    kinds: tuple[str, str],
    src_shape: Shape,
    dst_shape: Shape,
    src_offset: Extent,
    dst_offset: Extent,
    extent: Extent,
) -> None:  # R47 R49 R53
    src_desc, dst_desc = src_shape.desc(1, "unorm_int8"), dst_shape.desc(1, "unorm_int8")
    source, target = random_pixels(src_desc, 1), random_pixels(dst_desc, 2)
    src, src_options, _ = place(queue, kinds[0], src_desc, source)
    dst, dst_options, read = place(queue, kinds[1], dst_desc, target)
    options = {f"src_{name}": value for name, value in src_options.items()}
    options |= {f"dst_{name}": value for name, value in dst_options.items()}
    call = {"src_offset": src_offset, "dst_offset": dst_offset, "copy_extent": extent, **options}
    known = [desc for kind, desc in zip(kinds, (src_desc, dst_desc)) if kind != "host"]
    used = (True, any(d.height for d in known), any(d.depth or d.array_size > 1 for d in known))
    empty = any(size == 0 and needed for size, needed in zip(extent, used))
    inside = all(
        offset + max(size, 1) <= bound
        for ends in ((src_offset, src_desc), (dst_offset, dst_desc))
        for offset, size, bound in zip(ends[0], extent, ends[1].extent)
    )
    wanted = target.copy()
    if inside and not empty:
        queue.ext_oneapi_copy(src, dst, **call).wait()
        (sx, sy, sz), (dx, dy, dz), (w, h, d) = src_offset, dst_offset, (max(size, 1) for size in extent)
        part = volume(source, src_desc)[sz : sz + d, sy : sy + h, sx : sx + w]
        volume(wanted, dst_desc)[dz : dz + d, dy : dy + h, dx : dx + w] = part
    else:
        with raises(bl.InvalidError, match="is 0" if empty else r"scenario [378]:"):
            queue.ext_oneapi_copy(src, dst, **call)
    np.testing.assert_array_equal(read(), wanted)
