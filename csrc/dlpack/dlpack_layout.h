/* The structures of DLPack 1.x, by the standard's own names: what two libraries hand each other in a capsule, and the
 * functions that a library offers to C code (DLPack 1.3). */

#ifndef BINDLESS_DLPACK_DLPACK_LAYOUT_H
#define BINDLESS_DLPACK_DLPACK_LAYOUT_H

#include <stdint.h>

typedef struct {
    uint32_t major;
    uint32_t minor;
} DLPackVersion;

typedef struct {
    int32_t device_type;
    int32_t device_id;
} DLDevice;

typedef struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} DLDataType;

/* Strides count elements; NULL means packed rows. */
typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} DLTensor;

/* What capsules named "dltensor" hold. */
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

/* What capsules named "dltensor_versioned" hold. */
typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

enum { DLPACK_CPU = 1, DLPACK_CUDA = 2, DLPACK_CUDA_MANAGED = 13 }; /* types of devices */
enum { DLPACK_READ_ONLY = 1 };                                      /* a flag */

/* A library's functions, in order of their standard positions: new minor versions append functions. Each returns 0, or
 * -1 with a Python exception; none of them synchronizes. The older versions of the structure are linked by prev_api. */
typedef struct DLPackExchangeAPIHeader {
    DLPackVersion version;
    struct DLPackExchangeAPIHeader *prev_api;
} DLPackExchangeAPIHeader;

typedef struct {
    DLPackExchangeAPIHeader header;
    /* Allocates a tensor like a prototype; passes errors to a function of the caller. */
    int (*managed_tensor_allocator)(DLTensor *prototype, DLManagedTensorVersioned **result, void *context,
                                    void (*set_error)(void *context, const char *kind, const char *message));
    int (*managed_tensor_from_py_object_no_sync)(void *object, DLManagedTensorVersioned **result);
    int (*managed_tensor_to_py_object_no_sync)(DLManagedTensorVersioned *tensor, void **object); /* takes the tensor over */
    int (*dltensor_from_py_object_no_sync)(void *object, DLTensor *tensor); /* the object owns all; may be NULL */
    int (*current_work_stream)(int32_t device_type, int32_t device_id, void **stream);
} DLPackExchangeAPI;

#endif
