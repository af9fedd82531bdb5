/* Parsing of constants, specialization constants and module-scope variables. */
#include "spirv/parse/module.h"

#include "spirv/parse/spec_constant_op.h"

#include <inttypes.h>
#include <string.h>

#define MOST_ALIGNMENT 65536u

static uint32_t word_at(const struct blr_spirv_module *module, uint32_t word) { return module->build->words[word]; }

/* Memory for the bytes of a constant or variable; counts them. */
static unsigned char *aligned_bytes_for(struct blr_spirv_module *module, uint32_t word, uint64_t size, uint64_t alignment)
{
    module->memory_size += size;
    if (size > BLR_SPIRV_MAX_CONSTANT || module->memory_size > BLR_SPIRV_MAX_CONSTANT)
        blr_spirv_refuse(module->build, word, "constants and variables of more than %" PRIu64 " bytes",
                         BLR_SPIRV_MAX_CONSTANT);
    uintptr_t address = (uintptr_t)blr_spirv_allocate(module->build, size + alignment, 1);
    return (unsigned char *)((address + alignment - 1) & ~(uintptr_t)(alignment - 1));
}

static unsigned char *bytes_for(struct blr_spirv_module *module, uint32_t word, uint64_t size)
{
    return aligned_bytes_for(module, word, size, 128);
}

uint64_t blr_spirv_constant_number(struct blr_spirv_module *module, uint32_t word, uint32_t id)
{
    if (id == 0 || id >= module->bound || module->ids[id].kind != BLR_ID_CONSTANT)
        blr_spirv_refuse(module->build, word, "%%%u is no constant", id);
    const struct blr_spirv_constant *constant = module->ids[id].constant;
    if (constant->type->kind != BLR_TYPE_INT)
        blr_spirv_refuse(module->build, word, "%%%u is not an integer", id);
    uint64_t number = 0;
    if (constant->bytes != NULL)
        memcpy(&number, constant->bytes, constant->type->size);
    return number;
}

/* ---------------------------------------------------------------- scalars */

/* The value given for a specialization constant, or NULL for its default. */
static const void *find_value(struct blr_spirv_module *module, uint32_t word, const struct blr_spirv_id *id,
                              const struct blr_spirv_type *type)
{
    for (uint32_t i = 0; id->spec_id != 0 && i < module->specialization_count; i++) {
        const struct blr_spirv_specialization *entry = &module->specializations[i];
        if (entry->id != (uint64_t)(id->spec_id - 1))
            continue;
        if (entry->size != type->scalar_size)
            blr_spirv_refuse(module->build, word, "specialization constant %u has %u bytes, %u were given", entry->id,
                             type->scalar_size, entry->size);
        module->specialization_used[i] = true;
        return entry->value;
    }
    return NULL;
}

static void read_boolean(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_constant *constant,
                         bool value)
{
    if (constant->type->kind != BLR_TYPE_BOOL)
        blr_spirv_refuse(module->build, word, "its type is not boolean");
    const unsigned char *other = find_value(module, word, &module->ids[word_at(module, word + 2)], constant->type);
    constant->bytes = bytes_for(module, word, 1);
    constant->bytes[0] = other != NULL ? *other != 0 : value;
}

static void read_number(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_constant *constant)
{
    const struct blr_spirv_type *type = constant->type;
    if (type->kind != BLR_TYPE_INT && type->kind != BLR_TYPE_FLOAT)
        blr_spirv_refuse(module->build, word, "its type is not numeric");
    blr_spirv_require_words(module, word, type->size > 4 ? 5 : 4);
    const void *other = find_value(module, word, &module->ids[word_at(module, word + 2)], type);
    constant->bytes = bytes_for(module, word, type->size);
    memcpy(constant->bytes, other != NULL ? other : module->build->words + word + 3, type->size);
}

