"""Helpers for Level Zero's idioms, tested on a small loader compiled from the generated declarations."""

from __future__ import annotations

import gc
import weakref

import pytest

from bindless.drivers import level_zero

from .conftest import Compile, Run
from .test_loader import exporting, required

# Two drivers, one of which the loader calls first; devices with properties; zeInit fails until the test enables it.
LOADER = """
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "level_zero_types.h"

ze_result_t zeInit(ze_init_flags_t flags) { return flags == 1 ? ZE_RESULT_ERROR_UNINITIALIZED : ZE_RESULT_SUCCESS; }

ze_result_t zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers)
{
  if (getenv("CRASH")) abort();
  if (drivers) for (uint32_t i = 0; i < *count; i++) drivers[i] = (ze_driver_handle_t)(uintptr_t)(0x1000 + i);
  *count = 2;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetExtensionProperties(ze_driver_handle_t driver, uint32_t *count,
                                           ze_driver_extension_properties_t *properties)
{
  if (driver != (ze_driver_handle_t)0x1000) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  for (uint32_t i = 0; properties && i < *count; i++) {
    strcpy(properties[i].name, "ZE_extension_a");
    properties[i].version = 7;
  }
  *count = 3;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetMemoryProperties(ze_device_handle_t device, uint32_t *count,
                                        ze_device_memory_properties_t *memory)
{
  (void)device;
  if (!memory) { *count = 2; return ZE_RESULT_SUCCESS; }
  for (uint32_t i = 0; i < *count; i++) {
    if (memory[i].stype != ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    memory[i].totalSize = 100 + i;
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetProperties(ze_device_handle_t device, ze_device_properties_t *properties)
{
  (void)device;
  ze_device_ip_version_ext_t *next = properties->pNext;
  if (properties->stype != ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  if (next) {
    if (next->stype != ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    next->ipVersion = 42;
  }
  properties->vendorId = 0x8086;
  return ZE_RESULT_SUCCESS;
}
"""
DEFINED = ("zeInit", "zeDriverGet", "zeDeviceGetProperties")


@pytest.fixture
def loader(compile_library: Compile) -> str:
    others = exporting(*(name for name in required("level_zero") if name not in DEFINED))
    return str(compile_library(LOADER + others, "libze_loader.so.1"))


def words(name: str) -> set[str]:
    parts = name.upper().replace("CACHE_LINE", "CACHELINE").split("_")
    return set(parts)


def test_every_struct_with_stype_gets_its_own_value() -> None:
    """The enumerator's name follows from the struct's name; no two structs share one."""
    enums = level_zero.ze_structure_type_t
    assert len(level_zero.STRUCTURE_TYPES) == 122
    assert len(set(level_zero.STRUCTURE_TYPES.values())) == 122
    for name in level_zero.STRUCTURE_TYPES:
        struct = level_zero.make_struct(name)
        label = enums(struct.stype).name.removeprefix("ZE_STRUCTURE_TYPE_")
        assert words(label) <= words(name), (name, label)
        assert struct.pNext == level_zero.ffi.NULL


def test_members_are_set_nested_ones_by_dicts() -> None:
    image = level_zero.make_struct(
        "ze_image_desc_t",
        type=level_zero.ze_image_type_t.ZE_IMAGE_TYPE_2D,
        format={"layout": level_zero.lib.ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, "x": 1, "w": 3},
        width=1 << 40,
        height=7,
    )
    assert (image.type, image.format.layout, image.format.x, image.format.w) == (2, 4, 1, 3)
    assert (image.width, image.height, image.depth) == (1 << 40, 7, 0)


def test_a_chain_keeps_what_it_points_to_alive() -> None:
    inner = level_zero.make_struct("ze_image_bindless_exp_desc_t", flags=1)
    middle = level_zero.make_struct("ze_image_pitched_exp_desc_t", inner, ptr=level_zero.ffi.cast("void *", 64))
    outer = level_zero.make_struct("ze_image_desc_t", middle)
    references = [weakref.ref(inner), weakref.ref(middle)]
    del inner, middle
    gc.collect()
    assert all(reference() is not None for reference in references)
    second = level_zero.ffi.cast("ze_image_pitched_exp_desc_t *", outer.pNext)
    third = level_zero.ffi.cast("ze_image_bindless_exp_desc_t *", second.pNext)
    assert (second.stype, third.stype, third.flags) == (
        level_zero.lib.ZE_STRUCTURE_TYPE_PITCHED_IMAGE_EXP_DESC,
        level_zero.lib.ZE_STRUCTURE_TYPE_BINDLESS_IMAGE_EXP_DESC,
        1,
    )
    del outer
    gc.collect()
    assert all(reference() is None for reference in references)


