/* The driver object and its devices: initialisation, handles and properties. */

#include "level_zero_driver/driver/driver.h"

#include "level_zero_driver/core/fault_injection.h"
#include "level_zero_driver/driver/context.h"
#include "level_zero_driver/driver/extension.h"
#include "reference/platform/threads.h"
#include "level_zero_driver/core/descriptor_chain.h"
#include "level_zero_driver/driver/topology.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static blr_mutex_t mutex = BLR_MUTEX_INIT;
static struct blz_driver driver;
static _Atomic bool is_open;
static ze_context_handle_t default_context;

static void keep(struct blr_object *object) { (void)object; }

/* ---------------------------------------------------------------- devices */

static struct blz_device *make_device(const blr_device_properties_t *limits, uint32_t ordinal, struct blz_device *root,
                                      uint32_t subdevice_id)
{
    ze_device_handle_t handle;
    struct blz_device *device = blr_new(sizeof *device);
    if (device == NULL)
        return NULL;
    device->limits = *limits;
    device->ordinal = ordinal;
    device->root = root;
    device->subdevice_id = subdevice_id;
    device->limits.uuid[13] = (uint8_t)(ordinal & 0xff);
    device->limits.uuid[14] = (uint8_t)(ordinal >> 8);
    return blz_register(&device->object, BLR_KIND_ZE_DEVICE, keep, &handle) == ZE_RESULT_SUCCESS ? device : NULL;
}

static bool report(struct blz_device *device)
{
    if (driver.device_count == BLZ_MAX_DEVICES)
        return false;
    driver.devices[driver.device_count++] = device;
    return true;
}

/* Reports each sub-device as a device; without a root device in the flat model. */
static bool make_flat_devices(const struct blz_topology *topology, const blr_device_properties_t *limits)
{
    uint32_t stride = topology->subdevices + 1;
    for (uint32_t d = 0; d < topology->devices; d++) {
        bool combined = topology->hierarchy == BLZ_COMBINED && topology->included[d] != 0;
        struct blz_device *root = combined ? make_device(limits, d * stride, NULL, 0) : NULL;
        if (combined && root == NULL)
            return false;
        for (uint32_t s = 0; s < topology->subdevices; s++) {
            if ((topology->included[d] >> s & 1) == 0)
                continue;
            struct blz_device *part = make_device(limits, d * stride + s + 1, root, root == NULL ? 0 : root->subdevice_count);
            if (part == NULL || !report(part))
                return false;
            if (root != NULL)
                root->subdevices[root->subdevice_count++] = part;
        }
    }
    return true;
}

/* Devices without a reported sub-device are dropped; a device with a single reported sub-device is reported as that
   sub-device. */
static bool make_devices(const struct blz_topology *topology, const blr_device_properties_t *limits)
{
    if (topology->hierarchy != BLZ_COMPOSITE && topology->subdevices > 0)
        return make_flat_devices(topology, limits);
    for (uint32_t d = 0; d < topology->devices; d++) {
        uint64_t included = topology->included[d];
        if (included == 0 && !topology->whole[d])
            continue;
        uint32_t stride = topology->subdevices + 1, number = d * stride;
        bool single = !topology->whole[d] && (included & (included - 1)) == 0;
        for (uint32_t s = 0; single && s < topology->subdevices; s++)
            number += included >> s & 1 ? s + 1 : 0;
        struct blz_device *device = make_device(limits, number, NULL, 0);
        if (device == NULL)
            return false;
        for (uint32_t s = 0; !single && s < topology->subdevices; s++) {
            if ((included >> s & 1) == 0)
                continue;
            struct blz_device *part = make_device(limits, number + s + 1, device, device->subdevice_count);
            if (part == NULL)
                return false;
            device->subdevices[device->subdevice_count++] = part;
        }
        report(device);
    }
    return true;
}

static ze_result_t read_type(void)
{
    const char *type = getenv("BINDLESS_LEVEL_ZERO_TYPE");
    const bool unset = type == NULL || *type == '\0';
    const bool gpu = unset ? driver.identity != NULL : strcmp(type, "gpu") == 0;
    driver.type = gpu ? ZE_DEVICE_TYPE_GPU : ZE_DEVICE_TYPE_CPU;
    if (gpu || unset || strcmp(type, "cpu") == 0)
        return ZE_RESULT_SUCCESS;
    return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "BINDLESS_LEVEL_ZERO_TYPE is '%.60s': 'cpu' (the default) or 'gpu' is needed",
                    type);
}

