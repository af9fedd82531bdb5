/* Execution of loads and stores: every address is checked before the access. */
#include "spirv/execute/lane_operations.h"
#include "spirv/execute/operations.h"

#include <inttypes.h>
#include <string.h>

/* ---------------------------------------------------------------- checks */

static void out_of_reach(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint32_t lane, uint64_t address,
                         uint64_t size, bool write)
{
    blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT,
                    "%s %" PRIu64 " bytes at 0x%" PRIx64 ", which is %s: kernels can access memory of malloc_device, "
                                                         "malloc_host "
                    "and malloc_shared of the queue's context, and memory registered there, up to its end",
                    write ? "writes" : "reads", size, address,
                    blr_spirv_reachable(batch, address, size, false) ? "constant or only to be read" :
                                        "not accessible to kernels");
}

/* Pattern of the addresses of the active lanes. */
enum pattern {
    PATTERN_FAULT,
    PATTERN_ROW,      /* consecutive elements, by lane */
    PATTERN_SAME,     /* one address for all lanes */
    PATTERN_ROWS,     /* consecutive for each sixteen lanes, as in square work-groups */
    PATTERN_RUNS,     /* one address for each sixteen lanes */
    PATTERN_SCATTERED /* no pattern: addresses are in good, with readable ones for inactive lanes */
};

#define PART 16u
#define PARTS (BLR_LANES / PART)

struct span {
    uint64_t first;   /* address of lane 0 in a row, or of all lanes */
    uint64_t parts[PARTS]; /* address of the first lane of each sixteen */
    uint64_t good[BLR_LANES];
};

/* Eight addresses, loaded as wide as they were stored: a mismatch would prevent store forwarding. */
typedef uint64_t eight __attribute__((vector_size(64), may_alias));

static uint64_t any_of(const eight *bits)
{
    uint64_t all = 0;
    for (int i = 0; i < 8; i++)
        all |= (*bits)[i];
    return all;
}

/* Checks an access of size bytes at the address of every lane, at once if they form rows or runs of sixteen. */
static enum pattern check_parts(struct blr_spirv_batch *batch, const uint64_t *addresses, uint64_t size, bool write,
                                struct span *span)
{
    const eight *eights = (const eight *)(const void *)addresses;
    const eight near = (eight){0, 1, 2, 3, 4, 5, 6, 7} * size, far = near + 8 * size;
    eight same = {0}, row = {0};
    for (uint32_t part = 0; part < PARTS; part++) {
        const eight one = eights[2 * part] - addresses[part * PART], other = eights[2 * part + 1] - addresses[part * PART];
        same |= one | other;
        row |= (one ^ near) | (other ^ far);
    }
    const uint64_t off_same = any_of(&same), off_row = any_of(&row);
    if (off_same != 0 && off_row != 0)
        return PATTERN_SCATTERED;
    const uint64_t start = addresses[0], length = off_same == 0 ? size : PART * size;
    uint64_t low = UINT64_MAX, high = 0, apart = 0, gaps = 0;
    for (uint32_t part = 0; part < PARTS; part++) {
        const uint64_t first = addresses[part * PART];
        span->parts[part] = first;
        low = first < low ? first : low;
        high = first > high ? first : high;
        apart |= first ^ start;
        gaps |= first ^ (start + part * PART * size);
    }
    if (high > UINT64_MAX - length || !blr_spirv_reachable(batch, low, high - low + length, write))
        return PATTERN_SCATTERED;
    span->first = start;
    if (off_same == 0)
        return apart == 0 ? PATTERN_SAME : PATTERN_RUNS;
    return gaps == 0 ? PATTERN_ROW : PATTERN_ROWS;
}

