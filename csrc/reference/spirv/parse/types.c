/* Types of a module: parsing, memory layout, scalars, and comparison. */
#include "spirv/parse/module.h"

#include <inttypes.h>

struct blr_spirv_type *blr_spirv_type(struct blr_spirv_module *module, uint32_t word, uint32_t id)
{
    if (id == 0 || id >= module->bound || module->ids[id].kind != BLR_ID_TYPE)
        blr_spirv_refuse(module->build, word, "%%%u is no type that is known here", id);
    return module->ids[id].of_type;
}

uint32_t blr_spirv_components(const struct blr_spirv_type *type)
{
    return type->kind == BLR_TYPE_VECTOR ? type->count : 1;
}

const struct blr_spirv_type *blr_spirv_scalar(struct blr_spirv_module *module, const struct blr_spirv_type *type)
{
    return type->kind == BLR_TYPE_VECTOR ? module->ids[type->element].of_type : type;
}

struct blr_spirv_type *blr_spirv_element(struct blr_spirv_module *module, uint32_t word,
                                         const struct blr_spirv_type *type, uint32_t member)
{
    if (type->kind != BLR_TYPE_VECTOR && type->kind != BLR_TYPE_ARRAY && type->kind != BLR_TYPE_STRUCT)
        blr_spirv_refuse(module->build, word, "an index into %%%u, which has no elements", type->id);
    if (type->kind != BLR_TYPE_STRUCT)
        return blr_spirv_type(module, word, type->element);
    if (member >= type->count)
        blr_spirv_refuse(module->build, word, "member %u of %%%u, which has %u", member, type->id, type->count);
    return blr_spirv_type(module, word, type->members[member]);
}

/* Whether two types have the same layout; structs must be identical or have equal members. */
static bool same(struct blr_spirv_module *module, const struct blr_spirv_type *a, const struct blr_spirv_type *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case BLR_TYPE_BOOL:
    case BLR_TYPE_SAMPLER:
    case BLR_TYPE_EVENT:
    case BLR_TYPE_POINTER: return true;
    case BLR_TYPE_INT:
    case BLR_TYPE_FLOAT: return a->scalar_size == b->scalar_size;
    case BLR_TYPE_VECTOR:
    case BLR_TYPE_ARRAY:
        return a->count == b->count && a->scalars == b->scalars && a->lane_bytes == b->lane_bytes &&
               a->depth == b->depth && same(module, module->ids[a->element].of_type, module->ids[b->element].of_type);
    default: return false;
    }
}

bool blr_spirv_same(struct blr_spirv_module *module, const struct blr_spirv_type *a, const struct blr_spirv_type *b)
{
    return same(module, a, b);
}

/* ---------------------------------------------------------------- scalars */

static void fill_leaves(struct blr_spirv_module *module, const struct blr_spirv_type *type, uint64_t offset,
                        struct blr_spirv_leaf **next, uint32_t *lane)
{
    switch (type->kind) {
    case BLR_TYPE_VECTOR:
    case BLR_TYPE_ARRAY: {
        const struct blr_spirv_type *element = module->ids[type->element].of_type;
        for (uint32_t i = 0; i < type->count; i++)
            fill_leaves(module, element, offset + i * element->size, next, lane);
        return;
    }
    case BLR_TYPE_STRUCT:
        for (uint32_t i = 0; i < type->count; i++)
            fill_leaves(module, module->ids[type->members[i]].of_type, offset + type->offsets[i], next, lane);
        return;
    case BLR_TYPE_SAMPLED_IMAGE:
        for (uint32_t i = 0; i < 2; i++, *lane += 8)
            *(*next)++ = (struct blr_spirv_leaf){.offset = offset + i * 8u, .lane = *lane, .size = 8};
        return;
    default:
        *(*next)++ = (struct blr_spirv_leaf){
            .offset = offset, .lane = *lane, .size = type->scalar_size, .boolean = type->kind == BLR_TYPE_BOOL};
        *lane += type->scalar_size;
        return;
    }
}

