/* Functions of the system that are PTX themselves: those by which all blocks of a cooperative launch wait for each other. */
#ifndef BINDLESS_PTX_LIBRARY_GRID_H
#define BINDLESS_PTX_LIBRARY_GRID_H

#include "module.h"

/* Reads the functions into the module, as one more text, if a text declares one of them and no text defines it. */
void ptx_add_grid(struct ptx_module *module);

#endif
