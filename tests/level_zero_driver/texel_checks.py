"""Texels as compilers of SYCL write them: of one to four components, of any size, and as the bits of a pixel."""

from __future__ import annotations

import numpy as np

from tests.level_zero_driver.formats import ze_format
from tests.level_zero_driver.rig import Array, Handle, Rig, ffi
from tests.support.compile_kernels import assembled

W, H = 7, 5

TEXT = """
OpCapability Addresses
OpCapability Kernel
OpCapability Int64
OpCapability Int16
OpCapability Int8
OpCapability Float16
OpCapability ImageBasic
OpCapability LiteralSampler
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %test "test" %gid
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %gid Constant
%void = OpTypeVoid
%i8 = OpTypeInt 8 0
%i16 = OpTypeInt 16 0
%i32 = OpTypeInt 32 0
%i64 = OpTypeInt 64 0
%f16 = OpTypeFloat 16
%f32 = OpTypeFloat 32
%v3 = OpTypeVector %i64 3
%place = OpTypeVector %i32 2
%point = OpTypeVector %f32 2
%vector = OpTypeVector {scalar} {lanes}
%input = OpTypePointer Input %v3
%pointer = OpTypePointer CrossWorkgroup {texel}
%image = OpTypeImage %void 2D 0 0 0 0 Unknown {access}
%sampled = OpTypeSampledImage %image
%sampler = OpTypeSampler
%function = OpTypeFunction %void %image %pointer
%width = OpConstant %i64 7
%zero = OpConstant %f32 0
%half = OpConstant %f32 0.75
%linear = OpConstantSampler %sampler {sampler}
%gid = OpVariable %input Input
%test = OpFunction %void None %function
%from = OpFunctionParameter %image
%memory = OpFunctionParameter %pointer
%start = OpLabel
%all = OpLoad %v3 %gid
%x = OpCompositeExtract %i64 %all 0
%y = OpCompositeExtract %i64 %all 1
%row = OpIMul %i64 %y %width
%number = OpIAdd %i64 %row %x
%at = OpInBoundsPtrAccessChain %pointer %memory %number
%x32 = OpUConvert %i32 %x
%y32 = OpUConvert %i32 %y
%xy = OpCompositeConstruct %place %x32 %y32
{body}
OpReturn
OpFunctionEnd
"""
STORE = "\nOpStore %at %value Aligned {align}"
WRITE = "%value = OpLoad {texel} %at Aligned {align}\nOpImageWrite %from %xy %value"
READ = "%value = OpImageRead {texel} %from %xy" + STORE
SAMPLE = (
    "%pair = OpSampledImage %sampled %from %linear\n"
    "%value = OpImageSampleExplicitLod {texel} %pair %xy Lod %zero" + STORE
)
# A quarter of a texel beyond the centre along both axes.
BETWEEN = (
    "%pair = OpSampledImage %sampled %from %linear\n"
    "%fx = OpConvertUToF %f32 %x\n%fy = OpConvertUToF %f32 %y\n"
    "%px = OpFAdd %f32 %fx %half\n%py = OpFAdd %f32 %fy %half\n"
    "%xf = OpCompositeConstruct %point %px %py\n"
    "%value = OpImageSampleExplicitLod {texel} %pair %xf Lod %zero" + STORE
)


def _kernel(rig: Rig, body: str, dtype: type, components: int, sampler: str = "Repeat 1 Linear") -> Handle:
    """A kernel of an image and an array of texels; those of three components take the room of four."""
    kind = np.dtype(dtype)
    scalar = f"%{'f' if kind.kind == 'f' else 'i'}{8 * kind.itemsize}"
    texel = "%vector" if components > 1 else scalar
    words = {"texel": texel, "align": str(kind.itemsize)}
    text = TEXT.format(
        scalar=scalar,
        lanes=max(components, 2),
        access="WriteOnly" if body is WRITE else "ReadOnly",
        sampler=sampler,
        body=body.format(**words),
        **words,
    )
    return rig.kernel(rig.module(assembled(text)), "test")


def _texels(rig: Rig, values: Array) -> tuple[object, Array]:
    """Shared memory with values of shape (texels, components), and an array over the components."""
    components = values.shape[1]
    padded = np.zeros((len(values), 4 if components == 3 else components), values.dtype)
    padded[:, :components] = values
    pointer, view = rig.array(padded)
    return pointer, view[:, :components]


