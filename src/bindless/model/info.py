"""Information descriptors: ``device.get_info(info.device.image_row_pitch_align)``.

Each member's comment gives the type of the answer. Sizes are bytes or pixels as SYCL 2020 and BI define them.
"""

from __future__ import annotations

from .enums import StringEnum

__all__ = ["context", "device", "event", "event_profiling", "kernel", "platform", "queue"]


class platform(StringEnum):
    """Of a platform (SYCL 2020 section 4.6.2.4)."""

    name = "name"  # str
    vendor = "vendor"  # str
    version = "version"  # str


class context(StringEnum):
    """Of a context (SYCL 2020 section 4.6.3.2)."""

    platform = "platform"  # Platform
    devices = "devices"  # tuple[Device, ...]


class queue(StringEnum):
    """Of a queue (SYCL 2020 section 4.6.5.2)."""

    context = "context"  # Context
    device = "device"  # Device


class event(StringEnum):
    """Of an event (SYCL 2020 section 4.6.6.1)."""

    command_execution_status = "command_execution_status"  # EventStatus


class event_profiling(StringEnum):
    """Times of an event in nanoseconds (SYCL 2020 section 4.6.6.2)."""

    command_submit = "command_submit"  # int
    command_start = "command_start"  # int
    command_end = "command_end"  # int


class kernel(StringEnum):
    """Of a kernel (SYCL 2020 section 4.11.13)."""

    function_name = "function_name"  # str
    num_args = "num_args"  # int
    attributes = "attributes"  # str


class device(StringEnum):
    """Of a device (SYCL 2020 section 4.6.4.4, BI's queries)."""

    device_type = "device_type"  # DeviceType
    name = "name"  # str
    vendor = "vendor"  # str
    vendor_id = "vendor_id"  # int
    driver_version = "driver_version"  # str
    version = "version"  # str: of the device, such as its compute capability
    backend_version = "backend_version"  # str
    is_available = "is_available"  # bool
    max_compute_units = "max_compute_units"  # int
    max_work_item_dimensions = "max_work_item_dimensions"  # int
    max_work_item_sizes = "max_work_item_sizes"  # tuple[int, int, int], SYCL order
    max_work_group_size = "max_work_group_size"  # int
    max_num_sub_groups = "max_num_sub_groups"  # int
    sub_group_sizes = "sub_group_sizes"  # tuple[int, ...]
    max_clock_frequency = "max_clock_frequency"  # int, MHz
    address_bits = "address_bits"  # int
    max_mem_alloc_size = "max_mem_alloc_size"  # int, bytes
    global_mem_size = "global_mem_size"  # int, bytes
    global_mem_cache_size = "global_mem_cache_size"  # int, bytes
    local_mem_size = "local_mem_size"  # int, bytes
    max_parameter_size = "max_parameter_size"  # int, bytes
    mem_base_addr_align = "mem_base_addr_align"  # int, bits
    profiling_timer_resolution = "profiling_timer_resolution"  # int, nanoseconds
    max_samplers = "max_samplers"  # int
    image1d_max_width = "image1d_max_width"  # int, pixels
    image2d_max_width = "image2d_max_width"  # int, pixels
    image2d_max_height = "image2d_max_height"  # int, pixels
    image3d_max_width = "image3d_max_width"  # int, pixels
    image3d_max_height = "image3d_max_height"  # int, pixels
    image3d_max_depth = "image3d_max_depth"  # int, pixels
    image_max_array_size = "image_max_array_size"  # int, layers
    image_max_buffer_size = "image_max_buffer_size"  # int, pixels of a linear 1D image
    uuid = "uuid"  # bytes, 16
    pci_address = "pci_address"  # str, domain:bus:device.function, or ""
    # BI: pitch alignment restrictions and queries; mipmaps
    image_row_pitch_align = "image_row_pitch_align"  # int (uint32), bytes
    max_image_linear_width = "max_image_linear_width"  # int (size_t), pixels
    max_image_linear_height = "max_image_linear_height"  # int (size_t), pixels
    max_image_linear_row_pitch = "max_image_linear_row_pitch"  # int (size_t), bytes
    mipmap_max_anisotropy = "mipmap_max_anisotropy"  # float
