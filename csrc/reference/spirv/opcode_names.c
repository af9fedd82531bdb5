/* Names and result kinds of SPIR-V instructions. */
#include "spirv/opcodes.h"

#include <stddef.h>

const char *blr_spirv_opcode_name(unsigned opcode)
{
    switch (opcode) {
#define X(name, number, makes)                                                                                         \
    case number: return #name;
        BLR_SPIRV_OPCODES(X)
#undef X
    default: return NULL;
    }
}

char blr_spirv_opcode_makes(unsigned opcode)
{
    switch (opcode) {
#define X(name, number, makes)                                                                                         \
    case number: return #makes[0];
        BLR_SPIRV_OPCODES(X)
#undef X
    default: return 0;
    }
}
