/* Execution of a call block by block. Each source file of an instruction set includes this header after its blends;
 * BLR_BLEND gives the blend of a texel kind. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_RUN_CALL_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_RUN_CALL_H

#include "sampler/simd/interior_taps.h"
#include "sampler/simd/cube.h"
#include "sampler/simd/lod_from_gradients.h"
#include "sampler/simd/addressing.h"
#include "sampler/simd/prefetch.h"
#include "sampler/simd/store.h"
#include "sampler/simd/anisotropy.h"

/* Results larger than this are stored past the caches. */
#define STREAM_BYTES (8u << 20)

#ifndef BLOCKS_UNDER_WAY
#define BLOCKS_UNDER_WAY 2
#endif

struct plan {
    const struct blr_texture *texture;
    const blr_image_call_t *call;
    uint32_t channels;
    uint32_t lanes;
    uint32_t coordinates;                 /* coordinates of an item */
    bool cube;
    bool border;
    bool integers;                        /* integer texels, weights in pairs */
    bool taps;                            /* footprints are anisotropic */
    bool dense;                           /* rows of neighbours are loaded at once: check for them */
    bool boxes;                           /* boxes are supported: check whether all items have one */
    bool level_boxes;                     /* the same for two levels, or levels that vary from block to block */
    bool level_varies;
    bool direct;                          /* the blend stores directly to the caller's array, */
    uint32_t direct_size;                 /* with this many bytes an item */
    bool stream;
    struct blr_level_pair levels;         /* levels of all items, unless they vary */
    const struct kind *kind;
    blr_blend_block_t blend;
    finish_block_t finish;                /* conversion of the blend's output, or NULL */
};

static bool make_plan(const struct blr_texture *texture, const blr_image_call_t *call, struct plan *plan)
{
    memset(plan, 0, sizeof *plan);
    uint32_t channels = texture->desc.num_channels;
    const struct blr_format *format = texture->format;
    bool cube = texture->desc.type == BLR_IMAGE_CUBEMAP;
    if (call->operation == BLR_OPERATION_SAMPLE_GRADIENT && cube)
        return false;
    bool small = true;                    /* offsets within a level fit 32 bits */
    for (uint32_t k = 0; k < texture->num_levels; k++) {
        const struct blr_texture_level *level = &texture->level[k];
        small &= level->height * level->row_pitch <= UINT32_MAX;
        if (level->width > 1u << 20 || level->height > 1u << 20 || level->row_pitch > UINT32_MAX ||
            level->slice_pitch > UINT32_MAX)
            return false;
    }
    plan->kind = &kinds[texture->desc.channel_type][channels - 1];
    plan->blend = texture->blends ? plan->kind->blend : plan->kind->nearest;
    if (!plan->blend)
        return false;
    plan->taps = call->operation == BLR_OPERATION_SAMPLE_GRADIENT && texture->anisotropy_cap;
    if (plan->taps && !plan->kind->add_taps)
        return false;
    /* The blend of the most common format gives final results. */
    bool finished = texture->desc.channel_type == BLR_CHANNEL_UNORM_INT8 && !plan->taps;
    plan->finish = finished ? NULL : texture->blends ? finish_of_sums(format) : finish_of_codes(format);
    plan->texture = texture;
    plan->call = call;
    plan->channels = channels;
    plan->lanes = LANES_OF(channels);
    plan->coordinates = cube ? 3 : texture->dimensions;
    plan->cube = cube;
    plan->border = has_border(texture);
    plan->integers = texture->blends && format->class != BLR_CLASS_FLOAT;
    plan->dense = texture->blends && ((channels == 1 && format->storage == BLR_ELEMENT_F32) ||
                                      (channels == 4 && texture->desc.channel_type == BLR_CHANNEL_UNORM_INT8));
    plan->direct = !plan->finish && blr_element_size(call->value_type) == sizeof(float) &&
                   call->value_channels == plan->lanes && channels == plan->lanes;
    plan->direct_size = plan->lanes * (uint32_t)sizeof(float);
#ifdef BLEND_TO_BYTES
    if (texture->blends && !plan->taps && texture->desc.channel_type == BLR_CHANNEL_UNSIGNED_INT8 && channels >= 3 &&
        call->value_channels == channels && blr_element_size(call->value_type) == 1) {
        plan->blend = channels == 3 ? to_bytes_3 : to_bytes_4;
        plan->finish = NULL;
        plan->direct = true;
        plan->dense = channels == 4;
        plan->direct_size = channels;
    }
#endif
    plan->stream = call->count * call->value_channels * blr_element_size(call->value_type) >= STREAM_BYTES;
    plan->level_varies = texture->num_levels > 1 && (call->operation == BLR_OPERATION_SAMPLE_GRADIENT ||
                                                     (call->operation == BLR_OPERATION_SAMPLE_LOD && call->levels));
    int32_t lod = call->operation == BLR_OPERATION_SAMPLE_LOD && !call->levels ? blr_lod_from_float(call->level)
                                                                               : BLR_LOD_NONE;
    plan->levels = blr_lod_split(texture, blr_lod_clamp(texture, lod));
    const struct blr_texture_level *level = &texture->level[plan->levels.level];
    uint64_t slices = texture->dimensions == 3 ? level->depth : texture->num_layers;
    const bool boxes = texture->linear && texture->dimensions > 1 && !cube && small && has_one_position_kind(texture);
    const bool one_level = !plan->level_varies && !plan->levels.fraction;
    plan->boxes = boxes && one_level && slices * level->slice_pitch <= UINT32_MAX;
    plan->level_boxes = boxes && !one_level && !plan->taps && texture->dimensions == 2 && texture->num_layers == 1;
    return true;
}

