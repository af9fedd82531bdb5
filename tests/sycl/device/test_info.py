"""Information descriptors: types and correctness of their answers, on the device of ``--device``."""

from __future__ import annotations

import os
import re
import sys

import pytest

import bindless as bl
from bindless.model import info
from tests.support.error_checks import raises

NAMES = {
    enum.__name__: enum
    for enum in (
        info.execution_capability,
        info.fp_config,
        info.global_mem_cache_type,
        info.local_mem_type,
        info.memory_order,
        info.memory_scope,
        info.partition_affinity_domain,
        info.partition_property,
    )
}
TYPES = {"str": str, "int": int, "bool": bool, "float": float, "bytes": bytes} | NAMES
TYPES |= {"DeviceType": bl.DeviceType, "Platform": bl.Platform, "EventStatus": bl.EventStatus, "Context": bl.Context}
TYPES |= {"Device": bl.Device, "Aspect": bl.Aspect}


def described(enum: type) -> dict[str, str]:
    """Map each descriptor to the type in its text."""
    with open(info.__file__, encoding="utf-8") as file:
        source = file.read()
    body = source.split(f"class {enum.__name__}(StringEnum):")[1].split("\nclass ")[0]
    found = dict(re.findall(r'^    (\w+) = "\w+"  #: ([^;:\n]+)', body, re.MULTILINE))
    assert set(found) == {member.name for member in enum}
    return found


def check(answer: object, kind: str) -> None:
    """Check that an answer has the type in the comment."""
    kind = kind.split(" (")[0].strip()
    container = re.match(r"(tuple|frozenset)\[(\w+)(.*)\]", kind)
    if container is not None:
        outer, inner, rest = container.groups()
        assert type(answer) is {"tuple": tuple, "frozenset": frozenset}[outer]
        assert all(type(item) is TYPES[inner] for item in answer)
        if rest != ", ..." and outer == "tuple":
            assert len(answer) == rest.count(",") + 1
    elif kind == "Device, or None":
        assert answer is None or type(answer) is bl.Device
    else:
        assert type(answer) is TYPES[re.match(r"\w+", kind)[0]], (answer, kind)


@pytest.mark.parametrize("name, kind", described(info.device).items(), ids=lambda text: text.split("[")[0])
def test_every_answer_of_a_device_has_the_type_that_is_promised(device, name, kind):
    check(device.get_info(name), kind)


def test_answers_agree_with_each_other(device):
    ask = device.get_info
    assert ask("global_mem_size") >= ask("max_mem_alloc_size") > 1 << 20
    assert ask("max_work_group_size") >= max(ask("sub_group_sizes")) >= 1
    assert ask("max_num_sub_groups") == ask("max_work_group_size") // min(ask("sub_group_sizes"))
    assert len(ask("max_work_item_sizes")) == ask("max_work_item_dimensions") == 3
    assert max(ask("max_work_item_sizes")) <= ask("max_work_group_size")
    assert ask("is_endian_little") == (sys.byteorder == "little") and ask("address_bits") == 64
    assert ask("is_available") and ask("max_compute_units") >= 1
    assert ask("aspects") == device.aspects and ask("platform") == device.platform
    assert ask("is_compiler_available") == device.has("online_compiler")
    assert ask("is_linker_available") == device.has("online_linker")
    assert ask("queue_profiling") == device.has("queue_profiling")
    assert bool(ask("half_fp_config")) == device.has("fp16") and bool(ask("double_fp_config")) == device.has("fp64")
    assert {"inf_nan", "round_to_nearest"} <= set(ask("single_fp_config"))
    assert "denorm" in ask("single_fp_config") or device.backend == "opencl"  # OpenCL makes denormals optional
    # Every device offers the weakest order and the narrowest scope.
    assert {"relaxed"} <= set(ask("atomic_memory_order_capabilities"))
    assert {"work_item", "sub_group", "work_group"} <= set(ask("atomic_memory_scope_capabilities"))
    assert {"relaxed", "acquire", "release", "acq_rel"} <= set(ask("atomic_fence_order_capabilities"))
    assert {"exec_kernel"} <= set(ask("execution_capabilities"))
    assert device.has("image") and device.has("ext_oneapi_bindless_images")
    for size, least in (("1d", 4096), ("2d", 4096), ("3d", 2048)):
        assert ask(f"image{size}_max_width") >= least
    assert ask("image2d_max_height") >= 4096 and ask("image3d_max_depth") >= 2048
    assert len(ask("uuid")) == 16 and ask("uuid") != bytes(16)
    assert re.fullmatch(r"([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])?", ask("pci_address"))
    assert bool(ask("pci_address")) == device.is_gpu()


def test_the_reference_tells_of_this_machine():
    device = bl.Device("reference")
    page, pages = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_PHYS_PAGES")
    assert device.get_info("global_mem_size") <= page * pages
    threads = os.environ.get("BINDLESS_REFERENCE_THREADS")
    assert 1 <= device.get_info("max_compute_units") <= (int(threads) if threads else os.cpu_count())
    assert device.get_info("host_unified_memory") and device.get_info("local_mem_type") == "global"


def test_every_answer_of_platform_context_queue_and_event(device, context, queue):
    for owner, enum in ((device.platform, info.platform), (context, info.context), (queue, info.queue)):
        for name, kind in described(enum).items():
            check(owner.get_info(name), kind)
    event = queue.ext_oneapi_submit_barrier()
    event.wait()
    assert event.get_info("command_execution_status") is bl.EventStatus.complete
    assert context.get_info("devices") == context.devices == (device,)
    assert queue.get_info(info.queue.device) == device and queue.get_info("context") is context
    for name in ("atomic_memory_order_capabilities", "atomic_fence_scope_capabilities"):
        assert context.get_info(name) == device.get_info(name)


def test_a_context_can_do_what_all_its_devices_can(fakes, monkeypatch):
    first, second = bl.get_devices("cuda")
    orders = {first: ("relaxed", "acquire", "seq_cst"), second: ("relaxed", "seq_cst", "acq_rel")}
    natives = {device._record.native: tuple(map(info.memory_order, orders[device])) for device in orders}
    monkeypatch.setattr(type(first._backend), "device_info", lambda self, device, name: natives[device])
    assert bl.Context([first, second]).get_info("atomic_memory_order_capabilities") == ("relaxed", "seq_cst")


def test_unknown_descriptors_list_what_there_is(device, context, queue):
    event = queue.ext_oneapi_submit_barrier()
    for owner, known in (
        (device, "pci_address"), (device.platform, "version"), (context, "devices"), (queue, "context"),
        (event, "command_execution_status"),
    ):  # fmt: skip
        with raises(bl.InvalidError, names=("descriptor='colour'", f"'{known}'")):
            owner.get_info("colour")
