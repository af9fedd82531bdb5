/*
 * PTX compiler: modules of PTX become one module of SPIR-V (Kernel, Physical64) for the reference driver's loader.
 *
 * The host prepares memory for the module's variables and passes its address:
 *   - globals_bytes of memory, aligned to globals_alignment, hold all .global and .const variables. The host copies
 *     globals_image there, and writes at each relocation the bytes of (address of this memory + addend) >> shift.
 *   - That address is the value of specialization constant 0, of 64 bits, at blrModuleCreate (needless where globals_bytes is 0).
 *   - A kernel with uses_dynamic_shared has one argument more than parameters: local memory (NULL) of the launch's
 *     dynamic bytes, at least 1. It comes last.
 *   - A parameter is an argument of the kernel's, a value of its size. A pointer is a value of 8 bytes.
 * Addresses of functions are numbers of this module, not memory.
 */
#ifndef BINDLESS_PTX_PTX_H
#define BINDLESS_PTX_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BINDLESS_PTX_MEMORY_LIMIT ((size_t)512 << 20)
#define BINDLESS_PTX_HEAP_BYTES ((uint64_t)8 << 20)
#define BINDLESS_PTX_GLOBALS_ID 0u /* of the specialization constant */

struct bindless_ptx_options {
    size_t memory_limit; /* bytes that the compilation may use; 0: BINDLESS_PTX_MEMORY_LIMIT */
    uint32_t target;     /* the device's compute capability, e.g. 90; a module for a later one is refused. 0: any */
    uint64_t heap_bytes; /* of malloc in kernels; 0: BINDLESS_PTX_HEAP_BYTES */
    bool only_reads;     /* texts are read and not translated: names that others define may be missing, and there are no tables */
};

struct bindless_ptx_parameter {
    const char *name;
    uint64_t offset; /* in the buffer of all parameters */
    uint64_t size, alignment;
    bool is_pointer; /* declared with .ptr */
    bool is_array;   /* an aggregate, by value */
};

struct bindless_ptx_entry {
    const char *name;
    const struct bindless_ptx_parameter *parameters;
    uint32_t parameter_count;
    uint64_t parameter_bytes;
    uint64_t shared_bytes;    /* static */
    bool uses_dynamic_shared;
    bool reads_launch;        /* two more arguments of 64 bits: the address of a grid's workspace, and the shared memory of a
                               * block, dynamic bytes in the low half and all in the high one */
    uint32_t reqntid[3];      /* 0: not given */
    uint32_t maxntid[3];
    uint64_t local_bytes;     /* variables in .local memory */
};

enum bindless_ptx_global_kind { BINDLESS_PTX_VARIABLE, BINDLESS_PTX_TEXREF, BINDLESS_PTX_SAMPLERREF, BINDLESS_PTX_SURFREF };

/* A variable; a texref and a surfref hold the handle of an image, of 8 bytes. */
struct bindless_ptx_global {
    const char *name;
    uint64_t offset; /* in the memory of all */
    uint64_t size, alignment;
    bool is_const, is_managed;
    enum bindless_ptx_global_kind kind;
};

struct bindless_ptx_function {
    const char *name;
    uint64_t address; /* as the module's pointers have it; 0 where nothing points to the function */
};

struct bindless_ptx_relocation {
    uint64_t offset, addend;
    uint32_t size, shift; /* in bytes, in bits */
};

struct bindless_ptx_module {
    const uint32_t *words;
    size_t word_count;
    uint32_t isa;    /* e.g. 80 for 8.0; of the newest text */
    uint32_t target; /* e.g. 90 for sm_90 */
    const struct bindless_ptx_entry *entries;
    uint32_t entry_count;
    const struct bindless_ptx_global *globals;
    uint32_t global_count;
    const struct bindless_ptx_function *functions; /* .visible .func */
    uint32_t function_count;
    uint64_t globals_bytes, globals_alignment;
    const unsigned char *globals_image;
    const struct bindless_ptx_relocation *relocations;
    uint32_t relocation_count;
    const char *log; /* "" after success; else "ptxas error, line 5: ..." */
    void *memory;    /* all of the above */
};

/* Compiles a module. On success *module owns the words and tables; else it has only the log. Call destroy in both cases. */
bool bindless_ptx_compile(const char *text, size_t size, const struct bindless_ptx_options *options,
                          struct bindless_ptx_module *module);

/* Compiles several modules as one: .extern declarations find the .visible, .weak and .common definitions of others. */
bool bindless_ptx_link(const char *const *texts, const size_t *sizes, uint32_t count, const struct bindless_ptx_options *options,
                       struct bindless_ptx_module *module);

void bindless_ptx_destroy(struct bindless_ptx_module *module);

#endif