/* The same for the lanes of the mask, if they form one row or have one address. */
static enum pattern check_some(struct blr_spirv_batch *batch, const uint64_t *addresses, uint64_t size, bool write,
                               struct span *span)
{
    const uint64_t mask = batch->mask;
    const uint32_t first = (uint32_t)__builtin_ctzll(mask), last = 63u - (uint32_t)__builtin_clzll(mask);
    const uint64_t start = addresses[first], bytes = ((uint64_t)last - first + 1) * size;
    uint64_t off_row = 0, off_same = 0;
    for (uint32_t i = 0; i < BLR_LANES; i++) {
        const uint64_t distance = addresses[i] - start;
        off_same |= distance & batch->mask64[i];
        off_row |= (distance - ((uint64_t)i - first) * size) & batch->mask64[i];
    }
    span->first = start;
    if (off_same == 0 && blr_spirv_reachable(batch, start, size, write))
        return PATTERN_SAME;
    if (off_row == 0 && start <= UINT64_MAX - bytes && blr_spirv_reachable(batch, start, bytes, write)) {
        span->first -= first * size;
        return PATTERN_ROW;
    }
    return PATTERN_SCATTERED;
}

/* The same for every lane separately. */
static enum pattern check_each(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, const uint64_t *addresses,
                               uint64_t size, bool write, struct span *span)
{
    const uint64_t start = addresses[__builtin_ctzll(batch->mask)];
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t i = 0; i < BLR_LANES; i++) {
        const uint64_t address = addresses[i] ^ ((addresses[i] ^ start) & ~batch->mask64[i]);
        span->good[i] = address;
        low = address < low ? address : low;
        high = address > high ? address : high;
    }
    if (high <= UINT64_MAX - size && blr_spirv_reachable(batch, low, high - low + size, write))
        return PATTERN_SCATTERED;
    for (uint64_t lanes = batch->mask; lanes != 0; lanes &= lanes - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(lanes);
        if (!blr_spirv_reachable(batch, addresses[i], size, write)) {
            out_of_reach(batch, op, i, addresses[i], size, write);
            return PATTERN_FAULT;
        }
    }
    return PATTERN_SCATTERED;
}

/* single: one scalar at each address. */
static enum pattern check(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, const uint64_t *addresses, uint64_t size,
                          bool single, bool write, struct span *span)
{
    enum pattern pattern;
    if (single && batch->mask == BLR_ALL_LANES) {
        pattern = check_parts(batch, addresses, size, write, span);
        if (pattern != PATTERN_SCATTERED)
            return pattern;
    }
    if (batch->expanded != batch->mask)
        blr_spirv_expand_mask(batch);
    pattern = check_some(batch, addresses, size, write, span);
    return pattern != PATTERN_SCATTERED ? pattern : check_each(batch, op, addresses, size, write, span);
}

/* ---------------------------------------------------------------- loads */

#define LOAD(T)                                                                                                        \
    for (uint32_t c = 0; c < components; c++) {                                                                        \
        T *restrict r = (T *)result + c * BLR_LANES;                                                                   \
        if (pattern == PATTERN_SAME) {                                                                                 \
            T value;                                                                                                   \
            memcpy(&value, from + c * sizeof(T), sizeof(T));                                                           \
            for (uint32_t i = 0; i < BLR_LANES; i++)                                                                   \
                r[i] = value;                                                                                          \
        } else if (pattern == PATTERN_SCATTERED) {                                                                     \
            for (uint32_t i = 0; i < BLR_LANES; i++)                                                                   \
                memcpy(&r[i], (const void *)(uintptr_t)(span.good[i] + c * sizeof(T)), sizeof(T));                     \
        } else if (!whole) {                                                                                           \
            for (uint32_t i = 0; i < BLR_LANES; i++)                                                                   \
                if (batch->mask8[i])                                                                                   \
                    memcpy(&r[i], from + ((size_t)i * components + c) * sizeof(T), sizeof(T));                         \
        } else if (components == 1) {                                                                                  \
            memcpy(r, from, BLR_LANES * sizeof(T));                                                                    \
        } else {                                                                                                       \
            for (uint32_t i = 0; i < BLR_LANES; i++)                                                                   \
                memcpy(&r[i], from + ((size_t)i * components + c) * sizeof(T), sizeof(T));                             \
        }                                                                                                              \
    }

