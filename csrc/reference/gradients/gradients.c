/* Division of samples among threads. Each texel's gradient is added up by one thread, in the order of the samples: textures
 * are distributed, and the rows of a texture, if there are fewer textures than threads. */
#include "gradients/gradients.h"

#include "platform/cpu_features.h"
#include "platform/fp_environment.h"
#include "platform/heap.h"
#include "platform/thread_pool.h"

#if BLR_HAS_VECTOR_SETS
extern const struct blr_gradient_set blr_gradient_set_avx2, blr_gradient_set_avx512;
extern const struct blr_gradient_set blr_planar_set_avx2, blr_planar_set_avx512;
#define SETS(name) {&name, &name##_avx2, &name##_avx512}
#else
#define SETS(name) {&name, &name, &name}
#endif

/* Whether texels, their channels and samples are as blr_planar_set needs them. */
static bool is_planar(const blr_gradients_t *call)
{
    const blr_gradient_level_t *level = &call->levels[0];
    const blr_strided_t *arrays[] = {&level->texels, &level->gradients};
    const blr_strided_t *values = call->operation == BLR_GRADIENT_FORWARD ? &call->values : &call->grad_values;
    if (!BLR_HAS_PLANAR || call->dimensions != 2 || call->cubemap || call->interpolation != BLR_INTERPOLATION_LINEAR ||
        call->num_levels > 1 || call->operation == BLR_GRADIENT_BACKWARD_BACKWARD || call->grad_level.first != NULL ||
        call->texel_type != BLR_NUMBER_F32 || call->value_type != BLR_NUMBER_F32 ||
        (call->channels >= 4 && level->texels.strides[0] == 1 && values->strides[0] == 1))
        return false;
    for (int i = 0; i < 2; i++) {
        const int64_t x = arrays[i]->strides[1], y = arrays[i]->strides[2];
        const int64_t columns = (x < 0 ? -x : x) * (level->size[0] - 1), rows = (y < 0 ? -y : y) * (level->size[1] - 1);
        if (arrays[i]->first != NULL && (columns > INT32_MAX || rows > INT32_MAX || columns + rows > INT32_MAX))
            return false;
    }
    return true;
}

static const struct blr_gradient_set *best_set(const blr_gradients_t *call)
{
    static const struct blr_gradient_set *const general[] = SETS(blr_gradient_set);
#if BLR_HAS_PLANAR
    static const struct blr_gradient_set *const planar[] = SETS(blr_planar_set);
#else
    static const struct blr_gradient_set *const planar[] = SETS(blr_gradient_set);
#endif
    int set = 0;
#if BLR_HAS_VECTOR_SETS
    set = !blr_processor_has_avx2() ? 0 : blr_processor_has_avx512() ? 2 : 1;
#endif
    return is_planar(call) ? planar[set] : general[set];
}

/* Parts that one thread computes sooner than several. */
#define BRIEF_PARTS 8u

struct work {
    const blr_gradients_t *call;
    const struct blr_gradient_set *set;
    uint64_t parts;                       /* of the samples of a texture */
    uint64_t groups, together;            /* groups of textures that share gradients of texels, and their number of textures */
    uint32_t slabs;
    uint64_t *masks;                      /* slabs of each part, or NULL for one slab */
};

static struct blr_gradient_part part_of(const struct work *work, uint64_t number)
{
    const uint64_t first = number % work->parts * BLR_GRADIENT_PART, rest = work->call->samples - first;
    return (struct blr_gradient_part){.texture = number / work->parts,
                                      .first = first,
                                      .count = (uint32_t)(rest < BLR_GRADIENT_PART ? rest : BLR_GRADIENT_PART),
                                      .slabs = work->slabs,
                                      .gathers = true};
}

static bool gather_parts(void *argument, uint64_t begin, uint64_t end)
{
    const struct work *work = argument;
    for (uint64_t number = begin; number < end; number++) {
        const struct blr_gradient_part part = part_of(work, number);
        work->set->run(work->call, &part);
    }
    return true;
}

static bool find_slabs(void *argument, uint64_t begin, uint64_t end)
{
    const struct work *work = argument;
    for (uint64_t number = begin; number < end; number++) {
        const struct blr_gradient_part part = part_of(work, number);
        work->masks[number] = work->set->find_slabs(work->call, &part);
    }
    return true;
}

static uint32_t count_slabs(uint64_t mask)
{
    uint32_t count = 0;
    for (; mask != 0; mask &= mask - 1)
        count++;
    return count;
}