/* A constant sampler: the handle encodes its description, BLR_CONSTANT_SAMPLER. */
static void read_sampler(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_constant *constant)
{
    blr_spirv_require_words(module, word, 6);
    uint32_t addressing = word_at(module, word + 3), normalized = word_at(module, word + 4), filter = word_at(module, word + 5);
    if (constant->type->kind != BLR_TYPE_SAMPLER || addressing > 4 || normalized > 1 || filter > 1)
        blr_spirv_refuse(module->build, word, "addressing %u, normalized %u, filter %u: at most 4, 1 and 1 are known, and "
                         "the type of a sampler", addressing, normalized, filter);
    uint64_t handle = BLR_CONSTANT_SAMPLER(addressing, normalized, filter);
    constant->bytes = bytes_for(module, word, sizeof handle);
    memcpy(constant->bytes, &handle, sizeof handle);
}

/* Modules parsed from the same words agree on addresses: they may lie in memory that their kernels share. */
uint64_t blr_spirv_function_address(struct blr_spirv_module *module, uint32_t id)
{
    if (module->addresses == NULL)
        module->addresses = module->original != NULL ? module->original->addresses
                                                     : blr_spirv_allocate(module->build, module->bound, 1);
    module->ids[id].has_address = true;
    return (uint64_t)(uintptr_t)(module->addresses + id);
}

/* A pointer to a function, which may be defined later. */
static void read_function_address(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_constant *constant)
{
    blr_spirv_require_words(module, word, 4);
    const uint32_t id = word_at(module, word + 3);
    if (constant->type->kind != BLR_TYPE_POINTER || id == 0 || id >= module->bound)
        blr_spirv_refuse(module->build, word, "a pointer type and a function are needed");
    const uint64_t address = blr_spirv_function_address(module, id);
    constant->bytes = bytes_for(module, word, sizeof address);
    memcpy(constant->bytes, &address, sizeof address);
}

/* ---------------------------------------------------------------- composites */

void blr_spirv_note_address(struct blr_spirv_module *module, struct blr_spirv_constant *constant, uint64_t place)
{
    constant->addresses = blr_spirv_grow(module->build, constant->addresses, constant->address_count, &constant->address_capacity,
                                         sizeof *constant->addresses);
    constant->addresses[constant->address_count++] = (uint32_t)place;
}

/* Writes the constant named by id, or the address of the variable, with the given type, at an offset of another. */
static void place(struct blr_spirv_module *module, uint32_t word, uint32_t id, const struct blr_spirv_type *type,
                  struct blr_spirv_constant *whole, uint64_t offset)
{
    unsigned char *bytes = whole->bytes + offset;
    const struct blr_spirv_id *entry = id != 0 && id < module->bound ? &module->ids[id] : NULL;
    if (entry != NULL && entry->kind == BLR_ID_CONSTANT && blr_spirv_same(module, entry->constant->type, type)) {
        if (entry->constant->bytes != NULL)
            memcpy(bytes, entry->constant->bytes, type->size);
        for (uint32_t i = 0; i < entry->constant->address_count; i++)
            blr_spirv_note_address(module, whole, offset + entry->constant->addresses[i]);
        return;
    }
    if (entry != NULL && entry->kind == BLR_ID_VARIABLE && type->kind == BLR_TYPE_POINTER &&
        entry->variable->storage == BLR_STORAGE_WORKGROUP) {
        memcpy(bytes, &entry->variable->offset, sizeof entry->variable->offset);
        blr_spirv_note_address(module, whole, offset);
        return;
    }
    if (entry != NULL && entry->kind == BLR_ID_VARIABLE && type->kind == BLR_TYPE_POINTER &&
        entry->variable->address != 0) {
        memcpy(bytes, &entry->variable->address, sizeof entry->variable->address);
        return;
    }
    if (entry != NULL && entry->kind == BLR_ID_FUNCTION)
        blr_spirv_unsupported(module->build, word, "a pointer to a function");
    blr_spirv_refuse(module->build, word, "%%%u is no constant of type %%%u, nor a variable whose address is known", id, type->id);
}