static void load_coordinates(const struct plan *plan, uint64_t begin, uint32_t count, struct block_work *work)
{
    uint32_t n = plan->coordinates;
    const float *restrict from = (const float *)plan->call->coordinates + begin * n;
    /* Prefetches the coordinates a few blocks ahead, across page boundaries. */
    for (uint32_t k = 0; k < n * BLR_BLOCK; k += 16)
        __builtin_prefetch((const void *)((uintptr_t)from + (8u * n * BLR_BLOCK + k) * sizeof(float)));
    float *restrict x = work->coordinate[0], *restrict y = work->coordinate[1], *restrict z = work->coordinate[2];
    if (count < BLR_BLOCK) {
        memset(work->coordinate, 0, sizeof work->coordinate);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t d = 0; d < n; d++)
                work->coordinate[d][i] = plan->cube ? from[i * n + d] : clean(from[i * n + d]);
    } else if (plan->cube) {
        BLR_EACH_ITEM {
            x[i] = from[3 * i];
            y[i] = from[3 * i + 1];
            z[i] = from[3 * i + 2];
        }
    } else if (n == 1) {
        BLR_EACH_ITEM
            x[i] = clean(from[i]);
    } else if (n == 2) {
        BLR_EACH_ITEM {
            x[i] = clean(from[2 * i]);
            y[i] = clean(from[2 * i + 1]);
        }
    } else {
        BLR_EACH_ITEM {
            x[i] = clean(from[3 * i]);
            y[i] = clean(from[3 * i + 1]);
            z[i] = clean(from[3 * i + 2]);
        }
    }
}

static void load_layers(const struct plan *plan, uint64_t begin, uint32_t count, struct block_work *work)
{
    for (uint32_t i = 0; i < count; i++)
        work->layer[i] = (int32_t)plan->call->layers[begin + i];
}

/* Computes the levels and fractions of a block; returns whether any item needs a second level. */
static bool load_levels(const struct plan *plan, const struct gradient_scale *scale, uint64_t begin, uint32_t count,
                        struct block_work *work)
{
    const struct blr_texture *texture = plan->texture;
    const blr_image_call_t *call = plan->call;
    const struct blr_texture_level *base = &texture->level[0];
    const uint32_t extent[3] = {base->width, base->height, base->depth};
    uint32_t n = plan->coordinates;
    int32_t lod[BLR_BLOCK] = {0}, fractions = 0;
    if (call->operation == BLR_OPERATION_SAMPLE_LOD) {
        for (uint32_t i = 0; i < count; i++) {
            float number = call->levels[begin + i];
            number = number > -4096.0f ? number : number != number ? 0.0f : -4096.0f;
            lod[i] = (int32_t)((number < 4096.0f ? number : 4096.0f) * 256.0f);
        }
    } else if (n < 3) {
        struct gradient_rows gradients;
        load_gradients(call->gradient_x + begin * n, call->gradient_y + begin * n, n, count, &gradients);
        gradient_lods(&gradients, scale, lod);
    } else {
        for (uint32_t i = 0; i < count; i++) {
            uint64_t first = (begin + i) * n;
            lod[i] = blr_gradient_lod((const float *)call->coordinates + first, call->gradient_x + first,
                                      call->gradient_y + first, extent, n);
        }
    }
    BLR_EACH_ITEM {
        int32_t q = maximum(minimum(lod[i], texture->lod_high), texture->lod_low);
        work->level[i] = texture->mip_linear ? q >> 8 : (q + 128) >> 8;
        work->fraction[i] = texture->mip_linear ? q & 255 : 0;
        fractions |= work->fraction[i];
    }
    return fractions != 0;
}

