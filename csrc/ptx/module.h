/* A parsed module: symbols, functions and their instructions. */
#ifndef BINDLESS_PTX_MODULE_H
#define BINDLESS_PTX_MODULE_H

#include "build.h"

/* name in PTX, number of bits, letter of the class: p predicate, b bits, u and s integers, f floats, h bfloat, 2 packed pairs */
#define PTX_TYPES(X)                                                                                                      \
    X(PRED, "pred", 1, 'p') X(B8, "b8", 8, 'b') X(B16, "b16", 16, 'b') X(B32, "b32", 32, 'b') X(B64, "b64", 64, 'b')       \
    X(B128, "b128", 128, 'b') X(U8, "u8", 8, 'u') X(U16, "u16", 16, 'u') X(U32, "u32", 32, 'u') X(U64, "u64", 64, 'u')     \
    X(S8, "s8", 8, 's') X(S16, "s16", 16, 's') X(S32, "s32", 32, 's') X(S64, "s64", 64, 's') X(F16, "f16", 16, 'f')        \
    X(F32, "f32", 32, 'f') X(F64, "f64", 64, 'f') X(BF16, "bf16", 16, 'h') X(F16X2, "f16x2", 32, '2')                      \
    X(BF16X2, "bf16x2", 32, '2') X(U16X2, "u16x2", 32, '2') X(S16X2, "s16x2", 32, '2') X(TF32, "tf32", 32, 'b')            \
    X(E4M3X2, "e4m3x2", 16, 'b') X(E5M2X2, "e5m2x2", 16, 'b')                                                             \
    X(TEXREF, "texref", 64, 't') X(SAMPLERREF, "samplerref", 64, 't') X(SURFREF, "surfref", 64, 't')

enum ptx_type {
    PTX_NONE,
#define X(name, text, bits, letter) PTX_##name,
    PTX_TYPES(X)
#undef X
    PTX_TYPE_COUNT
};

uint32_t ptx_bits(enum ptx_type type);
char ptx_class(enum ptx_type type);
const char *ptx_type_name(enum ptx_type type);
enum ptx_type ptx_type_of(const char *name, size_t length);

enum ptx_symbol_kind {
    PTX_REGISTER,
    PTX_GLOBAL,    /* .global and .const */
    PTX_SHARED,
    PTX_LOCAL,
    PTX_PARAMETER, /* of the function, or what it returns */
    PTX_ARGUMENT,  /* of a call in the function */
    PTX_FUNCTION,
    PTX_LABEL,
    PTX_TARGETS,   /* .branchtargets, .calltargets */
    PTX_PROTOTYPE
};

/* Bytes of an initial value that are an address. */
struct ptx_reference {
    struct ptx_symbol *symbol;
    uint64_t offset, addend;
    uint32_t size, shift;
};

struct ptx_symbol {
    const char *name;
    struct ptx_symbol *next; /* of the same bucket */
    uint32_t scope;
    enum ptx_symbol_kind kind;
    enum ptx_type type;
    uint32_t number;         /* of a register, a label's instruction, a parameter or an argument */
    uint64_t size, alignment, offset;
    bool is_array, is_const, is_managed, is_extern, is_visible, is_weak, is_pointer, is_dynamic, is_result, is_used, is_addressed;
    unsigned char *bytes;    /* initial value, or NULL */
    struct ptx_reference *references;
    uint32_t reference_count, reference_capacity;
    struct ptx_symbol *definition; /* itself, or that of another text */
    struct ptx_function *function; /* of a function or a prototype */
    struct ptx_symbol **targets;
    uint32_t target_count, target_capacity;
    uint32_t text, line;
};

enum ptx_operand_kind {
    PTX_OPERAND_SINK,    /* _ */
    PTX_OPERAND_REGISTER,
    PTX_OPERAND_INTEGER,
    PTX_OPERAND_SINGLE,  /* the bits of a float */
    PTX_OPERAND_DOUBLE,
    PTX_OPERAND_SYMBOL,
    PTX_OPERAND_SPECIAL, /* %tid.x */
    PTX_OPERAND_LABEL,   /* a name to be resolved at the function's end */
    PTX_OPERAND_VECTOR,  /* { , } */
    PTX_OPERAND_ADDRESS, /* [ , ]: what is in brackets */
    PTX_OPERAND_LIST,    /* ( , ) */
    PTX_OPERAND_PAIR     /* p|q */
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    bool negated;               /* !p */
    uint32_t number;            /* of a register or a special register */
    uint32_t component;         /* of a special register */
    uint64_t bits;              /* of a number; of an address: the offset */
    struct ptx_symbol *symbol;
    const char *name;           /* of a label, or a special register */
    struct ptx_operand *items;
    uint32_t count;
};

