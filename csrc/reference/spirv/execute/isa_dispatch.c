/* Selection of the instruction set for kernels, and the mapping of operations to it. */
#include "spirv/execute/isa_operations.h"

#include "platform/cpu_features.h"
#include "platform/threads.h"

#include <stdlib.h>
#include <string.h>

#if BLR_HAS_VECTOR_SETS
extern const struct blr_spirv_set blr_spirv_set_of_this_avx2, blr_spirv_set_of_this_avx512;
#endif

uint32_t blr_spirv_sets(const struct blr_spirv_set *sets[BLR_SETS])
{
    uint32_t count = 0;
    sets[count++] = &blr_spirv_set_of_this;
#if BLR_HAS_VECTOR_SETS
    if (blr_processor_has_avx2()) {
        sets[count++] = &blr_spirv_set_of_this_avx2;
        if (blr_processor_has_avx512())
            sets[count++] = &blr_spirv_set_of_this_avx512;
    }
#endif
    return count;
}

const struct blr_spirv_set *blr_spirv_best_set(void)
{
    const struct blr_spirv_set *sets[BLR_SETS];
    return sets[blr_spirv_sets(sets) - 1];
}

/* Baseline operations sorted by address, each with its version of the best set. */
struct twin {
    blr_spirv_run_t plain, best;
};

static blr_mutex_t mutex = BLR_MUTEX_INIT;
static _Atomic uint32_t twin_count; /* 0 until the table is built */
static struct twin twins[BLR_SET_MOST];

static int compare(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)((const struct twin *)a)->plain, y = (uintptr_t)((const struct twin *)b)->plain;
    return (x > y) - (x < y);
}

static void pair_up(void)
{
    static blr_spirv_run_t plain[BLR_SET_MOST], best[BLR_SET_MOST];
    const uint32_t listed = blr_spirv_set_of_this.list(plain);
    uint32_t count = 0;
    blr_spirv_best_set()->list(best);
    for (uint32_t i = 0; i < listed; i++)
        if (plain[i] != NULL)
            twins[count++] = (struct twin){plain[i], best[i]};
    qsort(twins, count, sizeof *twins, compare);
    atomic_store_explicit(&twin_count, count, memory_order_release);
}

blr_spirv_run_t blr_spirv_in_best_set(blr_spirv_run_t run)
{
    if (atomic_load_explicit(&twin_count, memory_order_acquire) == 0) {
        blr_mutex_lock(&mutex);
        if (twin_count == 0)
            pair_up();
        blr_mutex_unlock(&mutex);
    }
    const struct twin key = {.plain = run};
    const struct twin *match = bsearch(&key, twins, twin_count, sizeof *twins, compare);
    return match != NULL ? match->best : run;
}
