/* Parsing of a module: its layout, ids, names and decorations, entry points and functions. */
#include "spirv/parse/module.h"

#include <string.h>

static uint32_t word_at(const struct blr_spirv_module *module, uint32_t word) { return module->build->words[word]; }

void blr_spirv_require_words(struct blr_spirv_module *module, uint32_t word, uint32_t minimum)
{
    uint32_t length = blr_spirv_length_at(module->build, word);
    if (length < minimum)
        blr_spirv_refuse(module->build, word, "%u words: at least %u are needed", length, minimum);
}

static struct blr_spirv_id *known_id(struct blr_spirv_module *module, uint32_t word, uint32_t id)
{
    if (id == 0 || id >= module->bound)
        blr_spirv_refuse(module->build, word, "%%%u is out of the module's bound of %u", id, module->bound);
    return &module->ids[id];
}

struct blr_spirv_id *blr_spirv_define(struct blr_spirv_module *module, uint32_t word, uint32_t id,
                                      enum blr_spirv_id_kind kind)
{
    struct blr_spirv_id *entry = known_id(module, word, id);
    if (entry->word != 0)
        blr_spirv_refuse(module->build, word, "%%%u is defined already, at word %u", id, entry->word);
    entry->word = word;
    entry->kind = kind;
    return entry;
}

/* ---------------------------------------------------------------- names, decorations, entry points */

static void read_decoration(struct blr_spirv_module *module, uint32_t word)
{
    blr_spirv_require_words(module, word, 3);
    struct blr_spirv_id *entry = known_id(module, word, word_at(module, word + 1));
    uint32_t decoration = word_at(module, word + 2);
    if (decoration == BLR_DECORATION_SPEC_ID || decoration == BLR_DECORATION_BUILTIN ||
        decoration == BLR_DECORATION_FUNC_PARAM_ATTR || decoration == BLR_DECORATION_ROUNDING ||
        decoration == BLR_DECORATION_ALIGNMENT)
        blr_spirv_require_words(module, word, 4);
    switch (decoration) {
    case BLR_DECORATION_SPEC_ID: entry->spec_id = (int64_t)word_at(module, word + 3) + 1; break;
    case BLR_DECORATION_BUILTIN: entry->builtin = (int32_t)(word_at(module, word + 3) & 0xffffffu) + 1; break;
    case BLR_DECORATION_CPACKED: entry->packed = true; break;
    case BLR_DECORATION_ROUNDING:
        if (word_at(module, word + 3) > BLR_ROUNDING_DOWN)
            blr_spirv_unsupported(module->build, word, "rounding modes are to nearest even, to zero, up and down (0 to 3)");
        entry->rounding = (uint8_t)(word_at(module, word + 3) + 1);
        break;
    case BLR_DECORATION_FUNC_PARAM_ATTR:
        if (word_at(module, word + 3) == BLR_FUNC_PARAM_BY_VALUE)
            entry->by_value = true;
        break;
    case BLR_DECORATION_LINKAGE: {
        uint32_t type, end = word + blr_spirv_length_at(module->build, word);
        entry->linkage = blr_spirv_string(module->build, word, word + 3, end, &type);
        if (type >= end)
            blr_spirv_refuse(module->build, word, "a name without a type of linkage");
        entry->imported = word_at(module, type) == BLR_LINKAGE_IMPORT;
        entry->link_once = word_at(module, type) == BLR_LINKAGE_LINK_ONCE;
        break;
    }
    case BLR_DECORATION_ALIGNMENT: entry->alignment = word_at(module, word + 3); break;
    default: break; /* aliasing and the like: no effect on results */
    }
}

