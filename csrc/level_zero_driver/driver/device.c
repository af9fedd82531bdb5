/* Devices and their properties: the processors of this machine, as the reference driver describes them. */
#include "level_zero_driver/driver/device.h"

#include "level_zero_driver/driver/cpu_info.h"
#include "reference/platform/heap.h"
#include "reference/runtime/device.h"
#include "reference/spirv/program.h"
#include "reference/platform/threads.h"
#include "level_zero_driver/command/executor.h"
#include "level_zero_driver/core/descriptor_chain.h"

#include <stdio.h>
#include <string.h>

/* 63 bits of nanoseconds never wrap around; many programs compute 1 << bits and fail for 64. */
#define TIMESTAMP_BITS 63u
#define MAX_SUB_GROUPS_BYTES ((uint32_t)64 << 20) /* local memory of a work-group */
#define MAX_ARGUMENTS_SIZE 65536u
#define MEMORY_BUS_WIDTH 64u /* bits of one memory channel; processors do not report the number of channels */

static const struct blz_queue_group groups[BLZ_QUEUE_GROUPS] = {
    {ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY |
         ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COOPERATIVE_KERNELS,
     1},
    {ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY, 1},
};

const struct blz_queue_group *blz_queue_group(uint32_t ordinal) { return ordinal < BLZ_QUEUE_GROUPS ? &groups[ordinal] : NULL; }

/* ---------------------------------------------------------------- devices and sub-devices */