/* Whether a slab of a part's mask is the one that gathers for it. Parts next to each other have different ones. */
static bool gathers(uint64_t mask, uint64_t slab, uint64_t number)
{
    return count_slabs(mask & (((uint64_t)1 << slab) - 1)) == number % count_slabs(mask);
}

/* A job is a slab of a group of textures. */
static bool run_jobs(void *argument, uint64_t begin, uint64_t end)
{
    const struct work *work = argument;
    for (uint64_t job = begin; job < end; job++) {
        const uint64_t first = job / work->slabs * work->together * work->parts, slab = job % work->slabs;
        for (uint64_t number = first; number < first + work->together * work->parts; number++) {
            const uint64_t mask = work->masks == NULL ? 1 : work->masks[number];
            if (!(mask >> slab & 1))
                continue;
            struct blr_gradient_part part = part_of(work, number);
            part.slab = (uint32_t)slab;
            part.scatters = true;
            part.gathers = gathers(mask, slab, number);
            work->set->run(work->call, &part);
        }
    }
    return true;
}

/* Distributes work among threads, unless one does it sooner. */
static void distribute(const struct work *work, uint64_t total, uint64_t grain, blr_range_function_t function)
{
    struct work copy = *work;
    if (total <= 1 || work->parts * work->call->textures * work->call->channels < BRIEF_PARTS)
        function(&copy, 0, total);
    else
        blr_parallel_for(total, grain, function, &copy);
}

/* Slabs of a texture: enough for all threads, of at least one row of texels in level 0. */
static uint32_t slabs_for(const struct work *work, uint32_t threads)
{
    const blr_gradients_t *call = work->call;
    const uint64_t rows = call->levels[0].size[call->dimensions - 1];
    if (threads == 1 || work->groups >= threads || work->parts * work->together < BRIEF_PARTS)
        return 1;
    uint64_t slabs = 2 * ((threads + work->groups - 1) / work->groups);
    slabs = slabs < rows ? slabs : rows;
    return (uint32_t)(slabs < BLR_MAX_SLABS ? slabs : BLR_MAX_SLABS);
}

/* Joins slabs where most parts are in most of them, so that each thread would run all parts for several slabs. Planes of
 * gradients take as long for one slab as for all. */
static void join_slabs(struct work *work, uint64_t all)
{
    const blr_gradients_t *call = work->call;
    const bool planes = is_planar(call) && (call->channels < 4 || call->levels[0].gradients.strides[0] != 1);
    uint64_t used = 0;
    for (uint64_t i = 0; i < all; i++)
        used += count_slabs(work->masks[i]);
    if (2 * used <= all * work->slabs)
        return;
    work->slabs = planes ? 1 : (work->slabs + 1) / 2;
    for (uint64_t i = 0; i < all; i++)
        work->masks[i] = UINT64_MAX >> (BLR_MAX_SLABS - work->slabs);
}

static blr_result_t run(const blr_gradients_t *call)
{
    struct work work = {.call = call, .set = best_set(call), .slabs = 1, .together = 1};
    work.parts = (call->samples + BLR_GRADIENT_PART - 1) / BLR_GRADIENT_PART;
    const uint64_t all = work.parts * call->textures;
    if (call->operation == BLR_GRADIENT_FORWARD || call->levels[0].gradients.first == NULL) {
        distribute(&work, all, blr_parallel_grain(all, 4), gather_parts);
        return BLR_RESULT_SUCCESS;
    }
    if (call->levels[0].gradients.strides[4] == 0)
        work.together = call->textures;
    work.groups = call->textures / work.together;
    uint32_t threads;
    const blr_result_t result = blr_thread_pool_size(&threads);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    work.slabs = slabs_for(&work, threads);
    if (work.slabs > 1) {
        if ((work.masks = blr_new(all * sizeof *work.masks)) == NULL)
            return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for the order of the samples");
        if (call->cubemap)
            for (uint64_t i = 0; i < all; i++)
                work.masks[i] = UINT64_MAX >> (BLR_MAX_SLABS - work.slabs); /* edges lead to any row */
        else
            distribute(&work, all, blr_parallel_grain(all, 16), find_slabs);
        join_slabs(&work, all);
    }
    distribute(&work, work.groups * work.slabs, 1, run_jobs);
    blr_delete(work.masks);
    return BLR_RESULT_SUCCESS;
}

blr_result_t blr_gradients_run(const blr_gradients_t *call)
{
    struct blr_environment environment;
    blr_environment_enter(&environment);
    const blr_result_t result = run(call);
    blr_environment_leave(&environment);
    return result;
}