/* Finds out whether all rows are pairs of neighbours, for eight items at a time. */
static void find_dense(struct blr_block *block, uint64_t pixel_size)
{
    for (int group = 0; group < BLR_BLOCK / 8; group++) {
        uint64_t apart = 0;
        for (uint32_t q = 0; q < block->quads; q++)
            for (int i = 8 * group; i < 8 * group + 8; i++)
                apart |= ((block->texel[q][1][i] - block->texel[q][0][i]) ^ pixel_size) |
                         ((block->texel[q][3][i] - block->texel[q][2][i]) ^ pixel_size);
        block->dense[group] = apart == 0;
    }
}

BLR_INLINE void locate_slot(const struct plan *plan, const int vary, const int32_t *share, const int32_t *level_index,
                            const struct cube_rows *cube, struct block_work *work, struct blr_block *block)
{
    const struct blr_texture *texture = plan->texture;
    bool linear = texture->linear;
    if (plan->cube)
        locate_cube_level(texture, vary, linear, plan->border, plan->integers, share, level_index, cube, work, block);
    else
        locate_level(texture, vary, linear, plan->border, plan->integers, share, work, block);
}

/* State of a run over all blocks. */
struct run {
    const struct plan *plan;
    struct block_work work;
    struct cube_rows cube;
    struct level_rows table;              /* one row for each level */
    struct gradient_scale gradients;
    int32_t shares[2][BLR_BLOCK];
    int32_t indices[2][BLR_BLOCK];
    struct blr_block block[BLOCKS_UNDER_WAY];      /* one block is located while the texels of the others are loaded */
};

static void start_run(const struct plan *plan, struct run *run)
{
    const struct blr_texture *texture = plan->texture;
    run->plan = plan;
    /* The layers of items that a short block lacks, and what blocks read of axes that the texture lacks. */
    memset(run->work.layer, 0, sizeof run->work.layer);
    memset(&run->work.coordinate[plan->coordinates], 0, (3 - plan->coordinates) * sizeof run->work.coordinate[0]);
    memset(&run->work.axis[plan->coordinates], 0, (3 - plan->coordinates) * sizeof run->work.axis[0]);
    if (plan->level_varies) {
        memset(&run->work.rows, 0, sizeof run->work.rows);
        for (uint32_t k = 0; k < texture->num_levels; k++)
            fill_level_row(texture, k, &run->table, (int)k);
    }
    if (plan->call->operation == BLR_OPERATION_SAMPLE_GRADIENT)
        fill_gradient_scale(&texture->level[0], &run->gradients);
    BLR_EACH_ITEM {
        run->shares[0][i] = 256 - plan->levels.fraction;
        run->shares[1][i] = plan->levels.fraction;
        run->indices[0][i] = (int32_t)plan->levels.level;
        run->indices[1][i] = (int32_t)plan->levels.level + 1;
    }
    if (!plan->level_varies)
        fill_level_row(texture, plan->levels.level, &run->work.rows, 0);
    if (texture->desc.type == BLR_IMAGE_ARRAY && !plan->call->layers)
        BLR_EACH_ITEM
            run->work.layer[i] = (int32_t)plan->call->layer;
}

static bool all_alike(const int32_t *restrict numbers)
{
    int32_t different = 0;
    BLR_EACH_ITEM
        different |= numbers[i] ^ numbers[0];
    return different == 0;
}

static void redo_items(const struct plan *plan, uint64_t begin, uint32_t count, uint64_t again)
{
    if (count < BLR_BLOCK)
        again &= (UINT64_C(1) << count) - 1;
    for (; again; again &= again - 1)
        blr_sample_item(plan->texture, plan->call, begin + (uint64_t)__builtin_ctzll(again));
}

