/* Means of areas: tables of covers, choice of arithmetic, and distribution of rows among threads. */
#include "image/area_mean.h"

#include "platform/cpu_features.h"
#include "platform/heap.h"
#include "platform/thread_pool.h"

#include <stdatomic.h>

/* Source bytes from which two threads share the work, and the least part of a thread. */
#define PARALLEL_FROM ((uint64_t)256 << 10)
#define LEAST_PART ((uint64_t)64 << 10)

#define ALIGN 64u

#if BLR_HAS_VECTOR_SETS
void blr_area_rows_avx2(const struct blr_area *area, uint64_t begin, uint64_t end, void *scratch);
void blr_area_rows_avx512(const struct blr_area *area, uint64_t begin, uint64_t end, void *scratch);
#endif

blr_area_rows_t blr_area_best_rows(void)
{
#if BLR_HAS_VECTOR_SETS
    if (blr_processor_has_avx2())
        return blr_processor_has_avx512() ? blr_area_rows_avx512 : blr_area_rows_avx2;
#endif
    return blr_area_rows;
}

/* ---------------------------------------------------------------- tables */

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void fill_covers(struct blr_area_axis *axis, struct blr_area_cover *cover)
{
    const uint64_t whole = axis->whole, total = axis->total;
    axis->cover = cover;
    axis->whole_share = (double)whole / (double)total;
    for (uint64_t i = 0; i < axis->size; i++) {
        const uint64_t begin = i * total, end = begin + total, first = begin / whole, last = (end - 1) / whole;
        const uint64_t head = (first + 1) * whole < end ? (first + 1) * whole - begin : total;
        const uint64_t tail = last > first ? end - last * whole : 0;
        cover[i] = (struct blr_area_cover){.first = (uint32_t)first,
                                           .count = (uint32_t)(last - first + 1),
                                           .head = (uint32_t)head,
                                           .tail = (uint32_t)tail,
                                           .head_share = (double)head / (double)total,
                                           .tail_share = (double)tail / (double)total};
    }
}

/* ---------------------------------------------------------------- arithmetic */

static enum blr_area_sums sums_of(const struct blr_area *area)
{
    const uint64_t largest = area->format->size == 1 ? 255 : 65535;
    const uint64_t columns = (uint64_t)area->axis[1].total * area->axis[2].total, row = area->axis[0].total;
    if (area->format->size > 2 || area->format->class == BLR_CLASS_FLOAT)
        return BLR_AREA_SUM_REAL;
    /* A quotient of single precision tells two and a half from its neighbours up to a divisor of 2^15. */
    if (largest == 255 && columns <= 257 && columns * row <= 1u << 15)
        return BLR_AREA_SUM16;
    return columns <= UINT32_MAX / largest && columns * largest * row <= UINT32_MAX ? BLR_AREA_SUM32 : BLR_AREA_SUM64;
}

static void derive(struct blr_area *area)
{
    const enum blr_format_class class = area->format->class;
    for (int i = 0; i < 3; i++) {
        struct blr_area_axis *axis = &area->axis[i];
        const uint32_t divisor = common_divisor(axis->length, axis->size);
        axis->whole = axis->size / divisor;
        axis->total = axis->length / divisor;
    }
    area->sums = sums_of(area);
    area->flip = class == BLR_CLASS_SNORM || class == BLR_CLASS_SIGNED ? 1u << (8 * area->format->size - 1) : 0;
    area->lowest = class == BLR_CLASS_SNORM; /* the lowest code means -1, as does the one above */
    area->divisor = (uint64_t)area->axis[0].total * area->axis[1].total * area->axis[2].total;
}

bool blr_area_prepare_halving(struct blr_area *area)
{
    derive(area);
    return blr_area_halves(area);
}

/* ---------------------------------------------------------------- distribution */

/* Scratch memory of a thread, for the parts that it computes. */
struct slot {
    _Atomic bool is_busy;
    void *memory; /* NULL until a thread takes it */
};

struct work {
    const struct blr_area *area;
    blr_area_rows_t rows;
    struct slot *slots; /* one for each thread of the pool */
    size_t scratch;
    _Atomic bool failed;
};

static struct slot *take_slot(struct work *work)
{
    struct slot *slot = work->slots;
    while (atomic_exchange_explicit(&slot->is_busy, true, memory_order_acquire))
        slot++;
    if (slot->memory == NULL)
        slot->memory = blr_new(work->scratch + ALIGN);
    return slot;
}

static bool run_part(void *argument, uint64_t begin, uint64_t end)
{
    struct work *work = argument;
    struct slot *slot = take_slot(work);
    const bool has_memory = slot->memory != NULL;
    if (has_memory)
        work->rows(work->area, begin, end, (char *)slot->memory + (ALIGN - (uintptr_t)slot->memory % ALIGN));
    else
        atomic_store_explicit(&work->failed, true, memory_order_relaxed);
    atomic_store_explicit(&slot->is_busy, false, memory_order_release);
    return has_memory;
}

/* Runs all parts; false without memory for their sums. */
static bool run_parts(const struct blr_area *area)
{
    uint32_t threads = 1;
    blr_thread_pool_size(&threads);
    struct work work = {.area = area, .rows = blr_area_best_rows(), .scratch = blr_area_scratch(area)};
    work.slots = blr_new(threads * sizeof *work.slots);
    if (work.slots == NULL)
        return false;
    const uint64_t rows = (uint64_t)area->axis[1].size * area->axis[2].size;
    const uint64_t source = (uint64_t)area->axis[0].length * area->axis[1].length * area->axis[2].length *
                            area->source_channels * area->format->size;
    const uint64_t smallest = LEAST_PART / (source / rows + 1) + 1;
    blr_parallel_for(rows, source < PARALLEL_FROM ? rows : blr_parallel_grain(rows, smallest), run_part, &work);
    for (uint32_t i = 0; i < threads; i++)
        blr_delete(work.slots[i].memory);
    blr_delete(work.slots);
    return !work.failed;
}

blr_result_t blr_area_mean(struct blr_area *area)
{
    const size_t pixels = (size_t)area->axis[0].size + area->axis[1].size + area->axis[2].size;
    derive(area);
    struct blr_area_cover *covers = blr_new(pixels * sizeof *covers);
    if (covers == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for the weights of %zu means", pixels);
    struct blr_area_cover *next = covers;
    for (int i = 0; i < 3; i++) {
        fill_covers(&area->axis[i], next);
        next += area->axis[i].size;
    }
    const bool complete = run_parts(area);
    blr_delete(covers);
    if (!complete)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for the sums of areas, %zu bytes for each thread",
                        blr_area_scratch(area));
    return BLR_RESULT_SUCCESS;
}
