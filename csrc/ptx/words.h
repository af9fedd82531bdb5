/* A module of SPIR-V as it is written: types and constants exist once. */
#ifndef BINDLESS_PTX_WORDS_H
#define BINDLESS_PTX_WORDS_H

#include "build.h"
#include "opcodes.h"

/* Scalars of values. */
enum ptx_kind { PTX_BOOL, PTX_I8, PTX_I16, PTX_I32, PTX_I64, PTX_H, PTX_F, PTX_D, PTX_KINDS };

struct ptx_value {
    uint32_t id;
    enum ptx_kind kind;
};

struct ptx_buffer {
    uint32_t *words;
    uint32_t count, capacity;
};

struct ptx_declaration {
    uint32_t at, length, id, next; /* at: its words in the declarations */
};

#define PTX_CAPABILITIES 32u
#define PTX_DECLARATION_BUCKETS 1024u

struct ptx_words {
    struct ptx_build *build;
    uint32_t bound;
    uint32_t capabilities[PTX_CAPABILITIES], capability_count;
    const char *extensions[8];
    uint32_t extension_count;
    uint32_t math; /* id of the set OpenCL.std */
    struct ptx_buffer entries, modes, names, decorations, declarations, imports, functions;
    struct ptx_declaration *list;
    uint32_t list_count, list_capacity;
    uint32_t buckets[PTX_DECLARATION_BUCKETS]; /* 1 + an index of the list */
};

uint32_t ptx_new_id(struct ptx_words *words);
void ptx_push(struct ptx_build *build, struct ptx_buffer *buffer, uint32_t word);

/* Appends an instruction of a number of operands. */
void ptx_append(struct ptx_build *build, struct ptx_buffer *buffer, uint32_t opcode, const uint32_t *operands, uint32_t count);

/* Appends operands, a text, and more operands. */
void ptx_append_text(struct ptx_build *build, struct ptx_buffer *buffer, uint32_t opcode, const uint32_t *operands, uint32_t count,
                     const char *text, const uint32_t *more, uint32_t more_count);

void ptx_need(struct ptx_words *words, uint32_t capability);
void ptx_need_extension(struct ptx_words *words, const char *name);

/* The id of a type (type 0) or constant with these operands. */
uint32_t ptx_declare(struct ptx_words *words, uint32_t opcode, uint32_t type, const uint32_t *operands, uint32_t count);

uint32_t ptx_bits_of(enum ptx_kind kind);
bool ptx_is_float(enum ptx_kind kind);
uint32_t ptx_scalar(struct ptx_words *words, enum ptx_kind kind);
uint32_t ptx_vector(struct ptx_words *words, enum ptx_kind kind, uint32_t components); /* 1: the scalar */
uint32_t ptx_pointer(struct ptx_words *words, uint32_t storage, uint32_t type);
uint32_t ptx_void(struct ptx_words *words);
uint32_t ptx_bytes(struct ptx_words *words, uint64_t count); /* an array of bytes */
struct ptx_value ptx_constant_of(struct ptx_words *words, enum ptx_kind kind, uint64_t bits);

/* The whole module, in its order. */
struct ptx_buffer ptx_assemble(struct ptx_words *words);

#endif