ze_result_t zeDeviceGetSubDevices(ze_device_handle_t handle, uint32_t *count, ze_device_handle_t *handles)
{
    struct blz_device *device;
    uint32_t written = 0;
    ze_result_t result = blz_device_check(handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_count(device->subdevice_count, count, handles, &written);
    for (uint32_t i = 0; i < written; i++)
        handles[i] = blz_handle_of(&device->subdevices[i]->object);
    return result;
}

ze_result_t zeDeviceGetRootDevice(ze_device_handle_t handle, ze_device_handle_t *root)
{
    struct blz_device *device;
    ze_result_t result = blz_device_check(handle, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (root == NULL)
        return blz_fail_null("phRootDevice");
    *root = device->root == NULL ? NULL : blz_handle_of(&device->root->object);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetStatus(ze_device_handle_t handle)
{
    struct blz_device *device;
    return blz_device_check(handle, &device);
}

ze_result_t zeDeviceGetGlobalTimestamps(ze_device_handle_t handle, uint64_t *host, uint64_t *native)
{
    struct blz_device *device;
    ze_result_t result = blz_device_check(handle, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (host == NULL || native == NULL)
        return blz_fail_null(host == NULL ? "hostTimestamp" : "deviceTimestamp");
    *host = *native = blr_clock_now(); /* host and device have the same clock, in nanoseconds */
    return ZE_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- properties */

static void chain_device_properties(const ze_device_properties_t *properties, ze_structure_type_t own, const struct blz_device *device)
{
    const struct blz_identity *identity = blz_driver()->identity;
    ze_eu_count_ext_t *eus = blz_property_chained(properties, own, ZE_STRUCTURE_TYPE_EU_COUNT_EXT);
    if (eus != NULL)
        eus->numTotalEUs = identity != NULL ? identity->slices * identity->subslices * identity->eus : device->limits.compute_units;
    ze_device_ip_version_ext_t *ip = blz_property_chained(properties, own, ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT);
    if (ip != NULL)
        ip->ipVersion = identity != NULL ? identity->ip_version : 0;
    ze_device_usablemem_size_ext_properties_t *usable =
        blz_property_chained(properties, own, ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES);
    if (usable != NULL)
        usable->currUsableMemSize = blr_memory_available();
    ze_device_readonly_memory_ext_properties_t *read_only =
        blz_property_chained(properties, own, ZE_STRUCTURE_TYPE_DEVICE_READONLY_MEMORY_EXT_PROPERTIES);
    if (read_only != NULL)
        read_only->readonlyCapability = ZE_DEVICE_READONLY_MEMORY_CAPABILITY_ENFORCED;
    ze_device_event_properties_t *events = blz_property_chained(properties, own, ZE_STRUCTURE_TYPE_DEVICE_EVENT_PROPERTIES);
    if (events != NULL)
        events->flags = 0; /* counter-based events stay in the process, and keep their counters themselves */
}

/* Reports the numbers of an Intel GPU; nothing for NULL. */
static void impersonate(const struct blz_identity *identity, ze_device_properties_t *properties)
{
    if (identity == NULL)
        return;
    properties->vendorId = BLZ_INTEL_VENDOR;
    properties->deviceId = identity->device_id;
    properties->numSlices = identity->slices;
    properties->numSubslicesPerSlice = identity->subslices;
    properties->numEUsPerSubslice = identity->eus;
    properties->numThreadsPerEU = identity->threads;
    properties->physicalEUSimdWidth = identity->width;
    snprintf(properties->name, sizeof properties->name, "%s", identity->name);
}

ze_result_t zeDeviceGetProperties(ze_device_handle_t handle, ze_device_properties_t *properties)
{
    struct blz_device *device;
    ze_result_t result = blz_device_check(handle, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    const bool cycles = properties != NULL && properties->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    const ze_structure_type_t own = cycles ? ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 : ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    result = blz_properties(properties, own, "pDeviceProperties");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    const blr_device_properties_t *limits = &device->limits;
    *properties = (ze_device_properties_t){
        .stype = properties->stype,
        .pNext = properties->pNext,
        .type = blz_driver()->type,
        .vendorId = 0x626c,
        .flags = ZE_DEVICE_PROPERTY_FLAG_ONDEMANDPAGING |
                 (blz_driver()->type == ZE_DEVICE_TYPE_CPU ? ZE_DEVICE_PROPERTY_FLAG_INTEGRATED : 0) |
                 (device->root != NULL ? ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE : 0),
        .subdeviceId = device->subdevice_id,
        .coreClockRate = blz_processor_clock(),
        .maxMemAllocSize = limits->max_allocation_size,
        .maxHardwareContexts = 1024,
        .maxCommandQueuePriority = 0,
        .numThreadsPerEU = 1,
        .physicalEUSimdWidth = BLR_LANES,
        .numEUsPerSubslice = limits->compute_units,
        .numSubslicesPerSlice = 1,
        .numSlices = 1,
        .timerResolution = cycles ? 1000000000u : 1u,
        .timestampValidBits = TIMESTAMP_BITS,
        .kernelTimestampValidBits = TIMESTAMP_BITS,
    };
    memcpy(properties->uuid.id, limits->uuid, sizeof properties->uuid.id);
    snprintf(properties->name, sizeof properties->name, "%s", limits->name);
    impersonate(blz_driver()->identity, properties);
    chain_device_properties(properties, own, device);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetComputeProperties(ze_device_handle_t handle, ze_device_compute_properties_t *properties)
{
    struct blz_device *device;
    ze_result_t result = blz_device_check(handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_properties(properties, ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES, "pComputeProperties");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint32_t size = device->limits.max_work_group_size;
    *properties = (ze_device_compute_properties_t){
        .stype = properties->stype,
        .pNext = properties->pNext,
        .maxTotalGroupSize = size,
        .maxGroupSizeX = size,
        .maxGroupSizeY = size,
        .maxGroupSizeZ = size,
        .maxGroupCountX = UINT32_MAX,
        .maxGroupCountY = UINT32_MAX,
        .maxGroupCountZ = UINT32_MAX,
        .maxSharedLocalMemory = MAX_SUB_GROUPS_BYTES,
        .numSubGroupSizes = sizeof blr_sub_group_sizes / sizeof *blr_sub_group_sizes,
    };
    memcpy(properties->subGroupSizes, blr_sub_group_sizes, sizeof blr_sub_group_sizes);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetModuleProperties(ze_device_handle_t handle, ze_device_module_properties_t *properties)
{
    struct blz_device *device;
    ze_result_t result = blz_device_check(handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_properties(properties, ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES, "pModuleProperties");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint32_t floats = ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN | ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST |
                      ZE_DEVICE_FP_FLAG_FMA | ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT;
    *properties = (ze_device_module_properties_t){
        .stype = properties->stype,
        .pNext = properties->pNext,
        .spirvVersionSupported = 1 << 16 | 6,
        .flags = ZE_DEVICE_MODULE_FLAG_FP16 | ZE_DEVICE_MODULE_FLAG_FP64 | ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS,
        .fp16flags = floats,
        .fp32flags = floats,
        .fp64flags = floats,
        .maxArgumentsSize = MAX_ARGUMENTS_SIZE,
        .printfBufferSize = BLR_PRINT_BYTES,
        .nativeKernelSupported = {BLZ_NATIVE_KERNEL_UUID},
    };
    ze_float_atomic_ext_properties_t *atomics =
        blz_property_chained(properties, ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES, ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES);
    if (atomics != NULL)
        atomics->fp16Flags = atomics->fp32Flags = atomics->fp64Flags =
            ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_LOAD_STORE | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD |
            ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_MIN_MAX | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_LOAD_STORE |
            ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_ADD | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_MIN_MAX;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetCommandQueueGroupProperties(ze_device_handle_t handle, uint32_t *count,
                                                   ze_command_queue_group_properties_t *properties)
{
    struct blz_device *device;
    uint32_t written = 0;
    ze_result_t result = blz_device_check(handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_count(BLZ_QUEUE_GROUPS, count, properties, &written);
    for (uint32_t i = 0; i < written && result == ZE_RESULT_SUCCESS; i++)
        result = blz_properties(&properties[i], ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES,
                                "pCommandQueueGroupProperties");
    for (uint32_t i = 0; i < written && result == ZE_RESULT_SUCCESS; i++) {
        properties[i].flags = groups[i].flags;
        properties[i].maxMemoryFillPatternSize = BLZ_MAX_FILL_PATTERN;
        properties[i].numQueues = groups[i].queues;
    }
    return result;
}

ze_result_t zeDeviceGetMemoryProperties(ze_device_handle_t handle, uint32_t *count, ze_device_memory_properties_t *properties)
{
    struct blz_device *device;
    uint32_t written = 0;
    ze_result_t result = blz_device_check(handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_count(1, count, properties, &written);
    if (result == ZE_RESULT_SUCCESS && written > 0)
        result = blz_properties(properties, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES, "pMemProperties");
    if (result == ZE_RESULT_SUCCESS && written > 0) {
        *properties = (ze_device_memory_properties_t){
            .stype = properties->stype,
            .pNext = properties->pNext,
            .maxBusWidth = MEMORY_BUS_WIDTH,
            .totalSize = device->limits.global_memory_size,
            .name = "memory of the system",
        };
    }
    return result;
}

ze_result_t zeDeviceGetMemoryAccessProperties(ze_device_handle_t handle, ze_device_memory_access_properties_t *properties)
{
    struct blz_device *device;
    ze_result_t result = blz_device_check(handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_properties(properties, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES, "pMemAccessProperties");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint32_t all = ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT |
                   ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC;
    properties->hostAllocCapabilities = all;
    properties->deviceAllocCapabilities = all;
    properties->sharedSingleDeviceAllocCapabilities = all;
    properties->sharedCrossDeviceAllocCapabilities = all;
    properties->sharedSystemAllocCapabilities = 0; /* kernels access the driver's allocations only */
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetCacheProperties(ze_device_handle_t handle, uint32_t *count, ze_device_cache_properties_t *properties)
{
    struct blz_device *device;
    size_t sizes[BLZ_MAX_CACHES];
    uint32_t written = 0;
    ze_result_t result = blz_device_check(handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_count(blz_processor_caches(sizes), count, properties, &written);
    for (uint32_t i = 0; i < written && result == ZE_RESULT_SUCCESS; i++) {
        result = blz_properties(&properties[i], ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES, "pCacheProperties");
        if (result != ZE_RESULT_SUCCESS)
            break;
        properties[i].flags = 0;
        properties[i].cacheSize = sizes[i];
        ze_device_cache_line_size_ext_t *line = blz_property_chained(
            &properties[i], ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES, ZE_STRUCTURE_TYPE_DEVICE_CACHELINE_SIZE_EXT);
        if (line != NULL)
            line->cacheLineSize = blz_processor_cache_line();
    }
    return result;
}

/* ---------------------------------------------------------------- peers */

/* All devices are the same processors and access each other's memory directly. */
static ze_result_t check_peers(ze_device_handle_t handle, ze_device_handle_t peer_handle)
{
    struct blz_device *device, *peer;
    ze_result_t result = blz_device_check(handle, &device);
    return result == ZE_RESULT_SUCCESS ? blz_device_check(peer_handle, &peer) : result;
}

ze_result_t zeDeviceGetP2PProperties(ze_device_handle_t handle, ze_device_handle_t peer, ze_device_p2p_properties_t *properties)
{
    ze_result_t result = check_peers(handle, peer);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_properties(properties, ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES, "pP2PProperties");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    properties->flags = ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS | ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS;
    ze_device_p2p_bandwidth_exp_properties_t *bandwidth =
        blz_property_chained(properties, ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES, ZE_STRUCTURE_TYPE_DEVICE_P2P_BANDWIDTH_EXP_PROPERTIES);
    if (bandwidth != NULL) { /* no link between the devices exists, so that no bandwidth or latency is known */
        bandwidth->logicalBandwidth = bandwidth->physicalBandwidth = 0;
        bandwidth->bandwidthUnit = ZE_BANDWIDTH_UNIT_UNKNOWN;
        bandwidth->logicalLatency = bandwidth->physicalLatency = 0;
        bandwidth->latencyUnit = ZE_LATENCY_UNIT_UNKNOWN;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceCanAccessPeer(ze_device_handle_t handle, ze_device_handle_t peer, ze_bool_t *value)
{
    ze_result_t result = check_peers(handle, peer);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (value == NULL)
        return blz_fail_null("value");
    *value = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceSynchronize(ze_device_handle_t handle)
{
    struct blz_device *device;
    ze_result_t result = blz_device_check(handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        blz_stream_wait_all(); /* the devices share their processors: wait for the streams of all devices */
    return result;
}
