/* Functions of the system that are PTX themselves: malloc and free. */
#ifndef BINDLESS_PTX_LIBRARY_KERNEL_HEAP_H
#define BINDLESS_PTX_LIBRARY_KERNEL_HEAP_H

#include "module.h"

/* Reads malloc and free with a heap of this size into the module, as one more text, if a text declares one of them and
 * no text defines it. */
void ptx_add_heap(struct ptx_module *module, uint64_t bytes);

#endif
