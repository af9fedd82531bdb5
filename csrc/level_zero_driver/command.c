#include "command.h"

void *blz_command_new(size_t size, ze_result_t (*run)(const struct blz_command *command),
                      void (*release)(struct blz_command *command))
{
    struct blz_command *command = blr_new(size);
    if (command == NULL) {
        blz_fail_memory("a command");
        return NULL;
    }
    command->run = run;
    command->release = release;
    return command;
}

void blz_command_delete(struct blz_command *command)
{
    if (command->release != NULL)
        command->release(command);
    for (uint32_t i = 0; i < command->wait_count; i++)
        blz_event_release(command->waits[i]);
    blr_delete(command->waits);
    if (command->signal != NULL)
        blz_event_release(command->signal);
    blr_delete(command);
}

ze_result_t blz_command_set_events(struct blz_command *command, ze_event_handle_t signal, uint32_t wait_count,
                                   ze_event_handle_t *waits)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (wait_count > 0 && waits == NULL)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "phWaitEvents is NULL with numWaitEvents %u", wait_count);
    if (signal != NULL)
        result = blz_event_acquire(signal, &command->signal);
    if (wait_count == 0 || result != ZE_RESULT_SUCCESS)
        return result;
    command->waits = blr_new(wait_count * sizeof *command->waits);
    if (command->waits == NULL)
        return blz_fail_memory("the events that a command waits for");
    for (uint32_t i = 0; i < wait_count && result == ZE_RESULT_SUCCESS; i++) {
        result = blz_event_acquire(waits[i], &command->waits[i]);
        command->wait_count += result == ZE_RESULT_SUCCESS;
    }
    return result;
}

struct blz_recording *blz_recording_new(void)
{
    struct blz_recording *recording = blr_new(sizeof *recording);
    if (recording == NULL) {
        blz_fail_memory("the commands of a list");
        return NULL;
    }
    atomic_init(&recording->references, 1);
    recording->last = &recording->first;
    return recording;
}

void blz_recording_retain(struct blz_recording *recording)
{
    atomic_fetch_add_explicit(&recording->references, 1, memory_order_relaxed);
}

void blz_recording_release(struct blz_recording *recording)
{
    if (atomic_fetch_sub_explicit(&recording->references, 1, memory_order_acq_rel) != 1)
        return;
    while (recording->first != NULL) {
        struct blz_command *next = recording->first->next;
        blz_command_delete(recording->first);
        recording->first = next;
    }
    blr_delete(recording);
}
