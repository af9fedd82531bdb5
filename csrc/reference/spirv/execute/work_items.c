/* Work-items of a launch: their positions, arguments and built-in variables. */
#include "spirv/execute/work_items.h"

#include "spirv/execute/affine.h"

#include <string.h>

static void fill_scalar(unsigned char *place, uint8_t size, uint64_t bytes)
{
    switch (size) {
    case 1: memset(place, (int)(bytes & 0xff), BLR_LANES); return;
    case 2:
        for (uint32_t i = 0; i < BLR_LANES; i++)
            ((uint16_t *)place)[i] = (uint16_t)bytes;
        return;
    case 4:
        for (uint32_t i = 0; i < BLR_LANES; i++)
            ((uint32_t *)place)[i] = (uint32_t)bytes;
        return;
    default:
        for (uint32_t i = 0; i < BLR_LANES; i++)
            ((uint64_t *)place)[i] = bytes;
    }
}

uint64_t blr_spirv_preset_value(const struct blr_spirv_batch *batch, const struct blr_spirv_preset *preset)
{
    const struct blr_spirv_launch *launch = batch->worker->launch;
    const uint64_t local = (uint64_t)(uintptr_t)batch->worker->local;
    uint64_t bytes = preset->bytes;
    switch (preset->kind) {
    case BLR_PRESET_BYTES: break;
    case BLR_PRESET_ARGUMENT:
        if (launch->values[preset->argument] == NULL)
            bytes = local + launch->local_offsets[preset->argument];
        else
            memcpy(&bytes, launch->values[preset->argument] + preset->offset, preset->size);
        break;
    case BLR_PRESET_LOCAL: bytes = local + preset->offset; break;
    case BLR_PRESET_PRIVATE: bytes = (uint64_t)(uintptr_t)batch->private_memory + preset->offset; break;
    }
    return bytes;
}

/* Fills presets that are the same for all work-items: constants, arguments, addresses of variables. */
void blr_spirv_fill_presets(struct blr_spirv_batch *batch)
{
    const struct blr_spirv_launch *launch = batch->worker->launch;
    const struct blr_spirv_program *program = launch->program;
    for (uint32_t i = 0; i < program->preset_count; i++) {
        const struct blr_spirv_preset *preset = &program->presets[i];
        unsigned char *place = batch->registers + preset->place;
        const uint64_t bytes = blr_spirv_preset_value(batch, preset);
        if (preset->kind == BLR_PRESET_PRIVATE) {
            blr_affine_write(place, 8, bytes, program->private_bytes);
            if (preset->is_affine)
                blr_affine_set(batch, preset->place, 8, bytes, program->private_bytes, true);
            continue;
        }
        fill_scalar(place, preset->size, bytes);
        if (preset->is_affine)
            blr_affine_set(batch, preset->place, preset->size, bytes, 0, true);
    }
}

void blr_spirv_fill_tables(struct blr_spirv_worker *worker)
{
    const struct blr_spirv_program *program = worker->launch->program;
    for (uint32_t i = 0; i < program->table_count; i++) {
        const struct blr_spirv_table *table = &program->tables[i];
        memcpy(worker->local + table->offset, table->content->bytes, table->content->type->size);
        for (uint32_t k = 0; k < table->content->address_count; k++) {
            uint64_t address;
            unsigned char *place = worker->local + table->offset + table->content->addresses[k];
            memcpy(&address, place, sizeof address);
            address += (uint64_t)(uintptr_t)worker->local + table->base;
            memcpy(place, &address, sizeof address);
        }
    }
}

/* Copies structs passed by value into each work-item's private memory. */
void blr_spirv_fill_structs(struct blr_spirv_batch *batch)
{
    const struct blr_spirv_launch *launch = batch->worker->launch;
    const struct blr_spirv_program *program = launch->program;
    for (uint32_t i = 0; i < program->argument_count; i++)
        for (uint32_t lane = 0; program->arguments[i].by_value && lane < BLR_LANES; lane++)
            memcpy(batch->private_memory + lane * program->private_bytes + program->arguments[i].private_offset,
                   launch->values[i], program->arguments[i].size);
}

