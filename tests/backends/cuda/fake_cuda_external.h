/* The fake driver's external memory and semaphores: files in memory, and eventfds. Part of fake_cuda.c. */
#include <sys/stat.h>

typedef struct external { context *owner; unsigned char *base; size_t size; unsigned mapped; } external;

static int live_external, live_semaphores;
EXPORT int fake_live_external(void) { return live_external + live_semaphores; }

/* As the real driver does it, the descriptor is the driver's own once the import has succeeded. */
EXPORT CUresult cuImportExternalMemory(CUexternalMemory *out, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *d)
{
    ENTER_CONTEXT("cuImportExternalMemory");
    struct stat status;
    if (d->type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD) return CUDA_ERROR_NOT_SUPPORTED;
    if (d->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD || fstat(d->handle.fd, &status)) return CUDA_ERROR_INVALID_VALUE;
    if (!S_ISREG(status.st_mode)) { /* the real driver closes what it refuses here */
        close(d->handle.fd);
        return CUDA_ERROR_UNKNOWN;
    }
    if ((size_t)status.st_size < d->size || d->flags & ~(unsigned)CUDA_EXTERNAL_MEMORY_DEDICATED) return CUDA_ERROR_INVALID_VALUE;
    void *base = mmap(NULL, d->size, PROT_READ | PROT_WRITE, MAP_SHARED, d->handle.fd, 0);
    if (base == MAP_FAILED) return CUDA_ERROR_INVALID_VALUE;
    close(d->handle.fd);
    external *e = calloc(1, sizeof *e);
    *e = (external){current, base, d->size, 0};
    live_external++;
    note_two("cuImportExternalMemory", d->size, d->flags);
    *out = (CUexternalMemory)e;
    return 0;
}
EXPORT CUresult cuDestroyExternalMemory(CUexternalMemory h)
{
    ENTER_CONTEXT("cuDestroyExternalMemory");
    external *e = (external *)h;
    if (e->owner != current || e->mapped) return CUDA_ERROR_INVALID_HANDLE;
    munmap(e->base, e->size);
    free(e);
    live_external--;
    note("cuDestroyExternalMemory");
    return 0;
}
static void unmapped(void *part) { ((external *)part)->mapped--; }
EXPORT CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *out, CUexternalMemory h, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *d)
{
    ENTER_CONTEXT("cuExternalMemoryGetMappedBuffer");
    external *e = (external *)h;
    if (e->owner != current || d->offset + d->size > e->size || d->flags) return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < MOST_ALLOCATIONS; i++)
        if (!allocations[i].base) {
            allocations[i] = (allocation){(uint64_t)(uintptr_t)e->base + d->offset, d->size, 1, current, e};
            e->mapped++;
            note_two("cuExternalMemoryGetMappedBuffer", d->offset, d->size);
            *out = allocations[i].base;
            return 0;
        }
    return CUDA_ERROR_OUT_OF_MEMORY;
}
EXPORT CUresult cuExternalMemoryGetMappedMipmappedArray(CUmipmappedArray *out, CUexternalMemory h, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *d)
{
    ENTER_CONTEXT("cuExternalMemoryGetMappedMipmappedArray");
    external *e = (external *)h;
    if (e->owner != current || !array_allowed(&d->arrayDesc)) return CUDA_ERROR_INVALID_VALUE;
    array *a = calloc(1, sizeof *a);
    *a = (array){.owner = current, .levels = calloc(d->numLevels, sizeof *a), .num_levels = d->numLevels, .external = e};
    size_t offset = d->offset;
    for (unsigned i = 0; i < d->numLevels; i++) {
        CUDA_ARRAY3D_DESCRIPTOR level = level_of(&d->arrayDesc, i);
        array *one = &a->levels[i];
        fill_array(one, &level);
        free(one->data);
        one->data = e->base + offset;
        offset += one->width * one->height * one->depth * one->pixel;
    }
    if (offset > e->size) {
        free(a->levels);
        free(a);
        return CUDA_ERROR_INVALID_VALUE;
    }
    e->mapped++;
    live_arrays++;
    note_array("cuExternalMemoryGetMappedMipmappedArray", &d->arrayDesc, d->numLevels);
    *out = (CUmipmappedArray)a;
    return 0;
}

/* ---------------------------------------------------------------- semaphores */

EXPORT CUresult cuImportExternalSemaphore(CUexternalSemaphore *out, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *d)
{
    ENTER_CONTEXT("cuImportExternalSemaphore");
    int timeline = d->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    if (!timeline && d->type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD) return CUDA_ERROR_INVALID_VALUE;
    struct stat status;
    if (fstat(d->handle.fd, &status) || S_ISREG(status.st_mode) != timeline) return CUDA_ERROR_INVALID_VALUE;
    semaphore *s = calloc(1, sizeof *s);
    s->owner = current;
    s->fd = d->handle.fd;
    if (timeline) {
        s->value = mmap(NULL, sizeof *s->value, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
        if (s->value == MAP_FAILED) return CUDA_ERROR_INVALID_VALUE;
    }
    live_semaphores++;
    note("cuImportExternalSemaphore");
    *out = (CUexternalSemaphore)s;
    return 0;
}
EXPORT CUresult cuDestroyExternalSemaphore(CUexternalSemaphore h)
{
    ENTER_CONTEXT("cuDestroyExternalSemaphore");
    semaphore *s = (semaphore *)h;
    if (s->owner != current) return CUDA_ERROR_INVALID_HANDLE;
    if (s->value) munmap((void *)s->value, sizeof *s->value);
    close(s->fd);
    free(s);
    live_semaphores--;
    note("cuDestroyExternalSemaphore");
    return 0;
}
static CUresult put_semaphore(const CUexternalSemaphore *handles, unsigned count, uint64_t value, kind what, CUstream h, const char *name)
{
    ENTER_CONTEXT(name);
    semaphore *s = (semaphore *)handles[0];
    if (count != 1 || s->owner != real(h)->owner || (!s->value && value)) return CUDA_ERROR_INVALID_VALUE;
    note_two(name, value, 0);
    return put((stream *)h, (command){.kind = what, .semaphore = s, .bytes = value});
}
EXPORT CUresult cuWaitExternalSemaphoresAsync(const CUexternalSemaphore *handles, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *p, unsigned count, CUstream s)
{
    return p->flags ? CUDA_ERROR_INVALID_VALUE : put_semaphore(handles, count, p->params.fence.value, AWAIT, s, "cuWaitExternalSemaphoresAsync");
}
EXPORT CUresult cuSignalExternalSemaphoresAsync(const CUexternalSemaphore *handles, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *p, unsigned count, CUstream s)
{
    return p->flags ? CUDA_ERROR_INVALID_VALUE : put_semaphore(handles, count, p->params.fence.value, SIGNAL, s, "cuSignalExternalSemaphoresAsync");
}
