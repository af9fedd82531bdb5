/* Commands that wait for external semaphores, or signal them. */
#include "level_zero_driver/command/command.h"
#include "level_zero_driver/sync/external_semaphore.h"
#include "level_zero_driver/command/command_list.h"
#include "level_zero_driver/core/descriptor_chain.h"

#include "reference/runtime/device.h"
#include "reference/platform/threads.h"

#define MOST_SEMAPHORES 65536u

struct semaphore_command {
    struct blz_command command;
    bool waits;
    uint32_t count;
    struct blz_semaphore **semaphores; /* retained */
    uint64_t *values;
    double limit; /* timeout of a wait in seconds, 0 for none: the signal of another process may never come */
};

static void release(struct blz_command *command)
{
    struct semaphore_command *own = (struct semaphore_command *)command;
    for (uint32_t i = 0; i < own->count; i++)
        blr_object_release(&own->semaphores[i]->object);
    blr_delete(own->semaphores);
    blr_delete(own->values);
}

static ze_result_t run(const struct blz_command *command)
{
    const struct semaphore_command *own = (const struct semaphore_command *)command;
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < own->count && result == ZE_RESULT_SUCCESS; i++) {
        struct blr_semaphore *semaphore = &own->semaphores[i]->semaphore;
        if (!own->waits) {
            result = blz_result(blr_semaphore_signal(semaphore, own->values[i]));
        } else {
            blz_stream_step_aside();
            uint64_t deadline = own->limit > 0 ? blr_clock_deadline((uint64_t)(own->limit * 1e9)) : BLR_NO_DEADLINE;
            blr_result_t end = blr_semaphore_wait(semaphore, own->values[i], deadline);
            blz_stream_step_back();
            if (end == BLR_RESULT_TIMEOUT)
                end = blr_semaphore_fail_late(semaphore, own->semaphores[i]->object.id, own->values[i], own->limit);
            result = blz_result(end);
        }
    }
    return result;
}

/* Reads the value of parameters[number]; the structs for waits and signals have the same layout. */
static ze_result_t read_value(const void *parameters, uint32_t number, bool waits, uint64_t *value)
{
    if (waits) {
        const ze_external_semaphore_wait_params_ext_t *params = parameters;
        params += number;
        *value = params->value;
        return blz_descriptor(params, ZE_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_WAIT_PARAMS_EXT, "waitParams", NULL, 0);
    }
    const ze_external_semaphore_signal_params_ext_t *params = parameters;
    params += number;
    *value = params->value;
    return blz_descriptor(params, ZE_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_EXT, "signalParams", NULL, 0);
}

static ze_result_t fill(struct semaphore_command *own, bool waits, uint32_t count, ze_external_semaphore_ext_handle_t *handles,
                        const void *parameters)
{
    own->waits = waits;
    if (handles == NULL || parameters == NULL)
        return blz_fail_null(handles == NULL ? "phSemaphores" : waits ? "waitParams" : "signalParams");
    if (count == 0 || count > MOST_SEMAPHORES)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "numSemaphores is %u: 1 to %u are possible", count, MOST_SEMAPHORES);
    own->semaphores = blr_new(count * sizeof *own->semaphores);
    own->values = blr_new(count * sizeof *own->values);
    if (own->semaphores == NULL || own->values == NULL)
        return blz_fail_memory("the semaphores of a command");
    ze_result_t result = blz_result(blr_device_time_limit(&own->limit));
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        result = read_value(parameters, i, own->waits, &own->values[i]);
        if (result == ZE_RESULT_SUCCESS)
            result = blz_acquire(handles[i], BLR_KIND_ZE_SEMAPHORE, &own->semaphores[i]);
        own->count += result == ZE_RESULT_SUCCESS;
    }
    return result;
}

static ze_result_t append(ze_command_list_handle_t handle, bool waits, uint32_t count, ze_external_semaphore_ext_handle_t *handles,
                          const void *parameters, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *wait_events)
{
    struct blz_list *list;
    ze_result_t result = blz_list_acquire(handle, BLZ_LIST_COPY, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct semaphore_command *own = blz_command_new(sizeof *own, run, release);
    result = own == NULL ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : fill(own, waits, count, handles, parameters);
    return blz_list_end(list, (struct blz_command *)own, result, signal, wait_count, wait_events);
}

ze_result_t zeCommandListAppendSignalExternalSemaphoreExt(ze_command_list_handle_t list, uint32_t count,
                                                          ze_external_semaphore_ext_handle_t *semaphores,
                                                          ze_external_semaphore_signal_params_ext_t *parameters,
                                                          ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
    return append(list, false, count, semaphores, parameters, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendWaitExternalSemaphoreExt(ze_command_list_handle_t list, uint32_t count,
                                                        ze_external_semaphore_ext_handle_t *semaphores,
                                                        ze_external_semaphore_wait_params_ext_t *parameters,
                                                        ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
    return append(list, true, count, semaphores, parameters, signal, wait_count, waits);
}