#define LOAD_PARTS(T)                                                                                                  \
    for (uint32_t part = 0; part < PARTS; part++, result += PART * sizeof(T)) {                                        \
        const unsigned char *from = (const unsigned char *)(uintptr_t)span->parts[part];                               \
        T value;                                                                                                       \
        memcpy(&value, from, sizeof value);                                                                            \
        if (rows)                                                                                                      \
            memcpy(result, from, PART * sizeof(T));                                                                    \
        else                                                                                                           \
            for (uint32_t i = 0; i < PART; i++)                                                                        \
                ((T *)result)[i] = value;                                                                              \
    }

static void load_parts(const struct span *span, bool rows, uint32_t size, unsigned char *restrict result)
{
    switch (size) {
    case 1: LOAD_PARTS(uint8_t); break;
    case 2: LOAD_PARTS(uint16_t); break;
    case 4: LOAD_PARTS(uint32_t); break;
    default: LOAD_PARTS(uint64_t); break;
    }
}

void blr_spirv_run_load(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const uint64_t *addresses = blr_register(batch, op->in[0]);
    const uint32_t components = op->count / BLR_LANES;
    const bool whole = batch->mask == BLR_ALL_LANES;
    struct span span;
    const enum pattern pattern = check(batch, op, addresses, (uint64_t)components * op->element, components == 1, false, &span);
    if (pattern == PATTERN_FAULT) {
        memset(result, 0, (size_t)op->count * op->element);
        return;
    }
    const unsigned char *from = (const unsigned char *)(uintptr_t)span.first;
    if (pattern == PATTERN_ROWS || pattern == PATTERN_RUNS) {
        load_parts(&span, pattern == PATTERN_ROWS, op->element, result);
    } else {
        switch (op->element) {
        case 1: LOAD(uint8_t); break;
        case 2: LOAD(uint16_t); break;
        case 4: LOAD(uint32_t); break;
        default: LOAD(uint64_t); break;
        }
    }
    for (uint32_t i = 0; op->literal != 0 && i < op->count; i++)
        result[i] = result[i] != 0;
}

/* ---------------------------------------------------------------- stores */

#define STORE(T)                                                                                                       \
    for (uint32_t c = 0; c < components; c++) {                                                                        \
        const T *source = (const T *)values + c * BLR_LANES;                                                           \
        if (pattern == PATTERN_SAME) {                                                                                 \
            memcpy(to + c * sizeof(T), &source[last], sizeof(T)); /* the last value remains */                         \
        } else if (pattern == PATTERN_SCATTERED) {                                                                     \
            for (uint64_t lanes = batch->mask; lanes != 0; lanes &= lanes - 1) {                                           \
                const uint32_t i = (uint32_t)__builtin_ctzll(lanes);                                                    \
                memcpy((void *)(uintptr_t)(span.good[i] + c * sizeof(T)), &source[i], sizeof(T));                      \
            }                                                                                                          \
        } else if (!whole) {                                                                                           \
            for (uint32_t i = 0; i < BLR_LANES; i++)                                                                   \
                if (batch->mask8[i])                                                                                   \
                    memcpy(to + ((size_t)i * components + c) * sizeof(T), &source[i], sizeof(T));                      \
        } else if (components == 1) {                                                                                  \
            memcpy(to, source, BLR_LANES * sizeof(T));                                                                 \
        } else {                                                                                                       \
            for (uint32_t i = 0; i < BLR_LANES; i++)                                                                   \
                memcpy(to + ((size_t)i * components + c) * sizeof(T), &source[i], sizeof(T));                          \
        }                                                                                                              \
    }

