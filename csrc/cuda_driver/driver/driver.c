/* The driver: cuInit, versions, and functions by name. */
#include "cuda_driver/driver/driver.h"

#include "reference/platform/threads.h"
#include "reference/runtime/context.h"

#include <stdlib.h>
#include <string.h>

struct bcu_device bcu_device;

static blr_mutex_t mutex = BLR_MUTEX_INIT;
static _Atomic int started;
static _Thread_local bool per_thread;

bool bcu_default_per_thread(bool own)
{
    bool before = per_thread;
    per_thread = own;
    return before;
}

bool bcu_is_default_per_thread(void) { return per_thread; }

CUresult bcu_check_started(void)
{
    if (started == 0)
        return bcu_fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called");
    if (blr_process_forked())
        return bcu_fail(CUDA_ERROR_NOT_INITIALIZED, "the process was forked from one that used CUDA: start children with spawn");
    return CUDA_SUCCESS;
}

CUresult bcu_check_device(CUdevice device)
{
    CUresult result = bcu_check_started();
    if (result == CUDA_SUCCESS && device != 0)
        result = bcu_fail(CUDA_ERROR_INVALID_DEVICE, "device %d: there is one, 0", device);
    return result;
}

/* The compute capability that BINDLESS_CUDA_ARCH asks for, as 90, sm_90 or 9.0. */
static CUresult read_capability(int *capability)
{
    *capability = 90;
    const char *text = getenv("BINDLESS_CUDA_ARCH");
    if (text == NULL || text[0] == '\0')
        return CUDA_SUCCESS;
    const char *number = strncmp(text, "sm_", 3) == 0 ? text + 3 : text;
    char *end;
    long value = strtol(number, &end, 10);
    if (*end == '.')
        value = 10 * value + strtol(end + 1, &end, 10);
    if (end == number || *end != '\0' || value < 50 || value > 90)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "BINDLESS_CUDA_ARCH is '%s': a capability from 50 to 90 is needed", text);
    *capability = (int)value;
    return CUDA_SUCCESS;
}

static CUresult start(void)
{
    CUresult result = read_capability(&bcu_device.capability);
    if (result == CUDA_SUCCESS)
        result = bcu_result(blrDeviceGet(0, &bcu_device.reference));
    if (result == CUDA_SUCCESS)
        result = bcu_result(blrDeviceGetProperties(bcu_device.reference, &bcu_device.properties));
    if (result == CUDA_SUCCESS)
        result = bcu_result(blrContextCreate(bcu_device.reference, &bcu_device.native));
    if (result == CUDA_SUCCESS)
        result = bcu_result(blr_context_set_apart(bcu_device.native));
    return result;
}

CUresult cuInit(unsigned int flags)
{
    if (flags != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "flags are %u: 0 is needed", flags);
    CUresult result = CUDA_SUCCESS;
    blr_mutex_lock(&mutex);
    if (!started) {
        result = start();
        started = result == CUDA_SUCCESS;
        if (started)
            blr_process_has_threads();
    }
    blr_mutex_unlock(&mutex);
    return result == CUDA_SUCCESS ? bcu_check_started() : result;
}

CUresult cuDriverGetVersion(int *version)
{
    if (version == NULL)
        return bcu_fail_null("driverVersion");
    *version = BCU_VERSION;
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    if (symbol == NULL || function == NULL || symbol[0] == '\0')
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "symbol or pfn is NULL or empty");
    if ((flags & ~(cuuint64_t)(CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)) != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%llx", (unsigned long long)flags);
    CUdriverProcAddressQueryResult answer = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    void (*address)(void) = NULL;
    unsigned low = 0, high = bcu_export_count;
    while (low < high) { /* the first row of the name */
        unsigned middle = low + (high - low) / 2;
        if (strcmp(bcu_exports[middle].name, symbol) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < bcu_export_count && strcmp(bcu_exports[low].name, symbol) == 0; low++) {
        const struct bcu_export *row = &bcu_exports[low];
        bool own = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0 && row->per_thread != NULL;
        if (row->version <= version) {
            address = own ? row->per_thread : row->function;
            answer = CU_GET_PROC_ADDRESS_SUCCESS;
        } else if (address == NULL) {
            answer = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        }
    }
    memcpy(function, &address, sizeof address);
    if (status != NULL)
        *status = answer;
    if (address != NULL || status != NULL)
        return CUDA_SUCCESS;
    return bcu_fail(CUDA_ERROR_NOT_FOUND, "no function %s of version %d", symbol, version);
}

CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags)
{
    return cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}

CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    if (table == NULL || id == NULL)
        return bcu_fail_null("ppExportTable or pExportTableId");
    *table = NULL;
    return bcu_fail(CUDA_ERROR_NOT_FOUND, "no private tables");
}
