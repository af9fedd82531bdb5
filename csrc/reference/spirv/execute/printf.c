/* printf in kernels: to the process's standard output, in the order of work-items, each call atomically. A text that
 * exceeds the buffer is not written, and the call returns -1. */
#include "spirv/compile/builder.h"
#include "spirv/half.h"
#include "spirv/execute/interpreter.h"
#include "platform/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST_ARGUMENTS 64u
#define TEXT_SIZE (BLR_PRINT_BYTES + 2) /* of strings that are read: the longest, one character more, and the end */

struct print_argument {
    uint32_t lane; /* byte offset in each lane of all arguments */
    uint8_t size;  /* bytes of an element */
    uint8_t components;
    bool floats;
};

struct print_call {
    uint32_t count;
    struct print_argument arguments[MOST_ARGUMENTS];
};

struct print_text {
    char bytes[BLR_PRINT_BYTES + 1]; /* snprintf ends the text with a zero */
    size_t used;
    bool full; /* the text exceeds the buffer */
    char format[TEXT_SIZE], string[TEXT_SIZE]; /* of the call, and of a conversion */
};

static blr_mutex_t output_mutex = BLR_MUTEX_INIT;

/* Copies a string from memory that kernels can access, truncated to size; false when it leaves that memory. */
static bool read_text(struct blr_spirv_batch *batch, uint64_t address, char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (address + i < address || !blr_spirv_reachable(batch, address + i, 1, false))
            return false;
        text[i] = *(const char *)(uintptr_t)(address + i);
        if (text[i] == '\0')
            return true;
    }
    text[size - 1] = '\0';
    return true;
}

static void append(struct print_text *text, const char *piece, size_t length)
{
    text->full |= length > BLR_PRINT_BYTES - text->used;
    if (text->full)
        return;
    memcpy(text->bytes + text->used, piece, length);
    text->used += length;
}

struct conversion {
    char flags[24];  /* %, flags, width and precision, verbatim */
    uint32_t vector; /* components, 1 for a scalar */
    uint32_t size;   /* bytes of an integer; 0: those of the argument */
    char letter;
};

/* Parses one conversion after the percent sign; returns the character after it, or NULL if it is invalid. */
static const char *read_conversion(const char *at, struct conversion *conversion)
{
    size_t length = 0, digits = 0;
    conversion->flags[length++] = '%';
    while (*at != '\0' && strchr("-+ #0123456789.", *at) != NULL) {
        digits = *at >= '0' && *at <= '9' ? digits + 1 : 0;
        if (length + 4 >= sizeof conversion->flags || digits > 3) /* fields are at most 999 wide */
            return NULL;
        conversion->flags[length++] = *at++;
    }
    conversion->flags[length] = '\0';
    conversion->vector = 1;
    if (*at == 'v') {
        conversion->vector = 0;
        for (at++; *at >= '0' && *at <= '9' && conversion->vector < 100; at++)
            conversion->vector = conversion->vector * 10 + (uint32_t)(*at - '0');
    }
    /* A scalar shorter than int was promoted to int; otherwise the argument's size applies. */
    conversion->size = 0;
    if (at[0] == 'h' && at[1] != 'l')
        conversion->size = at[1] == 'h' ? 1 : 2;
    while (*at != '\0' && strchr("hl", *at) != NULL)
        at++;
    conversion->letter = *at;
    return *at != '\0' && strchr("diouxXcsaAeEfFgGp", *at) != NULL ? at + 1 : NULL;
}

static double as_double(const unsigned char *element, const struct print_argument *argument)
{
    uint16_t half;
    float single;
    double value;
    switch (argument->size) {
    case 2: memcpy(&half, element, 2); return blr_lane_from_half(half);
    case 4: memcpy(&single, element, 4); return single;
    default: memcpy(&value, element, 8); return value;
    }
}

static void print_element(struct blr_spirv_batch *batch, struct print_text *text, const struct conversion *conversion,
                          const struct print_argument *argument, const unsigned char *element)
{
    char format[sizeof conversion->flags + 8], *piece = text->bytes + text->used;
    size_t room = sizeof text->bytes - text->used;
    uint64_t bits = 0;
    int length = 0;
    if (argument->size <= 8)
        memcpy(&bits, element, argument->size);
    bool whole = strchr("diouxX", conversion->letter) != NULL;
    uint32_t size = whole && conversion->size != 0 && conversion->size < argument->size ? conversion->size : argument->size;
    unsigned unused = 64 - 8u * size;
    if (whole)
        bits = bits << unused >> unused;
    int64_t number = (int64_t)(bits << unused) >> unused;
    if (strchr("aAeEfFgG", conversion->letter) != NULL) {
        snprintf(format, sizeof format, "%s%c", conversion->flags, conversion->letter);
        length = snprintf(piece, room, format, argument->floats ? as_double(element, argument) : (double)number);
    } else if (conversion->letter == 's') {
        snprintf(format, sizeof format, "%ss", conversion->flags);
        if (!read_text(batch, bits, text->string, sizeof text->string))
            snprintf(text->string, sizeof text->string, "(no text)");
        length = snprintf(piece, room, format, text->string);
    } else if (conversion->letter == 'c') {
        snprintf(format, sizeof format, "%sc", conversion->flags);
        length = snprintf(piece, room, format, (int)number);
    } else if (conversion->letter == 'p') {
        snprintf(text->string, sizeof text->string, "0x%" PRIx64, bits);
        snprintf(format, sizeof format, "%ss", conversion->flags);
        length = snprintf(piece, room, format, text->string);
    } else {
        bool is_signed = conversion->letter == 'd' || conversion->letter == 'i';
        snprintf(format, sizeof format, "%sll%c", conversion->flags, conversion->letter);
        if (argument->floats)
            number = 0, bits = 0;
        length = is_signed ? snprintf(piece, room, format, (long long)number)
                           : snprintf(piece, room, format, (unsigned long long)bits);
    }
    text->full |= length < 0 || (size_t)length >= room;
    if (!text->full)
        text->used += (size_t)length;
}