static void read_composite(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_constant *constant)
{
    const struct blr_spirv_type *type = constant->type;
    uint32_t constituents = blr_spirv_length_at(module->build, word) - 3;
    if (type->kind != BLR_TYPE_VECTOR && type->kind != BLR_TYPE_ARRAY && type->kind != BLR_TYPE_STRUCT)
        blr_spirv_refuse(module->build, word, "its type %%%u is not a composite", type->id);
    if (constituents != type->count)
        blr_spirv_refuse(module->build, word, "%u constituents: its type has %u", constituents, type->count);
    constant->bytes = bytes_for(module, word, type->size);
    for (uint32_t i = 0; i < constituents; i++) {
        const struct blr_spirv_type *element = blr_spirv_element(module, word, type, i);
        uint64_t offset = type->kind == BLR_TYPE_STRUCT ? type->offsets[i] : i * element->size;
        place(module, word, word_at(module, word + 3 + i), element, constant, offset);
    }
}

void blr_spirv_read_constant(struct blr_spirv_module *module, uint32_t word)
{
    blr_spirv_require_words(module, word, 3);
    unsigned opcode = blr_spirv_opcode_at(module->build, word);
    struct blr_spirv_constant *constant = blr_spirv_allocate(module->build, 1, sizeof *constant);
    const struct blr_spirv_type *type = blr_spirv_type(module, word, word_at(module, word + 1));
    constant->type = type;
    if (type->size == 0 && !(type->kind == BLR_TYPE_STRUCT && type->count == 0))
        blr_spirv_refuse(module->build, word, "a constant of %%%u, which has no size", type->id);
    uint32_t id = word_at(module, word + 2);
    struct blr_spirv_id *entry = blr_spirv_define(module, word, id, BLR_ID_NONE);
    switch (opcode) {
    case BLR_OP_ConstantTrue:
    case BLR_OP_SpecConstantTrue: read_boolean(module, word, constant, true); break;
    case BLR_OP_ConstantFalse:
    case BLR_OP_SpecConstantFalse: read_boolean(module, word, constant, false); break;
    case BLR_OP_Constant:
    case BLR_OP_SpecConstant: read_number(module, word, constant); break;
    case BLR_OP_ConstantComposite:
    case BLR_OP_SpecConstantComposite: read_composite(module, word, constant); break;
    case BLR_OP_ConstantSampler: read_sampler(module, word, constant); break;
    case BLR_OP_ConstantFunctionPointerINTEL: read_function_address(module, word, constant); break;
    case BLR_OP_ConstantNull:
    case BLR_OP_Undef: break;
    case BLR_OP_SpecConstantOp: {
        constant->bytes = bytes_for(module, word, type->size);
        blr_spirv_evaluate(module, word, constant);
        break;
    }
    default: blr_spirv_unsupported(module->build, word, NULL);
    }
    entry->type = type->id;
    entry->kind = BLR_ID_CONSTANT;
    entry->constant = constant;
}

/* ---------------------------------------------------------------- variables */