const struct blr_spirv_leaf *blr_spirv_leaves(struct blr_spirv_module *module, uint32_t word,
                                              struct blr_spirv_type *type)
{
    if (type->scalars == 0)
        blr_spirv_refuse(module->build, word,
                         "values of %%%u are not supported: they have no scalars, or more than %u", type->id,
                         BLR_SPIRV_MAX_SCALARS);
    if (type->leaves == NULL) {
        struct blr_spirv_leaf *leaves = blr_spirv_allocate(module->build, type->scalars, sizeof *leaves);
        struct blr_spirv_leaf *next = leaves;
        uint32_t lane = 0;
        fill_leaves(module, type, 0, &next, &lane);
        type->leaves = leaves;
    }
    return type->leaves;
}

/* ---------------------------------------------------------------- parsing */

static uint32_t word_at(const struct blr_spirv_module *module, uint32_t word) { return module->build->words[word]; }

static void set_scalar(struct blr_spirv_type *type, uint8_t size)
{
    type->scalar_size = size;
    type->size = type->alignment = size;
    type->scalars = 1;
    type->lane_bytes = size;
}

static void read_number(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_type *type)
{
    uint32_t width = word_at(module, word + 2);
    bool is_supported = width == 16 || width == 32 || width == 64 || (width == 8 && type->kind == BLR_TYPE_INT);
    if (!is_supported)
        blr_spirv_refuse(module->build, word, "%s of %u bits: %s are supported",
                         type->kind == BLR_TYPE_INT ? "integers" : "floats", width,
                         type->kind == BLR_TYPE_INT ? "8, 16, 32 and 64" : "16, 32 and 64");
    set_scalar(type, (uint8_t)(width / 8));
}

/* Adds the scalars and nesting depth of count elements. */
static void add_scalars(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_type *type,
                        const struct blr_spirv_type *element, uint64_t count)
{
    if (element->depth >= BLR_SPIRV_MAX_DEPTH)
        blr_spirv_refuse(module->build, word, "types nested deeper than %u", BLR_SPIRV_MAX_DEPTH);
    if (element->depth + 1 > type->depth)
        type->depth = (uint8_t)(element->depth + 1);
    if (element->scalars == 0 || count > BLR_SPIRV_MAX_SCALARS ||
        type->scalars + element->scalars * count > BLR_SPIRV_MAX_SCALARS) {
        type->scalars = UINT32_MAX; /* made 0 by the caller */
        return;
    }
    if (type->scalars != UINT32_MAX) {
        type->scalars += (uint32_t)(element->scalars * count);
        type->lane_bytes += (uint32_t)(element->lane_bytes * count);
    }
}

static void read_vector(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_type *type)
{
    const struct blr_spirv_type *element = blr_spirv_type(module, word, word_at(module, word + 2));
    uint32_t count = word_at(module, word + 3);
    if (element->kind != BLR_TYPE_BOOL && element->kind != BLR_TYPE_INT && element->kind != BLR_TYPE_FLOAT)
        blr_spirv_unsupported(module->build, word, "a vector of something other than numbers and booleans");
    /* SPIR-V has no vectors of 1 component, but LLVM 22 writes pointers to them. */
    if (count != 1 && count != 2 && count != 3 && count != 4 && count != 8 && count != 16)
        blr_spirv_refuse(module->build, word, "a vector of %u components: 2, 3, 4, 8 and 16 are supported", count);
    type->element = element->id;
    type->count = count;
    add_scalars(module, word, type, element, count);
    type->size = type->alignment = element->size * (count == 3 ? 4 : count);
}

static void read_array(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_type *type)
{
    const struct blr_spirv_type *element = blr_spirv_type(module, word, word_at(module, word + 2));
    uint64_t count = blr_spirv_constant_number(module, word, word_at(module, word + 3));
    if (element->size == 0)
        blr_spirv_unsupported(module->build, word, "an array of something that has no size");
    if (count == 0 || count > BLR_SPIRV_MAX_MEMORY / element->size || count > UINT32_MAX)
        blr_spirv_refuse(module->build, word, "an array of %" PRIu64 " elements of %" PRIu64 " bytes", count,
                         element->size);
    type->element = element->id;
    type->count = (uint32_t)count;
    type->size = element->size * count;
    type->alignment = element->alignment;
    add_scalars(module, word, type, element, count);
    if (type->scalars == UINT32_MAX)
        type->scalars = 0;
}

