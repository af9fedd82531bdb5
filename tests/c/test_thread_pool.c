/* parallel_for: every item once, early stop, concurrent calls, nested calls. */
#include "fixture.h"
#include "platform/thread_pool.h"
#include "platform/threads.h"

#include <time.h>

enum { ITEMS = 100003 };

struct work {
    unsigned char seen[ITEMS];
    _Atomic uint64_t sum;
    uint64_t stop_at;
    _Atomic uint64_t parts;
};

static bool see(void *argument, uint64_t begin, uint64_t end)
{
    struct work *work = argument;
    CHECK(begin < end && end <= ITEMS);
    for (uint64_t i = begin; i < end; i++)
        work->seen[i]++;
    atomic_fetch_add(&work->sum, end - begin);
    atomic_fetch_add(&work->parts, 1);
    return !(begin <= work->stop_at && work->stop_at < end);
}

static void every_item_once(void)
{
    static struct work work;
    static const uint64_t totals[] = {0, 1, 2, 100, 4096, ITEMS}, grains[] = {0, 1, 7, 1000, 4096, ITEMS, UINT64_MAX / 2};
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 7; k++) {
            memset(work.seen, 0, sizeof work.seen);
            atomic_store(&work.sum, 0);
            atomic_store(&work.parts, 0);
            work.stop_at = UINT64_MAX;
            blr_parallel_for(totals[i], grains[k], see, &work);
            CHECK_EQUAL(totals[i], atomic_load(&work.sum));
            uint64_t grain = grains[k] ? grains[k] : 1;
            CHECK_EQUAL((totals[i] + grain - 1) / grain, atomic_load(&work.parts));
            for (uint64_t n = 0; n < ITEMS; n++)
                CHECK_EQUAL(n < totals[i], work.seen[n]);
        }
}

/* When a part requests a stop, all parts before it are complete. */
static void stopping(void)
{
    static struct work work;
    for (uint64_t stop = 0; stop < ITEMS; stop += 9973) {
        memset(work.seen, 0, sizeof work.seen);
        work.stop_at = stop;
        blr_parallel_for(ITEMS, 10, see, &work);
        for (uint64_t n = 0; n <= stop; n++)
            CHECK_EQUAL(1, work.seen[n]);
    }
}

static _Atomic int begun, begun_after_stop;
static _Atomic bool stopped;

static void sleep_a_millisecond(void)
{
    struct timespec time = {.tv_nsec = 1000000};
    nanosleep(&time, NULL);
}

/* The first part requests a stop once another thread works too. */
static bool stop_others(void *argument, uint64_t begin, uint64_t end)
{
    uint32_t size = *(uint32_t *)argument;
    (void)end;
    if (begin > 0) {
        atomic_fetch_add(&begun, 1);
        if (atomic_load(&stopped))
            atomic_fetch_add(&begun_after_stop, 1);
        sleep_a_millisecond();
        return true;
    }
    for (int i = 0; i < 1000 && size > 1 && atomic_load(&begun) == 0; i++)
        sleep_a_millisecond();
    atomic_store(&stopped, true);
    return false;
}

static void no_more_parts_begin(uint32_t size)
{
    blr_parallel_for(1000, 1, stop_others, &size);
    CHECK(atomic_load(&stopped));
    CHECK(size == 1 || atomic_load(&begun) > 0);
    CHECK(atomic_load(&begun_after_stop) < 200);
}

static bool nest(void *argument, uint64_t begin, uint64_t end)
{
    struct work *work = argument;
    for (uint64_t i = begin; i < end; i++) {
        struct work *own = &work[i];
        own->stop_at = UINT64_MAX;
        blr_parallel_for(5000, 100, see, own);
        CHECK_EQUAL(5000, atomic_load(&own->sum));
    }
    return true;
}

static void call(void *argument)
{
    struct work *work = argument;
    for (int round = 0; round < 50; round++) {
        atomic_store(&work->sum, 0);
        blr_parallel_for(20000, 500, see, work);
        CHECK_EQUAL(20000, atomic_load(&work->sum));
    }
}

static void at_once(void)
{
    enum { CALLERS = 6 };
    static struct work works[CALLERS];
    blr_thread_t threads[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        works[i].stop_at = UINT64_MAX;
        CHECK(blr_thread_create(&threads[i], call, &works[i]));
    }
    for (int i = 0; i < CALLERS; i++)
        blr_thread_join(threads[i]);
    static struct work nested[8];
    blr_parallel_for(8, 1, nest, nested);
}

int main(void)
{
    uint32_t size = 0;
    OK(blr_thread_pool_size(&size));
    CHECK(size >= 1);
    for (uint64_t total = 1; total < (uint64_t)1 << 40; total *= 3)
        CHECK(blr_parallel_grain(total, 100) >= 100);
    every_item_once();
    stopping();
    no_more_parts_begin(size);
    at_once();
    return 0;
}