struct blr_spirv_position blr_spirv_position_of(const struct blr_spirv_launch *launch, uint64_t item)
{
    struct blr_spirv_position at;
    uint64_t size = launch->local[0] * launch->local[1] * launch->local[2];
    uint64_t group = item / size, local = item % size;
    at.index = local;
    at.group[0] = group % launch->groups[0];
    at.group[1] = group / launch->groups[0] % launch->groups[1];
    at.group[2] = group / launch->groups[0] / launch->groups[1];
    at.local[0] = local % launch->local[0];
    at.local[1] = local / launch->local[0] % launch->local[1];
    at.local[2] = local / launch->local[0] / launch->local[1];
    return at;
}

/* Increments a number of three digits, the first fastest; false on overflow. */
static bool count_up(uint64_t *number, const uint64_t *limit)
{
    for (int c = 0; c < 3; c++) {
        if (++number[c] < limit[c])
            return true;
        number[c] = 0;
    }
    return false;
}

/* Number of work-items from a position on that differ in their first coordinate only: the rest of a row of the
 * work-group, or for work-groups of one work-item, the rest of a row of groups. */
uint64_t blr_spirv_row_from(const struct blr_spirv_launch *launch, const struct blr_spirv_position *at)
{
    const bool single = launch->local[0] * launch->local[1] * launch->local[2] == 1;
    return single ? launch->groups[0] - at->group[0] : launch->local[0] - at->local[0];
}

/* Advances within such a row, or from its end to the next one. */
void blr_spirv_advance(const struct blr_spirv_launch *launch, struct blr_spirv_position *at, uint64_t items)
{
    if (launch->local[0] * launch->local[1] * launch->local[2] == 1) {
        at->group[0] += items - 1;
        count_up(at->group, launch->groups);
        return;
    }
    at->index += items;
    at->local[0] += items - 1;
    if (!count_up(at->local, launch->local)) {
        at->index = 0;
        count_up(at->group, launch->groups);
    }
}

/* Mask of the lanes above or below one, in sub-groups of a size. */
static uint64_t lane_mask(enum blr_spirv_builtin what, uint64_t lane, uint64_t size)
{
    const uint64_t own = (uint64_t)1 << lane, all = BLR_ALL_LANES >> (BLR_LANES - size);
    switch (what) {
    case BLR_BUILTIN_SUBGROUP_EQ_MASK: return own;
    case BLR_BUILTIN_SUBGROUP_GE_MASK: return all & ~(own - 1);
    case BLR_BUILTIN_SUBGROUP_GT_MASK: return all & ~(own - 1) & ~own;
    case BLR_BUILTIN_SUBGROUP_LE_MASK: return own | (own - 1);
    default: return own - 1;
    }
}