@pytest.mark.parametrize(
    ("name", "members", "error"),
    [("ze_no_such_t", {}, KeyError), ("ze_image_desc_t", {"wdth": 1}, KeyError), ("ze_ipc_mem_handle_t", {}, KeyError)],
)
def test_a_wrong_struct_or_member_is_a_key_error(name: str, members: dict[str, int], error: type[Exception]) -> None:
    with pytest.raises(error):
        level_zero.make_struct(name, **members)


def test_counting_and_filling(loader: str, run_python: Run) -> None:
    output = run_python(
        f"""
        import gc
        from bindless.drivers import level_zero as zero
        from bindless.model.errors import InvalidError
        zero.load({loader!r})
        zero.init()
        ffi = zero.ffi
        drivers = zero.get_all("ze_driver_handle_t", "zeDriverGet")
        print([int(ffi.cast("uintptr_t", driver)) for driver in drivers])
        extensions = zero.get_all("ze_driver_extension_properties_t", "zeDriverGetExtensionProperties", drivers[0])
        gc.collect()
        print([(ffi.string(item.name), item.version) for item in extensions])
        device = ffi.cast("ze_device_handle_t", 1)
        memory = zero.get_all("ze_device_memory_properties_t", "zeDeviceGetMemoryProperties", device)
        print([item.totalSize for item in memory])
        version = zero.make_struct("ze_device_ip_version_ext_t")
        found = zero.get_properties("ze_device_properties_t", "zeDeviceGetProperties", device, next=version)
        print(hex(found.vendorId), version.ipVersion)
        try:
            zero.get_all("ze_driver_extension_properties_t", "zeDriverGetExtensionProperties", drivers[1])
        except InvalidError as error:
            print(error)
        """
    )
    assert output.splitlines() == [
        "[4096, 4097]",
        "[(b'ZE_extension_a', 7), (b'ZE_extension_a', 7), (b'ZE_extension_a', 7)]",
        "[100, 101]",
        "0x8086 42",
        "ZE_RESULT_ERROR_INVALID_NULL_HANDLE: a handle is NULL (in zeDriverGetExtensionProperties)",
    ]


def test_drivers_are_not_asked_for_before_a_successful_initialisation(loader: str, run_python: Run) -> None:
    """Loaders up to 1.8 crash on that call; the fake loader aborts."""
    output = run_python(
        f"""
        from bindless.drivers import level_zero as zero
        from bindless.model.errors import PlatformError
        zero.load({loader!r})
        count = zero.ffi.new("uint32_t *")
        print(hex(zero.lib.zeDriverGet(count, zero.ffi.NULL)))
        try:
            zero.init(1)
        except PlatformError as error:
            print(error)
        print(hex(zero.lib.zeDriverGet(count, zero.ffi.NULL)))
        """,
        CRASH="1",
    )
    assert output.splitlines() == [
        "0x78000001",
        "ZE_RESULT_ERROR_UNINITIALIZED: zeInit has not succeeded: no driver was found, or it could not start "
        "(in zeInit)",
        "0x78000001",
    ]


def test_the_version_is_read_from_the_file_where_the_loader_does_not_tell(
    loader: str, run_python: Run, compile_library: Compile
) -> None:
    named = compile_library(exporting(*required("level_zero")), "libze_loader.so.1.8.12")
    code = "from bindless.drivers import level_zero as zero\nprint(zero.version())"
    assert run_python(code, BINDLESS_LIBZE_LOADER=str(named)) == "(1, 8, 12)\n"
    assert run_python(code, BINDLESS_LIBZE_LOADER=loader) == "()\n"


@pytest.mark.level_zero
def test_the_real_loader(run_python: Run) -> None:
    """A loader of any version: it loads, reports its version, and lacks a driver without crashing."""
    output = run_python(
        """
        from bindless.drivers import level_zero as zero
        from bindless.model.errors import Error
        zero.load()
        assert zero.version() >= (1, 0), zero.version()
        try:
            zero.init()
            print(len(zero.get_all("ze_driver_handle_t", "zeDriverGet")) > 0)
        except Error as error:
            assert error.native_name == "ZE_RESULT_ERROR_UNINITIALIZED", error
            count = zero.ffi.new("uint32_t *")
            print(zero.lib.zeDriverGet(count, zero.ffi.NULL) == zero.lib.ZE_RESULT_ERROR_UNINITIALIZED)
        missing = zero.missing_functions()
        for function in missing:
            assert not zero.has(function)
        """
    )
    assert output == "True\n"
