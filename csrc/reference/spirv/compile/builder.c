/* The program builder: values, operands, presets, steps and blocks. */
#include "spirv/compile/builder.h"

#include "spirv/execute/operations.h"

#include <string.h>

static uint32_t word_at(const struct blr_spirv_builder *b, uint32_t word) { return b->build->words[word]; }

uint32_t blr_spirv_new_value(struct blr_spirv_builder *b, uint32_t lane_bytes)
{
    b->values = blr_spirv_grow(b->build, b->values, b->value_count, &b->value_capacity, sizeof *b->values);
    b->values[b->value_count] =
        (struct blr_spirv_value){.lane_bytes = lane_bytes, .block = BLR_NONE, .place = BLR_NONE};
    return b->value_count++;
}

struct blr_spirv_type *blr_spirv_result_type(struct blr_spirv_builder *b, uint32_t word)
{
    return blr_spirv_type(b->module, word, word_at(b, word + 1));
}

void blr_spirv_bind(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref ref)
{
    ref.type = blr_spirv_result_type(b, word);
    b->refs[word_at(b, word + 2)] = ref;
}

struct blr_spirv_ref blr_spirv_result(struct blr_spirv_builder *b, uint32_t word)
{
    struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    blr_spirv_leaves(b->module, word, type);
    struct blr_spirv_ref ref = {.value = blr_spirv_new_value(b, type->lane_bytes) + 1, .type = type};
    blr_spirv_bind(b, word, ref);
    return ref;
}

/* ---------------------------------------------------------------- constants and variables */

void blr_spirv_fill(struct blr_spirv_builder *b, struct blr_spirv_filling filling)
{
    b->fillings = blr_spirv_grow(b->build, b->fillings, b->filling_count, &b->filling_capacity, sizeof *b->fillings);
    b->fillings[b->filling_count++] = filling;
}

static struct blr_spirv_ref preset(struct blr_spirv_builder *b, const struct blr_spirv_type *type, uint32_t lane_bytes)
{
    uint32_t value = blr_spirv_new_value(b, lane_bytes);
    b->values[value].preset = true;
    return (struct blr_spirv_ref){.value = value + 1, .type = type};
}

struct blr_spirv_ref blr_spirv_known(struct blr_spirv_builder *b, const struct blr_spirv_type *type, const unsigned char *bytes,
                                     uint32_t size)
{
    uint32_t lane_bytes = type->lane_bytes;
    struct blr_spirv_ref ref = preset(b, type, lane_bytes);
    unsigned char *copy = blr_spirv_allocate(b->build, lane_bytes, 1);
    memcpy(copy, bytes, lane_bytes);
    b->values[ref.value - 1].constant_bytes = copy;
    for (uint32_t lane = 0; lane < lane_bytes; lane += size) {
        struct blr_spirv_filling filling = {
            .value = ref.value - 1, .lane = lane, .preset = {.kind = BLR_PRESET_BYTES, .size = (uint8_t)size}};
        memcpy(&filling.preset.bytes, bytes + lane, size);
        blr_spirv_fill(b, filling);
    }
    return ref;
}

const unsigned char *blr_spirv_known_bytes(const struct blr_spirv_builder *b, struct blr_spirv_ref ref)
{
    const unsigned char *constant_bytes = b->values[ref.value - 1].constant_bytes;
    return constant_bytes == NULL ? NULL : constant_bytes + ref.lane;
}

struct blr_spirv_ref blr_spirv_number(struct blr_spirv_builder *b, uint64_t number, uint8_t size)
{
    struct blr_spirv_ref ref = preset(b, NULL, size);
    blr_spirv_fill(b, (struct blr_spirv_filling){
                          .value = ref.value - 1, .preset = {.kind = BLR_PRESET_BYTES, .size = size, .bytes = number}});
    return ref;
}

