/* Memory: the three kinds, hints, reserved virtual memory, residency, IPC handles. */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "guide.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void section_memory(void)
{
    ze_device_memory_access_properties_t access = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES};
    OK(zeDeviceGetMemoryAccessProperties(device, &access));
    HOLDS(access.hostAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW);
    HOLDS(access.deviceAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW);
    HOLDS(access.sharedSingleDeviceAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW);

    enum { COUNT = 5000, BYTES = COUNT * sizeof(uint32_t) };
    ze_device_mem_alloc_desc_t device_desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_CACHED, 0};
    ze_host_mem_alloc_desc_t host_desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, ZE_HOST_MEM_ALLOC_FLAG_BIAS_UNCACHED};
    void *host = NULL, *local = NULL, *shared = NULL;
    OK(zeMemAllocHost(context, &host_desc, BYTES, 64, &host));
    OK(zeMemAllocDevice(context, &device_desc, BYTES, 64, device, &local));
    OK(zeMemAllocShared(context, &device_desc, &host_desc, BYTES, 64, device, &shared));
    for (uint32_t i = 0; i < COUNT; i++)
        ((uint32_t *)host)[i] = i * 3;
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    OK(zeCommandListAppendMemoryCopy(list, local, host, BYTES, NULL, 0, NULL));
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryPrefetch(list, shared, BYTES));
    OK(zeCommandListAppendMemAdvise(list, device, shared, BYTES, ZE_MEMORY_ADVICE_SET_READ_MOSTLY));
    OK(zeCommandListAppendMemoryCopy(list, shared, local, BYTES, NULL, 0, NULL));
    run_list(queue, list);
    for (uint32_t i = 0; i < COUNT; i++)
        HOLDS(((uint32_t *)shared)[i] == i * 3);

    ze_memory_allocation_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t owner = NULL;
    OK(zeMemGetAllocProperties(context, local, &properties, &owner));
    HOLDS(properties.type == ZE_MEMORY_TYPE_DEVICE && owner == device && properties.pageSize > 0);
    void *base = NULL;
    size_t size = 0;
    OK(zeMemGetAddressRange(context, (char *)local + 100, &base, &size));
    HOLDS(base == local && size >= BYTES);

    /* A box from rows with a pitch of 100 bytes to contiguous rows. */
    ze_copy_region_t from = {4, 2, 0, 20, 10, 1}, to = {0, 0, 0, 20, 10, 1};
    OK(zeCommandListReset(list));
    OK(zeCommandListAppendMemoryCopyRegion(list, shared, &to, 20, 200, local, &from, 100, 1000, NULL, 0, NULL));
    run_list(queue, list);
    for (uint32_t y = 0; y < 10; y++)
        HOLDS(memcmp((char *)shared + y * 20, (char *)host + (y + 2) * 100 + 4, 20) == 0);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeMemFree(context, host));
    OK(zeMemFree(context, local));
    OK(zeMemFree(context, shared));
}

static size_t align(size_t size, size_t page) { return (size + page - 1) / page * page; }

/* At any address. Validation layers up to version 1.8 refuse the null pointer for that: then near a given address. */
static char *reserve(size_t size)
{
    void *pointer = NULL;
    if (zeVirtualMemReserve(context, NULL, size, &pointer) != ZE_RESULT_SUCCESS)
        OK(zeVirtualMemReserve(context, (void *)(uintptr_t)(UINT64_C(1) << 44), size, &pointer));
    return pointer;
}