/* In a run of equal addresses the last value remains. */
static void store_parts(const struct span *span, bool rows, uint32_t size, const unsigned char *values)
{
    for (uint32_t part = 0; part < PARTS; part++, values += (size_t)PART * size) {
        unsigned char *to = (unsigned char *)(uintptr_t)span->parts[part];
        if (rows)
            memcpy(to, values, (size_t)PART * size);
        else
            memcpy(to, values + (size_t)(PART - 1) * size, size);
    }
}

void blr_spirv_run_store(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)result;
    const uint64_t *addresses = blr_register(batch, op->in[0]);
    const unsigned char *values = blr_register(batch, op->in[1]);
    const uint32_t size = (uint32_t)(op->literal & 0xff), components = (uint32_t)(op->literal >> 8 & 0xffffffff);
    const uint32_t last = 63u - (uint32_t)__builtin_clzll(batch->mask);
    const bool whole = batch->mask == BLR_ALL_LANES;
    struct span span;
    const enum pattern pattern = check(batch, op, addresses, (uint64_t)components * size, components == 1, true, &span);
    if (pattern == PATTERN_FAULT)
        return;
    if (pattern == PATTERN_ROWS || pattern == PATTERN_RUNS) {
        store_parts(&span, pattern == PATTERN_ROWS, size, values);
        return;
    }
    unsigned char *to = (unsigned char *)(uintptr_t)span.first;
    switch (size) {
    case 1: STORE(uint8_t); break;
    case 2: STORE(uint16_t); break;
    case 4: STORE(uint32_t); break;
    default: STORE(uint64_t); break;
    }
}

void blr_spirv_run_move_memory(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)result;
    const uint64_t *to = blr_register(batch, op->in[0]), *from = blr_register(batch, op->in[1]);
    const uint64_t *sizes = blr_register(batch, op->in[2]);
    for (uint32_t i = 0; i < BLR_LANES; i++) {
        if ((batch->mask >> i & 1) == 0 || sizes[i] == 0)
            continue;
        bool readable = blr_spirv_reachable(batch, from[i], sizes[i], false);
        if (!readable || !blr_spirv_reachable(batch, to[i], sizes[i], true)) {
            out_of_reach(batch, op, i, readable ? to[i] : from[i], sizes[i], readable);
            return;
        }
        memmove((void *)(uintptr_t)to[i], (const void *)(uintptr_t)from[i], sizes[i]);
    }
}

/* The storage class of an address. */
static enum blr_spirv_storage storage_of(const struct blr_spirv_batch *batch, uint64_t address)
{
    const struct blr_spirv_worker *worker = batch->worker;
    const uint64_t local = (uint64_t)(uintptr_t)worker->local, own = (uint64_t)(uintptr_t)batch->private_memory;
    if (blr_spirv_within(address, 1, local, local + worker->launch->local_bytes))
        return BLR_STORAGE_WORKGROUP;
    if (blr_spirv_within(address, 1, own, own + worker->launch->program->private_bytes * BLR_LANES))
        return BLR_STORAGE_FUNCTION;
    return BLR_STORAGE_CROSS_WORKGROUP;
}

void blr_spirv_run_explicit_cast(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const uint64_t *addresses = blr_register(batch, op->in[0]);
    uint64_t *restrict r = (uint64_t *)result;
    for (uint32_t i = 0; i < BLR_LANES; i++)
        r[i] = storage_of(batch, addresses[i]) == op->literal ? addresses[i] : 0;
}

void blr_spirv_run_semantics(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const uint64_t *addresses = blr_register(batch, op->in[0]);
    uint32_t *restrict r = (uint32_t *)result;
    for (uint32_t i = 0; i < BLR_LANES; i++) {
        enum blr_spirv_storage storage = storage_of(batch, addresses[i]);
        r[i] = storage == BLR_STORAGE_WORKGROUP       ? BLR_SEMANTICS_WORK_GROUP_MEMORY
               : storage == BLR_STORAGE_CROSS_WORKGROUP ? BLR_SEMANTICS_GLOBAL_MEMORY
                                                        : 0;
    }
}