static ze_result_t make(void)
{
    struct blz_topology topology;
    blr_device_properties_t limits;
    ze_driver_handle_t handle;
    ze_result_t result = blz_identity_read(getenv("BINDLESS_LEVEL_ZERO_IDENTITY"), &driver.identity);
    if (result == ZE_RESULT_SUCCESS)
        result = read_type();
    if (result == ZE_RESULT_SUCCESS)
        result = blz_topology_read(getenv("BINDLESS_LEVEL_ZERO_DEVICES"), getenv("ZE_FLAT_DEVICE_HIERARCHY"), getenv("ZE_AFFINITY_MASK"),
                                   &topology);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_result(blrDeviceGet(0, &driver.native));
    if (result == ZE_RESULT_SUCCESS)
        result = blz_result(blrDeviceGetProperties(driver.native, &limits));
    if (result == ZE_RESULT_SUCCESS && driver.reference == NULL)
        result = blz_result(blrContextCreate(driver.native, &driver.native_context));
    if (result == ZE_RESULT_SUCCESS)
        result = blz_result(blr_context_set_apart(driver.native_context));
    if (result == ZE_RESULT_SUCCESS && driver.reference == NULL && (driver.reference = blr_context_acquire(driver.native_context)) == NULL)
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (result == ZE_RESULT_SUCCESS && !make_devices(&topology, &limits))
        result = blz_fail_memory("the devices");
    if (result == ZE_RESULT_SUCCESS)
        result = blz_register(&driver.object, BLR_KIND_ZE_DRIVER, keep, &handle);
    return result;
}

struct blz_driver *blz_driver_open(void)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (!atomic_load(&is_open)) {
        blr_mutex_lock(&mutex);
        if (!atomic_load(&is_open)) {
            result = make();
            atomic_store(&is_open, result == ZE_RESULT_SUCCESS);
        }
        blr_mutex_unlock(&mutex);
    }
    return result == ZE_RESULT_SUCCESS ? &driver : NULL;
}

struct blz_driver *blz_driver(void) { return &driver; }

ze_result_t blz_device_check(ze_device_handle_t handle, struct blz_device **device)
{
    ze_result_t result = blz_acquire(handle, BLR_KIND_ZE_DEVICE, device);
    if (result == ZE_RESULT_SUCCESS)
        blr_object_release(&(*device)->object);
    return result;
}

static ze_result_t check(ze_driver_handle_t handle)
{
    struct blr_object *object;
    ze_result_t result = blz_acquire(handle, BLR_KIND_ZE_DRIVER, &object);
    if (result == ZE_RESULT_SUCCESS)
        blr_object_release(object);
    return result;
}

