/* Calls, and instructions without effect on values. */
#include "emit.h"

static void emit_nothing(struct ptx_emitter *e) { (void)e; }

const struct ptx_handler ptx_control_handlers[] = {
    {"call", ptx_emit_call}, {"nanosleep", emit_nothing}, {"pmevent", emit_nothing}, {"griddepcontrol", emit_nothing},
    {"brkpt", ptx_trap}, {NULL, NULL}};