/* Formats the text of one work-item; false when format and arguments do not match, or the text exceeds the buffer. */
static bool format_lane(struct blr_spirv_batch *batch, const struct print_call *call, const unsigned char *arguments,
                        uint32_t lane, struct print_text *text)
{
    uint32_t next = 0;
    text->full = strlen(text->format) > BLR_PRINT_BYTES;
    for (const char *at = text->format; *at != '\0' && !text->full;) {
        const char *percent = strchr(at, '%');
        append(text, at, percent == NULL ? strlen(at) : (size_t)(percent - at));
        if (percent == NULL)
            break;
        at = percent + 1;
        if (*at == '%') {
            append(text, at++, 1);
            continue;
        }
        struct conversion conversion;
        at = read_conversion(at, &conversion);
        if (at == NULL || next >= call->count || conversion.vector > call->arguments[next].components ||
            conversion.vector == 0)
            return false;
        const struct print_argument *argument = &call->arguments[next++];
        for (uint32_t c = 0; c < conversion.vector; c++) {
            const unsigned char *element =
                arguments + (size_t)argument->lane * BLR_LANES + (c * BLR_LANES + lane) * (size_t)argument->size;
            if (c > 0)
                append(text, ",", 1);
            if (!text->full)
                print_element(batch, text, &conversion, argument, element);
        }
    }
    return !text->full;
}

static void run_print(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const struct print_call *call = op->info;
    const uint64_t *formats = blr_register(batch, op->in[0]);
    int32_t *results = (int32_t *)result;
    static _Thread_local struct print_text text;
    for (uint32_t lane = 0; lane < BLR_LANES; lane++) {
        if ((batch->mask >> lane & 1) == 0)
            continue;
        text.used = 0;
        text.full = false;
        bool good = read_text(batch, formats[lane], text.format, sizeof text.format) &&
                    format_lane(batch, call, blr_register(batch, op->in[1]), lane, &text);
        results[lane] = good ? 0 : -1;
        if (text.used == 0 || text.full)
            continue;
        blr_mutex_lock(&output_mutex);
        fwrite(text.bytes, 1, text.used, stdout);
        fflush(stdout);
        blr_mutex_unlock(&output_mutex);
    }
}

bool blr_spirv_decode_printf(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 6);
    uint32_t count = blr_spirv_length_at(b->build, word) - 6;
    struct blr_spirv_ref format = blr_spirv_operand(b, word, b->build->words[word + 5]);
    struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    if (format.type->kind != BLR_TYPE_POINTER || type->kind != BLR_TYPE_INT || type->scalar_size != 4)
        blr_spirv_refuse(b->build, word, "printf takes a pointer to its format and gives an integer of 32 bits");
    if (count > MOST_ARGUMENTS)
        blr_spirv_refuse(b->build, word, "printf of %u values: %u are the most", count, MOST_ARGUMENTS);
    struct print_call *call = blr_spirv_allocate(b->build, 1, sizeof *call);
    struct blr_spirv_ref values[MOST_ARGUMENTS];
    uint32_t lane = 0;
    call->count = count;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = blr_spirv_operand(b, word, b->build->words[word + 6 + i]);
        const struct blr_spirv_type *scalar = blr_spirv_scalar(b->module, values[i].type);
        if (values[i].type->kind == BLR_TYPE_STRUCT || values[i].type->kind == BLR_TYPE_ARRAY)
            blr_spirv_refuse(b->build, word, "printf of a struct or an array");
        call->arguments[i] = (struct print_argument){.lane = lane,
                                                     .size = scalar->scalar_size,
                                                     .components = (uint8_t)blr_spirv_components(values[i].type),
                                                     .floats = scalar->kind == BLR_TYPE_FLOAT};
        lane += values[i].type->lane_bytes;
    }
    struct blr_spirv_ref all = {.value = blr_spirv_new_value(b, lane + 1) + 1};
    for (uint32_t i = 0; i < count; i++)
        blr_spirv_copy(b, word, all, call->arguments[i].lane, values[i], b->module->ids[values[i].type->id].of_type);
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = run_print;
    step->op.info = call;
    blr_spirv_step_result(step, result, 0, 4, 1);
    blr_spirv_step_input(step, 0, format);
    blr_spirv_step_input(step, 1, all);
    return true;
}