static void locate_block(struct run *run, uint64_t begin, uint32_t count, struct blr_block *block)
{
    const struct plan *plan = run->plan;
    const struct blr_texture *texture = plan->texture;
    struct block_work *work = &run->work;
    block->quads = 0;
    block->count = count;
    block->boxes_only = false;
    load_coordinates(plan, begin, count, work);
    if (texture->desc.type == BLR_IMAGE_ARRAY && plan->call->layers)
        load_layers(plan, begin, count, work);
    int slots = plan->levels.fraction ? 2 : 1;
    bool alike = true;                    /* every item has the same levels */
    if (plan->level_varies) {
        slots = load_levels(plan, &run->gradients, begin, count, work) ? 2 : 1;
        BLR_EACH_ITEM {
            run->shares[0][i] = 256 - work->fraction[i];
            run->shares[1][i] = work->fraction[i];
            run->indices[0][i] = work->level[i];
            run->indices[1][i] = minimum(work->level[i] + 1, (int32_t)texture->num_levels - 1);
        }
        alike = all_alike(work->level);
    }
    if (plan->boxes) {
        block->boxes_only = locate_boxes(texture, work, plan->integers, block);
    } else if (plan->level_boxes && alike) {
        block->boxes_only = true;
        for (int slot = 0; slot < slots && block->boxes_only; slot++) {
            fill_level_row(texture, (uint32_t)run->indices[slot][0], &work->rows, 0);
            block->boxes_only = locate_level_boxes(texture, work, plan->integers, run->shares[slot], block);
        }
    }
    if (block->boxes_only) {
        fetch_ahead(texture, block);
        return;
    }
    block->quads = 0;
    if (plan->cube)
        project_items(work, &run->cube);
    for (int slot = 0; slot < slots; slot++) {
        if (!alike) {
            gather_level_rows(&run->table, texture->dimensions, run->indices[slot], &work->rows);
            locate_slot(plan, 1, run->shares[slot], run->indices[slot], &run->cube, work, block);
            continue;
        }
        if (plan->level_varies || slots == 2)
            fill_level_row(texture, (uint32_t)run->indices[slot][0], &work->rows, 0);
        locate_slot(plan, 0, run->shares[slot], run->indices[slot], &run->cube, work, block);
    }
    if (plan->dense)
        find_dense(block, texture->pixel_size);
    fetch_ahead(texture, block);
}

/* Stores the values of a block; recomputes the items whose bit is set. */
static void end_block(const struct plan *plan, uint64_t begin, uint32_t count, union block_values *values, uint64_t again)
{
    if (plan->finish)
        plan->finish(values, count * plan->lanes, plan->taps ? 10 : 8);
    store_values(plan->call, plan->channels, begin, count, plan->stream, values);
    redo_items(plan, begin, count, again);
}

/* Blends a block; returns the number of its items. */
static uint32_t blend_block(const struct plan *plan, uint64_t begin, const struct blr_block *block)
{
    uint32_t count = block->count;
    union block_values values;
    if (!plan->direct) {
        uint64_t again = plan->blend(block, values.real, false);
        end_block(plan, begin, count, &values, again);
        return count;
    }
    unsigned char *out = (unsigned char *)plan->call->values + begin * plan->direct_size;
    uint64_t again;
    if (count == BLR_BLOCK) {
        again = plan->blend(block, (float *)out, plan->stream && (uintptr_t)out % 64 == 0);
    } else {
        again = plan->blend(block, values.real, false);
        memcpy(out, &values, count * plan->direct_size);
    }
    redo_items(plan, begin, count, again);
    return count;
}

/* Number of items in the first block, so that the results of the following ones start on a cache line. */
static uint32_t first_count(const struct plan *plan, uint64_t begin)
{
    const blr_image_call_t *call = plan->call;
    uint32_t size = call->value_channels * blr_element_size(call->value_type);
    uint32_t rest = 64 - ((uintptr_t)call->values + begin * size) % 64;
    return rest == 64 || rest % size ? BLR_BLOCK : rest / size;
}

static void run_blocks(const struct plan *plan, uint64_t begin, uint64_t end)
{
    struct run run;
    start_run(plan, &run);
    uint64_t item = begin, done = begin, located = 0, blended = 0;
    for (uint64_t count = first_count(plan, begin); item < end; count = BLR_BLOCK) {
        if (end - item < count)
            count = end - item;
        locate_block(&run, item, (uint32_t)count, &run.block[located++ % BLOCKS_UNDER_WAY]);
        item += count;
        if (located - blended == BLOCKS_UNDER_WAY)
            done += blend_block(plan, done, &run.block[blended++ % BLOCKS_UNDER_WAY]);
    }
    while (blended < located)
        done += blend_block(plan, done, &run.block[blended++ % BLOCKS_UNDER_WAY]);
}

/* ---- anisotropic footprints */

