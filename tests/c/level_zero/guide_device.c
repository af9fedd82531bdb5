/* Drivers, devices, contexts, sub-devices, peers. */
#include "guide.h"

void section_discovery(void)
{
    uint32_t driver_count = 0;
    OK(zeDriverGet(&driver_count, NULL));
    ze_driver_handle_t *all_drivers = calloc(driver_count, sizeof *all_drivers), again[16];
    OK(zeDriverGet(&driver_count, all_drivers));
    OK(zeDriverGet(&driver_count, again));
    HOLDS(memcmp(all_drivers, again, driver_count * sizeof *again) == 0); /* the list of drivers does not change */
    uint32_t found = 0;
    for (uint32_t i = 0; i < driver_count; i++) {
        ze_api_version_t version = 0;
        ze_driver_properties_t driver_properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
        OK(zeDriverGetApiVersion(all_drivers[i], &version));
        OK(zeDriverGetProperties(all_drivers[i], &driver_properties));
        HOLDS(ZE_MAJOR_VERSION(version) == 1);
        uint32_t device_count = 0;
        OK(zeDeviceGet(all_drivers[i], &device_count, NULL));
        ze_device_handle_t *all_devices = calloc(device_count, sizeof *all_devices);
        OK(zeDeviceGet(all_drivers[i], &device_count, all_devices));
        for (uint32_t d = 0; d < device_count; d++) {
            ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
            OK(zeDeviceGetProperties(all_devices[d], &properties));
            HOLDS(properties.type == ZE_DEVICE_TYPE_GPU || properties.type == ZE_DEVICE_TYPE_CPU);
            HOLDS(properties.name[0] != '\0' && properties.maxMemAllocSize > 0 && properties.timerResolution > 0);
            found++;
        }
        free(all_devices);
    }
    HOLDS(found > 0);
    free(all_drivers);

    ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    OK(zeDeviceGetComputeProperties(device, &compute));
    HOLDS(compute.maxTotalGroupSize > 0 && compute.numSubGroupSizes > 0);
    ze_device_module_properties_t module = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    OK(zeDeviceGetModuleProperties(device, &module));
    HOLDS(ZE_MAJOR_VERSION(module.spirvVersionSupported) >= 1);
    uint32_t memory_count = 0, cache_count = 0;
    OK(zeDeviceGetMemoryProperties(device, &memory_count, NULL));
    ze_device_memory_properties_t *memories = calloc(memory_count, sizeof *memories);
    for (uint32_t i = 0; i < memory_count; i++)
        memories[i].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
    OK(zeDeviceGetMemoryProperties(device, &memory_count, memories));
    HOLDS(memory_count > 0 && memories[0].totalSize > 0);
    free(memories);
    OK(zeDeviceGetCacheProperties(device, &cache_count, NULL));
    ze_device_cache_properties_t *caches = calloc(cache_count + 1, sizeof *caches);
    for (uint32_t i = 0; i < cache_count; i++)
        caches[i].stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES;
    if (cache_count > 0)
        OK(zeDeviceGetCacheProperties(device, &cache_count, caches));
    for (uint32_t i = 0; i < cache_count; i++)
        HOLDS(caches[i].cacheSize > 0);
    free(caches);
    OK(zeDeviceGetStatus(device));
    uint64_t host[2], native[2];
    OK(zeDeviceGetGlobalTimestamps(device, &host[0], &native[0]));
    OK(zeDeviceGetGlobalTimestamps(device, &host[1], &native[1]));
    HOLDS(host[1] >= host[0]);
    uint32_t extension_count = 0;
    OK(zeDriverGetExtensionProperties(driver, &extension_count, NULL));
    ze_driver_extension_properties_t *extensions = calloc(extension_count + 1, sizeof *extensions);
    OK(zeDriverGetExtensionProperties(driver, &extension_count, extensions));
    for (uint32_t i = 0; i < extension_count; i++)
        HOLDS(strncmp(extensions[i].name, "ZE_", 3) == 0 && extensions[i].version > 0);
    free(extensions);
}