/* An address in the work-group's memory, at an offset in the unit's part of it. */
static struct blr_spirv_ref local_address(struct blr_spirv_builder *b, const struct blr_spirv_type *type, uint64_t offset)
{
    struct blr_spirv_ref ref = preset(b, type, 8);
    b->program->uses_local = true;
    blr_spirv_fill(b, (struct blr_spirv_filling){
                          .value = ref.value - 1,
                          .preset = {.kind = BLR_PRESET_LOCAL, .size = 8, .offset = b->units[b->unit].local_offset + offset}});
    return ref;
}

static struct blr_spirv_ref constant(struct blr_spirv_builder *b, uint32_t word,
                                     const struct blr_spirv_constant *constant)
{
    struct blr_spirv_type *type = b->module->ids[constant->type->id].of_type;
    if (constant->address_count != 0) {
        if (type->kind != BLR_TYPE_POINTER)
            blr_spirv_unsupported(b->build, word, "a composite of addresses in the work-group's memory, except in a variable");
        uint64_t offset;
        memcpy(&offset, constant->bytes, sizeof offset);
        return local_address(b, type, offset);
    }
    const struct blr_spirv_leaf *leaves = blr_spirv_leaves(b->module, word, type);
    struct blr_spirv_ref ref = preset(b, type, type->lane_bytes);
    unsigned char *constant_bytes = blr_spirv_allocate(b->build, type->lane_bytes + 1u, 1);
    b->values[ref.value - 1].constant_bytes = constant_bytes;
    for (uint32_t i = 0; i < type->scalars; i++) {
        struct blr_spirv_filling filling = {.value = ref.value - 1,
                                            .lane = leaves[i].lane,
                                            .preset = {.kind = BLR_PRESET_BYTES, .size = leaves[i].size}};
        if (constant->bytes != NULL)
            memcpy(&filling.preset.bytes, constant->bytes + leaves[i].offset, leaves[i].size);
        memcpy(constant_bytes + leaves[i].lane, &filling.preset.bytes, leaves[i].size);
        blr_spirv_fill(b, filling);
    }
    return ref;
}

static uint32_t builtin_components(enum blr_spirv_builtin what)
{
    switch (what) {
    case BLR_BUILTIN_NUM_WORKGROUPS:
    case BLR_BUILTIN_WORKGROUP_SIZE:
    case BLR_BUILTIN_WORKGROUP_ID:
    case BLR_BUILTIN_LOCAL_INVOCATION_ID:
    case BLR_BUILTIN_GLOBAL_INVOCATION_ID:
    case BLR_BUILTIN_GLOBAL_SIZE:
    case BLR_BUILTIN_ENQUEUED_WORKGROUP_SIZE:
    case BLR_BUILTIN_GLOBAL_OFFSET: return 3;
    case BLR_BUILTIN_LOCAL_INVOCATION_INDEX:
    case BLR_BUILTIN_WORK_DIM:
    case BLR_BUILTIN_GLOBAL_LINEAR_ID:
    case BLR_BUILTIN_SUBGROUP_SIZE:
    case BLR_BUILTIN_SUBGROUP_MAX_SIZE:
    case BLR_BUILTIN_NUM_SUBGROUPS:
    case BLR_BUILTIN_NUM_ENQUEUED_SUBGROUPS:
    case BLR_BUILTIN_SUBGROUP_ID:
    case BLR_BUILTIN_SUBGROUP_LOCAL_INVOCATION_ID: return 1;
    case BLR_BUILTIN_SUBGROUP_EQ_MASK:
    case BLR_BUILTIN_SUBGROUP_GE_MASK:
    case BLR_BUILTIN_SUBGROUP_GT_MASK:
    case BLR_BUILTIN_SUBGROUP_LE_MASK:
    case BLR_BUILTIN_SUBGROUP_LT_MASK: return 4;
    }
    return 0;
}

static bool is_about_groups(enum blr_spirv_builtin what)
{
    switch (what) {
    case BLR_BUILTIN_WORK_DIM:
    case BLR_BUILTIN_GLOBAL_SIZE:
    case BLR_BUILTIN_GLOBAL_OFFSET:
    case BLR_BUILTIN_GLOBAL_LINEAR_ID:
    case BLR_BUILTIN_GLOBAL_INVOCATION_ID: return false;
    default: return true;
    }
}