#define PTX_MOST_MODIFIERS 12u
#define PTX_MOST_OPERANDS 8u

struct ptx_instruction {
    const char *name;           /* "add"; "" for a label */
    const char *modifiers[PTX_MOST_MODIFIERS];
    uint32_t modifier_count;
    enum ptx_type types[4];     /* those of the modifiers that are types */
    uint32_t type_count;
    struct ptx_operand operands[PTX_MOST_OPERANDS];
    uint32_t operand_count;
    bool is_guarded, guard_negated;
    uint32_t guard;             /* register */
    uint32_t scope;
    uint32_t line;
};

struct ptx_register {
    enum ptx_type type;
};

struct ptx_scope {
    uint32_t parent;
};

struct ptx_function {
    const char *name;
    struct ptx_symbol *symbol;
    bool is_entry, has_body;
    struct ptx_symbol **parameters, **results;
    uint32_t parameter_count, parameter_capacity, result_count, result_capacity;
    struct ptx_instruction *instructions;
    uint32_t instruction_count, instruction_capacity;
    struct ptx_register *registers;
    uint32_t register_count, register_capacity;
    struct ptx_symbol **locals; /* .local variables and arguments of calls */
    uint32_t local_count, local_capacity;
    struct ptx_symbol **shared; /* shared variables that it uses */
    uint32_t shared_count, shared_capacity;
    struct ptx_function **callees;
    uint32_t callee_count, callee_capacity;
    bool calls_pointers, is_marked, uses_dynamic_shared, reads_launch;
    uint32_t reqntid[3], maxntid[3];
    uint64_t static_shared;     /* bytes, of an entry and what it calls */
    uint64_t address;           /* 0: nothing points to it */
    uint32_t *ids, type_id;     /* in SPIR-V; ids: one for each level of a recursion */
    uint32_t number;            /* in the module */
    uint32_t component;         /* of the calls: functions that call each other have the same number */
    bool is_recursive;
    uint32_t text, line;
};

/* A function that calls itself exists once for each level of its recursion; a deeper call ends the kernel with a fault. */
#define PTX_LEVELS 48u

#define PTX_BUCKETS 4096u

struct ptx_module {
    struct ptx_build *build;
    struct ptx_symbol **buckets;
    struct ptx_scope *scopes;   /* 0: none; each text has one of its own */
    uint32_t scope_count, scope_capacity;
    struct ptx_symbol **symbols; /* of module scope */
    uint32_t symbol_count, symbol_capacity;
    struct ptx_function **functions;
    uint32_t function_count, function_capacity;
    uint32_t isa, target;
    uint64_t globals_bytes, globals_alignment, shared_bytes;
    uint64_t launch_offset;     /* of two words of 64 bits in shared memory, which entries copy there for functions */
    bool has_dynamic_shared;
};

uint32_t ptx_scope_new(struct ptx_module *module, uint32_t parent);

/* The symbol of a name in a scope or those around it; NULL for none. */
struct ptx_symbol *ptx_find(struct ptx_module *module, uint32_t scope, const char *name);
struct ptx_symbol *ptx_define(struct ptx_module *module, uint32_t scope, const char *name, enum ptx_symbol_kind kind);

/* Whether a text declares a function of one of these names, and no text defines one. */
bool ptx_lacks(const struct ptx_module *module, const char *one, const char *other);

/* Whether a special register differs between launches: the words of the launch tell its value. */
bool ptx_is_of_launch(const char *name);

/* Reads a text into the module. */
void ptx_parse(struct ptx_module *module, const char *text, size_t size);

/* Resolves the names that texts share, and places variables in memory. */
void ptx_place(struct ptx_module *module);

/* Finds the functions that may call themselves. */
void ptx_find_recursion(struct ptx_module *module);

/* Whether an instruction has a modifier. */
bool ptx_has(const struct ptx_instruction *instruction, const char *modifier);

/* The name and modifiers of an instruction, for errors. */
void ptx_describe(const struct ptx_instruction *instruction, char *text, size_t size);

/* forms.c: fails where the modifiers or the number of operands are none that the compiler translates. */
void ptx_check_form(struct ptx_build *build, const struct ptx_instruction *instruction);

#endif