/* Applies the decorations of a group to its targets. */
static void read_group(struct blr_spirv_module *module, uint32_t word)
{
    blr_spirv_require_words(module, word, 2);
    const struct blr_spirv_id *group = known_id(module, word, word_at(module, word + 1));
    for (uint32_t w = word + 2; w < word + blr_spirv_length_at(module->build, word); w++) {
        struct blr_spirv_id *entry = known_id(module, word, word_at(module, w));
        if (group->spec_id != 0)
            entry->spec_id = group->spec_id;
        if (group->builtin != 0)
            entry->builtin = group->builtin;
        if (group->rounding != 0)
            entry->rounding = group->rounding;
        if (group->alignment != 0)
            entry->alignment = group->alignment;
        entry->packed = entry->packed || group->packed;
        entry->by_value = entry->by_value || group->by_value;
    }
}

static void read_name(struct blr_spirv_module *module, uint32_t word)
{
    blr_spirv_require_words(module, word, 3);
    uint32_t next;
    known_id(module, word, word_at(module, word + 1))->name =
        blr_spirv_string(module->build, word, word + 2, word + blr_spirv_length_at(module->build, word), &next);
}

static void read_entry_point(struct blr_spirv_module *module, uint32_t word, uint32_t *capacity)
{
    blr_spirv_require_words(module, word, 4);
    uint32_t next;
    const char *name =
        blr_spirv_string(module->build, word, word + 3, word + blr_spirv_length_at(module->build, word), &next);
    if (word_at(module, word + 1) != BLR_EXECUTION_MODEL_KERNEL)
        blr_spirv_refuse(module->build, word, "execution model %u: only Kernel (6) is supported",
                         word_at(module, word + 1));
    for (uint32_t i = 0; i < module->entry_count; i++)
        if (strcmp(module->entries[i].name, name) == 0)
            blr_spirv_refuse(module->build, word, "two kernels are named '%.80s'", name);
    module->entries =
        blr_spirv_grow(module->build, module->entries, module->entry_count, capacity, sizeof *module->entries);
    module->entries[module->entry_count++] =
        (struct blr_spirv_entry){.name = name, .word = word, .function = word_at(module, word + 2)};
}

static void check_sub_group_size(struct blr_spirv_module *module, uint32_t word)
{
    blr_spirv_require_words(module, word, 4);
    const uint32_t size = word_at(module, word + 3);
    for (uint32_t i = 0; i < sizeof blr_sub_group_sizes / sizeof *blr_sub_group_sizes; i++)
        if (size == blr_sub_group_sizes[i])
            return;
    blr_spirv_unsupported(module->build, word, "sub-groups have 8, 16, 32 or 64 work-items; those of explicit SIMD have 1");
}

static void read_execution_mode(struct blr_spirv_module *module, uint32_t word)
{
    blr_spirv_require_words(module, word, 3);
    uint32_t mode = word_at(module, word + 2);
    if (mode == BLR_MODE_DENORM_FLUSH_TO_ZERO || mode == BLR_MODE_ROUNDING_RTZ)
        blr_spirv_unsupported(module->build, word, "denormal numbers are kept and results rounded to nearest even");
    if (mode == BLR_MODE_LOCAL_SIZE || mode == BLR_MODE_LOCAL_SIZE_ID)
        blr_spirv_require_words(module, word, 6);
    if (mode == BLR_MODE_SUBGROUP_SIZE)
        check_sub_group_size(module, word);
    for (uint32_t i = 0; i < module->entry_count; i++) {
        struct blr_spirv_entry *entry = &module->entries[i];
        if (entry->function != word_at(module, word + 1))
            continue;
        if (mode == BLR_MODE_SUBGROUP_SIZE)
            entry->sub_group_size = word_at(module, word + 3);
        uint32_t *sizes = mode == BLR_MODE_LOCAL_SIZE      ? entry->local_size
                          : mode == BLR_MODE_LOCAL_SIZE_ID ? entry->local_size_ids
                                                           : NULL;
        for (uint32_t k = 0; sizes != NULL && k < 3; k++) {
            sizes[k] = word_at(module, word + 3 + k);
            if (sizes[k] == 0)
                blr_spirv_refuse(module->build, word, "a work-group of size 0 in dimension %u", k);
        }
    }
}