uint64_t blr_spirv_builtin_value(const struct blr_spirv_launch *launch, const struct blr_spirv_position *at,
                                 enum blr_spirv_builtin what, uint32_t c)
{
    const uint64_t size = launch->local[0] * launch->local[1] * launch->local[2], lanes = launch->program->sub_group_size;
    switch (what) {
    case BLR_BUILTIN_NUM_WORKGROUPS: return launch->groups[c];
    case BLR_BUILTIN_WORKGROUP_SIZE:
    case BLR_BUILTIN_ENQUEUED_WORKGROUP_SIZE: return launch->local[c];
    case BLR_BUILTIN_WORKGROUP_ID: return at->group[c];
    case BLR_BUILTIN_LOCAL_INVOCATION_ID: return at->local[c];
    case BLR_BUILTIN_GLOBAL_INVOCATION_ID: return at->group[c] * launch->local[c] + at->local[c] + launch->offset[c];
    case BLR_BUILTIN_LOCAL_INVOCATION_INDEX: return at->index;
    case BLR_BUILTIN_WORK_DIM: return launch->dimensions;
    case BLR_BUILTIN_GLOBAL_SIZE: return launch->global[c];
    case BLR_BUILTIN_GLOBAL_OFFSET: return launch->offset[c];
    case BLR_BUILTIN_GLOBAL_LINEAR_ID: {
        uint64_t x = at->group[0] * launch->local[0] + at->local[0];
        uint64_t y = at->group[1] * launch->local[1] + at->local[1];
        uint64_t z = at->group[2] * launch->local[2] + at->local[2];
        return (z * launch->global[1] + y) * launch->global[0] + x;
    }
    case BLR_BUILTIN_SUBGROUP_SIZE: {
        uint64_t rest = size - at->index / lanes * lanes;
        return rest < lanes ? rest : lanes;
    }
    case BLR_BUILTIN_SUBGROUP_MAX_SIZE: return size < lanes ? size : lanes;
    case BLR_BUILTIN_NUM_SUBGROUPS:
    case BLR_BUILTIN_NUM_ENQUEUED_SUBGROUPS: return (size + lanes - 1) / lanes;
    case BLR_BUILTIN_SUBGROUP_ID: return at->index / lanes;
    case BLR_BUILTIN_SUBGROUP_LOCAL_INVOCATION_ID: return at->index % lanes;
    case BLR_BUILTIN_SUBGROUP_EQ_MASK:
    case BLR_BUILTIN_SUBGROUP_GE_MASK:
    case BLR_BUILTIN_SUBGROUP_GT_MASK:
    case BLR_BUILTIN_SUBGROUP_LE_MASK:
    case BLR_BUILTIN_SUBGROUP_LT_MASK: return c < 2 ? lane_mask(what, at->index % lanes, size < lanes ? size : lanes) >> 32 * c & UINT32_MAX : 0;
    }
    return 0;
}

/* Whether a built-in variable is the same for all work-items of a launch. */
bool blr_spirv_is_of_launch(enum blr_spirv_builtin what)
{
    switch (what) {
    case BLR_BUILTIN_NUM_WORKGROUPS:
    case BLR_BUILTIN_WORKGROUP_SIZE:
    case BLR_BUILTIN_ENQUEUED_WORKGROUP_SIZE:
    case BLR_BUILTIN_WORK_DIM:
    case BLR_BUILTIN_GLOBAL_SIZE:
    case BLR_BUILTIN_GLOBAL_OFFSET: return true;
    default: return false;
    }
}

enum blr_spirv_course blr_spirv_course_of(enum blr_spirv_builtin what, uint32_t c, bool single)
{
    switch (what) {
    case BLR_BUILTIN_GLOBAL_INVOCATION_ID: return c == 0 ? BLR_COURSE_COUNTS : BLR_COURSE_STAYS;
    case BLR_BUILTIN_GLOBAL_LINEAR_ID: return BLR_COURSE_COUNTS;
    case BLR_BUILTIN_WORKGROUP_ID: return c == 0 && single ? BLR_COURSE_COUNTS : BLR_COURSE_STAYS;
    case BLR_BUILTIN_LOCAL_INVOCATION_ID: return c == 0 && !single ? BLR_COURSE_COUNTS : BLR_COURSE_STAYS;
    case BLR_BUILTIN_LOCAL_INVOCATION_INDEX: return single ? BLR_COURSE_STAYS : BLR_COURSE_COUNTS;
    default: return BLR_COURSE_OTHER;
    }
}

