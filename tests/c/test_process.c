/* Forks, and exits with running work. The program runs itself for the exits. */
#include "fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The address sanitizer asks before it looks for leaks at an exit: for that it takes the allocator's locks, which a thread that a
 * fork does not copy may hold for ever, and stops all threads. Only the first process frees everything. The runtime is a shared
 * library: it sees the function only where the program exports it. */
static bool leaves_everything;
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return leaves_everything; }

static void sleep_ms(unsigned milliseconds)
{
    struct timespec time = {.tv_sec = milliseconds / 1000, .tv_nsec = (long)(milliseconds % 1000) * 1000000};
    nanosleep(&time, NULL);
}

static void sleep_long(void *data)
{
    (void)data;
    sleep_ms(5000);
}

/* Waits for the child and returns its status; ends it and fails the test after ten seconds. */
static int wait_for_child(pid_t child)
{
    for (int i = 0; i < 1000; i++) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        sleep_ms(10);
    }
    kill(child, SIGKILL); /* it has the test's output open, whose end a test runner waits for */
    check_failed(__FILE__, __LINE__, "the child process", "hangs");
    return -1;
}

static void fork_without_use(void)
{
    pid_t child = fork();
    if (child == 0) { /* no object existed: the driver works in the child */
        leaves_everything = true;
        blr_context_t context = open_context();
        blr_queue_t queue = open_queue(context, BLR_QUEUE_IN_ORDER);
        OK(blrEnqueueBarrier(queue, 0, NULL, NULL));
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
        OK(blrQueueDestroy(queue));
        OK(blrContextDestroy(context));
        exit(0);
    }
    CHECK_EQUAL(0, wait_for_child(child));
}

static void fork_with_use(void)
{
    blr_context_t context = open_context();
    blr_queue_t queue = open_queue(context, BLR_QUEUE_OUT_OF_ORDER);
    blr_event_t gate = NULL;
    OK(blrEventCreateUser(context, &gate));
    OK(blrEnqueueBarrier(queue, 1, &gate, NULL));
    pid_t child = fork();
    if (child == 0) {
        leaves_everything = true;
        blr_device_t device = NULL;
        void *memory = NULL;
        uint64_t count = 0;
        FAILS(INVALID_HANDLE, blrQueueWait(queue, BLR_TIMEOUT_INFINITE), "forked");
        FAILS(INVALID_HANDLE, blrEventWait(gate, BLR_TIMEOUT_INFINITE), "spawn");
        FAILS(INVALID_HANDLE, blrEnqueueBarrier(queue, 0, NULL, NULL), "forked");
        FAILS(INVALID_HANDLE, blrMemoryAllocate(context, BLR_MEMORY_HOST, 64, 0, &memory), "forked");
        FAILS(INVALID_HANDLE, blrQueueDestroy(queue), "forked");
        FAILS(INVALID_HANDLE, blrContextDestroy(context), "forked");
        FAILS(INVALID_HANDLE, blrDeviceGet(0, &device), "forked");
        OK(blrGetObjectCount(&count));
        exit(0); /* runs the exit handlers */
    }
    CHECK_EQUAL(0, wait_for_child(child));
    OK(blrEventSignalUser(gate, BLR_RESULT_SUCCESS)); /* the parent continues */
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    OK(blrEventRelease(gate));
    OK(blrQueueDestroy(queue));
    OK(blrContextDestroy(context));
    CHECK_EQUAL(0, object_count());
}

/* Exits with live queues, a running host function, a pending wait and a large copy. */
static int leave_everything(void)
{
    leaves_everything = true;
    static unsigned char bytes[4 << 20];
    blr_context_t context = open_context();
    blr_queue_t queues[2] = {open_queue(context, BLR_QUEUE_IN_ORDER), open_queue(context, BLR_QUEUE_OUT_OF_ORDER)};
    blr_event_t gate = NULL;
    void *memory = NULL;
    OK(blrMemoryAllocate(context, BLR_MEMORY_DEVICE, sizeof bytes, 0, &memory));
    OK(blrEventCreateUser(context, &gate));
    OK(blrEnqueueHostFunction(queues[0], sleep_long, NULL, 0, NULL, NULL));
    OK(blrEnqueueBarrier(queues[1], 1, &gate, NULL));
    OK(blrEnqueueCopy(queues[0], memory, bytes, sizeof bytes, 0, NULL, NULL));
    for (int i = 0; i < 20; i++)
        OK(blrEnqueueCopy(queues[1], memory, bytes, sizeof bytes, 0, NULL, NULL));
    return 7;
}

static void exit_with_work(const char *program)
{
    uint64_t before = clock_ns();
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, "leave", (char *)NULL);
        _exit(99);
    }
    int status = wait_for_child(child);
    CHECK(WIFEXITED(status));
    CHECK_EQUAL(7, WEXITSTATUS(status));
    CHECK(clock_ns() - before < 4 * SECOND);
}

int main(int count, char **arguments)
{
    if (count > 1)
        return leave_everything();
    fork_without_use();
    for (int i = 0; i < 5; i++)
        exit_with_work(arguments[0]);
    fork_with_use();
    return 0;
}
