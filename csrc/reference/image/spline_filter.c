/* B-spline coefficients: choice of the parts, and their distribution among threads. */
#include "image/spline_filter.h"

#include "platform/cpu_features.h"
#include "platform/heap.h"
#include "platform/thread_pool.h"

#include <stdatomic.h>

#define ALIGN 64u

/* Samples of a row from which it is divided into pieces, floats of a panel of columns, and its least width. */
#define LONG_ROW ((uint64_t)4096)
#define PANEL_FLOATS ((uint64_t)1 << 15)
#define LEAST_PANEL ((uint64_t)32)

/* Slices of at most this size are filtered along x and y by one thread, while its caches hold them. */
#define SMALL_SLICE ((uint64_t)512 << 10)

#define LEAST_PART ((uint64_t)64 << 10) /* bytes for which a further thread pays */

#if BLR_HAS_VECTOR_SETS
void blr_spline_rows_avx2(const struct blr_spline *spline, uint64_t begin, uint64_t end, void *scratch);
void blr_spline_rows_avx512(const struct blr_spline *spline, uint64_t begin, uint64_t end, void *scratch);
void blr_spline_columns_avx2(const struct blr_spline *spline, unsigned axis, uint64_t begin, uint64_t end, void *scratch);
void blr_spline_columns_avx512(const struct blr_spline *spline, unsigned axis, uint64_t begin, uint64_t end, void *scratch);
#endif

struct functions {
    void (*rows)(const struct blr_spline *spline, uint64_t begin, uint64_t end, void *scratch);
    void (*columns)(const struct blr_spline *spline, unsigned axis, uint64_t begin, uint64_t end, void *scratch);
};

static struct functions best_functions(void)
{
#if BLR_HAS_VECTOR_SETS
    if (blr_processor_has_avx2())
        return blr_processor_has_avx512() ? (struct functions){blr_spline_rows_avx512, blr_spline_columns_avx512}
                                          : (struct functions){blr_spline_rows_avx2, blr_spline_columns_avx2};
#endif
    return (struct functions){blr_spline_rows, blr_spline_columns};
}

/* Scratch memory of a thread, for the parts that it computes. */
struct slot {
    _Atomic bool is_busy;
    void *memory; /* NULL until a thread takes it */
};

struct work {
    const struct blr_spline *spline;
    struct functions functions;
    struct slot *slots; /* one for each thread of the pool */
    size_t scratch;
    unsigned axis; /* of columns */
    _Atomic bool failed;
};

static bool in_slot(struct work *work, uint64_t begin, uint64_t end,
                    void (*part)(const struct work *work, uint64_t begin, uint64_t end, void *scratch))
{
    struct slot *slot = work->slots;
    while (atomic_exchange_explicit(&slot->is_busy, true, memory_order_acquire))
        slot++;
    if (slot->memory == NULL)
        slot->memory = blr_new(work->scratch + ALIGN);
    const bool has_memory = slot->memory != NULL;
    if (has_memory)
        part(work, begin, end, (char *)slot->memory + (ALIGN - (uintptr_t)slot->memory % ALIGN));
    else
        atomic_store_explicit(&work->failed, true, memory_order_relaxed);
    atomic_store_explicit(&slot->is_busy, false, memory_order_release);
    return has_memory;
}

/* ---------------------------------------------------------------- parts */

static void rows_of(const struct work *work, uint64_t begin, uint64_t end, void *scratch)
{
    work->functions.rows(work->spline, begin, end, scratch);
}

static void columns_of(const struct work *work, uint64_t begin, uint64_t end, void *scratch)
{
    work->functions.columns(work->spline, work->axis, begin, end, scratch);
}

static void slices_of(const struct work *work, uint64_t begin, uint64_t end, void *scratch)
{
    const uint64_t rows = work->spline->size[1] * work->spline->pieces, panels = blr_spline_panels(work->spline, 1);
    for (uint64_t i = begin; i < end; i++) {
        work->functions.rows(work->spline, i * rows, (i + 1) * rows, scratch);
        work->functions.columns(work->spline, 1, i * panels, (i + 1) * panels, scratch);
    }
}

static bool run_rows(void *work, uint64_t begin, uint64_t end) { return in_slot(work, begin, end, rows_of); }

static bool run_columns(void *work, uint64_t begin, uint64_t end) { return in_slot(work, begin, end, columns_of); }

static bool run_slices(void *work, uint64_t begin, uint64_t end) { return in_slot(work, begin, end, slices_of); }

/* Distributes `total` parts of `bytes` each; a thread takes multiples of `unit` of them. */
static void distribute(struct work *work, uint64_t total, uint64_t bytes, uint64_t unit, blr_range_function_t function)
{
    if (work->failed)
        return;
    const uint64_t units = (total + unit - 1) / unit;
    blr_parallel_for(total, unit * blr_parallel_grain(units, LEAST_PART / (bytes * unit) + 1), function, work);
}

static void run(struct work *work)
{
    const struct blr_spline *spline = work->spline;
    const uint64_t slices = spline->size[2] * spline->count, row = spline->size[0] * spline->channels * sizeof(float);
    uint32_t threads = 1;
    blr_thread_pool_size(&threads);
    if (spline->dimensions > 1 && spline->size[1] > 1 && slices >= 2 * (uint64_t)threads &&
        row * spline->size[1] <= SMALL_SLICE) {
        distribute(work, slices, row * spline->size[1], 1, run_slices);
    } else {
        const uint64_t pieces = slices * spline->size[1] * spline->pieces;
        distribute(work, pieces, row / spline->pieces, BLR_SPLINE_LANES, run_rows);
        work->axis = 1;
        if (spline->dimensions > 1)
            distribute(work, slices * blr_spline_panels(spline, 1), spline->size[1] * spline->panel * sizeof(float), 1,
                       run_columns);
    }
    work->axis = 2;
    if (spline->dimensions > 2)
        distribute(work, spline->count * blr_spline_panels(spline, 2), spline->size[2] * spline->panel * sizeof(float), 1,
                   run_columns);
}

blr_result_t blr_spline_filter(struct blr_spline *spline)
{
    const uint64_t y = spline->dimensions > 1 ? spline->size[1] : 1, z = spline->dimensions > 2 ? spline->size[2] : 1;
    const uint64_t row = spline->size[0] * spline->channels, slice = row * (z > 1 ? spline->size[1] : 1);
    const uint64_t panel = PANEL_FLOATS / (y > z ? y : z), least = panel < LEAST_PANEL ? LEAST_PANEL : panel;
    spline->panel = least < slice ? least : slice;
    spline->pieces = (spline->size[0] + LONG_ROW - 1) / LONG_ROW;
    spline->piece = (spline->size[0] + spline->pieces - 1) / spline->pieces;
    uint32_t threads = 1;
    blr_thread_pool_size(&threads);
    struct work work = {.spline = spline, .functions = best_functions(), .scratch = blr_spline_scratch(spline)};
    work.slots = blr_new(threads * sizeof *work.slots);
    work.failed = work.slots == NULL;
    run(&work);
    for (uint32_t i = 0; work.slots != NULL && i < threads; i++)
        blr_delete(work.slots[i].memory);
    blr_delete(work.slots);
    if (work.failed)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for the columns of B-splines, %zu bytes for each thread",
                        blr_spline_scratch(spline));
    return BLR_RESULT_SUCCESS;
}
