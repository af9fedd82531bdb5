/* Words, numbers and constant expressions of a text. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

char ptx_peek(struct ptx_reader *reader)
{
    while (reader->at < reader->end) {
        const char c = *reader->at;
        const bool more = reader->at + 1 < reader->end;
        if (c == '\n')
            reader->line++;
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            reader->at++;
        } else if (c == '/' && more && reader->at[1] == '/') {
            while (reader->at < reader->end && *reader->at != '\n')
                reader->at++;
        } else if (c == '/' && more && reader->at[1] == '*') {
            for (reader->at += 2; reader->at + 1 < reader->end && (reader->at[0] != '*' || reader->at[1] != '/'); reader->at++)
                reader->line += *reader->at == '\n';
            if (reader->at + 1 >= reader->end)
                ptx_fail(reader->build, reader->line, "a comment without end");
            reader->at += 2;
        } else if (c == '\0') {
            return 0; /* texts may end with a zero */
        } else {
            return c;
        }
    }
    return 0;
}

bool ptx_accept(struct ptx_reader *reader, char character)
{
    if (ptx_peek(reader) != character)
        return false;
    reader->at++;
    return true;
}

void ptx_expect(struct ptx_reader *reader, char character)
{
    const char c = ptx_peek(reader);
    if (c != character)
        ptx_fail(reader->build, reader->line, "'%c' is expected before '%c'", character, c >= ' ' && c < 127 ? c : '?');
    reader->at++;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}
static bool in_name(char c) { return starts_name(c) || is_digit(c); }

bool ptx_at_name(struct ptx_reader *reader) { return starts_name(ptx_peek(reader)); }

static const char *copy(struct ptx_reader *reader, const char *start, size_t length)
{
    char *name = ptx_allocate(reader->build, length + 1, 1);
    memcpy(name, start, length);
    return name;
}

const char *ptx_name(struct ptx_reader *reader)
{
    if (!ptx_at_name(reader))
        ptx_fail(reader->build, reader->line, "a name is expected");
    const char *start = reader->at;
    while (reader->at < reader->end && in_name(*reader->at))
        reader->at++;
    return copy(reader, start, (size_t)(reader->at - start));
}

const char *ptx_word(struct ptx_reader *reader)
{
    ptx_expect(reader, '.');
    const char *start = reader->at;
    while (reader->at < reader->end &&
           (in_name(*reader->at) || (*reader->at == ':' && reader->at + 2 < reader->end && reader->at > start &&
                                     (reader->at[1] == ':' || reader->at[-1] == ':'))))
        reader->at++;
    if (reader->at == start)
        ptx_fail(reader->build, reader->line, "a word is expected behind '.'");
    return copy(reader, start, (size_t)(reader->at - start));
}

enum ptx_type ptx_read_type(struct ptx_reader *reader)
{
    const char *word = ptx_word(reader);
    const enum ptx_type type = ptx_type_of(word, strlen(word));
    if (type == PTX_NONE)
        ptx_fail(reader->build, reader->line, "'.%.40s' is no type", word);
    return type;
}

/* ---------------------------------------------------------------- numbers */

bool ptx_at_number(struct ptx_reader *reader) { return is_digit(ptx_peek(reader)); }

