/* Kernel launches: a command copies the kernel's state when it is appended; the reference driver runs it. */
#include "level_zero_driver/command/command.h"
#include "level_zero_driver/module/kernel.h"
#include "level_zero_driver/command/command_list.h"
#include "reference/kernel/launch.h"
#include "reference/memory/allocation.h"

#include <inttypes.h>
#include <string.h>

struct launch {
    struct blz_kernel *kernel;      /* retained */
    uint32_t group[3], offset[3];
    uint32_t argument_count;
    const void **values;            /* of each argument: bytes, or NULL for local memory */
    uint64_t *sizes;
    unsigned char *bytes;
    struct blr_object **resources;  /* retained, or NULL */
    struct blr_command *ready;      /* the prepared launch; NULL for indirect group counts, or if preparation failed */
};

struct launch_command {
    struct blz_command command;
    ze_group_count_t groups;            /* unless the group counts are in memory */
    const ze_group_count_t *groups_at;  /* group counts in memory, read when the command runs */
    const uint32_t *count_at;           /* launch count in memory, read when the command runs */
    struct blr_allocation *used[2];     /* retained */
    uint32_t launch_count;
    struct launch *launches;
};

static void drop(struct launch *launch)
{
    for (uint32_t i = 0; launch->resources != NULL && i < launch->argument_count; i++)
        if (launch->resources[i] != NULL)
            blr_object_release(launch->resources[i]);
    blr_delete(launch->values);
    blr_delete(launch->sizes);
    blr_delete(launch->bytes);
    blr_delete(launch->resources);
    if (launch->ready != NULL)
        blr_command_discard(launch->ready);
    if (launch->kernel != NULL)
        blz_kernel_release(launch->kernel);
}

static void release(struct blz_command *command)
{
    struct launch_command *own = (struct launch_command *)command;
    for (uint32_t i = 0; i < own->launch_count; i++)
        drop(&own->launches[i]);
    blr_delete(own->launches);
    blr_memory_release(own->used[0]);
    blr_memory_release(own->used[1]);
}

/* ---------------------------------------------------------------- execution */

static bool is_empty(const ze_group_count_t *groups)
{
    return groups->groupCountX == 0 || groups->groupCountY == 0 || groups->groupCountZ == 0;
}

/* Describes the launch for the reference driver. */
static blr_launch_t describe(const struct launch *launch, const ze_group_count_t *groups)
{
    const uint64_t counts[3] = {groups->groupCountX, groups->groupCountY, groups->groupCountZ};
    blr_launch_t description = {.dimensions = 1,
                                .argument_count = launch->argument_count,
                                .arguments = launch->values,
                                .argument_sizes = launch->sizes};
    for (int c = 0; c < 3; c++) {
        description.local_size[c] = launch->group[c];
        description.global_size[c] = counts[c] * launch->group[c];
        description.global_offset[c] = launch->offset[c];
        if (description.global_size[c] > 1 || description.global_offset[c] != 0)
            description.dimensions = (uint32_t)c + 1; /* Level Zero does not say how many there are */
    }
    return description;
}

static ze_result_t run_launch(const struct launch *launch, const ze_group_count_t *groups)
{
    if (launch->ready != NULL)
        return blz_result(launch->ready->run(launch->ready));
    if (is_empty(groups))
        return ZE_RESULT_SUCCESS;
    const blr_launch_t description = describe(launch, groups);
    blr_queue_t queue = blz_stream_native();
    blr_result_t result = blrEnqueueKernel(queue, launch->kernel->native, &description, 0, NULL, NULL);
    if (result == BLR_RESULT_SUCCESS)
        result = blrQueueWait(queue, BLR_TIMEOUT_INFINITE);
    return blz_result(result);
}

static ze_result_t run(const struct blz_command *command)
{
    const struct launch_command *own = (const struct launch_command *)command;
    uint32_t count = own->launch_count;
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (own->count_at != NULL && *own->count_at < count)
        count = *own->count_at;
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++)
        result = run_launch(&own->launches[i], own->groups_at != NULL ? &own->groups_at[i] : &own->groups);
    return result;
}

/* ---------------------------------------------------------------- preparation */