uint64_t blr_spirv_alignment(struct blr_spirv_module *module, uint32_t word)
{
    const uint64_t alignment = module->ids[word_at(module, word + 2)].alignment;
    if ((alignment & (alignment - 1)) != 0 || alignment > MOST_ALIGNMENT)
        blr_spirv_refuse(module->build, word, "an alignment of %" PRIu64 ": powers of two up to %u are supported", alignment,
                         MOST_ALIGNMENT);
    return alignment;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Reserves the variable's place in the work-group's memory. */
static void reserve(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_variable *variable)
{
    const uint64_t alignment = larger(variable->holds->alignment, blr_spirv_alignment(module, word));
    variable->offset = (module->local_size + alignment - 1) / alignment * alignment;
    module->local_size = variable->offset + variable->holds->size;
    if (module->local_size > BLR_SPIRV_MAX_CONSTANT)
        blr_spirv_refuse(module->build, word, "work-group variables of more than %" PRIu64 " bytes", BLR_SPIRV_MAX_CONSTANT);
}

static void initialize(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_variable *variable)
{
    const struct blr_spirv_module *original = module->original;
    if (original != NULL && original->variables[module->variable_count]->table == NULL) {
        variable->address = original->variables[module->variable_count]->address;
        return;
    }
    struct blr_spirv_constant *initial = blr_spirv_allocate(module->build, 1, sizeof *initial);
    initial->type = variable->holds;
    initial->bytes = aligned_bytes_for(module, word, variable->holds->size,
                                         larger(blr_spirv_alignment(module, word), 128)); /* the host's libraries rely on it */
    if (blr_spirv_length_at(module->build, word) > 4)
        place(module, word, word_at(module, word + 4), variable->holds, initial, 0);
    if (initial->address_count == 0) {
        variable->address = (uint64_t)(uintptr_t)initial->bytes;
        return;
    }
    variable->table = initial; /* every work-group has addresses of its own */
    reserve(module, word, variable);
}

/* Whether a variable is built-in. Compilers declare these as inputs, or as imported variables of global or constant
 * memory; neither has memory. */
static bool is_in_registers(struct blr_spirv_module *module, uint32_t word, const struct blr_spirv_variable *variable)
{
    if (variable->builtin < 0)
        return false;
    if (variable->storage != BLR_STORAGE_INPUT && variable->storage != BLR_STORAGE_UNIFORM_CONSTANT &&
        variable->storage != BLR_STORAGE_CROSS_WORKGROUP)
        blr_spirv_refuse(module->build, word, "a built-in variable of storage class %u: Input (1), UniformConstant (0) and "
                         "CrossWorkgroup (5) are supported", variable->storage);
    return true;
}

void blr_spirv_read_variable(struct blr_spirv_module *module, uint32_t word)
{
    blr_spirv_require_words(module, word, 4);
    uint32_t id = word_at(module, word + 2);
    struct blr_spirv_variable *variable = blr_spirv_allocate(module->build, 1, sizeof *variable);
    struct blr_spirv_id *entry = blr_spirv_define(module, word, id, BLR_ID_NONE);
    variable->type = blr_spirv_type(module, word, word_at(module, word + 1));
    variable->storage = (enum blr_spirv_storage)word_at(module, word + 3);
    if (variable->type->kind != BLR_TYPE_POINTER || variable->type->storage != variable->storage)
        blr_spirv_refuse(module->build, word, "its type %%%u is not a pointer of storage class %u", variable->type->id,
                         variable->storage);
    variable->holds = blr_spirv_type(module, word, variable->type->element);
    variable->builtin = entry->builtin - 1;
    bool registers = is_in_registers(module, word, variable);
    if (variable->holds->size == 0)
        blr_spirv_refuse(module->build, word, "a variable of %%%u, which has no size", variable->holds->id);
    switch (variable->storage) {
    case BLR_STORAGE_INPUT:
        if (variable->builtin < 0)
            blr_spirv_unsupported(module->build, word, "an input without the BuiltIn decoration");
        break;
    case BLR_STORAGE_WORKGROUP:
        if (entry->imported)
            blr_spirv_unsupported(module->build, word, "an imported work-group variable");
        reserve(module, word, variable);
        break;
    case BLR_STORAGE_UNIFORM_CONSTANT:
    case BLR_STORAGE_CROSS_WORKGROUP:
        variable->imported = entry->imported && !registers;
        if (!variable->imported && !registers)
            initialize(module, word, variable);
        break;
    default:
        blr_spirv_refuse(module->build, word, "storage class %u outside of functions is not supported",
                         variable->storage);
    }
    module->variables = blr_spirv_grow(module->build, module->variables, module->variable_count,
                                       &module->variable_capacity, sizeof *module->variables);
    module->variables[module->variable_count++] = variable;
    entry->type = variable->type->id;
    entry->kind = BLR_ID_VARIABLE;
    entry->variable = variable;
}