static int digit_of(char c)
{
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static uint64_t digits(struct ptx_reader *reader, int base)
{
    uint64_t number = 0;
    while (reader->at < reader->end && digit_of(*reader->at) < base)
        number = number * (uint64_t)base + (uint64_t)digit_of(*reader->at++);
    return number;
}

static struct ptx_operand decimal_float(struct ptx_reader *reader, const char *start)
{
    char text[64];
    size_t length = 0;
    for (reader->at = start; reader->at < reader->end && length + 1 < sizeof text; reader->at++) {
        const char c = *reader->at;
        if (!is_digit(c) && c != '.' && c != 'e' && c != 'E' && !((c == '+' || c == '-') && (text[length - 1] | 32) == 'e'))
            break;
        text[length++] = c;
    }
    text[length] = '\0';
    struct ptx_operand operand = {.kind = PTX_OPERAND_DOUBLE};
    const double value = strtod(text, NULL);
    memcpy(&operand.bits, &value, sizeof value);
    return operand;
}

struct ptx_operand ptx_number(struct ptx_reader *reader)
{
    struct ptx_operand operand = {.kind = PTX_OPERAND_INTEGER};
    if (!ptx_at_number(reader))
        ptx_fail(reader->build, reader->line, "a number is expected");
    const char *start = reader->at;
    const char letter = *start == '0' && start + 1 < reader->end ? start[1] : '\0';
    if (letter == 'f' || letter == 'F' || letter == 'd' || letter == 'D') {
        const bool single = (letter | 32) == 'f';
        reader->at += 2;
        operand.kind = single ? PTX_OPERAND_SINGLE : PTX_OPERAND_DOUBLE;
        operand.bits = digits(reader, 16);
        if (reader->at - start != (single ? 10 : 18))
            ptx_fail(reader->build, reader->line, "a float in hexadecimal has %d digits", single ? 8 : 16);
        return operand;
    }
    if (letter == 'x' || letter == 'X' || letter == 'b' || letter == 'B') {
        reader->at += 2;
        operand.bits = digits(reader, (letter | 32) == 'x' ? 16 : 2);
    } else {
        operand.bits = digits(reader, 10);
        if (reader->at < reader->end && (*reader->at == '.' || *reader->at == 'e' || *reader->at == 'E'))
            return decimal_float(reader, start);
        if (is_digit(letter)) {
            reader->at = start;
            operand.bits = digits(reader, 8);
        }
    }
    if (reader->at < reader->end && *reader->at == 'U')
        reader->at++;
    if (reader->at < reader->end && in_name(*reader->at))
        ptx_fail(reader->build, reader->line, "a number with letters");
    return operand;
}

static int64_t factor(struct ptx_reader *reader)
{
    if (++reader->nesting > PTX_DEEPEST)
        ptx_fail(reader->build, reader->line, "an expression is nested deeper than %u", PTX_DEEPEST);
    int64_t value;
    if (ptx_accept(reader, '-')) {
        value = (int64_t)(0 - (uint64_t)factor(reader));
    } else if (ptx_accept(reader, '~')) {
        value = ~factor(reader);
    } else if (ptx_accept(reader, '(')) {
        value = ptx_constant(reader);
        ptx_expect(reader, ')');
    } else {
        const struct ptx_operand number = ptx_number(reader);
        if (number.kind != PTX_OPERAND_INTEGER)
            ptx_fail(reader->build, reader->line, "an integer is expected");
        value = (int64_t)number.bits;
    }
    reader->nesting--;
    return value;
}

int64_t ptx_constant(struct ptx_reader *reader)
{
    uint64_t value = (uint64_t)factor(reader);
    for (;;) {
        if (ptx_accept(reader, '+'))
            value += (uint64_t)factor(reader);
        else if (ptx_accept(reader, '-'))
            value -= (uint64_t)factor(reader);
        else if (ptx_accept(reader, '*'))
            value *= (uint64_t)factor(reader);
        else
            return (int64_t)value;
    }
}

/* ---------------------------------------------------------------- text that is not read */

const char *ptx_string(struct ptx_reader *reader, size_t *length)
{
    ptx_expect(reader, '"');
    const char *start = reader->at;
    while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\n')
        reader->at++;
    if (reader->at == reader->end || *reader->at != '"')
        ptx_fail(reader->build, reader->line, "a string without end");
    *length = (size_t)(reader->at++ - start);
    return start;
}

void ptx_skip_behind(struct ptx_reader *reader, char character)
{
    size_t unused;
    for (uint32_t depth = 0;;) {
        const char c = ptx_peek(reader);
        if (c == 0)
            ptx_fail(reader->build, reader->line, "'%c' is expected before the end", character);
        if (c == '"') {
            ptx_string(reader, &unused);
            continue;
        }
        reader->at++;
        if (c == '{')
            depth++;
        if (c == '}' && depth > 0)
            depth--;
        if (c == character && depth == 0)
            return;
    }
}