/* The registers of a built-in variable or of one of its components. */
static struct blr_spirv_ref builtin(struct blr_spirv_builder *b, uint32_t word,
                                    const struct blr_spirv_variable *variable)
{
    enum blr_spirv_builtin what = (enum blr_spirv_builtin)variable->builtin;
    const struct blr_spirv_type *scalar = blr_spirv_scalar(b->module, variable->holds);
    uint32_t components = builtin_components(what);
    if (components == 0)
        blr_spirv_refuse(b->build, word, "the built-in variable %d is not supported", (int)variable->builtin);
    if (scalar->kind != BLR_TYPE_INT || blr_spirv_components(variable->holds) != components || scalar->scalar_size < 4)
        blr_spirv_refuse(b->build, word, "the built-in variable %d is of a type that it does not have",
                         (int)variable->builtin);
    for (uint32_t i = 0; i < b->builtin_count; i++)
        if (b->builtins[i].what == what && b->builtins[i].size == scalar->scalar_size)
            return (struct blr_spirv_ref){.value = b->builtin_values[i] + 1, .type = variable->holds};
    struct blr_spirv_ref ref = preset(b, variable->holds, components * scalar->scalar_size);
    b->builtins = blr_spirv_grow(b->build, b->builtins, b->builtin_count, &b->builtin_capacity, sizeof *b->builtins);
    b->builtin_values = blr_spirv_grow(b->build, b->builtin_values, b->builtin_count, &b->builtin_value_capacity,
                                       sizeof *b->builtin_values);
    b->builtins[b->builtin_count] =
        (struct blr_spirv_builtin_use){.what = what, .components = components, .size = scalar->scalar_size};
    b->builtin_values[b->builtin_count++] = ref.value - 1;
    if (is_about_groups(what))
        b->program->uses_groups = true;
    return ref;
}

/* A variable in the work-group's memory with the addresses of others. */
static struct blr_spirv_ref table(struct blr_spirv_builder *b, uint32_t word, const struct blr_spirv_variable *variable)
{
    struct blr_spirv_program *program = b->program;
    const uint64_t base = b->units[b->unit].local_offset;
    if (variable->table == NULL)
        blr_spirv_unsupported(b->build, word, "an imported variable with addresses in the work-group's memory");
    program->tables = blr_spirv_grow(b->build, program->tables, program->table_count, &b->table_capacity, sizeof *program->tables);
    program->tables[program->table_count++] = (struct blr_spirv_table){variable->table, base + variable->offset, base};
    return local_address(b, variable->type, variable->offset);
}

static struct blr_spirv_ref variable(struct blr_spirv_builder *b, uint32_t word, uint32_t id)
{
    const struct blr_spirv_variable *variable = b->module->ids[id].variable;
    if (variable->builtin >= 0) {
        struct blr_spirv_ref ref = builtin(b, word, variable);
        ref.builtin = 1;
        ref.type = variable->type;
        return ref;
    }
    const struct blr_spirv_variable *itself = variable->definition != NULL ? variable->definition : variable;
    if (itself->imported)
        blr_spirv_unresolved(b->build, word, "variable", b->module->ids[id].linkage);
    if (itself->table != NULL)
        return table(b, word, variable);
    if (variable->storage == BLR_STORAGE_WORKGROUP)
        return local_address(b, variable->type, variable->offset);
    struct blr_spirv_ref ref = preset(b, variable->type, 8);
    blr_spirv_fill(b, (struct blr_spirv_filling){
                          .value = ref.value - 1, .preset = {.kind = BLR_PRESET_BYTES, .size = 8, .bytes = itself->address}});
    return ref;
}

/* ---------------------------------------------------------------- operands */

