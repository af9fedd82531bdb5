/* The driver's own calls, many times each: what the backend's overhead is measured against. Handles are the backend's own. */
#include <level_zero/ze_api.h>
#include <stddef.h>
#include <stdint.h>

/* Returns when all that was appended is done; loaders from 1.8 on. */
static int wait_for(ze_context_handle_t context, ze_command_list_handle_t list)
{
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE, .count = 1};
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .signal = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    if (zeEventPoolCreate(context, &pool_desc, 0, NULL, &pool) || zeEventCreate(pool, &desc, &event))
        return 1;
    int failed = zeCommandListAppendBarrier(list, event, 0, NULL);
    failed = failed || zeEventHostSynchronize(event, UINT64_MAX);
    return failed | (int)zeEventDestroy(event) | (int)zeEventPoolDestroy(pool);
}

/* One work-item; with arguments anew each time, or as they are. */
int launches(ze_context_handle_t context, ze_command_list_handle_t list, ze_kernel_handle_t kernel, int count, int repeated, uint64_t out, uint64_t a, uint32_t b,
             float c)
{
    const ze_group_count_t one = {1, 1, 1};
    int failed = zeKernelSetGroupSize(kernel, 1, 1, 1);
    for (int i = 0; i < count && !failed; i++) {
        if (!repeated || i == 0) {
            failed |= zeKernelSetArgumentValue(kernel, 0, sizeof out, &out);
            failed |= zeKernelSetArgumentValue(kernel, 1, sizeof a, &a);
            failed |= zeKernelSetArgumentValue(kernel, 2, sizeof b, &b);
            failed |= zeKernelSetArgumentValue(kernel, 3, sizeof c, &c);
        }
        failed |= zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL);
    }
    return failed | wait_for(context, list);
}

int copies(ze_context_handle_t context, ze_command_list_handle_t list, int count, uint64_t to, uint64_t from, uint64_t size)
{
    int failed = 0;
    for (int i = 0; i < count; i++)
        failed |= zeCommandListAppendMemoryCopy(list, (void *)(uintptr_t)to, (const void *)(uintptr_t)from, size, NULL, 0, NULL);
    return failed | wait_for(context, list);
}
