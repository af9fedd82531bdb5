/* Commands: allocation, events, and lists of recorded commands. */

#include "level_zero_driver/command/command.h"

#include "level_zero_driver/sync/counter_event.h"
#include "level_zero_driver/sync/fence.h"

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
    if (command->follower != NULL)
        blz_event_release(command->follower);
    blr_delete(command);
}

static ze_result_t set_signal(struct blz_command *command, struct blz_placement placement, ze_event_handle_t handle)
{
    struct blz_event *event;
    ze_result_t result = blz_event_acquire(handle, &event);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (event->counter == 0) {
        command->signal = event;
        return ZE_RESULT_SUCCESS;
    }
    command->follower = event;
    if (!placement.in_order)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                        "the event to be signalled is counter-based: the command list has to be made with %s",
                        placement.recorded ? "ZE_COMMAND_LIST_FLAG_IN_ORDER" : "ZE_COMMAND_QUEUE_FLAG_IN_ORDER");
    return blz_event_point(placement.recorded, &command->signal);
}

ze_result_t blz_command_set_events(struct blz_command *command, struct blz_placement placement, ze_event_handle_t signal,
                                   uint32_t wait_count, ze_event_handle_t *waits)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (wait_count > 0 && waits == NULL)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "phWaitEvents is NULL with numWaitEvents %u", wait_count);
    if (signal != NULL)
        result = set_signal(command, placement, signal);
    if (wait_count == 0 || result != ZE_RESULT_SUCCESS)
        return result;
    command->waits = blr_new(wait_count * sizeof *command->waits);
    if (command->waits == NULL)
        return blz_fail_memory("the events that a command waits for");
    for (uint32_t i = 0; i < wait_count && result == ZE_RESULT_SUCCESS; i++) {
        struct blz_event *event;
        result = blz_event_acquire(waits[i], &event);
        if (result != ZE_RESULT_SUCCESS)
            break;
        command->waits[command->wait_count] = blz_event_to_wait(event, placement.recorded);
        command->wait_count += command->waits[command->wait_count] != NULL;
        blz_event_release(event);
    }
    return result;
}

struct blz_following blz_command_take_following(struct blz_command *command)
{
    struct blz_following following = {command->follower, command->follower != NULL ? command->signal : NULL};
    command->follower = NULL;
    if (following.point != NULL)
        blr_object_retain(&following.point->object);
    return following;
}

void blz_following_end(struct blz_following following, bool appended)
{
    if (following.event == NULL)
        return;
    if (appended)
        blz_event_follow(following.event, following.point);
    blz_event_release(following.event);
    blz_event_release(following.point);
}

/* ---------------------------------------------------------------- recordings */

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

void blz_recording_add(struct blz_recording *recording, struct blz_command *command)
{
    *recording->last = command;
    recording->last = &command->next;
    for (uint32_t i = 0; i < command->wait_count; i++)
        recording->point_count += command->waits[i]->counter != 0;
    recording->point_count += command->signal != NULL && command->signal->counter != 0;
}

/* ---------------------------------------------------------------- executions */

static ze_result_t begin(struct blz_work *work)
{
    const struct blz_recording *recording = work->recording;
    if (recording == NULL || recording->point_count == 0)
        return ZE_RESULT_SUCCESS;
    work->points = blr_new(recording->point_count * sizeof *work->points);
    if (work->points == NULL)
        return blz_fail_memory("the execution of a command list");
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (struct blz_command *command = recording->first; command != NULL && result == ZE_RESULT_SUCCESS; command = command->next) {
        for (uint32_t i = 0; i < command->wait_count; i++)
            if (command->waits[i]->counter != 0)
                work->points[work->point_count++] = blz_event_latest(command->waits[i]);
        if (command->signal != NULL && command->signal->counter != 0) {
            result = blz_event_begin(command->signal, &work->points[work->point_count]);
            work->point_count += result == ZE_RESULT_SUCCESS;
        }
    }
    return result;
}

ze_result_t blz_work_begin(struct blz_work *first)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (; first != NULL && result == ZE_RESULT_SUCCESS; first = first->next)
        result = begin(first);
    return result;
}

/* What was to be signalled by an execution that does not take place. */
static void end_points(struct blz_work *work)
{
    const struct blz_outcome outcome = {ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "the command list was not executed: there was not enough memory", 0, 0};
    uint32_t next = 0;
    for (struct blz_command *command = work->recording->first; command != NULL && next < work->point_count; command = command->next) {
        for (uint32_t i = 0; i < command->wait_count; i++)
            next += command->waits[i]->counter != 0;
        if (command->signal != NULL && command->signal->counter != 0 && next < work->point_count)
            blz_slot_set(work->points[next++]->slot, &outcome);
    }
}

void blz_work_release_points(struct blz_work *work)
{
    for (uint32_t i = 0; i < work->point_count; i++)
        blz_event_release(work->points[i]);
    blr_delete(work->points);
}

void blz_work_drop(struct blz_work *work)
{
    while (work != NULL) {
        struct blz_work *next = work->next;
        if (work->point_count > 0)
            end_points(work);
        blz_work_release_points(work);
        if (work->recording != NULL)
            blz_recording_release(work->recording);
        if (work->fence != NULL)
            blr_object_release((struct blr_object *)work->fence);
        if (work->command != NULL)
            blz_command_delete(work->command); /* the work with it */
        else
            blr_delete(work);
        work = next;
    }
}