static void read_struct(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_type *type)
{
    uint32_t count = blr_spirv_length_at(module->build, word) - 2;
    bool packed = module->ids[type->id].packed;
    uint64_t *offsets = blr_spirv_allocate(module->build, count + 1u, sizeof *offsets);
    type->members = module->build->words + word + 2;
    type->count = count;
    type->alignment = 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct blr_spirv_type *member = blr_spirv_type(module, word, type->members[i]);
        if (member->size == 0 && !(member->kind == BLR_TYPE_STRUCT && member->count == 0))
            blr_spirv_refuse(module->build, word, "member %u is of %%%u, which has no size", i, member->id);
        uint64_t alignment = packed ? 1 : member->alignment;
        if (alignment > type->alignment)
            type->alignment = alignment;
        offsets[i] = (type->size + alignment - 1) / alignment * alignment;
        type->size = offsets[i] + member->size;
        if (type->size > BLR_SPIRV_MAX_MEMORY)
            blr_spirv_refuse(module->build, word, "a struct of %" PRIu64 " bytes", type->size);
        add_scalars(module, word, type, member, 1);
    }
    type->size = (type->size + type->alignment - 1) / type->alignment * type->alignment;
    type->offsets = offsets;
    if (type->scalars == UINT32_MAX)
        type->scalars = 0;
}

static void read_function_type(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_type *type)
{
    type->element = word_at(module, word + 2);
    blr_spirv_type(module, word, type->element);
    type->count = blr_spirv_length_at(module->build, word) - 3;
    type->members = module->build->words + word + 3;
    for (uint32_t i = 0; i < type->count; i++)
        blr_spirv_type(module, word, type->members[i]);
}

static void read_image(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_type *type)
{
    type->element = word_at(module, word + 2);
    type->dimension = word_at(module, word + 3);
    type->arrayed = word_at(module, word + 5) == 1;
    type->depths = word_at(module, word + 4) == 1;
    type->plain = word_at(module, word + 4) == 2;
    type->access = blr_spirv_length_at(module->build, word) > 9 ? word_at(module, word + 9) : 0;
    if (type->dimension == 5 && !type->arrayed)
        type->dimension = 0; /* a buffer is an unsampled one-dimensional image */
    if (type->dimension > 3 || (type->dimension >= 2 && type->arrayed) || word_at(module, word + 6) != 0)
        blr_spirv_unsupported(module->build, word, "images are of 1, 2 or 3 dimensions, buffers or cubes, of one sample");
    if (type->access > 2)
        blr_spirv_refuse(module->build, word, "access qualifier %u: 0 to 2 are known", type->access);
    set_scalar(type, 8);
}

/* Minimum number of words of each kind of type. */
static uint32_t least_words(unsigned opcode)
{
    switch (opcode) {
    case BLR_OP_TypeInt:
    case BLR_OP_TypeVector:
    case BLR_OP_TypeArray:
    case BLR_OP_TypePointer: return 4;
    case BLR_OP_TypeFloat:
    case BLR_OP_TypeSampledImage:
    case BLR_OP_TypeFunction: return 3;
    case BLR_OP_TypeImage: return 9;
    default: return 2;
    }
}

static void set_pointer(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_type *type, uint32_t storage)
{
    type->kind = BLR_TYPE_POINTER;
    type->storage = (enum blr_spirv_storage)storage;
    switch (storage) {
    case BLR_STORAGE_UNIFORM_CONSTANT:
    case BLR_STORAGE_INPUT:
    case BLR_STORAGE_WORKGROUP:
    case BLR_STORAGE_CROSS_WORKGROUP:
    case BLR_STORAGE_FUNCTION:
    case BLR_STORAGE_GENERIC:
    case BLR_STORAGE_CODE_SECTION: break;
    default: blr_spirv_refuse(module->build, word, "storage class %u is not supported", storage);
    }
    set_scalar(type, 8);
}

static void read_pointer(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_type *type)
{
    set_pointer(module, word, type, word_at(module, word + 2));
    type->element = word_at(module, word + 3); /* may be declared later: resolved at first use */
    if (type->element == 0 || type->element >= module->bound)
        blr_spirv_refuse(module->build, word, "%%%u is no id", type->element);
}