struct blr_spirv_ref blr_spirv_any_operand(struct blr_spirv_builder *b, uint32_t word, uint32_t id)
{
    if (id == 0 || id >= b->module->bound)
        blr_spirv_refuse(b->build, word, "%%%u is out of the module's bound", id);
    const struct blr_spirv_id *entry = &b->module->ids[id];
    struct blr_spirv_ref *ref = &b->refs[id];
    switch (entry->kind) {
    case BLR_ID_VALUE:
        if (&b->module->functions[entry->owner] != b->function)
            blr_spirv_refuse(b->build, word, "%%%u belongs to another function", id);
        if (ref->value == 0)
            blr_spirv_refuse(b->build, word, "%%%u is used before it is known, or is no value", id);
        return *ref;
    case BLR_ID_CONSTANT:
        if (ref->value == 0)
            *ref = constant(b, word, entry->constant);
        return *ref;
    case BLR_ID_VARIABLE:
        if (ref->value == 0)
            *ref = variable(b, word, id);
        return *ref;
    default: blr_spirv_refuse(b->build, word, "%%%u is no value", id);
    }
}

/* Each use has a copy of its own, written at that use: no earlier use need have run. */
struct blr_spirv_ref blr_spirv_addressed(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref ref)
{
    struct blr_spirv_type *holds = blr_spirv_type(b->module, word, ref.type->element);
    struct blr_spirv_ref address = blr_spirv_private(b, word, ref.type, holds, 0, NULL);
    ref.builtin = 0;
    blr_spirv_store(b, word, address, ref, holds);
    return address;
}

struct blr_spirv_ref blr_spirv_operand(struct blr_spirv_builder *b, uint32_t word, uint32_t id)
{
    struct blr_spirv_ref ref = blr_spirv_any_operand(b, word, id);
    return ref.builtin != 0 ? blr_spirv_addressed(b, word, ref) : ref;
}

/* ---------------------------------------------------------------- operations */

struct blr_spirv_step *blr_spirv_step(struct blr_spirv_builder *b, uint32_t word)
{
    if (b->step_count >= BLR_SPIRV_MAX_OPS)
        blr_spirv_refuse(b->build, word, "the kernel '%.80s' has more than %u operations with its calls in place",
                         b->program->entry->name, BLR_SPIRV_MAX_OPS);
    b->steps = blr_spirv_grow(b->build, b->steps, b->step_count, &b->step_capacity, sizeof *b->steps);
    struct blr_spirv_step *step = &b->steps[b->step_count++];
    *step = (struct blr_spirv_step){.op = {.word = word}, .result = BLR_NONE};
    for (int i = 0; i < 4; i++)
        step->in[i] = BLR_NONE;
    return step;
}

void blr_spirv_step_result(struct blr_spirv_step *step, struct blr_spirv_ref ref, uint32_t lane, uint32_t element,
                           uint32_t components)
{
    step->result = ref.value - 1;
    step->result_lane = ref.lane + lane;
    step->op.element = (uint8_t)element;
    step->op.count = components * BLR_LANES;
}

void blr_spirv_step_input(struct blr_spirv_step *step, uint32_t number, struct blr_spirv_ref ref)
{
    step->in[number] = ref.value - 1;
    step->in_lane[number] = ref.lane;
}

uint32_t blr_spirv_of_one_size(const struct blr_spirv_leaf *leaves, uint32_t count, uint32_t i)
{
    uint32_t end = i + 1;
    while (end < count && leaves[end].size == leaves[i].size)
        end++;
    return end;
}

void blr_spirv_copy(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref to, uint32_t to_lane,
                    struct blr_spirv_ref from, struct blr_spirv_type *type)
{
    const struct blr_spirv_leaf *leaves = blr_spirv_leaves(b->module, word, type);
    for (uint32_t i = 0, end; i < type->scalars; i = end) {
        end = blr_spirv_of_one_size(leaves, type->scalars, i);
        struct blr_spirv_step *step = blr_spirv_step(b, word);
        struct blr_spirv_ref part = from;
        part.lane += leaves[i].lane;
        step->op.run = blr_spirv_run_copy;
        step->op.form = BLR_AFFINE_COPY;
        step->pure = true;
        blr_spirv_step_result(step, to, to_lane + leaves[i].lane, leaves[i].size, end - i);
        blr_spirv_step_input(step, 0, part);
    }
}