static void fill_row(unsigned char *place, uint8_t size, uint64_t value, bool counts, size_t count)
{
    uint32_t *narrow = (uint32_t *)(void *)place;
    uint64_t *wide = (uint64_t *)(void *)place;
    if (size == 4 && counts)
        for (size_t i = 0; i < count; i++)
            narrow[i] = (uint32_t)value + (uint32_t)i;
    else if (size == 4)
        for (size_t i = 0; i < count; i++)
            narrow[i] = (uint32_t)value;
    else if (counts)
        for (size_t i = 0; i < count; i++)
            wide[i] = value + i;
    else
        for (size_t i = 0; i < count; i++)
            wide[i] = value;
}

/* Fills one component for count lanes that lie in a row; whole: they are all lanes of the batch. */
static void fill_component(struct blr_spirv_batch *batch, const struct blr_spirv_builtin_use *use, uint32_t c, uint32_t lane,
                           uint32_t count, const struct blr_spirv_position *at, bool single, bool whole)
{
    const struct blr_spirv_launch *launch = batch->worker->launch;
    const uint32_t first = use->place + c * use->size * BLR_LANES;
    unsigned char *place = batch->registers + first + (size_t)lane * use->size;
    const enum blr_spirv_course course = blr_spirv_course_of(use->what, c, single);
    const bool is_affine = whole && course != BLR_COURSE_OTHER && use->is_affine;
    struct blr_spirv_position item = *at;
    if (is_affine)
        blr_affine_set(batch, first, use->size, blr_spirv_builtin_value(launch, at, use->what, c), course == BLR_COURSE_COUNTS, use->has_lanes);
    else
        blr_affine_at(batch, first)->is_affine = false;
    if (is_affine && !use->has_lanes)
        return;
    if (course != BLR_COURSE_OTHER)
        fill_row(place, use->size, blr_spirv_builtin_value(launch, at, use->what, c), course == BLR_COURSE_COUNTS, count);
    else
        for (uint32_t n = 0; n < count; n++, item.index += single ? 0 : 1)
            fill_row(place + (size_t)n * use->size, use->size, blr_spirv_builtin_value(launch, &item, use->what, c), false, 1);
}

/* Fills the built-in variables for the work-items from a position on, and advances it to the one behind them. */
void blr_spirv_fill_builtins(struct blr_spirv_batch *batch, uint32_t lanes, struct blr_spirv_position *at)
{
    const struct blr_spirv_launch *launch = batch->worker->launch;
    const struct blr_spirv_program *program = launch->program;
    const bool single = launch->local[0] * launch->local[1] * launch->local[2] == 1;
    for (uint32_t lane = 0; lane < lanes;) {
        const uint64_t row = blr_spirv_row_from(launch, at);
        const uint32_t count = row < lanes - lane ? (uint32_t)row : lanes - lane;
        for (uint32_t i = 0; i < program->builtin_count; i++) {
            const struct blr_spirv_builtin_use *use = &program->builtins[i];
            for (uint32_t c = 0; c < use->components && !blr_spirv_is_of_launch(use->what); c++)
                if (!use->is_affine || use->has_lanes || (use->reads >> c * use->size & 1) != 0)
                    fill_component(batch, use, c, lane, count, at, single, count == lanes);
        }
        blr_spirv_advance(launch, at, count);
        lane += count;
    }
}

/* Fills the launch's uniform built-in variables, once for all batches that run in these registers. */
void blr_spirv_fill_launch_builtins(struct blr_spirv_batch *batch)
{
    const struct blr_spirv_launch *launch = batch->worker->launch;
    const struct blr_spirv_position start = {.index = 0};
    for (uint32_t i = 0; i < launch->program->builtin_count; i++) {
        const struct blr_spirv_builtin_use *use = &launch->program->builtins[i];
        for (uint32_t c = 0; c < use->components && blr_spirv_is_of_launch(use->what); c++) {
            const uint32_t place = use->place + c * use->size * BLR_LANES;
            const uint64_t value = blr_spirv_builtin_value(launch, &start, use->what, c);
            fill_scalar(batch->registers + place, use->size, value);
            if (use->is_affine)
                blr_affine_set(batch, place, use->size, value, 0, true);
        }
    }
}