static void read_import(struct blr_spirv_module *module, uint32_t word)
{
    blr_spirv_require_words(module, word, 3);
    uint32_t next;
    const char *name =
        blr_spirv_string(module->build, word, word + 2, word + blr_spirv_length_at(module->build, word), &next);
    bool opencl = strcmp(name, "OpenCL.std") == 0;
    if (!opencl && strncmp(name, "NonSemantic.", 12) != 0 && strcmp(name, "OpenCL.DebugInfo.100") != 0 &&
        strcmp(name, "SPIRV.debug") != 0)
        blr_spirv_refuse(module->build, word, "the instruction set '%.80s' is not supported: OpenCL.std is", name);
    blr_spirv_define(module, word, word_at(module, word + 1), BLR_ID_EXTENDED)->set = opencl;
}

static void read_memory_model(struct blr_spirv_module *module, uint32_t word)
{
    blr_spirv_require_words(module, word, 3);
    if (word_at(module, word + 1) != BLR_ADDRESSING_PHYSICAL64 || word_at(module, word + 2) != BLR_MEMORY_MODEL_OPENCL)
        blr_spirv_refuse(module->build, word,
                         "addressing model %u and memory model %u: Physical64 (2) and OpenCL (2) are supported",
                         word_at(module, word + 1), word_at(module, word + 2));
}

/* ---------------------------------------------------------------- functions */

static bool ends_block(unsigned opcode)
{
    return (opcode >= BLR_OP_Branch && opcode <= BLR_OP_Unreachable) && opcode != BLR_OP_Kill;
}

/* Registers the ids of a function and checks its block structure; returns the word after it. */
static uint32_t read_function(struct blr_spirv_module *module, uint32_t word, uint32_t *capacity)
{
    struct blr_spirv_build *build = module->build;
    blr_spirv_require_words(module, word, 5);
    module->functions =
        blr_spirv_grow(build, module->functions, module->function_count, capacity, sizeof *module->functions);
    uint32_t number = module->function_count++;
    struct blr_spirv_function function = {.id = word_at(module, word + 2), .word = word};
    struct blr_spirv_id *own = blr_spirv_define(module, word, function.id, BLR_ID_FUNCTION);
    function.type = blr_spirv_type(module, word, word_at(module, word + 4));
    if (function.type->kind != BLR_TYPE_FUNCTION || function.type->element != word_at(module, word + 1))
        blr_spirv_refuse(build, word, "its type does not go with its result");
    own->type = function.type->id;
    uint32_t at = word + blr_spirv_length_at(build, word), parameters = 0;
    function.parameters = at;
    bool in_block = false;
    for (;; at += blr_spirv_length_at(build, at)) {
        if (at >= build->count)
            blr_spirv_refuse(build, word, "the function has no end");
        if (blr_spirv_length_at(build, at) == 0 || blr_spirv_length_at(build, at) > build->count - at)
            blr_spirv_refuse(build, at, "%u words, of which the module has %u", blr_spirv_length_at(build, at),
                             build->count - at);
        unsigned opcode = blr_spirv_opcode_at(build, at);
        if (opcode == BLR_OP_FunctionEnd)
            break;
        char makes = blr_spirv_opcode_makes(opcode);
        if (makes == 0)
            blr_spirv_unsupported(build, at, NULL);
        if (opcode == BLR_OP_Function)
            blr_spirv_refuse(build, at, "a function within a function");
        if (opcode == BLR_OP_FunctionParameter) {
            if (function.body != 0 || parameters >= function.type->count)
                blr_spirv_refuse(build, at, "too many parameters: the function's type has %u", function.type->count);
            blr_spirv_require_words(module, at, 3);
            if (word_at(module, at + 1) != function.type->members[parameters++])
                blr_spirv_refuse(build, at, "parameter %u is of another type than the function says", parameters - 1);
        } else if (opcode == BLR_OP_Label) {
            if (in_block)
                blr_spirv_refuse(build, at, "a block starts within a block");
            blr_spirv_require_words(module, at, 2);
            in_block = true;
            function.label_count++;
            if (function.body == 0)
                function.body = at;
        } else if (!in_block && opcode != BLR_OP_Line && opcode != BLR_OP_NoLine && opcode != BLR_OP_Nop &&
                   !(opcode == BLR_OP_ExtInst && function.body == 0)) {
            blr_spirv_refuse(build, at, "an instruction outside of a block");
        }
        if (makes == 'I') {
            blr_spirv_define(module, at, word_at(module, at + 1), BLR_ID_LABEL)->owner = number;
        } else if (makes == 'V') {
            blr_spirv_require_words(module, at, 3);
            struct blr_spirv_id *value = blr_spirv_define(module, at, word_at(module, at + 2), BLR_ID_VALUE);
            value->owner = number;
            value->type = word_at(module, at + 1);
            blr_spirv_type(module, at, value->type);
        }
        if (ends_block(opcode))
            in_block = false;
    }
    if (in_block)
        blr_spirv_refuse(build, at, "the last block has no end");
    if (parameters != function.type->count)
        blr_spirv_refuse(build, word, "%u parameters: its type has %u", parameters, function.type->count);
    function.end = at;
    module->functions[number] = function;
    return at + 1;
}