/* State of a run with anisotropic footprints, over all blocks and between the steps of one. */
struct tap_run {
    const struct plan *plan;
    struct block_work work;
    struct level_rows table;              /* one row for each level */
    struct gradient_scale scale;
    struct measure_rows measures;
    struct tap_rows taps[2];              /* taps of the finer and of the coarser level */
    struct blr_block block[2];            /* one block is located while the texels of the other are loaded */
    struct blr_totals totals;
};

static void measure_footprints(struct tap_run *run, uint64_t begin, uint32_t count)
{
    const blr_image_call_t *call = run->plan->call;
    const uint32_t n = run->plan->coordinates;
    struct gradient_rows gradients;
    load_coordinates(run->plan, begin, count, &run->work);
    load_gradients(call->gradient_x + begin * n, call->gradient_y + begin * n, n, count, &gradients);
    gradient_measures(&gradients, &run->scale, &run->measures);
    split_footprints(run->plan->texture, &run->measures, &run->taps[0], &run->taps[1]);
}

static int32_t largest_of(const int32_t *restrict numbers)
{
    int32_t largest = numbers[0];
    BLR_EACH_ITEM
        largest = maximum(largest, numbers[i]);
    return largest;
}

/* Computes the location parameters of one level's taps; returns the largest number of taps, 0 for a level without
 * weight. */
static int32_t aim_taps(struct tap_run *run, struct tap_rows *taps, bool *vary)
{
    const struct blr_texture *texture = run->plan->texture;
    if (largest_of(taps->share) == 0)
        return 0;
    shape_taps(&run->measures, taps);
    *vary = !all_alike(taps->level);
    if (*vary)
        gather_level_rows(&run->table, texture->dimensions, taps->level, &run->work.rows);
    else
        fill_level_row(texture, (uint32_t)taps->level[0], &run->work.rows, 0);
    for (uint32_t d = 0; d < texture->dimensions; d++)
        centre_axis(texture, run->work.coordinate[d], &run->work.rows, (int)d, *vary, taps->centre[d]);
    return largest_of(taps->count);
}

static void locate_taps(struct tap_run *run, const struct tap_rows *taps, int32_t first, int32_t end, bool vary,
                        struct blr_block *block)
{
    const struct plan *plan = run->plan;
    block->quads = 0;
    for (int32_t number = first; number < end; number++) {
        if (vary)
            emit_tap(plan->texture, 1, plan->border, plan->integers, taps, number, &run->work, block);
        else
            emit_tap(plan->texture, 0, plan->border, plan->integers, taps, number, &run->work, block);
    }
    if (plan->dense)
        find_dense(block, plan->texture->pixel_size);
    fetch_ahead(plan->texture, block);
}

static void run_tap_block(struct tap_run *run, uint64_t begin, uint32_t count)
{
    const struct plan *plan = run->plan;
    const int32_t group = (int32_t)blr_quads_at_a_time(plan->texture);
    union block_values values;
    uint64_t again = 0;
    const struct blr_block *before = NULL;
    uint32_t turn = 0;
    memset(&run->totals, 0, sizeof run->totals);
    measure_footprints(run, begin, count);
    for (int k = 0; k < 2; k++) {
        bool vary = false;
        int32_t taps = aim_taps(run, &run->taps[k], &vary);
        for (int32_t first = 0; first < taps; first += group, turn ^= 1) {
            struct blr_block *block = &run->block[turn];
            block->count = count;
            locate_taps(run, &run->taps[k], first, minimum(first + group, taps), vary, block);
            if (before)
                again |= plan->kind->add_taps(before, &run->totals);
            before = block;
        }
    }
    again |= plan->kind->add_taps(before, &run->totals);
    plan->kind->end_taps(&run->totals, count * plan->lanes, values.real);
    end_block(plan, begin, count, &values, again);
}

static void run_taps(const struct plan *plan, uint64_t begin, uint64_t end)
{
    struct tap_run run;
    const struct blr_texture *texture = plan->texture;
    run.plan = plan;
    memset(&run.work, 0, sizeof run.work);
    memset(run.block, 0, sizeof run.block);
    for (uint32_t k = 0; k < texture->num_levels; k++)
        fill_level_row(texture, k, &run.table, (int)k);
    fill_gradient_scale(&texture->level[0], &run.scale);
    for (uint64_t item = begin, count = first_count(plan, begin); item < end; item += count, count = BLR_BLOCK) {
        if (end - item < count)
            count = end - item;
        run_tap_block(&run, item, (uint32_t)count);
    }
}

static void run_plan(const struct plan *plan, uint64_t begin, uint64_t end)
{
    if (plan->taps)
        run_taps(plan, begin, end);
    else
        run_blocks(plan, begin, end);
}

#endif
