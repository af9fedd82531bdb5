/* The device: count, name, identity, memory and peers. */
#include "cuda_driver/driver/driver.h"

#include <stdio.h>
#include <string.h>

CUresult cuDeviceGetCount(int *count)
{
    CUresult result = bcu_check_started();
    if (result != CUDA_SUCCESS)
        return result;
    if (count == NULL)
        return bcu_fail_null("count");
    *count = 1;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    if (device == NULL)
        return bcu_fail_null("device");
    CUresult result = bcu_check_device(ordinal);
    if (result == CUDA_SUCCESS)
        *device = ordinal;
    return result;
}

static CUresult write_text(char *text, int room, const char *value)
{
    if (text == NULL || room <= 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "no room for a text: %d bytes", room);
    snprintf(text, (size_t)room, "%s", value);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int room, CUdevice device)
{
    CUresult result = bcu_check_device(device);
    return result != CUDA_SUCCESS ? result : write_text(name, room, bcu_device.properties.name);
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    CUresult result = bcu_check_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if (uuid == NULL)
        return bcu_fail_null("uuid");
    memcpy(uuid->bytes, bcu_device.properties.uuid, sizeof uuid->bytes);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

CUresult cuDeviceGetLuid(char *luid, unsigned int *mask, CUdevice device)
{
    CUresult result = bcu_check_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if (luid == NULL || mask == NULL)
        return bcu_fail_null("luid or deviceNodeMask");
    memcpy(luid, bcu_device.properties.uuid, 8);
    *mask = 1;
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    CUresult result = bcu_check_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if (bytes == NULL)
        return bcu_fail_null("bytes");
    *bytes = bcu_device.properties.global_memory_size;
    return CUDA_SUCCESS;
}

static const char bus_id[] = "0000:00:00.0";

CUresult cuDeviceGetPCIBusId(char *text, int room, CUdevice device)
{
    CUresult result = bcu_check_device(device);
    return result != CUDA_SUCCESS ? result : write_text(text, room, bus_id);
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *text)
{
    CUresult result = bcu_check_started();
    if (result != CUDA_SUCCESS)
        return result;
    if (device == NULL || text == NULL)
        return bcu_fail_null("dev or pciBusId");
    if (strcmp(text, bus_id) != 0)
        return bcu_fail(CUDA_ERROR_INVALID_DEVICE, "no device at %.40s", text);
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    CUresult result = bcu_check_device(device);
    if (result == CUDA_SUCCESS)
        result = bcu_check_device(peer);
    if (result != CUDA_SUCCESS)
        return result;
    if (can == NULL)
        return bcu_fail_null("canAccessPeer");
    *can = 0; /* there is no other device */
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice device, CUdevice peer)
{
    (void)value;
    (void)attribute;
    CUresult result = bcu_check_device(device);
    if (result == CUDA_SUCCESS)
        result = bcu_check_device(peer);
    return result != CUDA_SUCCESS ? result : bcu_fail(CUDA_ERROR_INVALID_DEVICE, "a device is no peer of itself");
}

CUresult cuDeviceGetExecAffinitySupport(int *supported, CUexecAffinityType type, CUdevice device)
{
    (void)type;
    CUresult result = bcu_check_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if (supported == NULL)
        return bcu_fail_null("pi");
    *supported = 0;
    return CUDA_SUCCESS;
}
