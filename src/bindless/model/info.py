"""Information descriptors: ``device.get_info(info.device.image_row_pitch_align)``.

The text of each member is the type of the result. Sizes are bytes or pixels as SYCL 2020 and BI define them.
"""

from __future__ import annotations

from .enums import StringEnum

__all__ = [
    "DERIVED",
    "context",
    "device",
    "event",
    "event_profiling",
    "execution_capability",
    "fp_config",
    "global_mem_cache_type",
    "kernel",
    "kernel_device_specific",
    "local_mem_type",
    "memory_order",
    "memory_scope",
    "partition_affinity_domain",
    "partition_property",
    "platform",
    "queue",
]


# ---------------------------------------------------------------------- result types


class fp_config(StringEnum):
    """Floating-point capabilities of a device (SYCL 2020 section 4.6.4.4)."""

    denorm = "denorm"
    inf_nan = "inf_nan"
    round_to_nearest = "round_to_nearest"
    round_to_zero = "round_to_zero"
    round_to_inf = "round_to_inf"
    fma = "fma"
    correctly_rounded_divide_sqrt = "correctly_rounded_divide_sqrt"
    soft_float = "soft_float"


class global_mem_cache_type(StringEnum):
    """Kind of cache of global memory."""

    none = "none"
    read_only = "read_only"
    read_write = "read_write"


class local_mem_type(StringEnum):
    """Kind of local memory: dedicated, or part of global memory."""

    none = "none"
    local = "local"
    global_ = "global"


class execution_capability(StringEnum):
    """Kinds of kernels that a device runs."""

    exec_kernel = "exec_kernel"
    exec_native_kernel = "exec_native_kernel"


class memory_order(StringEnum):
    """Orders of atomic operations, from the weakest (ARCH, Memory ordering)."""

    relaxed = "relaxed"
    acquire = "acquire"
    release = "release"
    acq_rel = "acq_rel"
    seq_cst = "seq_cst"


class memory_scope(StringEnum):
    """Scopes of atomic operations, from the narrowest (ARCH, Memory scope)."""

    work_item = "work_item"
    sub_group = "sub_group"
    work_group = "work_group"
    device = "device"
    system = "system"


class partition_property(StringEnum):
    """Ways of dividing a device (SYCL 2020 section 4.6.4.3)."""

    no_partition = "no_partition"
    partition_equally = "partition_equally"
    partition_by_counts = "partition_by_counts"
    partition_by_affinity_domain = "partition_by_affinity_domain"


class partition_affinity_domain(StringEnum):
    """Resource that the parts of a device divided by affinity share."""

    not_applicable = "not_applicable"
    numa = "numa"
    L4_cache = "L4_cache"
    L3_cache = "L3_cache"
    L2_cache = "L2_cache"
    L1_cache = "L1_cache"
    next_partitionable = "next_partitionable"


# ---------------------------------------------------------------------- descriptors


class platform(StringEnum):
    """Information about a platform (SYCL 2020 section 4.6.2.4)."""

    name = "name"  #: str
    vendor = "vendor"  #: str
    version = "version"  #: str


class context(StringEnum):
    """Information about a context (SYCL 2020 section 4.6.3.2)."""

    platform = "platform"  #: Platform
    devices = "devices"  #: tuple[Device, ...]
    # Capabilities that all its devices have:
    atomic_memory_order_capabilities = "atomic_memory_order_capabilities"  #: tuple[memory_order, ...]
    atomic_fence_order_capabilities = "atomic_fence_order_capabilities"  #: tuple[memory_order, ...]
    atomic_memory_scope_capabilities = "atomic_memory_scope_capabilities"  #: tuple[memory_scope, ...]
    atomic_fence_scope_capabilities = "atomic_fence_scope_capabilities"  #: tuple[memory_scope, ...]


class queue(StringEnum):
    """Information about a queue (SYCL 2020 section 4.6.5.2)."""

    context = "context"  #: Context
    device = "device"  #: Device


