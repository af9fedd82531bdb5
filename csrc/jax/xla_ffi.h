/* Layouts of XLA's foreign function interface, version 0.1 and newer minor versions: the part that the handlers use.
 *
 * XLA calls a handler with one call frame and gets NULL or an error. Every structure begins with its size and a list of
 * extensions; newer minor versions append members only. */
#ifndef BINDLESS_JAX_XLA_FFI_H
#define BINDLESS_JAX_XLA_FFI_H

#include <stddef.h>
#include <stdint.h>

enum { FFI_MAJOR = 0, FFI_OLDEST_MINOR = 1, FFI_NEWEST_MINOR = 3 };

enum { FFI_EXTENSION_METADATA = 1 };
enum { FFI_TRAIT_COMMAND_BUFFER = 1 }; /* the handler always issues the same device operations */
enum { FFI_STAGE_INITIALIZE = 2, FFI_STAGE_EXECUTE = 3 };
enum { FFI_ARGUMENT_BUFFER = 1 };
enum { FFI_ATTRIBUTE_ARRAY = 1, FFI_ATTRIBUTE_STRING = 4 };
enum { FFI_TYPE_INT64 = 5 };
enum { FFI_INVALID_ARGUMENT = 3, FFI_FAILED_PRECONDITION = 9, FFI_INTERNAL = 13 };

typedef struct FfiError FfiError;     /* opaque, owned by XLA */
typedef struct FfiContext FfiContext; /* opaque */

typedef struct FfiExtension {
    size_t size;
    int type;
    struct FfiExtension *next;
} FfiExtension;

typedef struct {
    size_t size;
    FfiExtension *extensions;
    int major, minor;
} FfiVersion;

/* Version 0.2 appends an identifier of the state's type. */
typedef struct {
    size_t size;
    FfiVersion version;
    uint32_t traits;
} FfiMetadata;

typedef struct {
    FfiExtension base;
    FfiMetadata *metadata;
} FfiMetadataExtension;

typedef struct {
    size_t size;
    FfiExtension *extensions;
    const char *message;
    int code;
} FfiErrorRequest;

typedef struct {
    size_t size;
    FfiExtension *extensions;
    FfiContext *context;
    void *stream; /* out: CUstream */
} FfiStreamRequest;

/* The table of XLA's functions. Later members are not used. */
typedef struct {
    size_t size;
    FfiExtension *extensions;
    FfiVersion version;
    const void *internal;
    FfiError *(*create_error)(FfiErrorRequest *);
    void *get_error_message;
    void *destroy_error;
    void *register_handler;
    FfiError *(*get_stream)(FfiStreamRequest *);
} FfiApi;

typedef struct {
    size_t size;
    FfiExtension *extensions;
    int type;
    void *data;
    int64_t rank;
    int64_t *extents;
} FfiBuffer;

/* Arguments, and results in the same form. */
typedef struct {
    size_t size;
    FfiExtension *extensions;
    int64_t count;
    int *kinds;
    void **items; /* FfiBuffer * */
} FfiBuffers;

typedef struct {
    const char *text;
    size_t length;
} FfiText;

typedef struct {
    int type;
    size_t count;
    void *data;
} FfiArray;

typedef struct {
    size_t size;
    FfiExtension *extensions;
    int64_t count;
    int *kinds;
    FfiText **names;
    void **values; /* FfiArray *, FfiText *, ... by kind */
} FfiAttributes;

typedef struct {
    size_t size;
    FfiExtension *extensions;
    const FfiApi *api;
    FfiContext *context;
    int stage;
    FfiBuffers arguments, results;
    FfiAttributes attributes;
} FfiFrame;

#endif