/* Resolves references to functions after all of them are parsed. Those that the module exports have addresses, which the
 * host may pass to kernels. */
static void link_functions(struct blr_spirv_module *module)
{
    for (uint32_t i = 0; i < module->function_count; i++) {
        struct blr_spirv_id *id = &module->ids[module->functions[i].id];
        id->function = &module->functions[i];
        if (id->linkage != NULL && !id->imported && id->function->body != 0)
            blr_spirv_function_address(module, id->function->id);
    }
    for (uint32_t i = 0; module->addresses != NULL && i < module->bound; i++)
        if (module->ids[i].has_address && module->ids[i].kind != BLR_ID_FUNCTION)
            blr_spirv_refuse(module->build, module->ids[i].word, "%%%u is no function, but a constant points to it", i);
    for (uint32_t i = 0; i < module->entry_count; i++) {
        struct blr_spirv_entry *entry = &module->entries[i];
        if (known_id(module, entry->word, entry->function)->kind != BLR_ID_FUNCTION)
            blr_spirv_refuse(module->build, entry->word, "%%%u is no function", entry->function);
        for (uint32_t k = 0; k < 3 && entry->local_size_ids[k] != 0; k++) {
            uint64_t size = blr_spirv_constant_number(module, entry->word, entry->local_size_ids[k]);
            if (size == 0 || size > UINT32_MAX)
                blr_spirv_refuse(module->build, entry->word, "a work-group of a size out of range");
            entry->local_size[k] = (uint32_t)size;
        }
    }
}

/* ---------------------------------------------------------------- whole modules */

static void read_header(struct blr_spirv_module *module)
{
    const struct blr_spirv_build *build = module->build;
    if (build->count < BLR_SPIRV_HEADER_WORDS || build->words[0] != BLR_SPIRV_MAGIC)
        blr_spirv_refuse(module->build, 0, "not SPIR-V: it starts with the number 0x%08x",
                         build->count > 0 ? build->words[0] : 0);
    uint32_t major = build->words[1] >> 16, minor = build->words[1] >> 8 & 0xff;
    if (major != 1 || minor > 6)
        blr_spirv_refuse(module->build, 0, "version %u.%u: 1.0 to 1.6 are supported", major, minor);
    module->bound = build->words[3];
    uint64_t maximum = (uint64_t)build->count * 8 + 4096;
    if (module->bound == 0 || module->bound > maximum)
        blr_spirv_refuse(module->build, 0, "a bound of %u ids for %u words", module->bound, build->count);
    module->ids = blr_spirv_allocate(module->build, module->bound, sizeof *module->ids);
}

static void read_source_extension(struct blr_spirv_module *module, uint32_t word)
{
    uint32_t next;
    const char *name = blr_spirv_string(module->build, word, word + 1, word + blr_spirv_length_at(module->build, word), &next);
    module->is_independent = module->is_independent || strcmp(name, BLR_INDEPENDENT) == 0;
}

