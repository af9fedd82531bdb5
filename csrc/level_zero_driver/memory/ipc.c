/* IPC handles: memory shared between processes.
 *
 * Device memory moves into the store when its first handle is requested. During the move no command runs, because
 * the pages change; the host does not access device memory. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "level_zero_driver/memory/allocation.h"
#include "level_zero_driver/command/executor.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#define FLAGS (ZE_IPC_MEMORY_FLAG_BIAS_CACHED | ZE_IPC_MEMORY_FLAG_BIAS_UNCACHED)

/* Contents of an IPC handle. */
struct message {
    struct blr_store_name name;
    uint64_t size; /* of the allocation; the range has whole pages */
};

_Static_assert(sizeof(struct message) <= sizeof(ze_ipc_mem_handle_t), "messages travel in handles");

ze_result_t blz_ipc_check_type(const ze_ipc_mem_handle_type_ext_desc_t *desc)
{
    if (desc == NULL || (desc->typeFlags & ~(uint32_t)ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT) == 0)
        return ZE_RESULT_SUCCESS;
    if (desc->typeFlags > (ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT | ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE))
        return blz_fail_enumeration("typeFlags", desc->typeFlags, "flags that are known are 0x3");
    return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "typeFlags is 0x%x: the driver's processors have no fabric; DEFAULT (1) is needed",
                    (unsigned)desc->typeFlags);
}

static ze_result_t share(struct blr_allocation *allocation, struct blz_memory *memory, const void *pointer, ze_ipc_mem_handle_t *ipc)
{
    if (memory == NULL || memory->type != ZE_MEMORY_TYPE_DEVICE || memory->unmap != NULL || memory->imported || memory->external != NULL)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%p is not memory of this process from zeMemAllocDevice: only that can be shared", pointer);
    if (allocation->base != (uint64_t)(uintptr_t)pointer)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%p lies inside an allocation: share it by its start 0x%" PRIx64, pointer,
                        allocation->base);
    struct message message = {.size = allocation->size};
    ze_result_t result = ZE_RESULT_SUCCESS;
    blz_stream_hold_all();
    if (memory->range.size == 0)
        result = blz_result(blr_store_move(memory->mapping, memory->mapped, &memory->range));
    if (result == ZE_RESULT_SUCCESS)
        message.name = blr_store_name(&memory->range, BLR_STORE_ZE_MEMORY, 0);
    blz_stream_go_on();
    memset(ipc, 0, sizeof *ipc);
    memcpy(ipc, &message, sizeof message);
    return result;
}

ze_result_t zeMemGetIpcHandle(ze_context_handle_t handle, const void *pointer, ze_ipc_mem_handle_t *ipc)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct blr_allocation *allocation = NULL;
    struct blz_memory *memory = NULL;
    if (pointer == NULL || ipc == NULL)
        result = blz_fail_null(pointer == NULL ? "ptr" : "pIpcHandle");
    else
        result = blz_memory_find(context, pointer, &allocation, &memory);
    if (result == ZE_RESULT_SUCCESS)
        result = share(allocation, memory, pointer, ipc);
    blr_memory_release(allocation);
    blz_context_release(context);
    return result;
}

/* All handles are of one type: valid for processes of this machine, not over a fabric. */
ze_result_t zeMemGetIpcHandleWithProperties(ze_context_handle_t context, const void *pointer, void *next, ze_ipc_mem_handle_t *ipc)
{
    for (const ze_base_desc_t *link = next; link != NULL; link = link->pNext) {
        const ze_ipc_mem_handle_type_ext_desc_t *desc = (const ze_ipc_mem_handle_type_ext_desc_t *)link;
        if (link != next || link->stype != ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC)
            return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                            "pNext: a struct with stype 0x%x; ze_ipc_mem_handle_type_ext_desc_t is known, once", (unsigned)link->stype);
        ze_result_t result = blz_ipc_check_type(desc);
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return zeMemGetIpcHandle(context, pointer, ipc);
}

ze_result_t zeMemPutIpcHandle(ze_context_handle_t handle, ze_ipc_mem_handle_t ipc)
{
    struct blz_context *context;
    (void)ipc; /* an IPC handle holds no resource */
    ze_result_t result = blz_context_acquire(handle, &context);
    if (result == ZE_RESULT_SUCCESS)
        blz_context_release(context);
    return result;
}

static ze_result_t open_memory(struct blz_context *context, struct blz_device *device, const ze_ipc_mem_handle_t *ipc, void **pointer)
{
    struct message message;
    memcpy(&message, ipc, sizeof message);
    struct blz_memory description = {.device = device, .type = ZE_MEMORY_TYPE_DEVICE, .mapped = message.name.size, .imported = true};
    if (message.size == 0 || message.size > message.name.size)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "these 64 bytes are not a memory handle of this driver");
    ze_result_t result = blz_result(blr_store_open(&message.name, BLR_STORE_ZE_MEMORY, &description.mapping));
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_memory_take(context, &description, message.size, pointer);
    if (result != ZE_RESULT_SUCCESS)
        munmap(description.mapping, description.mapped);
    return result;
}

ze_result_t zeMemOpenIpcHandle(ze_context_handle_t handle, ze_device_handle_t device_handle, ze_ipc_mem_handle_t ipc,
                               ze_ipc_memory_flags_t flags, void **pointer)
{
    struct blz_context *context;
    struct blz_device *device;
    ze_result_t result = blz_place_acquire(handle, device_handle, &context, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if ((flags & ~(uint32_t)FLAGS) != 0)
        result = blz_fail_enumeration("flags", flags, "flags that are known are 0x3");
    if (result == ZE_RESULT_SUCCESS)
        result = pointer == NULL ? blz_fail_null("pptr") : open_memory(context, device, &ipc, pointer);
    blz_context_release(context);
    return result;
}

ze_result_t zeMemCloseIpcHandle(ze_context_handle_t handle, const void *pointer)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = pointer == NULL ? blz_fail_null("ptr") : blz_memory_free(context, (void *)(uintptr_t)pointer, true);
    blz_context_release(context);
    return result;
}
