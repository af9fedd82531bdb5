/* Batches: recording of a queue's commands, and their execution as one command. */
#include "runtime/batch.h"

#include "platform/heap.h"
#include "runtime/event.h"

#define BRIEF_COMMANDS 16u /* a batch of at most this many brief commands is brief itself */

struct blr_batch {
    struct blr_object object;
    struct blr_context *context; /* retained */
    struct blr_command *first, *last; /* in recording order, linked by newer; owned */
    uint32_t count;
    bool is_brief, is_instant;   /* true while all commands are */
    struct blr_event *newest;    /* event of the newest run, retained, or NULL; guarded by the scheduler's lock */
};

static struct blr_batch *acquire(blr_batch_t handle)
{
    return (struct blr_batch *)blr_object_acquire(blr_handle_id(handle), BLR_KIND_BATCH);
}

static void destroy(struct blr_object *object)
{
    struct blr_batch *batch = (struct blr_batch *)object;
    for (struct blr_command *command = batch->first, *next; command != NULL; command = next) {
        next = command->newer;
        blr_command_discard(command);
    }
    if (batch->newest != NULL)
        blr_event_release(batch->newest);
    blr_context_release(batch->context);
    blr_delete(batch);
}

/* ---------------------------------------------------------------- recording */

static blr_result_t begin(struct blr_queue *queue)
{
    if (!queue->in_order)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the queue runs its commands out of order: a queue made with "
                        "BLR_QUEUE_IN_ORDER can record them");
    struct blr_batch *batch = blr_new(sizeof *batch);
    if (batch == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for a batch");
    batch->is_brief = batch->is_instant = true;
    batch->context = queue->context;
    blr_context_retain(batch->context);
    blr_result_t result = blr_object_register(&batch->object, BLR_KIND_BATCH, destroy);
    if (result != BLR_RESULT_SUCCESS) {
        blr_context_release(batch->context);
        blr_delete(batch);
        return result;
    }
    blr_mutex_lock(&blr_scheduler_mutex);
    const bool records = queue->recording != NULL;
    if (!records)
        queue->recording = batch;
    blr_mutex_unlock(&blr_scheduler_mutex);
    if (!records)
        return BLR_RESULT_SUCCESS;
    blr_object_close(&batch->object);
    return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the queue is already recording: end the recording by "
                                                 "blrQueueEndRecording");
}

blr_result_t blrQueueBeginRecording(blr_queue_t handle)
{
    struct blr_queue *queue = blr_queue_acquire(handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = begin(queue);
    blr_queue_release(queue);
    return result;
}

static struct blr_batch *take(struct blr_queue *queue)
{
    blr_mutex_lock(&blr_scheduler_mutex);
    struct blr_batch *batch = queue->recording;
    queue->recording = NULL;
    blr_mutex_unlock(&blr_scheduler_mutex);
    return batch;
}

void blr_batch_drop(struct blr_queue *queue)
{
    struct blr_batch *batch = take(queue);
    if (batch != NULL)
        blr_object_close(&batch->object);
}

blr_result_t blrQueueEndRecording(blr_queue_t queue_handle, blr_batch_t *handle)
{
    if (handle != NULL)
        *handle = NULL;
    struct blr_queue *queue = blr_queue_acquire(queue_handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    struct blr_batch *batch = take(queue);
    if (batch == NULL)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the queue is not recording: begin a recording by "
                                                       "blrQueueBeginRecording");
    else if (handle == NULL)
        blr_object_close(&batch->object);
    else
        *handle = (blr_batch_t)(uintptr_t)batch->object.id;
    blr_queue_release(queue);
    return result;
}

blr_result_t blr_batch_record(struct blr_queue *queue, struct blr_command *command, uint32_t num_waits)
{
    if (num_waits > 0)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%u events in the wait list: commands of a batch wait only for "
                                                     "the commands before them; give the events to blrEnqueueBatch", num_waits);
    if (!command->is_repeatable)
        return blr_fail(BLR_RESULT_UNSUPPORTED, "host functions and semaphores cannot be recorded: a batch contains "
                                                "kernels, copies, fills, image calls and barriers");
    blr_mutex_lock(&blr_scheduler_mutex);
    struct blr_batch *batch = queue->recording;
    if (batch != NULL) {
        *(batch->first != NULL ? &batch->last->newer : &batch->first) = command;
        batch->last = command;
        command->edges = command->inline_edges;
        batch->count++;
        batch->is_brief = batch->is_brief && command->is_brief && batch->count <= BRIEF_COMMANDS;
        batch->is_instant = batch->count == 1 && command->is_instant;
    }
    blr_mutex_unlock(&blr_scheduler_mutex);
    if (batch == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "another thread has ended the recording of the queue");
    return BLR_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- running */

struct batch_command {
    struct blr_command command;
    struct blr_batch *batch; /* retained */
};

static blr_result_t run(struct blr_command *command)
{
    const struct batch_command *own = (const struct batch_command *)command;
    blr_result_t result = BLR_RESULT_SUCCESS;
    for (struct blr_command *next = own->batch->first; next != NULL && result == BLR_RESULT_SUCCESS; next = next->newer)
        result = next->run(next);
    return result;
}

static void release(struct blr_command *command)
{
    struct batch_command *own = (struct batch_command *)command;
    if (own->batch != NULL)
        blr_object_release(&own->batch->object);
}

static blr_result_t prepare(struct batch_command *own, const struct blr_queue *queue, blr_batch_t handle)
{
    struct blr_batch *batch = own->batch = acquire(handle);
    if (batch == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    if (batch->context != queue->context)
        return blr_fail(BLR_RESULT_INVALID_HANDLE, "the batch is of another context than the queue");
    if (blr_batch_of(queue) != NULL)
        return blr_fail(BLR_RESULT_UNSUPPORTED, "a batch cannot be recorded into another one");
    own->command.is_brief = batch->is_brief;
    own->command.is_instant = batch->is_instant;
    own->command.follows = &batch->newest;
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrEnqueueBatch(blr_queue_t queue_handle, blr_batch_t handle, uint32_t num_waits, const blr_event_t *waits,
                             blr_event_t *event)
{
    struct blr_queue *queue = blr_queue_acquire(queue_handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_OUT_OF_MEMORY;
    struct batch_command *own = blr_command_new(sizeof *own, run, release);
    if (own != NULL) {
        result = prepare(own, queue, handle);
        if (result == BLR_RESULT_SUCCESS)
            result = blr_submit(queue, &own->command, num_waits, waits, event);
        else
            blr_command_discard(&own->command);
    }
    blr_queue_release(queue);
    return result;
}

blr_result_t blrBatchDestroy(blr_batch_t handle)
{
    struct blr_batch *batch = acquire(handle);
    if (batch == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    const bool first = blr_object_close(&batch->object);
    blr_object_release(&batch->object);
    if (!first)
        return blr_fail(BLR_RESULT_INVALID_HANDLE, "the batch was destroyed by another thread");
    return BLR_RESULT_SUCCESS;
}
