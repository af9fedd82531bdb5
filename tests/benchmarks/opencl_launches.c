/* Launches as a C program makes them: the argument that changes is set, a kernel enqueued with an event, the queue
   flushed. The functions are those of the library that is open already. */
#include <stddef.h>
#include <stdint.h>

typedef int32_t (*set_argument)(void *kernel, uint32_t index, size_t size, const void *value);
typedef int32_t (*enqueue)(void *queue, void *kernel, uint32_t dimensions, const size_t *offset, const size_t *whole,
                           const size_t *group, uint32_t count, void *const *waits, void **event);
typedef int32_t (*one_argument)(void *object);

int launch_many(set_argument set, enqueue run, one_argument release, one_argument flush, void *queue, void *kernel,
                uint32_t index, int count)
{
    const size_t whole = 1;
    for (int32_t i = 0; i < count; ++i) {
        void *event = NULL;
        int32_t result = set(kernel, index, sizeof i, &i);
        if (result == 0) result = run(queue, kernel, 1, NULL, &whole, &whole, 0, NULL, &event);
        if (result == 0) result = flush(queue);
        if (result != 0) return result;
        release(event);
    }
    return 0;
}