def _random(dtype: type, *shape: int) -> Array:
    generator = np.random.default_rng(np.dtype(dtype).itemsize)
    if np.dtype(dtype).kind == "f":
        return generator.normal(size=shape).astype(dtype)
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def _layout(bits: int, channels: int) -> str:
    return "_".join([str(bits)] * channels)


def _image(rig: Rig, bits: int, channels: int, kind: str) -> Handle:
    return rig.image(rig.image_desc(ze_format(_layout(bits, channels), kind), W, H))


FORMATS = (
    ("UINT", np.uint8),
    ("SINT", np.int8),
    ("UINT", np.uint16),
    ("SINT", np.int16),
    ("UINT", np.uint32),
    ("SINT", np.int32),
    ("FLOAT", np.float16),
    ("FLOAT", np.float32),
)


def check_texels_of_the_format(rig: Rig) -> None:
    """Texels of a format's own type and number of channels are written and read without change."""
    for kind, dtype in FORMATS:
        for channels in (1, 2, 3, 4):
            image = _image(rig, 8 * np.dtype(dtype).itemsize, channels, kind)
            values = _random(dtype, W * H, channels)
            rig.launch(_kernel(rig, WRITE, dtype, channels), (W, H), image, _texels(rig, values)[0])
            assert np.array_equal(rig.download(image, values), values), (dtype, channels)
            pointer, out = _texels(rig, np.zeros_like(values))
            rig.launch(_kernel(rig, READ, dtype, channels), (W, H), image, pointer)
            assert np.array_equal(out, values), (dtype, channels)


def check_texels_of_fewer_components(rig: Rig) -> None:
    """Channels that a texel lacks become 0; those that an image lacks are dropped, and read as 0."""
    for kind, dtype in FORMATS[4:6] + FORMATS[7:]:
        for components, channels in ((1, 2), (1, 4), (2, 4), (3, 4), (2, 1), (4, 2), (4, 3)):
            image = _image(rig, 32, channels, kind)
            rig.upload(image, _random(dtype, W * H, channels))
            values = _random(dtype, W * H, components)
            rig.launch(_kernel(rig, WRITE, dtype, components), (W, H), image, _texels(rig, values)[0])
            both = min(components, channels)
            found = rig.download(image, np.zeros((W * H, channels), dtype))
            assert np.array_equal(found[:, :both], values[:, :both]) and not found[:, both:].any()
            pointer, out = _texels(rig, values)
            rig.launch(_kernel(rig, READ, dtype, components), (W, H), image, pointer)
            assert np.array_equal(out[:, :both], values[:, :both])
            assert not out[:, channels:3].any()  # the fourth channel of an image without it depends on its swizzle


def check_integers_of_other_sizes(rig: Rig) -> None:
    """A texel's integers keep their values in larger channels, and are saturated in smaller ones."""
    for kind, dtypes in (("UINT", (np.uint8, np.uint16, np.uint32)), ("SINT", (np.int8, np.int16, np.int32))):
        for dtype in dtypes:
            for stored in dtypes:
                image = _image(rig, 8 * np.dtype(stored).itemsize, 4, kind)
                values = _random(dtype, W * H, 4)
                rig.launch(_kernel(rig, WRITE, dtype, 4), (W, H), image, _texels(rig, values)[0])
                limits = np.iinfo(stored)
                expected = np.clip(values.astype(np.int64), limits.min, limits.max)
                assert np.array_equal(rig.download(image, np.zeros((W * H, 4), stored)), expected), (dtype, stored)


def check_bits_of_pixels(rig: Rig) -> None:
    """Integers as large as a pixel of other channels are its bits: so SYCL writes pixels of a user's type."""
    for kind, dtype, channels, word, components in (
        ("UINT", np.uint8, 2, np.uint16, 1),
        ("UINT", np.uint8, 4, np.uint32, 1),
        ("SINT", np.int16, 2, np.uint32, 1),
        ("UINT", np.uint16, 4, np.uint32, 2),
        ("FLOAT", np.float16, 2, np.uint32, 1),
        ("FLOAT", np.float16, 4, np.uint32, 2),
        ("FLOAT", np.float32, 1, np.uint32, 1),
        ("FLOAT", np.float32, 4, np.uint32, 4),
        ("UNORM", np.uint8, 4, np.uint8, 4),
    ):
        image = _image(rig, 8 * np.dtype(dtype).itemsize, channels, kind)
        pixels = _random(dtype, W * H, channels)
        pointer, _ = _texels(rig, pixels.view(word).reshape(W * H, components))
        rig.launch(_kernel(rig, WRITE, word, components), (W, H), image, pointer)
        assert np.array_equal(rig.download(image, pixels), pixels), (kind, dtype, channels)
    image = _image(rig, 32, 2, "FLOAT")
    kernel = _kernel(rig, WRITE, np.uint32, 4)
    rig.set(kernel, image, _texels(rig, _random(np.uint32, W * H, 4))[0])
    rig.call("zeKernelSetGroupSize", kernel, 1, 1, 1)
    count = ffi.new("ze_group_count_t *", [W, H, 1])
    rig.call("zeCommandListAppendLaunchKernel", rig.list, kernel, count, ffi.NULL, 0, ffi.NULL)
    rig.fails("UNKNOWN", "for integers", "zeCommandListHostSynchronize", rig.list, 2**64 - 1)


