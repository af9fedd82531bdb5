"""``bindless.interop.vulkan`` alone: its objects, checks, refusals and messages."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import bindless as bl
from bindless.interop import vulkan as sharing
from tests.interop.vulkan.sharing_checks import levels_of, open_descriptors, pixels_for, same
from tests.interop.vulkan.vulkan_rig import drivers
from tests.support.channel_kinds import PLAIN
from tests.support.error_checks import raises

pytestmark = pytest.mark.vulkan

PICTURE = bl.ImageDescriptor(45, 23, channel_type="unorm_int8")


# ---------------------------------------------------------------------- devices


def test_device_is_found(rig, device):
    found = sharing.device_for(rig.physical_device)
    assert found == device or found.backend == "reference" or found.uuid == device.uuid  # one GPU, several backends
    sharing.check_same_device(rig.physical_device, found)
    assert len(sharing.device_uuid(rig.physical_device)) == 16
    assert any(sharing.device_uuid(rig.physical_device))


def test_other_devices_are_refused_with_both_uuids(rig, device):
    if device.vendor == "bindless":
        other = SimpleNamespace(name="another GPU", vendor="somebody", backend="cuda", uuid=bytes(range(16)))
    else:
        assert device.uuid == sharing.device_uuid(rig.physical_device)
        other = bl.Device("reference")
    with raises(bl.InvalidError) as refusal:
        sharing.Exporter(rig.physical_device, rig.device, other)
    assert other.uuid.hex() in str(refusal.value)
    assert sharing.device_uuid(rig.physical_device).hex() in str(refusal.value)


def test_no_such_device(rig, monkeypatch):
    """A GPU without a Vulkan driver that the package finds."""
    from bindless.interop.vulkan import device_match

    monkeypatch.setattr(device_match, "_identity", lambda _: ("a GPU", b"0123456789abcdef", False))
    with raises(bl.InvalidError, names=b"0123456789abcdef".hex()) as refusal:
        sharing.device_for(rig.physical_device)
    for each in bl.get_devices():
        assert each.uuid.hex() in str(refusal.value)


def test_an_instance_of_vulkan_1_0(rig, manifest, device):
    """A Vulkan 1.0 instance reports no UUID, and reports every image as not exportable."""
    import vulkan as vk

    with drivers(manifest):
        instance = vk.vkCreateInstance(vk.VkInstanceCreateInfo(), None)
        physical_device = vk.vkEnumeratePhysicalDevices(instance)[0]
    for ask in (sharing.device_uuid, sharing.device_for, lambda each: sharing.Exporter(each, rig.device, device)):
        with raises(bl.InvalidError, names=("1.0", "VK_MAKE_VERSION(1, 1, 0)")):
            ask(physical_device)
    vk.vkDestroyInstance(instance, None)


def test_extensions_are_there(rig):
    import vulkan as vk

    offered = {each.extensionName for each in vk.vkEnumerateDeviceExtensionProperties(rig.physical_device, None)}
    named = sharing.device_extensions(rig.physical_device)
    assert set(named) <= offered
    assert "VK_KHR_external_memory_fd" in named
    assert ("VK_KHR_external_semaphore_fd" in named) == ("VK_KHR_external_semaphore_fd" in offered)


def test_devices_without_the_extensions_are_told(rig, device):
    import vulkan as vk

    queues = [vk.VkDeviceQueueCreateInfo(queueFamilyIndex=rig.family, pQueuePriorities=[1.0])]
    bare = vk.vkCreateDevice(rig.physical_device, vk.VkDeviceCreateInfo(pQueueCreateInfos=queues), None)
    exporter = sharing.Exporter(rig.physical_device, bare, device)
    try:
        with (
            exporter.buffer(64) as buffer,
            raises(bl.FeatureNotSupportedError, names="VK_KHR_external_memory_fd"),
        ):
            buffer.export()
    finally:
        vk.vkDestroyDevice(bare, None)


# ---------------------------------------------------------------------- what is made


def test_exports(rig, exporter):
    with exporter.image(PICTURE) as image:
        before = open_descriptors()  # processor drivers hold one for the memory
        descriptor = image.export()
        assert open_descriptors() == before + 1
        assert descriptor.handle_type == "opaque_fd"
        assert descriptor.size_in_bytes == image.size >= PICTURE.nbytes
        assert descriptor.dedicated == image.dedicated
        again = image.export()
        assert again.resource.file_descriptor != descriptor.resource.file_descriptor
        for each in (descriptor, again):
            os.close(each.resource.file_descriptor)
        assert open_descriptors() == before


def test_closing(exporter):
    for made in (exporter.image(PICTURE), exporter.buffer(100)):
        made.close()
        made.close()
        with raises(bl.InvalidError):
            made.export()


@pytest.mark.parametrize("tiling", ["optimal", "linear"])
def test_images_hold_pixels(rig, exporter, tiling):
    """The images are complete Vulkan images, whether or not anyone imports them."""
    pixels = pixels_for(PICTURE, seed=1)
    with exporter.image(PICTURE, tiling=tiling) as image:
        assert image.is_linear == (tiling == "linear")
        rig.start(image)
        rig.write(image, pixels)
        same(rig.read(image), pixels)


def test_layout(exporter):
    with exporter.image(PICTURE, tiling="linear") as image:
        layout = image.layout()
        assert layout.row_pitch >= PICTURE.row_size
        assert layout.offset + 22 * layout.row_pitch + PICTURE.row_size <= image.size
        with raises(bl.InvalidError, names=("levels 0", 0)):
            image.layout(1)
        for level in (-1, 0.5, "0"):
            with raises(bl.InvalidError, names=(f"level={level!r}", "levels 0", 0)):
                image.layout(level)
    with raises(bl.InvalidError):  # drivers crash on this query
        image.layout()
    with exporter.image(PICTURE) as image, raises(bl.InvalidError, names="linear"):
        image.layout()


def test_usage(exporter):
    import vulkan as vk

    with exporter.image(PICTURE) as image:
        for wanted in ("TRANSFER_SRC", "TRANSFER_DST", "SAMPLED", "STORAGE", "COLOR_ATTACHMENT"):
            assert image.usage & getattr(vk, f"VK_IMAGE_USAGE_{wanted}_BIT")
    with exporter.image(PICTURE, usage=vk.VK_IMAGE_USAGE_TRANSFER_DST_BIT) as image:
        assert image.usage == vk.VK_IMAGE_USAGE_TRANSFER_DST_BIT
    with exporter.buffer(100, usage=vk.VK_BUFFER_USAGE_TRANSFER_DST_BIT) as buffer:
        assert buffer.usage == vk.VK_BUFFER_USAGE_TRANSFER_DST_BIT


def test_buffers_that_the_host_maps(rig, exporter):
    import vulkan as vk

    with exporter.buffer(256, host_visible=True) as buffer:
        assert buffer.nbytes == 256 <= buffer.size
        mapped = np.frombuffer(vk.vkMapMemory(rig.device, buffer.memory, 0, 256, 0), np.uint8)
        mapped[:] = np.arange(256)
        with exporter.buffer(256, host_visible=True) as copy:
            rig.copy_buffer(buffer.buffer, copy.buffer, 256)
            found = np.frombuffer(vk.vkMapMemory(rig.device, copy.memory, 0, 256, 0), np.uint8)
            np.testing.assert_array_equal(found, np.arange(256))


def test_format_names():
    import vulkan as vk

    for channel_type, channels, name in (
        ("unorm_int8", 4, "VK_FORMAT_R8G8B8A8_UNORM"),
        ("snorm_int16", 1, "VK_FORMAT_R16_SNORM"),
        ("signed_int32", 2, "VK_FORMAT_R32G32_SINT"),
        ("unsigned_int8", 1, "VK_FORMAT_R8_UINT"),
        ("fp16", 4, "VK_FORMAT_R16G16B16A16_SFLOAT"),
        ("fp32", 3, "VK_FORMAT_R32G32B32_SFLOAT"),
        ("unorm_10_10_10_2", 4, "VK_FORMAT_A2B10G10R10_UNORM_PACK32"),
        ("unorm_int8_srgb", 4, "VK_FORMAT_R8G8B8A8_SRGB"),
        ("bc1_srgb", 4, "VK_FORMAT_BC1_RGBA_SRGB_BLOCK"),
        ("bc4_snorm", 1, "VK_FORMAT_BC4_SNORM_BLOCK"),
        ("bc6h_ufloat", 4, "VK_FORMAT_BC6H_UFLOAT_BLOCK"),
        ("bc7_unorm", 4, "VK_FORMAT_BC7_UNORM_BLOCK"),
    ):
        desc = bl.ImageDescriptor(4, num_channels=channels, channel_type=channel_type)
        assert sharing.format_of(desc) == getattr(vk, name)
    every = [
        sharing.format_of(bl.ImageDescriptor(4, num_channels=channels, channel_type=channel_type))
        for channel_type in PLAIN
        for channels in (1, 2, 3, 4)
    ]
    assert len(set(every)) == 48


# ---------------------------------------------------------------------- refusals


def test_what_is_no_handle(rig, exporter, device):
    """Vulkan drivers do not check handles, and crash on invalid ones or ones of another kind."""
    for wrong in (None, 0, rig.device, object()):
        for ask in (sharing.device_uuid, sharing.device_for, sharing.device_extensions, sharing.can_export_semaphore):
            with raises(bl.InvalidError, names="VkPhysicalDevice"):
                ask(wrong)
        with raises(bl.InvalidError, names="VkPhysicalDevice"):
            sharing.Exporter(wrong, rig.device, device)
    for wrong in (None, 5, rig.physical_device):
        with raises(bl.InvalidError, names="VkDevice"):
            sharing.Exporter(rig.physical_device, wrong, device)
    for where in (None, "reference", 3):
        with raises(bl.InvalidError, names="Device"):
            sharing.Exporter(rig.physical_device, rig.device, where)


def test_what_is_no_usage(exporter):
    for make in (lambda usage: exporter.image(PICTURE, usage=usage), lambda usage: exporter.buffer(64, usage=usage)):
        for usage in (0, -1, 1 << 32, 1.5, "storage"):
            with raises(bl.InvalidError, names=f"usage={usage!r}"):
                make(usage)


def test_what_is_no_description(exporter):
    for desc in (None, (8, 8), "8x8"):
        for make in (exporter.image, sharing.format_of):
            with raises(bl.InvalidError, names="ImageDescriptor"):
                make(desc)
    for channels in (0, 5):
        with raises(bl.InvalidError, names=f"num_channels={channels}"):
            sharing.format_of(bl.ImageDescriptor(4, num_channels=channels))


def test_owners_are_not_copied(rig, exporter):
    """Two owners would destroy one Vulkan object twice."""
    made = [exporter.image(PICTURE), exporter.buffer(64)]
    if rig.has_semaphores:
        made.append(exporter.semaphore())
    for each in made:
        for take in (copy.copy, copy.deepcopy, pickle.dumps):
            with raises(bl.InvalidError):
                take(each)
        each.close()


@pytest.mark.parametrize("step", ["vkAllocateMemory", "vkBindImageMemory"])
def test_a_failure_on_the_way_leaves_nothing(exporter, monkeypatch, step):
    import vulkan as vk

    made, ended = [], []

    def counted(name, listed):
        call = getattr(vk, name)
        monkeypatch.setattr(vk, name, lambda *arguments: (listed.append(name), call(*arguments))[1])

    def failing(*_):
        raise vk.VkErrorOutOfDeviceMemory

    before = open_descriptors()
    monkeypatch.setattr(vk, step, failing)
    for name, listed in (
        ("vkCreateImage", made),
        ("vkDestroyImage", ended),
        *([("vkAllocateMemory", made), ("vkFreeMemory", ended)] if step != "vkAllocateMemory" else []),
    ):
        counted(name, listed)
    with raises(bl.MemoryAllocationError, names="VK_ERROR_OUT_OF_DEVICE_MEMORY"):
        exporter.image(PICTURE)
    assert len(made) == len(ended) == (1 if step == "vkAllocateMemory" else 2)
    assert open_descriptors() == before


def test_bad_images(exporter):
    layered = bl.ImageDescriptor(9, 9, type="array", array_size=2)
    for desc in (layered, bl.ImageDescriptor(0), bl.ImageDescriptor(8, 8, num_levels=2)):
        with pytest.raises(bl.InvalidError):
            exporter.image(desc)
    with raises(bl.InvalidError):
        exporter.image(bl.ImageDescriptor(2**20, 2**20))
    with raises(bl.InvalidError, names="'optimal', 'linear'"):
        exporter.image(PICTURE, tiling="curved")


def test_bad_buffers(exporter):
    for nbytes in (0, -1, 2.5):
        with raises(bl.InvalidError, names="nbytes"):
            exporter.buffer(nbytes)


def test_bad_semaphores(exporter):
    with raises(bl.InvalidError, names="timeline=True"):
        exporter.semaphore(initial_value=3)
    with pytest.raises(bl.InvalidError):
        exporter.semaphore(timeline=True, initial_value=-1)


def test_mipmaps(rig, exporter):
    desc = bl.ImageDescriptor(45, 23, channel_type="fp16", type="mipmap", num_levels=6)
    with exporter.image(desc) as image:
        rig.start(image)
        pixels = pixels_for(desc, seed=2)
        rig.write(image, pixels)
        same(rig.read(image), pixels)
        assert image.size >= sum(level.nbytes for level in levels_of(desc))


def test_without_the_package():
    """The import of the module needs no extra; its use names the package to install."""
    program = (
        "import sys; sys.modules['vulkan'] = None\n"
        "import bindless as bl\n"
        "from bindless.interop import vulkan as sharing\n"
        "try:\n    sharing.device_uuid(None)\n"
        "except bl.FeatureNotSupportedError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert "pip install 'bindless[vulkan]'" in done.stdout, done.stderr
