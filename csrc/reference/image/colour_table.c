/* Tables of colours as commands: checks, and distribution of pixels among threads. */
#include "image/colour_table.h"

#include "memory/allocation.h"
#include "memory/parallel_copy.h"
#include "platform/cpu_features.h"
#include "platform/thread_pool.h"
#include "runtime/queue.h"

#include <inttypes.h>

#define PARALLEL_FROM ((uint64_t)1 << 13) /* pixels from which two threads share the work */
#define LEAST_PART ((uint64_t)1 << 12)

#define MOST_EDGE 256u
#define MOST_SHAPER (1u << 16)

#if BLR_HAS_VECTOR_SETS
void blr_colour_part_avx2(const struct blr_colours *colours, uint64_t begin, uint64_t end);
void blr_colour_part_avx512(const struct blr_colours *colours, uint64_t begin, uint64_t end);
#endif

struct colour_command {
    struct blr_command command;
    struct blr_allocation *memory[4]; /* of pixels, values, table and shaper; retained, or NULL */
    struct blr_colours colours;
};

static void release(struct blr_command *command)
{
    struct colour_command *own = (struct colour_command *)command;
    for (int i = 0; i < 4; i++)
        blr_memory_release(own->memory[i]);
}

static bool run_part(void *argument, uint64_t begin, uint64_t end)
{
#if BLR_HAS_VECTOR_SETS
    if (blr_processor_has_avx2()) {
        if (blr_processor_has_avx512())
            blr_colour_part_avx512(argument, begin, end);
        else
            blr_colour_part_avx2(argument, begin, end);
        return true;
    }
#endif
    blr_colour_part(argument, begin, end);
    return true;
}

static blr_result_t run(struct blr_command *command)
{
    struct blr_colours *colours = &((struct colour_command *)command)->colours;
    const uint64_t count = colours->table.count;
    blr_parallel_for(count, count < PARALLEL_FROM ? count : blr_parallel_grain(count, LEAST_PART), run_part, colours);
    return BLR_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- checks */

static bool is_of_colours(blr_element_type_t type)
{
    return type == BLR_ELEMENT_U8 || type == BLR_ELEMENT_U16 || type == BLR_ELEMENT_F16 || type == BLR_ELEMENT_F32;
}

static blr_result_t check_form(const blr_colour_table_t *table)
{
    if (!is_of_colours(table->pixel_type) || !is_of_colours(table->value_type))
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "elements of type %d to type %d: U8 (1), U16 (3), F16 (6) or F32 (7)",
                        (int)table->pixel_type, (int)table->value_type);
    if (table->channels != 3 && table->channels != 4)
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "%u channels: pixels have 3 or 4", table->channels);
    if (table->count > (uint64_t)1 << 56)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "%" PRIu64 " pixels are more than memory has", table->count);
    if (table->table != NULL && (table->size < 2 || table->size > MOST_EDGE))
        return blr_fail(BLR_RESULT_INVALID_SIZE, "%u entries along an axis of the table: 2 to %u", table->size, MOST_EDGE);
    if (table->shaper != NULL && (table->shaper_size < 2 || table->shaper_size > MOST_SHAPER))
        return blr_fail(BLR_RESULT_INVALID_SIZE, "%u entries of the shaper: 2 to %u", table->shaper_size, MOST_SHAPER);
    return BLR_RESULT_SUCCESS;
}

static blr_result_t resolve(struct colour_command *own, struct blr_context *context, const blr_colour_table_t *table)
{
    const uint64_t elements = table->count * table->channels, edge = table->size;
    const struct {
        const char *name;
        const void *first;
        uint64_t bytes, element;
    } arrays[4] = {
        {"pixels", table->pixels, elements * blr_element_size(table->pixel_type), blr_element_size(table->pixel_type)},
        {"values", table->values, elements * blr_element_size(table->value_type), blr_element_size(table->value_type)},
        {"table", table->table, edge * edge * edge * 4 * sizeof(float), sizeof(float)},
        {"shaper", table->shaper, (uint64_t)table->shaper_size * 3 * sizeof(float), sizeof(float)},
    };
    for (int i = 0; i < 4; i++) {
        if (i > 1 && arrays[i].first == NULL)
            continue;
        if ((uintptr_t)arrays[i].first % arrays[i].element != 0)
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the %s at 0x%" PRIxPTR " are not aligned to elements of %" PRIu64 " bytes",
                            arrays[i].name, (uintptr_t)arrays[i].first, arrays[i].element);
        const blr_result_t result = blr_memory_use(context, arrays[i].first, arrays[i].bytes, arrays[i].name, &own->memory[i]);
        if (result != BLR_RESULT_SUCCESS)
            return result;
    }
    const uintptr_t from = (uintptr_t)table->pixels, to = (uintptr_t)table->values;
    const bool same = from == to && table->pixel_type == table->value_type;
    if (!same && (from < to ? to - from < arrays[0].bytes : from - to < arrays[1].bytes))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "pixels and values overlap in memory: they are the same or apart");
    own->colours.table = *table;
    own->colours.streams = blr_transfer_streams(arrays[1].bytes);
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrEnqueueColourTable(blr_queue_t handle, const blr_colour_table_t *table, uint32_t num_waits,
                                   const blr_event_t *waits, blr_event_t *event)
{
    struct blr_queue *queue = blr_queue_acquire(handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_OUT_OF_MEMORY;
    struct colour_command *own;
    if (table == NULL) {
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "table is NULL: a description of the colours is needed");
    } else if ((own = blr_command_new(sizeof *own, run, release)) != NULL) {
        result = check_form(table);
        if (result == BLR_RESULT_SUCCESS)
            result = resolve(own, queue->context, table);
        own->command.is_repeatable = true;
        if (result == BLR_RESULT_SUCCESS)
            result = blr_submit(queue, &own->command, num_waits, waits, event);
        else
            blr_command_discard(&own->command);
    }
    blr_queue_release(queue);
    return result;
}