void section_contexts(void)
{
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_context_handle_t a = NULL, b = NULL;
    OK(zeContextCreate(driver, &desc, &a));
    OK(zeContextCreateEx(driver, &desc, 1, &device, &b));
    ze_host_mem_alloc_desc_t host_desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    void *in_a = NULL, *in_b = NULL;
    OK(zeMemAllocHost(a, &host_desc, 80, 0, &in_a));
    OK(zeMemAllocHost(b, &host_desc, 88, 0, &in_b));
    memset(in_b, 5, 88);
    memcpy(in_a, in_b, 0xe); /* the host may access both */
    ze_memory_allocation_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    OK(zeMemGetAllocProperties(a, in_a, &properties, NULL));
    HOLDS(properties.type == ZE_MEMORY_TYPE_HOST);
    HOLDS(zeMemFree(a, in_b) != ZE_RESULT_SUCCESS); /* context A does not own it */
    ze_device_mem_alloc_desc_t device_desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
    void *on_device = NULL;
    ze_ipc_mem_handle_t ipc;
    OK(zeMemAllocDevice(b, &device_desc, 64, 0, device, &on_device));
    HOLDS(zeMemGetIpcHandle(a, on_device, &ipc) != ZE_RESULT_SUCCESS);
    OK(zeMemGetIpcHandle(b, on_device, &ipc));
    OK(zeMemFree(b, on_device));
    OK(zeContextGetStatus(a));
    OK(zeContextSystemBarrier(a, device));
    OK(zeMemFree(a, in_a));
    OK(zeMemFree(b, in_b));
    OK(zeContextDestroy(a));
    OK(zeContextDestroy(b));
}

void section_subdevices(void)
{
    uint32_t count = 0;
    OK(zeDeviceGetSubDevices(device, &count, NULL));
    ze_device_handle_t *all = calloc(count + 1, sizeof *all);
    if (count > 0)
        OK(zeDeviceGetSubDevices(device, &count, all));
    for (uint32_t i = 0; i < count; i++) {
        ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
        OK(zeDeviceGetProperties(all[i], &properties));
        HOLDS((properties.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE) != 0 && properties.subdeviceId == i);
        ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
        void *memory = NULL;
        OK(zeMemAllocDevice(context, &desc, 4096, sizeof(uint32_t), all[i], &memory));
        ze_device_handle_t owner = NULL;
        ze_memory_allocation_properties_t allocation = {.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
        OK(zeMemGetAllocProperties(context, memory, &allocation, &owner));
        HOLDS(owner == all[i]);
        OK(zeMemFree(context, memory));
    }
    free(all);
}

void section_peers(void)
{
    uint32_t count = 0;
    OK(zeDeviceGet(driver, &count, NULL));
    ze_device_handle_t *all = calloc(count, sizeof *all);
    OK(zeDeviceGet(driver, &count, all));
    for (uint32_t i = 0; i < count; i++) {
        ze_bool_t can = false;
        ze_device_p2p_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES};
        OK(zeDeviceCanAccessPeer(device, all[i], &can));
        OK(zeDeviceGetP2PProperties(device, all[i], &properties));
        HOLDS(((properties.flags & ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS) != 0) == (can != 0));
        if (all[i] == device) /* a device is always its own peer */
            HOLDS(can && (properties.flags & ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS) != 0);
        if (!can)
            continue;
        ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
        ze_command_queue_handle_t queue = make_queue();
        ze_command_list_handle_t list = make_list();
        uint32_t *here = make_numbers(256);
        void *there = NULL;
        OK(zeMemAllocDevice(context, &desc, 1024, sizeof(uint32_t), all[i], &there));
        append_work(list, there, 17 + i, 256, NULL, 0, NULL);
        OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
        OK(zeCommandListAppendMemoryCopy(list, here, there, 1024, NULL, 0, NULL));
        run_list(queue, list);
        HOLDS(all_are(here, 17 + i, 256));
        OK(zeMemFree(context, there));
        OK(zeMemFree(context, here));
        OK(zeCommandListDestroy(list));
        OK(zeCommandQueueDestroy(queue));
    }
    free(all);
}