static ze_result_t copy_arguments(struct launch *launch, const struct blz_kernel *kernel)
{
    uint32_t count = kernel->properties.argument_count;
    uint64_t bytes = 16;
    for (uint32_t i = 0; i < count; i++)
        bytes += (kernel->arguments[i].is.size + 15) / 16 * 16;
    launch->values = blr_new((count + 1u) * sizeof *launch->values);
    launch->sizes = blr_new((count + 1u) * sizeof *launch->sizes);
    launch->resources = blr_new((count + 1u) * sizeof *launch->resources);
    launch->bytes = blr_new((size_t)bytes);
    launch->argument_count = count;
    if (launch->values == NULL || launch->sizes == NULL || launch->resources == NULL || launch->bytes == NULL)
        return blz_fail_memory("the arguments of a launch");
    unsigned char *next = launch->bytes;
    for (uint32_t i = 0; i < count; i++) {
        const struct blz_argument *argument = &kernel->arguments[i];
        if (!argument->set)
            return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "argument %u ('%.60s') of kernel '%.80s' is not set: call zeKernelSetArgumentValue", i, argument->is.name,
                            kernel->properties.name);
        if (argument->is.kind == BLR_ARGUMENT_KIND_LOCAL) {
            launch->sizes[i] = argument->size;
            continue;
        }
        memcpy(next, argument->value, (size_t)argument->is.size);
        launch->values[i] = next;
        launch->sizes[i] = argument->is.size;
        launch->resources[i] = argument->resource;
        if (argument->resource != NULL)
            blr_object_retain(argument->resource);
        next += (argument->is.size + 15) / 16 * 16;
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t prepare(struct launch *launch, ze_kernel_handle_t handle)
{
    struct blz_kernel *kernel;
    ze_result_t result = blz_kernel_acquire(handle, &kernel);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    launch->kernel = kernel;
    blr_mutex_lock(&kernel->mutex);
    memcpy(launch->group, kernel->group, sizeof launch->group);
    memcpy(launch->offset, kernel->offset, sizeof launch->offset);
    result = copy_arguments(launch, kernel);
    blr_mutex_unlock(&kernel->mutex);
    return result;
}

/* Prepares a launch. A failure is ignored here: the launch fails again, and is reported, when it runs. */
static void make_ready(struct launch *launch, const struct blz_list *list, const ze_group_count_t *groups)
{
    if (is_empty(groups))
        return;
    const blr_launch_t description = describe(launch, groups);
    struct blr_error unseen;
    struct blr_error *before = blr_error_redirect(&unseen);
    launch->ready = blr_launch_new(list->context->reference, launch->kernel->native, &description);
    blr_error_redirect(before);
}

/* Retains memory that a command reads when it runs. */
static ze_result_t use(struct launch_command *own, int number, const struct blz_list *list, const void *pointer, uint64_t size,
                       const char *name)
{
    if (pointer == NULL)
        return blz_fail_null(name);
    if ((uintptr_t)pointer % sizeof(uint32_t) != 0)
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "%s is %p: a multiple of %zu is needed", name, pointer, sizeof(uint32_t));
    return blz_result(blr_memory_use(list->context->reference, pointer, size, name, &own->used[number]));
}

/* ---------------------------------------------------------------- the calls */

struct request {
    uint32_t kernel_count;
    ze_kernel_handle_t *kernels;
    const ze_group_count_t *groups;
    bool indirect, cooperative;
    const uint32_t *count_at; /* for several kernels */
};

static ze_result_t fill(struct launch_command *own, const struct blz_list *list, const struct request *request)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (request->groups == NULL)
        return blz_fail_null(request->indirect ? "pLaunchArgumentsBuffer" : "pLaunchFuncArgs");
    own->launches = blr_new(request->kernel_count * sizeof *own->launches);
    if (own->launches == NULL)
        return blz_fail_memory("a launch");
    own->launch_count = request->kernel_count;
    for (uint32_t i = 0; i < request->kernel_count && result == ZE_RESULT_SUCCESS; i++)
        result = prepare(&own->launches[i], request->kernels[i]);
    if (result == ZE_RESULT_SUCCESS && request->count_at != NULL) {
        result = use(own, 0, list, request->count_at, sizeof *request->count_at, "pCountBuffer");
        own->count_at = request->count_at;
    }
    if (result == ZE_RESULT_SUCCESS && request->indirect) {
        result = use(own, 1, list, request->groups, request->kernel_count * sizeof *request->groups, "pLaunchArgumentsBuffer");
        own->groups_at = request->groups;
    } else if (result == ZE_RESULT_SUCCESS) {
        own->groups = *request->groups;
        make_ready(own->launches, list, &own->groups);
        own->command.is_instant = own->launches->ready != NULL && own->launches->ready->is_instant;
    }
    uint64_t groups = (uint64_t)own->groups.groupCountX * own->groups.groupCountY;
    groups = groups > UINT32_MAX ? groups : groups * own->groups.groupCountZ;
    if (result == ZE_RESULT_SUCCESS && request->cooperative && groups > BLZ_MAX_COOPERATIVE_GROUPS)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "a cooperative launch of %u x %u x %u groups: zeKernelSuggestMaxCooperativeGroupCount says %u",
                          own->groups.groupCountX, own->groups.groupCountY, own->groups.groupCountZ, BLZ_MAX_COOPERATIVE_GROUPS);
    return result;
}