void section_reserved_memory(void)
{
    size_t page = 0, allocation = 1048576, size;
    OK(zeVirtualMemQueryPageSize(context, device, allocation, &page));
    size = align(allocation, page);
    char *pointer = reserve(size), *more = NULL, *other = NULL;

    ze_physical_mem_handle_t physical = NULL, grown = NULL;
    ze_physical_mem_desc_t desc = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, NULL, 0, size};
    OK(zePhysicalMemCreate(context, device, &desc, &physical));
    OK(zeVirtualMemMap(context, pointer, size, physical, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    size_t same = 0;
    ze_memory_access_attribute_t access;
    OK(zeVirtualMemGetAccessAttribute(context, pointer, size, &access, &same));
    HOLDS(same == size && access == ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);

    uint32_t count = (uint32_t)(size / sizeof(uint32_t)), *back = make_numbers(2 * count);
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    append_work(list, (uint32_t *)(void *)pointer, 0xabcd, count, NULL, 0, NULL);
    run_list(queue, list);

    /* Growth: reserve the range after it, or else a larger one to which the pages move. */
    OK(zeVirtualMemReserve(context, pointer + size, size, (void **)&other));
    bool follows = other == pointer + size;
    if (follows) {
        more = pointer;
    } else {
        OK(zeVirtualMemFree(context, other, size));
        OK(zeCommandListReset(list)); /* the list retains the pages */
        OK(zeVirtualMemUnmap(context, pointer, size));
        more = reserve(2 * size);
        OK(zeVirtualMemMap(context, more, size, physical, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    }
    OK(zePhysicalMemCreate(context, device, &desc, &grown));
    OK(zeVirtualMemMap(context, more + size, size, grown, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    OK(zeCommandListReset(list));
    append_work(list, (uint32_t *)(void *)(more + size), 0xef01, count, NULL, 0, NULL);
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, back, more, size, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, back + count, more + size, size, NULL, 0, NULL));
    run_list(queue, list);
    HOLDS(all_are(back, 0xabcd, count) && all_are(back + count, 0xef01, count));
    OK(zeVirtualMemSetAccessAttribute(context, more, size, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    OK(zeVirtualMemGetAccessAttribute(context, more, size, &access, &same));
    HOLDS(access == ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY && same == size);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeVirtualMemUnmap(context, more, size));
    OK(zeVirtualMemUnmap(context, more + size, size));
    OK(zePhysicalMemDestroy(context, physical));
    OK(zePhysicalMemDestroy(context, grown));
    OK(zeVirtualMemFree(context, pointer, size));
    if (follows)
        OK(zeVirtualMemFree(context, other, size));
    else
        OK(zeVirtualMemFree(context, more, 2 * size));
    OK(zeMemFree(context, back));

    /* A large reservation with a small mapping. */
    OK(zeVirtualMemQueryPageSize(context, device, 1048576000, &page));
    size_t large_size = align(1048576000, page), small = 0;
    char *large = reserve(large_size);
    OK(zeVirtualMemQueryPageSize(context, device, 131072, &page));
    small = align(131072, page);
    ze_physical_mem_desc_t small_desc = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, NULL, 0, small};
    OK(zePhysicalMemCreate(context, device, &small_desc, &physical));
    char *piece = large + 64 * small;
    OK(zeVirtualMemMap(context, piece, small, physical, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    OK(zeVirtualMemUnmap(context, piece, small));
    OK(zePhysicalMemDestroy(context, physical));
    OK(zeVirtualMemFree(context, large, large_size));
}

void section_residency(void)
{
    struct node {
        struct node *next;
    } *begin = NULL;
    ze_host_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    OK(zeMemAllocHost(context, &desc, sizeof(struct node), 1, (void **)&begin));
    OK(zeMemAllocHost(context, &desc, sizeof(struct node), 1, (void **)&begin->next));
    OK(zeMemAllocHost(context, &desc, sizeof(struct node), 1, (void **)&begin->next->next));
    OK(zeContextMakeMemoryResident(context, device, begin->next, sizeof(struct node)));
    OK(zeContextMakeMemoryResident(context, device, begin->next->next, sizeof(struct node)));
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    ze_fence_desc_t fence_desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, NULL, 0};
    ze_fence_handle_t fence = NULL;
    OK(zeFenceCreate(queue, &fence_desc, &fence));
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    OK(zeFenceHostSynchronize(fence, UINT64_MAX));
    OK(zeContextEvictMemory(context, device, begin->next, sizeof(struct node)));
    OK(zeContextEvictMemory(context, device, begin->next->next, sizeof(struct node)));
    OK(zeFenceDestroy(fence));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeMemFree(context, begin->next->next));
    OK(zeMemFree(context, begin->next));
    OK(zeMemFree(context, begin));
}

/* ---------------------------------------------------------------- two processes */

struct letter {
    ze_ipc_mem_handle_t memory;
    ze_ipc_event_pool_handle_t events;
};

enum { SHARED_COUNT = 4096 };

/* Fills the memory of the first process, signals event 5 of its pool, and ends. */
void other_process(void)
{
    struct letter letter;
    HOLDS(read(STDIN_FILENO, &letter, sizeof letter) == (ssize_t)sizeof letter);
    void *memory = NULL;
    ze_event_pool_handle_t pool = NULL;
    OK(zeMemOpenIpcHandle(context, device, letter.memory, 0, &memory));
    OK(zeEventPoolOpenIpcHandle(context, letter.events, &pool));
    ze_event_handle_t event = make_event(pool, 5);
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    append_work(list, memory, 0x5eed, SHARED_COUNT, event, 0, NULL);
    run_list(queue, list);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeEventDestroy(event));
    OK(zeEventPoolCloseIpcHandle(pool));
    OK(zeMemCloseIpcHandle(context, memory));
    OK(zeContextDestroy(context));
    exit(0);
}

void section_processes(void)
{
    ze_driver_ipc_properties_t ipc = {.stype = ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES};
    OK(zeDriverGetIpcProperties(driver, &ipc));
    HOLDS(ipc.flags & ZE_IPC_PROPERTY_FLAG_MEMORY);
    HOLDS(ipc.flags & ZE_IPC_PROPERTY_FLAG_EVENT_POOL);
    ze_device_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
    void *memory = NULL;
    struct letter letter;
    OK(zeMemAllocDevice(context, &desc, SHARED_COUNT * sizeof(uint32_t), 64, device, &memory));
    ze_event_pool_handle_t pool = make_pool(ZE_EVENT_POOL_FLAG_IPC | ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 10);
    ze_event_handle_t event = make_event(pool, 5);
    OK(zeMemGetIpcHandle(context, memory, &letter.memory));
    OK(zeEventPoolGetIpcHandle(pool, &letter.events));

    int ends[2], status = -1;
    pid_t child = 0;
    char *arguments[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)"--other", NULL};
    posix_spawn_file_actions_t actions;
    HOLDS(pipe(ends) == 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    HOLDS(posix_spawn(&child, program, &actions, NULL, arguments, environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    HOLDS(write(ends[1], &letter, sizeof letter) == (ssize_t)sizeof letter);
    close(ends[1]);
    HOLDS(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(zeEventHostSynchronize(event, UINT64_MAX));

    uint32_t *numbers = make_numbers(SHARED_COUNT);
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    OK(zeCommandListAppendMemoryCopy(list, numbers, memory, SHARED_COUNT * sizeof(uint32_t), NULL, 1, &event));
    run_list(queue, list);
    HOLDS(all_are(numbers, 0x5eed, SHARED_COUNT));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeMemFree(context, numbers));
    OK(zeEventDestroy(event));
    OK(zeEventPoolDestroy(pool));
    OK(zeMemFree(context, memory));
}
