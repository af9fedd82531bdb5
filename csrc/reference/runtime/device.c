/* The device: its properties, limits and supported formats, and the environment variables that configure it. */
#include "runtime/device.h"

#include "platform/heap.h"
#include "image/pixel_format.h"
#include "platform/thread_pool.h"
#include "platform/threads.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_TIMEOUT 600.0 /* seconds */

static blr_mutex_t mutex = BLR_MUTEX_INIT;
static struct blr_device device;
static _Atomic bool is_open;

static const uint8_t device_uuid[BLR_UUID_SIZE] = {'b', 'i', 'n', 'd', 'l', 'e', 's', 's', '-', 'r', 'e', 'f', 0, 0, 0, 1};

/* Model name of the processor; empty when the system does not report one. */
static void processor_name(char *name, size_t size)
{
    name[0] = '\0';
#if defined(__linux__)
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (file == NULL)
        return;
    char line[256];
    while (fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL)
            continue;
        colon += strspn(colon, ": \t");
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(name, size, "%s", colon);
        break;
    }
    fclose(file);
#else
    (void)size;
#endif
}

uint64_t blr_device_memory_size(void)
{
    static _Atomic uint64_t cache;
    uint64_t size = atomic_load(&cache);
    if (size == 0) {
        size = blr_memory_physical();
        atomic_store(&cache, size);
    }
    return size;
}

/* Three quarters of the memory; the program itself keeps the rest. */
uint64_t blr_device_max_allocation(void) { return blr_device_memory_size() / 4 * 3; }

static blr_result_t read_filtering(uint32_t *exact)
{
    const char *text = getenv("BINDLESS_REFERENCE_FILTERING");
    *exact = text != NULL && strcmp(text, "exact") == 0;
    if (text == NULL || *text == '\0' || *exact || strcmp(text, "hardware") == 0)
        return BLR_RESULT_SUCCESS;
    return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                    "BINDLESS_REFERENCE_FILTERING is '%.60s': 'exact' or 'hardware' (the default) is needed", text);
}

bool blr_device_exact_filtering(void) { return device.properties.exact_filtering != 0; }

static void keep(struct blr_object *object) { (void)object; }

static blr_result_t make(void)
{
    blr_device_properties_t *p = &device.properties;
    uint32_t threads = 0, exact = 0;
    blr_result_t result = blr_thread_pool_size(&threads);
    if (result == BLR_RESULT_SUCCESS)
        result = read_filtering(&exact);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    char processor[96];
    processor_name(processor, sizeof processor);
    snprintf(p->name, sizeof p->name, "bindless reference%s%s%s", *processor ? " (" : "", processor,
             *processor ? ")" : "");
    snprintf(p->vendor, sizeof p->vendor, "bindless");
    snprintf(p->driver_version, sizeof p->driver_version, "%d.%d.%d", BLR_VERSION_MAJOR, BLR_VERSION_MINOR,
             BLR_VERSION_PATCH);
    memcpy(p->uuid, device_uuid, sizeof p->uuid);
    p->compute_units = threads;
    p->max_work_group_size = 1024;
    p->global_memory_size = blr_device_memory_size();
    p->max_allocation_size = blr_device_max_allocation();
    p->timer_resolution = 1;
    p->max_image_1d_width = BLR_MAX_IMAGE_1D_WIDTH;
    p->max_image_2d_width = BLR_MAX_IMAGE_2D_WIDTH;
    p->max_image_2d_height = BLR_MAX_IMAGE_2D_HEIGHT;
    p->max_image_3d_width = BLR_MAX_IMAGE_3D_EXTENT;
    p->max_image_3d_height = BLR_MAX_IMAGE_3D_EXTENT;
    p->max_image_3d_depth = BLR_MAX_IMAGE_3D_EXTENT;
    p->max_image_layers = BLR_MAX_LAYERS;
    p->max_mipmap_width = BLR_MAX_MIPMAP_EXTENT;
    p->max_mipmap_height = BLR_MAX_MIPMAP_EXTENT;
    p->image_row_pitch_align = BLR_ROW_PITCH_ALIGN;
    p->image_base_align = BLR_BASE_ALIGN;
    p->max_image_linear_1d_width = BLR_MAX_LINEAR_1D_WIDTH;
    p->max_image_linear_width = BLR_MAX_LINEAR_WIDTH;
    p->max_image_linear_height = BLR_MAX_LINEAR_HEIGHT;
    p->max_image_linear_row_pitch = BLR_MAX_LINEAR_ROW_PITCH;
    p->max_anisotropy = BLR_MAX_ANISOTROPY;
    p->exact_filtering = exact;
    return blr_object_register(&device.object, BLR_KIND_DEVICE, keep);
}

struct blr_device *blr_device_acquire(blr_device_t handle)
{
    return (struct blr_device *)blr_object_acquire(blr_handle_id(handle), BLR_KIND_DEVICE);
}

blr_result_t blrDeviceGetCount(uint32_t *count)
{
    if (count == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "count is NULL: an output pointer is required");
    *count = 1;
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrDeviceGet(uint32_t index, blr_device_t *handle)
{
    if (blr_process_forked())
        return blr_fail_forked();
    if (handle == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "device is NULL: an output pointer is required");
    *handle = NULL;
    if (index > 0)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "device %u does not exist: there is one, number 0", index);
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (!atomic_load(&is_open)) {
        blr_mutex_lock(&mutex);
        if (!atomic_load(&is_open)) {
            result = make();
            atomic_store(&is_open, result == BLR_RESULT_SUCCESS);
        }
        blr_mutex_unlock(&mutex);
    }
    if (result == BLR_RESULT_SUCCESS)
        *handle = (blr_device_t)(uintptr_t)device.object.id;
    return result;
}

blr_result_t blrDeviceGetProperties(blr_device_t handle, blr_device_properties_t *properties)
{
    struct blr_device *object = blr_device_acquire(handle);
    if (object == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (properties == NULL)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "properties is NULL: an output pointer is required");
    else
        *properties = object->properties;
    blr_object_release(&object->object);
    return result;
}

blr_result_t blrDeviceSupportsFormat(blr_device_t handle, blr_channel_type_t channel_type, uint32_t num_channels,
                                     uint32_t *supported)
{
    struct blr_device *object = blr_device_acquire(handle);
    if (object == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_object_release(&object->object);
    if (supported == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "supported is NULL: an output pointer is required");
    *supported = blr_pixel_size(channel_type, num_channels) != 0;
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrDeviceGetTimestamp(blr_device_t handle, uint64_t *nanoseconds)
{
    struct blr_device *object = blr_device_acquire(handle);
    if (object == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_object_release(&object->object);
    if (nanoseconds == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "nanoseconds is NULL: an output pointer is required");
    *nanoseconds = blr_clock_now();
    return BLR_RESULT_SUCCESS;
}

blr_result_t blr_device_time_limit(double *seconds)
{
    const char *text = getenv("BINDLESS_REFERENCE_TIMEOUT");
    char *end;
    *seconds = DEFAULT_TIMEOUT;
    if (text == NULL || *text == '\0')
        return BLR_RESULT_SUCCESS;
    *seconds = strtod(text, &end);
    if (*end == '\0' && *seconds >= 0 && *seconds <= 1e9)
        return BLR_RESULT_SUCCESS;
    return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                    "BINDLESS_REFERENCE_TIMEOUT is '%.60s': seconds from 0 (no limit) to 1e9 are needed", text);
}