def check_integer_coordinates_of_samples(rig: Rig) -> None:
    """A sample at integer coordinates is the texel of these coordinates under every sampler."""
    for kind, dtype in FORMATS:
        image = _image(rig, 8 * np.dtype(dtype).itemsize, 4, kind)
        values = _random(dtype, W * H, 4)
        rig.upload(image, values)
        for sampler in ("Repeat 1 Linear", "Clamp 1 Nearest", "ClampToEdge 0 Linear", "None 0 Nearest"):
            pointer, out = _texels(rig, np.zeros_like(values))
            rig.launch(_kernel(rig, SAMPLE, dtype, 4, sampler), (W, H), image, pointer)
            assert np.array_equal(out, values), (dtype, sampler)


def check_integers_are_filtered(rig: Rig) -> None:
    """Linear filtering of integers: 8 and 16 bits are rounded to the nearest, the fraction of 32 bits is dropped."""
    for kind, dtype in FORMATS[:6]:
        image = _image(rig, 8 * np.dtype(dtype).itemsize, 2, kind)
        values = _random(dtype, W * H, 2)
        rig.upload(image, values)
        pointer, out = _texels(rig, np.zeros_like(values))
        rig.launch(_kernel(rig, BETWEEN, dtype, 2, "ClampToEdge 0 Linear"), (W, H), image, pointer)
        wide = np.pad(values.reshape(H, W, 2).astype(np.int64), ((0, 1), (0, 1), (0, 0)), "edge")
        sums = 9 * wide[:-1, :-1] + 3 * (wide[:-1, 1:] + wide[1:, :-1]) + wide[1:, 1:]
        expected = (sums + (8 if np.dtype(dtype).itemsize < 4 else 0)) >> 4
        assert np.array_equal(out.reshape(H, W, 2), expected), dtype
        sampler = rig.struct("ze_image_bindless_exp_desc_t", rig.sampler_desc("CLAMP", "LINEAR"), flags=3)
        bindless = rig.image(
            rig.image_desc(ze_format(_layout(8 * np.dtype(dtype).itemsize, 2), kind), W, H, next=sampler)
        )
        assert rig.offset(bindless) != 0


def check_pitches_of_images_in_memory(rig: Rig) -> None:
    """The device reports the alignment that zeMemGetPitchFor2dImage uses, and the largest pitch of a custom one."""
    pitches = rig.struct("ze_pitched_alloc_2dimage_linear_pitch_exp_info_t")
    rig.call("zeDeviceGetImageProperties", rig.device, rig.struct("ze_device_image_properties_t", pitches))
    least = ffi.new("size_t *")
    for width in (1, 63, 64, 65):
        rig.call("zeMemGetPitchFor2dImage", rig.context, rig.device, width, 4, 1, least)
        assert least[0] == -(-width // pitches.pitchAlign) * pitches.pitchAlign
    memory = rig.memory(4096)
    slot = rig.handle("ze_image_handle_t")

    def desc(pitch: int) -> object:
        custom = rig.struct("ze_custom_pitch_exp_desc_t", rowPitch=pitch)
        pitched = rig.struct("ze_image_pitched_exp_desc_t", custom, ptr=memory)
        return rig.image_desc(ze_format("8", "UINT"), 4, 1, next=pitched)

    rig.image(desc(pitches.maxSupportedPitch))
    rig.fails(
        "UNSUPPORTED_SIZE",
        "row pitch",
        "zeImageCreate",
        rig.context,
        rig.device,
        desc(pitches.maxSupportedPitch + 1),
        slot,
    )