class event(StringEnum):
    """Information about an event (SYCL 2020 section 4.6.6.1)."""

    command_execution_status = "command_execution_status"  #: EventStatus


class event_profiling(StringEnum):
    """Times of an event in nanoseconds (SYCL 2020 section 4.6.6.2)."""

    command_submit = "command_submit"  #: int
    command_start = "command_start"  #: int
    command_end = "command_end"  #: int


class kernel(StringEnum):
    """Information about a kernel (SYCL 2020 section 4.11.13)."""

    function_name = "function_name"  #: str
    num_args = "num_args"  #: int
    attributes = "attributes"  #: str
    context = "context"  #: Context


class kernel_device_specific(StringEnum):
    """Information about a kernel on one device (SYCL 2020 section 4.11.13); ranges are in SYCL's order."""

    work_group_size = "work_group_size"  #: int: work-items of the largest work-group
    compile_work_group_size = "compile_work_group_size"  #: tuple[int, int, int]; zeros without a requirement
    preferred_work_group_size_multiple = "preferred_work_group_size_multiple"  #: int
    private_mem_size = "private_mem_size"  #: int, bytes of a work-item
    local_mem_size = "local_mem_size"  #: int, bytes of a work-group, without its arguments
    max_num_sub_groups = "max_num_sub_groups"  #: int
    max_sub_group_size = "max_sub_group_size"  #: int
    compile_num_sub_groups = "compile_num_sub_groups"  #: int; 0 without a requirement
    compile_sub_group_size = "compile_sub_group_size"  #: int; 0 without a requirement
    ext_codeplay_num_regs = "ext_codeplay_num_regs"  #: int: registers of a work-item


