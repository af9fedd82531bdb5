/* Lines of the source, from the instructions OpLine of a module. */
#include <stdio.h>

#include "spirv/execute/interpreter.h"
#include "spirv/opcodes.h"
#include "spirv/parse/module.h"

enum { HEADER_WORDS = 5, LINE_WORDS = 4, STRING_WORDS = 2 };

/* The text of the OpString with this id, NULL for none. Texts end with a null byte within their instruction. */
static const char *string_of(const struct blr_spirv_module *module, uint32_t id)
{
    for (uint32_t at = HEADER_WORDS; at < module->count && module->words[at] >> 16 != 0; at += module->words[at] >> 16)
        if ((module->words[at] & 0xffff) == BLR_OP_String && module->words[at + 1] == id)
            return (const char *)&module->words[at + STRING_WORDS];
    return NULL;
}

bool blr_spirv_source_line(const struct blr_spirv_module *module, uint32_t word, char *text, size_t size)
{
    uint32_t line = 0, file = 0;
    for (uint32_t at = HEADER_WORDS; at < module->count && at <= word; at += module->words[at] >> 16) {
        const uint32_t opcode = module->words[at] & 0xffff, length = module->words[at] >> 16;
        if (length == 0)
            return false;
        if (opcode == BLR_OP_Line && length >= LINE_WORDS) {
            file = module->words[at + 1];
            line = module->words[at + 2];
        } else if (opcode == BLR_OP_NoLine || opcode == BLR_OP_Label || opcode == BLR_OP_FunctionEnd) {
            file = 0; /* a line holds until the end of its block */
        }
    }
    const char *name = file != 0 ? string_of(module, file) : NULL;
    if (name == NULL)
        return false;
    snprintf(text, size, " (%.200s, line %u)", name, line);
    return true;
}