static ze_result_t append(ze_command_list_handle_t handle, const struct request *request, ze_event_handle_t signal,
                          uint32_t wait_count, ze_event_handle_t *waits)
{
    struct blz_list *list;
    ze_result_t result = blz_list_acquire(handle, BLZ_LIST_COMPUTE, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct launch_command *own = blz_command_new(sizeof *own, run, release);
    result = own == NULL ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : fill(own, list, request);
    return blz_list_end(list, (struct blz_command *)own, result, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendLaunchKernel(ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
                                            ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
    const struct request request = {.kernel_count = 1, .kernels = &kernel, .groups = groups};
    return append(list, &request, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendLaunchCooperativeKernel(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                                       const ze_group_count_t *groups, ze_event_handle_t signal,
                                                       uint32_t wait_count, ze_event_handle_t *waits)
{
    const struct request request = {.kernel_count = 1, .kernels = &kernel, .groups = groups, .cooperative = true};
    return append(list, &request, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendLaunchKernelIndirect(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                                    const ze_group_count_t *groups, ze_event_handle_t signal,
                                                    uint32_t wait_count, ze_event_handle_t *waits)
{
    const struct request request = {.kernel_count = 1, .kernels = &kernel, .groups = groups, .indirect = true};
    return append(list, &request, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendLaunchMultipleKernelsIndirect(ze_command_list_handle_t list, uint32_t kernel_count,
                                                             ze_kernel_handle_t *kernels, const uint32_t *count,
                                                             const ze_group_count_t *groups, ze_event_handle_t signal,
                                                             uint32_t wait_count, ze_event_handle_t *waits)
{
    const struct request request = {
        .kernel_count = kernel_count, .kernels = kernels, .groups = groups, .indirect = true, .count_at = count};
    if (list == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (kernels == NULL || count == NULL)
        return blz_fail_null(kernels == NULL ? "phKernels" : "pCountBuffer");
    if (kernel_count == 0 || kernel_count > UINT16_MAX)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "numKernels is %u: 1 to %u are possible", kernel_count, UINT16_MAX);
    return append(list, &request, signal, wait_count, waits);
}

/* ---------------------------------------------------------------- newer forms */

static ze_result_t read_chain(const void *next, bool *cooperative)
{
    uint32_t length = 0;
    *cooperative = false;
    for (const ze_base_desc_t *link = next; link != NULL; link = link->pNext) {
        if (link->stype != ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC || ++length > 1)
            return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                            "pNext: a struct with stype 0x%x; ze_command_list_append_launch_kernel_param_cooperative_desc_t is known, once",
                            (unsigned)link->stype);
        *cooperative = ((const ze_command_list_append_launch_kernel_param_cooperative_desc_t *)link)->isCooperative != 0;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListAppendLaunchKernelWithParameters(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                                          const ze_group_count_t *groups, const void *next,
                                                          ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
    struct request request = {.kernel_count = 1, .kernels = &kernel, .groups = groups};
    ze_result_t result = read_chain(next, &request.cooperative);
    return result == ZE_RESULT_SUCCESS ? append(list, &request, signal, wait_count, waits) : result;
}

/* values[i] points to the value of argument i: a number, a pointer, the handle of an image or a sampler; for local
   memory, its size. */
static ze_result_t set_arguments(ze_kernel_handle_t handle, void **values)
{
    struct blz_kernel *kernel;
    ze_result_t result = blz_kernel_acquire(handle, &kernel);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (kernel->properties.argument_count > 0 && values == NULL)
        result = blz_fail_null("pArguments");
    for (uint32_t i = 0; i < kernel->properties.argument_count && result == ZE_RESULT_SUCCESS; i++) {
        size_t size = (size_t)kernel->arguments[i].is.size;
        const void *value = values[i];
        bool local = kernel->arguments[i].is.kind == BLR_ARGUMENT_KIND_LOCAL;
        if (local && value != NULL)
            memcpy(&size, value, sizeof size);
        if (local && value == NULL)
            result = blz_fail_null("an element of pArguments, of local memory,");
        else
            result = zeKernelSetArgumentValue(handle, i, size, local ? NULL : value);
    }
    blz_kernel_release(kernel);
    return result;
}

ze_result_t zeCommandListAppendLaunchKernelWithArguments(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                                         const ze_group_count_t groups, const ze_group_size_t sizes,
                                                         void **values, const void *next, ze_event_handle_t signal,
                                                         uint32_t wait_count, ze_event_handle_t *waits)
{
    if (list == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    ze_result_t result = zeKernelSetGroupSize(kernel, sizes.groupSizeX, sizes.groupSizeY, sizes.groupSizeZ);
    if (result == ZE_RESULT_SUCCESS)
        result = set_arguments(kernel, values);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    return zeCommandListAppendLaunchKernelWithParameters(list, kernel, &groups, next, signal, wait_count, waits);
}