class device(StringEnum):
    """Information about a device (SYCL 2020 section 4.6.4.4, BI's queries)."""

    device_type = "device_type"  #: DeviceType
    name = "name"  #: str
    vendor = "vendor"  #: str
    vendor_id = "vendor_id"  #: int
    driver_version = "driver_version"  #: str
    version = "version"  #: str: of the device, such as its compute capability
    backend_version = "backend_version"  #: str
    platform = "platform"  #: Platform
    aspects = "aspects"  #: frozenset[Aspect]
    is_available = "is_available"  #: bool
    is_compiler_available = "is_compiler_available"  #: bool
    is_linker_available = "is_linker_available"  #: bool
    is_endian_little = "is_endian_little"  #: bool; devices have the byte order of the host
    execution_capabilities = "execution_capabilities"  #: tuple[execution_capability, ...]
    queue_profiling = "queue_profiling"  #: bool
    parent_device = "parent_device"  #: Device, or None
    partition_max_sub_devices = "partition_max_sub_devices"  #: int; 0 where the device cannot be divided
    partition_properties = "partition_properties"  #: tuple[partition_property, ...]
    partition_affinity_domains = "partition_affinity_domains"  #: tuple[partition_affinity_domain, ...]
    partition_type_property = "partition_type_property"  #: partition_property that created it
    partition_type_affinity_domain = "partition_type_affinity_domain"  #: partition_affinity_domain that created it
    max_compute_units = "max_compute_units"  #: int
    max_work_item_dimensions = "max_work_item_dimensions"  #: int
    max_work_item_sizes = "max_work_item_sizes"  #: tuple[int, int, int], SYCL order
    max_work_group_size = "max_work_group_size"  #: int
    max_num_sub_groups = "max_num_sub_groups"  #: int
    sub_group_sizes = "sub_group_sizes"  #: tuple[int, ...]
    sub_group_independent_forward_progress = "sub_group_independent_forward_progress"  #: bool
    preferred_vector_width_char = "preferred_vector_width_char"  #: int
    preferred_vector_width_short = "preferred_vector_width_short"  #: int
    preferred_vector_width_int = "preferred_vector_width_int"  #: int
    preferred_vector_width_long = "preferred_vector_width_long"  #: int
    preferred_vector_width_float = "preferred_vector_width_float"  #: int
    preferred_vector_width_double = "preferred_vector_width_double"  #: int
    preferred_vector_width_half = "preferred_vector_width_half"  #: int
    native_vector_width_char = "native_vector_width_char"  #: int
    native_vector_width_short = "native_vector_width_short"  #: int
    native_vector_width_int = "native_vector_width_int"  #: int
    native_vector_width_long = "native_vector_width_long"  #: int
    native_vector_width_float = "native_vector_width_float"  #: int
    native_vector_width_double = "native_vector_width_double"  #: int
    native_vector_width_half = "native_vector_width_half"  #: int
    half_fp_config = "half_fp_config"  #: tuple[fp_config, ...]
    single_fp_config = "single_fp_config"  #: tuple[fp_config, ...]
    double_fp_config = "double_fp_config"  #: tuple[fp_config, ...]
    atomic_memory_order_capabilities = "atomic_memory_order_capabilities"  #: tuple[memory_order, ...]
    atomic_fence_order_capabilities = "atomic_fence_order_capabilities"  #: tuple[memory_order, ...]
    atomic_memory_scope_capabilities = "atomic_memory_scope_capabilities"  #: tuple[memory_scope, ...]
    atomic_fence_scope_capabilities = "atomic_fence_scope_capabilities"  #: tuple[memory_scope, ...]
    max_clock_frequency = "max_clock_frequency"  #: int, MHz; 0 where unknown
    address_bits = "address_bits"  #: int
    max_mem_alloc_size = "max_mem_alloc_size"  #: int, bytes
    global_mem_size = "global_mem_size"  #: int, bytes
    global_mem_cache_size = "global_mem_cache_size"  #: int, bytes
    global_mem_cache_type = "global_mem_cache_type"  #: global_mem_cache_type
    global_mem_cache_line_size = "global_mem_cache_line_size"  #: int, bytes
    error_correction_support = "error_correction_support"  #: bool
    host_unified_memory = "host_unified_memory"  #: bool: device and host share their memory
    local_mem_type = "local_mem_type"  #: local_mem_type
    local_mem_size = "local_mem_size"  #: int, bytes
    max_parameter_size = "max_parameter_size"  #: int, bytes
    mem_base_addr_align = "mem_base_addr_align"  #: int, bits
    profiling_timer_resolution = "profiling_timer_resolution"  #: int, nanoseconds
    max_samplers = "max_samplers"  #: int
    image1d_max_width = "image1d_max_width"  #: int, pixels
    image2d_max_width = "image2d_max_width"  #: int, pixels
    image2d_max_height = "image2d_max_height"  #: int, pixels
    image3d_max_width = "image3d_max_width"  #: int, pixels
    image3d_max_height = "image3d_max_height"  #: int, pixels
    image3d_max_depth = "image3d_max_depth"  #: int, pixels
    image_max_array_size = "image_max_array_size"  #: int, layers
    image_max_buffer_size = "image_max_buffer_size"  #: int, pixels of a linear 1D image
    uuid = "uuid"  #: bytes, 16
    pci_address = "pci_address"  #: str, domain:bus:device.function, or ""
    # BI: pitch alignment restrictions and queries; mipmaps
    image_row_pitch_align = "image_row_pitch_align"  #: int (uint32), bytes
    max_image_linear_width = "max_image_linear_width"  #: int (size_t), pixels
    max_image_linear_height = "max_image_linear_height"  #: int (size_t), pixels
    max_image_linear_row_pitch = "max_image_linear_row_pitch"  #: int (size_t), bytes
    mipmap_max_anisotropy = "mipmap_max_anisotropy"  #: float


# The layers above the backends answer these, from discovery, aspects and sub-devices.
DERIVED = frozenset(
    {
        device.platform,
        device.aspects,
        device.is_compiler_available,
        device.is_linker_available,
        device.is_endian_little,
        device.queue_profiling,
        device.parent_device,
        device.partition_max_sub_devices,
        device.partition_properties,
        device.partition_affinity_domains,
        device.partition_type_property,
        device.partition_type_affinity_domain,
    }
)
