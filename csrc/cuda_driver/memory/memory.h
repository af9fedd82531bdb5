/* Memory of the driver's users: allocations of the reference driver, and host memory that was registered. */
#ifndef BINDLESS_CUDA_DRIVER_MEMORY_MEMORY_H
#define BINDLESS_CUDA_DRIVER_MEMORY_MEMORY_H

#include "cuda_driver/driver/context.h"

enum bcu_memory_kind {
    BCU_MEMORY_DEVICE,
    BCU_MEMORY_HOST,       /* cuMemHostAlloc */
    BCU_MEMORY_MANAGED,
    BCU_MEMORY_REGISTERED, /* cuMemHostRegister */
    BCU_MEMORY_ASYNC,      /* of a pool */
    BCU_MEMORY_EXTERNAL,   /* mapped from external memory */
    BCU_MEMORY_MODULE,     /* variables of a module */
    BCU_MEMORY_VIRTUAL,    /* mapped at a reserved address */
    BCU_MEMORY_IPC,        /* of another process */
};

struct bcu_memory {
    enum bcu_memory_kind kind;
    uint64_t base, size;
    uint64_t id;
    struct bcu_context *context; /* NULL: of the process */
    unsigned flags;
    bool sync_operations;
    bool writable;
    CUmemoryPool pool;           /* of ASYNC */
    uint64_t mapped;             /* of a VIRTUAL allocation */
};

/* Copies the record of the memory that contains an address; false for memory that is not known. */
bool bcu_memory_find(uint64_t address, struct bcu_memory *memory);

/* Bytes from an address in a memory to its end; mappings that follow each other are one memory. */
uint64_t bcu_memory_room(const struct bcu_memory *memory, uint64_t address);

/* Fails with INVALID_VALUE where a range is not within one known memory. */
CUresult bcu_memory_check(CUdeviceptr address, uint64_t size, const char *name);

/* Allocates memory of the reference driver and records it. */
CUresult bcu_memory_allocate(const struct bcu_memory *description, uint64_t *address);

/* Records memory that exists; id is set. */
CUresult bcu_memory_record(const struct bcu_memory *description);

/* Forgets the memory that starts at an address, of this kind; false if there is none. */
bool bcu_memory_forget(uint64_t base, enum bcu_memory_kind kind, struct bcu_memory *memory);

/* Frees memory of the reference driver that was forgotten. */
CUresult bcu_memory_release(const struct bcu_memory *memory);

/* Frees the memory of a context. */
void bcu_memory_free_all(struct bcu_context *context);

/* Sets the attribute SYNC_MEMOPS of the memory at an address; false if there is none. */
bool bcu_memory_set_sync(uint64_t address, bool value);

/* Bytes of recorded device memory. */
uint64_t bcu_memory_used(void);

#endif