ze_result_t blz_count(uint32_t available, uint32_t *count, const void *entries, uint32_t *written)
{
    *written = 0;
    if (count == NULL)
        return blz_fail_null("pCount");
    uint32_t room = *count;
    if (*count == 0 || entries == NULL || *count > available)
        *count = available;
    else
        available = *count;
    *written = room == 0 || entries == NULL ? 0 : available;
    return ZE_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- initialisation */

ze_result_t zeInit(ze_init_flags_t flags)
{
    if ((flags & ~(uint32_t)(ZE_INIT_FLAG_GPU_ONLY | ZE_INIT_FLAG_VPU_ONLY)) != 0)
        return blz_fail_enumeration("flags", flags, "ZE_INIT_FLAG_GPU_ONLY and ZE_INIT_FLAG_VPU_ONLY are known");
    if (blz_driver_open() == NULL)
        return ZE_RESULT_ERROR_UNINITIALIZED;
    if (flags != 0 && ((flags & ZE_INIT_FLAG_GPU_ONLY) == 0 || driver.type != ZE_DEVICE_TYPE_GPU))
        return blz_fail(ZE_RESULT_ERROR_UNINITIALIZED,
                        "flags 0x%x request another device type than this driver's %d; "
                        "BINDLESS_LEVEL_ZERO_TYPE=gpu makes its devices report the type GPU",
                        flags, driver.type);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeInitDrivers(uint32_t *count, ze_driver_handle_t *handles, ze_init_driver_type_desc_t *desc)
{
    ze_result_t result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC, "desc", NULL, 0);
    if (desc != NULL && desc->stype != ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC)
        result = blz_tolerate(result);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (desc->flags == 0)
        return blz_fail_enumeration("desc->flags", desc->flags, "at least one type of driver is needed, UINT32_MAX for all");
    if (blz_driver_open() == NULL)
        return ZE_RESULT_ERROR_UNINITIALIZED;
    bool matches = desc->flags == UINT32_MAX ||
                  ((desc->flags & ZE_INIT_DRIVER_TYPE_FLAG_GPU) != 0 && driver.type == ZE_DEVICE_TYPE_GPU);
    uint32_t written = 0;
    result = blz_count(matches, count, handles, &written);
    if (result == ZE_RESULT_SUCCESS && written > 0)
        handles[0] = blz_handle_of(&driver.object);
    return result;
}

ze_result_t zeDriverGet(uint32_t *count, ze_driver_handle_t *handles)
{
    if (blz_driver_open() == NULL)
        return ZE_RESULT_ERROR_UNINITIALIZED;
    uint32_t written = 0;
    ze_result_t result = blz_count(1, count, handles, &written);
    if (result == ZE_RESULT_SUCCESS && written > 0)
        handles[0] = blz_handle_of(&driver.object);
    return result;
}

ze_result_t zeDeviceGet(ze_driver_handle_t handle, uint32_t *count, ze_device_handle_t *handles)
{
    uint32_t written = 0;
    ze_result_t result = check(handle);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_count(driver.device_count, count, handles, &written);
    for (uint32_t i = 0; i < written; i++)
        handles[i] = blz_handle_of(&driver.devices[i]->object);
    return result;
}

/* ---------------------------------------------------------------- properties */

ze_result_t zeDriverGetApiVersion(ze_driver_handle_t handle, ze_api_version_t *version)
{
    ze_result_t result = check(handle);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (version == NULL)
        return blz_fail_null("version");
    *version = ZE_API_VERSION_1_14;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetProperties(ze_driver_handle_t handle, ze_driver_properties_t *properties)
{
    ze_result_t result = check(handle);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_properties(properties, ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES, "pDriverProperties");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    blr_device_properties_t limits;
    blrDeviceGetProperties(driver.native, &limits);
    memcpy(properties->uuid.id, limits.uuid, sizeof properties->uuid.id);
    properties->driverVersion = driver.identity != NULL ? BLZ_INTEL_DRIVER_VERSION : BLR_VERSION_MAJOR << 24 | BLR_VERSION_MINOR << 16 | BLR_VERSION_PATCH;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetIpcProperties(ze_driver_handle_t handle, ze_driver_ipc_properties_t *properties)
{
    ze_result_t result = check(handle);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_properties(properties, ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES, "pIpcProperties");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    properties->flags = ZE_IPC_PROPERTY_FLAG_MEMORY | ZE_IPC_PROPERTY_FLAG_EVENT_POOL;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetExtensionProperties(ze_driver_handle_t handle, uint32_t *count,
                                           ze_driver_extension_properties_t *properties)
{
    ze_result_t result = check(handle);
    return result == ZE_RESULT_SUCCESS ? blz_extension_list(count, properties) : result;
}

ze_result_t zeDriverGetExtensionFunctionAddress(ze_driver_handle_t handle, const char *name, void **address)
{
    ze_result_t result = check(handle);
    return result == ZE_RESULT_SUCCESS ? blz_extension_function(name, address) : result;
}

ze_result_t zeDriverGetLastErrorDescription(ze_driver_handle_t handle, const char **text)
{
    struct blr_object *object = NULL;
    if (text == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *text = blz_failure_text();
    /* blz_acquire would overwrite the error text for an invalid handle: read the text first. */
    ze_result_t result = blz_acquire(handle, BLR_KIND_ZE_DRIVER, &object);
    if (result == ZE_RESULT_SUCCESS)
        blr_object_release(object);
    return result;
}

ze_context_handle_t zeDriverGetDefaultContext(ze_driver_handle_t handle)
{
    if (check(handle) != ZE_RESULT_SUCCESS)
        return NULL;
    blr_mutex_lock(&mutex);
    if (default_context == NULL)
        blz_context_create_permanent(&default_context);
    ze_context_handle_t context = default_context;
    blr_mutex_unlock(&mutex);
    return context;
}
