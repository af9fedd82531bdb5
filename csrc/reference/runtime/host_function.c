/* Host functions: callbacks of the caller that run as commands of a queue. */
#include "runtime/queue.h"

/* Command that runs a host function. */
struct host_command {
    struct blr_command command;
    blr_host_function_t function;
    void *user_data;
};

static blr_result_t run(struct blr_command *command)
{
    struct host_command *host = (struct host_command *)command;
    host->function(host->user_data);
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrEnqueueHostFunction(blr_queue_t handle, blr_host_function_t function, void *user_data,
                                    uint32_t num_waits, const blr_event_t *waits, blr_event_t *event)
{
    struct blr_queue *queue = blr_queue_acquire(handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_OUT_OF_MEMORY;
    struct host_command *host;
    if (function == NULL) {
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "function is NULL: there is nothing to run");
    } else if ((host = blr_command_new(sizeof *host, run, NULL)) != NULL) {
        host->function = function;
        host->user_data = user_data;
        host->command.is_host_function = true;
        result = blr_submit(queue, &host->command, num_waits, waits, event);
    }
    blr_queue_release(queue);
    return result;
}

blr_result_t blrHostFunctionFail(blr_result_t code, const char *message)
{
    if (code == BLR_RESULT_SUCCESS || code == BLR_RESULT_NOT_READY || (unsigned)code > BLR_RESULT_KERNEL_FAULT)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "code %d: an error code is required", (int)code);
    if (message == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "message is NULL: a message that describes the failure is "
                                                     "required");
    return blr_scheduler_fail_current(code, message);
}