static uint32_t read_instruction(struct blr_spirv_module *module, uint32_t word, uint32_t *entries, uint32_t *functions)
{
    unsigned opcode = blr_spirv_opcode_at(module->build, word);
    switch (opcode) {
    case BLR_OP_Name: read_name(module, word); break;
    case BLR_OP_ExtInstImport: read_import(module, word); break;
    case BLR_OP_MemoryModel: read_memory_model(module, word); break;
    case BLR_OP_EntryPoint: read_entry_point(module, word, entries); break;
    case BLR_OP_ExecutionMode:
    case BLR_OP_ExecutionModeId: read_execution_mode(module, word); break;
    case BLR_OP_Decorate: read_decoration(module, word); break;
    case BLR_OP_GroupDecorate: read_group(module, word); break;
    case BLR_OP_DecorationGroup:
    case BLR_OP_AliasDomainDeclINTEL:
    case BLR_OP_AliasScopeDeclINTEL:
    case BLR_OP_AliasScopeListDeclINTEL:
    case BLR_OP_String:
        blr_spirv_require_words(module, word, 2);
        blr_spirv_define(module, word, word_at(module, word + 1), BLR_ID_OTHER);
        break;
    case BLR_OP_ExtInst: /* debug information */
        blr_spirv_require_words(module, word, 5);
        if (known_id(module, word, word_at(module, word + 3))->kind != BLR_ID_EXTENDED ||
            module->ids[word_at(module, word + 3)].set != 0)
            blr_spirv_refuse(module->build, word, "outside of functions");
        blr_spirv_define(module, word, word_at(module, word + 2), BLR_ID_OTHER);
        break;
    case BLR_OP_TypeForwardPointer: blr_spirv_read_forward_pointer(module, word); break;
    case BLR_OP_Variable: blr_spirv_read_variable(module, word); break;
    case BLR_OP_Function: return read_function(module, word, functions);
    case BLR_OP_Nop:
    case BLR_OP_SourceExtension: read_source_extension(module, word); break;
    case BLR_OP_SourceContinued:
    case BLR_OP_Source:
    case BLR_OP_MemberName:
    case BLR_OP_Line:
    case BLR_OP_NoLine:
    case BLR_OP_Extension:
    case BLR_OP_Capability:
    case BLR_OP_MemberDecorate:
    case BLR_OP_GroupMemberDecorate:
    case BLR_OP_DecorateId:
    case BLR_OP_DecorateString:
    case BLR_OP_MemberDecorateString:
    case BLR_OP_ModuleProcessed: break;
    default:
        if (opcode >= BLR_OP_TypeVoid && opcode <= BLR_OP_TypePipe)
            blr_spirv_read_type(module, word);
        else if (opcode == BLR_OP_Undef || opcode == BLR_OP_ConstantFunctionPointerINTEL ||
                 (opcode >= BLR_OP_ConstantTrue && opcode <= BLR_OP_SpecConstantOp))
            blr_spirv_read_constant(module, word);
        else
            blr_spirv_unsupported(module->build, word, "outside of functions");
    }
    return word + blr_spirv_length_at(module->build, word);
}

void blr_spirv_read(struct blr_spirv_module *module)
{
    struct blr_spirv_build *build = module->build;
    read_header(module);
    uint32_t entries = 0, functions = 0;
    for (uint32_t word = BLR_SPIRV_HEADER_WORDS; word < build->count;) {
        uint32_t length = blr_spirv_length_at(build, word);
        if (length == 0 || length > build->count - word)
            blr_spirv_refuse(build, word, "%u words, of which the module has %u", length, build->count - word);
        word = read_instruction(module, word, &entries, &functions);
    }
    link_functions(module);
    for (uint32_t i = 0; i < module->specialization_count; i++)
        if (!module->specialization_used[i])
            blr_spirv_refuse(build, 0, "no specialization constant has the number %u",
                             module->specializations[i].id);
}
