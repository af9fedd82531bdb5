/*
 * A parsed SPIR-V module: ids and their meaning, types with their layout, constants with their bytes, variables,
 * functions and entry points. All of it is allocated in the module's arena and is immutable after the build.
 */
#ifndef BINDLESS_REFERENCE_SPIRV_PARSE_MODULE_H
#define BINDLESS_REFERENCE_SPIRV_PARSE_MODULE_H

#include "spirv/build_error.h"

enum blr_spirv_type_kind {
    BLR_TYPE_VOID,
    BLR_TYPE_BOOL,
    BLR_TYPE_INT,
    BLR_TYPE_FLOAT,
    BLR_TYPE_VECTOR,
    BLR_TYPE_ARRAY,
    BLR_TYPE_STRUCT,
    BLR_TYPE_POINTER,
    BLR_TYPE_IMAGE,
    BLR_TYPE_SAMPLER,
    BLR_TYPE_SAMPLED_IMAGE,
    BLR_TYPE_EVENT,
    BLR_TYPE_FUNCTION,
    BLR_TYPE_OPAQUE
};

/* One scalar of a composite: its offset in memory, and its byte offset within a lane in registers. */
struct blr_spirv_leaf {
    uint64_t offset;
    uint32_t lane;
    uint8_t size;
    bool boolean;
};

struct blr_spirv_type {
    enum blr_spirv_type_kind kind;
    uint32_t id;
    uint32_t word;
    uint8_t scalar_size;     /* bytes of one lane of a scalar, pointer or handle */
    uint8_t depth;           /* depth of nesting */
    uint32_t element;        /* id of the element type of a vector or array, a pointer's target type, a function's
                              * result type, an image's sampled type, or a sampled image's image type */
    uint32_t count;          /* number of components, elements, members or parameters */
    enum blr_spirv_storage storage;
    const uint32_t *members; /* ids of a struct's members or a function's parameters */
    const uint64_t *offsets; /* offsets of a struct's members in memory */
    uint64_t size;           /* size in memory; 0 for types without memory layout */
    uint64_t alignment;
    uint32_t scalars;        /* number of leaves of a value; 0 for types without values */
    uint32_t lane_bytes;     /* bytes of a value in registers, for each lane */
    const struct blr_spirv_leaf *leaves;
    uint32_t dimension;      /* of an image: 0, 1, 2 for 1D, 2D, 3D; 3 for a cube */
    bool arrayed;
    bool depths;             /* texels are scalars (depth image) */
    bool plain;              /* no indication of depths: an image of PTX (spirv/execute/image.h) */
    uint32_t access;         /* 0 read, 1 write, 2 both */
};

/* Bytes in memory layout; NULL for zeros. */
struct blr_spirv_constant {
    const struct blr_spirv_type *type;
    unsigned char *bytes;
    uint32_t *addresses; /* where the bytes hold addresses in the work-group's memory, as offsets there */
    uint32_t address_count, address_capacity;
};

struct blr_spirv_variable {
    const struct blr_spirv_type *type;   /* type of the pointer */
    const struct blr_spirv_type *holds;
    enum blr_spirv_storage storage;
    int32_t builtin;                     /* built-in variable, or -1 */
    uint64_t address;                    /* address of its memory, except of work-group variables */
    uint64_t offset;                     /* offset in the work-group's memory */
    const struct blr_spirv_constant *table; /* of a global variable: addresses in the work-group's memory, which make
                                          * it a variable there; else NULL */
    bool imported;
    const struct blr_spirv_variable *definition; /* definition of an imported one, after linking */
};

struct blr_spirv_function {
    uint32_t id;
    uint32_t word;
    const struct blr_spirv_type *type;
    uint32_t parameters;  /* word of the first OpFunctionParameter */
    uint32_t body;        /* word of the first OpLabel; 0 for a declaration */
    uint32_t end;         /* word of OpFunctionEnd */
    uint32_t label_count;
    struct blr_spirv_function *definition; /* definition of an imported one, after linking */
    uint32_t definition_module;
};

enum blr_spirv_id_kind {
    BLR_ID_NONE,
    BLR_ID_TYPE,
    BLR_ID_CONSTANT,
    BLR_ID_VARIABLE,
    BLR_ID_FUNCTION,
    BLR_ID_LABEL,
    BLR_ID_VALUE,         /* parameter, label or result of a function */
    BLR_ID_EXTENDED,      /* an imported instruction set */
    BLR_ID_OTHER
};

struct blr_spirv_id {
    uint32_t word;
    uint32_t type;        /* id of a value's type */
    enum blr_spirv_id_kind kind;
    union {
        struct blr_spirv_type *of_type;
        struct blr_spirv_constant *constant;
        struct blr_spirv_variable *variable;
        struct blr_spirv_function *function;
        uint32_t owner;   /* of a label or value: function number */
        uint32_t set;     /* 1: OpenCL.std, 0: instructions without effect on execution */
    };
    const char *name;
    int32_t builtin;      /* built-in variable plus 1; 0 for none */
    int64_t spec_id;      /* SpecId plus 1 */
    uint8_t rounding;     /* FPRoundingMode plus 1 */
    uint32_t alignment;   /* Alignment, of a pointer; 0 for none */
    bool packed;
    bool by_value;
    bool imported;
    const char *linkage;  /* linkage name, or NULL */
    bool link_once;       /* several modules may define the same */
    bool has_address;     /* a function to which a constant points, or that the module exports */
};

/* Sizes of sub-groups that kernels may require; they divide the lanes of a batch. */
static const uint32_t blr_sub_group_sizes[] = {8, 16, 32, 64};