void blr_spirv_read_forward_pointer(struct blr_spirv_module *module, uint32_t word)
{
    blr_spirv_require_words(module, word, 3);
    uint32_t id = word_at(module, word + 1);
    struct blr_spirv_type *type = blr_spirv_allocate(module->build, 1, sizeof *type);
    struct blr_spirv_id *entry = blr_spirv_define(module, word, id, BLR_ID_TYPE);
    entry->word = 0; /* not defined yet */
    entry->of_type = type;
    type->id = id;
    type->word = word;
    set_pointer(module, word, type, word_at(module, word + 2)); /* the definition sets its target type */
}

/* The type that a forward declaration created for an id, or a new one. */
static struct blr_spirv_type *type_of(struct blr_spirv_module *module, uint32_t word, uint32_t id)
{
    if (id == 0 || id >= module->bound || module->ids[id].kind != BLR_ID_TYPE || module->ids[id].word != 0)
        return blr_spirv_allocate(module->build, 1, sizeof(struct blr_spirv_type));
    struct blr_spirv_type *type = module->ids[id].of_type;
    if (blr_spirv_opcode_at(module->build, word) != BLR_OP_TypePointer || word_at(module, word + 2) != type->storage)
        blr_spirv_refuse(module->build, word, "%%%u was declared as a pointer of storage class %u", id, type->storage);
    return type;
}

void blr_spirv_read_type(struct blr_spirv_module *module, uint32_t word)
{
    unsigned opcode = blr_spirv_opcode_at(module->build, word);
    blr_spirv_require_words(module, word, least_words(opcode));
    uint32_t id = word_at(module, word + 1);
    struct blr_spirv_type *type = type_of(module, word, id);
    struct blr_spirv_id *entry = blr_spirv_define(module, word, id, BLR_ID_NONE); /* not usable yet */
    type->id = id;
    type->word = word;
    switch (opcode) {
    case BLR_OP_TypeVoid: type->kind = BLR_TYPE_VOID; break;
    case BLR_OP_TypeBool:
        type->kind = BLR_TYPE_BOOL;
        set_scalar(type, 1);
        break;
    case BLR_OP_TypeInt:
        type->kind = BLR_TYPE_INT;
        read_number(module, word, type);
        break;
    case BLR_OP_TypeFloat:
        type->kind = BLR_TYPE_FLOAT;
        read_number(module, word, type);
        break;
    case BLR_OP_TypeVector:
        type->kind = BLR_TYPE_VECTOR;
        read_vector(module, word, type);
        break;
    case BLR_OP_TypeArray:
        type->kind = BLR_TYPE_ARRAY;
        read_array(module, word, type);
        break;
    case BLR_OP_TypeStruct:
        type->kind = BLR_TYPE_STRUCT;
        read_struct(module, word, type);
        break;
    case BLR_OP_TypePointer:
        read_pointer(module, word, type);
        break;
    case BLR_OP_TypeFunction:
        type->kind = BLR_TYPE_FUNCTION;
        read_function_type(module, word, type);
        break;
    case BLR_OP_TypeImage:
        type->kind = BLR_TYPE_IMAGE;
        read_image(module, word, type);
        break;
    case BLR_OP_TypeSampler:
        type->kind = BLR_TYPE_SAMPLER;
        set_scalar(type, 8);
        break;
    case BLR_OP_TypeSampledImage:
        type->kind = BLR_TYPE_SAMPLED_IMAGE;
        type->element = word_at(module, word + 2);
        if (blr_spirv_type(module, word, type->element)->kind != BLR_TYPE_IMAGE)
            blr_spirv_refuse(module->build, word, "%%%u is no image type", type->element);
        set_scalar(type, 8); /* an image, and a sampler or 0 for the image's own */
        type->scalars = 2;
        type->size = type->lane_bytes = 16;
        break;
    case BLR_OP_TypeEvent:
        type->kind = BLR_TYPE_EVENT;
        set_scalar(type, 8);
        break;
    case BLR_OP_TypeOpaque: type->kind = BLR_TYPE_OPAQUE; break;
    default: blr_spirv_unsupported(module->build, word, NULL);
    }
    entry->kind = BLR_ID_TYPE;
    entry->of_type = type;
}
