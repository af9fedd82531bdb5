/* Functions and kernels by name. Entries are added under a lock and never removed, so that XLA's threads find them without
 * one. */
#ifndef BINDLESS_JAX_FUNCTIONS_H
#define BINDLESS_JAX_FUNCTIONS_H

#include <stdatomic.h>
#include <stdint.h>

#include "../programs/program.h"

typedef struct {
    const char *text;
    size_t length;
} Name;

/* A function of the reference driver: returns 0 or a result code. */
typedef int32_t (*HostFunction)(const void *arguments);

typedef struct Entry {
    struct Entry *next;
    const char *name;        /* of a kernel: its symbol, or symbol@constants */
    HostFunction function;   /* of processors, or NULL */
    const char *image;       /* of CUDA: PTX, or NULL */
    _Atomic(void *) kernel;  /* CUkernel, once loaded */
} Entry;

/* False if memory is exhausted. A name that exists keeps its entry. */
int add_function(const char *name, HostFunction function);
int add_kernel(const char *name, const char *image, size_t size);

Entry *find_entry(Name name, int kernel);

#endif