struct blr_spirv_entry {
    const char *name;
    uint32_t word;
    uint32_t function;    /* id of the function */
    uint32_t local_size[3]; /* required work-group size; 0 if not declared */
    uint32_t local_size_ids[3];
    uint32_t sub_group_size; /* required; 0 if not declared */
};

struct blr_spirv_specialization {
    uint32_t id;
    uint32_t size;
    const void *value;
};

struct blr_spirv_module {
    struct blr_spirv_build *build; /* current build, NULL afterwards */
    const uint32_t *words;
    uint32_t count;
    const struct blr_spirv_module *original; /* earlier module parsed from the same words, whose variables this one
                                              * shares */
    uint32_t bound;
    struct blr_spirv_id *ids;
    struct blr_spirv_entry *entries;
    uint32_t entry_count;
    struct blr_spirv_function *functions;
    uint32_t function_count;
    struct blr_spirv_variable **variables; /* module-scope variables, with memory of their own or in the work-group's */
    uint32_t variable_count, variable_capacity;
    uint64_t memory_size;          /* bytes of variables and constants */
    uint64_t local_size;           /* bytes of work-group variables */
    const unsigned char *addresses; /* memory whose byte n is the address of function n, never accessed; NULL if none
                                     * has an address */
    const struct blr_spirv_specialization *specializations;
    uint32_t specialization_count;
    bool *specialization_used;
    bool is_independent;           /* it says that its work-items wait for each other (BLR_INDEPENDENT) */
};

/* The type named by an id; refused at this word if it is none. */
struct blr_spirv_type *blr_spirv_type(struct blr_spirv_module *module, uint32_t word, uint32_t id);

/* Parses OpType... at word. */
void blr_spirv_read_type(struct blr_spirv_module *module, uint32_t word);

/* Parses OpTypeForwardPointer at word: structs may have such pointers as members before their definition. */
void blr_spirv_read_forward_pointer(struct blr_spirv_module *module, uint32_t word);

/* The scalars of a type; refused if it has no values. */
const struct blr_spirv_leaf *blr_spirv_leaves(struct blr_spirv_module *module, uint32_t word,
                                              struct blr_spirv_type *type);

/* The type of a member or element; for a struct, member must be in range. */
struct blr_spirv_type *blr_spirv_element(struct blr_spirv_module *module, uint32_t word,
                                         const struct blr_spirv_type *type, uint32_t member);

/* Whether two types have the same values, regardless of integer signedness. */
bool blr_spirv_same(struct blr_spirv_module *module, const struct blr_spirv_type *a, const struct blr_spirv_type *b);

/* The same for types of two modules. Structs match if they have the same scalars at the same offsets. */
bool blr_spirv_alike(struct blr_spirv_module *module, struct blr_spirv_type *type, struct blr_spirv_module *other,
                     struct blr_spirv_type *its);

/* Resolves the imports of modules from each other's exports. Refused when two define the same name; an import that
 * none defines stays unresolved. */
void blr_spirv_link(struct blr_spirv_module *modules, uint32_t count);

/* The address of a function, for calls by pointer. */
uint64_t blr_spirv_function_address(struct blr_spirv_module *module, uint32_t id);

/* A vector's element type, or the type itself; and its number of components. */
const struct blr_spirv_type *blr_spirv_scalar(struct blr_spirv_module *module, const struct blr_spirv_type *type);
uint32_t blr_spirv_components(const struct blr_spirv_type *type);

/* Parses OpConstant..., OpSpecConstant... or OpUndef outside functions at word. */
void blr_spirv_read_constant(struct blr_spirv_module *module, uint32_t word);

/* The value of an integer constant of at most 64 bits; refused at this word otherwise. */
uint64_t blr_spirv_constant_number(struct blr_spirv_module *module, uint32_t word, uint32_t id);

/* Notes that a constant's bytes hold an address in the work-group's memory. */
void blr_spirv_note_address(struct blr_spirv_module *module, struct blr_spirv_constant *constant, uint64_t place);

/* The alignment that a variable's decoration asks for; 0 for none. */
uint64_t blr_spirv_alignment(struct blr_spirv_module *module, uint32_t word);

/* Parses a module-scope variable at word. */
void blr_spirv_read_variable(struct blr_spirv_module *module, uint32_t word);

/* Registers the result of the instruction at word; refused when the id is out of range or already defined. */
struct blr_spirv_id *blr_spirv_define(struct blr_spirv_module *module, uint32_t word, uint32_t id,
                                      enum blr_spirv_id_kind kind);

/* Refuses an instruction with fewer words than least. */
void blr_spirv_require_words(struct blr_spirv_module *module, uint32_t word, uint32_t least);

/* Parses the words of module->build. */
void blr_spirv_read(struct blr_spirv_module *module);

/* Handle of a constant sampler; distinct from all image handles. */
#define BLR_CONSTANT_SAMPLER(addressing, normalized, filter)                                                           \
    ((uint64_t)1 << 63 | (uint64_t)(addressing) << 8 | (uint64_t)(normalized) << 4 | (filter))

#define BLR_INDEPENDENT "bindless_independent_work_items" /* in OpSourceExtension */

#define BLR_SPIRV_MAX_SCALARS 4096u
#define BLR_SPIRV_MAX_DEPTH 64u
#define BLR_SPIRV_MAX_MEMORY ((uint64_t)1 << 48)
#define BLR_SPIRV_MAX_CONSTANT ((uint64_t)16 << 20)

#endif
