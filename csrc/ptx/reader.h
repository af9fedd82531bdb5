/* Words and numbers of a text. */
#ifndef BINDLESS_PTX_READER_H
#define BINDLESS_PTX_READER_H

#include "module.h"

struct ptx_reader {
    struct ptx_module *module;
    struct ptx_build *build;
    const char *at, *end;
    uint32_t line;
    uint32_t scope, text_scope;
    uint32_t nesting;
    struct ptx_function *function; /* whose body is read, or NULL */
};

#define PTX_DEEPEST 64u

/* The next character that is neither space nor comment; 0 at the end. It is not consumed. */
char ptx_peek(struct ptx_reader *reader);

/* Consumes a character if it comes next. */
bool ptx_accept(struct ptx_reader *reader, char character);
void ptx_expect(struct ptx_reader *reader, char character);

/* Whether a name comes next, and the name. */
bool ptx_at_name(struct ptx_reader *reader);
const char *ptx_name(struct ptx_reader *reader);

/* The name behind a dot, with "::" in it: of a directive, a type or a modifier. */
const char *ptx_word(struct ptx_reader *reader);

/* A type: a dot and its name. */
enum ptx_type ptx_read_type(struct ptx_reader *reader);

/* A number: integers give PTX_OPERAND_INTEGER, floats _SINGLE or _DOUBLE with their bits. */
bool ptx_at_number(struct ptx_reader *reader);
struct ptx_operand ptx_number(struct ptx_reader *reader);

/* A constant expression of integers. */
int64_t ptx_constant(struct ptx_reader *reader);

/* A string without its quotes. */
const char *ptx_string(struct ptx_reader *reader, size_t *length);

/* Skips to the next character at this level of braces, and behind it. */
void ptx_skip_behind(struct ptx_reader *reader, char character);

/* Variables (variables.c) and instructions (instructions.c). */
void ptx_read_variable(struct ptx_reader *reader, enum ptx_symbol_kind kind, struct ptx_symbol *linkage);
struct ptx_symbol *ptx_read_parameter(struct ptx_reader *reader, enum ptx_symbol_kind kind);
void ptx_read_registers(struct ptx_reader *reader);
struct ptx_symbol *ptx_find_register(struct ptx_reader *reader, const char *name);
uint32_t ptx_add_register(struct ptx_reader *reader, enum ptx_type type);
void ptx_read_body(struct ptx_reader *reader);

#endif
