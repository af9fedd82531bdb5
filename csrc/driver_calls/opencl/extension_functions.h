/* Extension functions of OpenCL, looked up in the platform that owns the object of the call.
 *
 * An address from clGetExtensionFunctionAddressForPlatform is valid for that platform only. Every OpenCL object
 * starts with a pointer to its platform's dispatch table (cl_khr_icd), so the first argument of a call identifies
 * the platform. */
#ifndef BINDLESS_DRIVER_CALLS_OPENCL_EXTENSION_FUNCTIONS_H
#define BINDLESS_DRIVER_CALLS_OPENCL_EXTENSION_FUNCTIONS_H

#include <stdlib.h>

#define BINDLESS_MAX_PLATFORMS 64

typedef struct {
    const void *dispatch;
    bindless_function_t functions[BINDLESS_EXTENSION_COUNT];
} bindless_platform_functions_t;

static bindless_platform_functions_t *bindless_platforms;
static unsigned bindless_platform_count;

#if defined(_WIN32)
static INIT_ONCE bindless_once = INIT_ONCE_STATIC_INIT;
#else
#  include <pthread.h>
static pthread_once_t bindless_once = PTHREAD_ONCE_INIT;
#endif

static const void *bindless_dispatch_of(const void *object)
{
    const void *dispatch = NULL;
    memcpy(&dispatch, object, sizeof dispatch);
    return dispatch;
}

/* Looks up a function of the loader itself that some loaders return on request but do not export. */
static void bindless_ask_loader(int index)
{
    const char *symbol = bindless_entries[index].symbol;
    if (bindless_slots[index] == NULL && strstr(symbol, "OCLICD") != NULL) {
        bindless_slots[index] = bindless_as_function(clGetExtensionFunctionAddress(symbol));
    }
}

static void bindless_read_platforms(void)
{
    for (int e = 0; e < BINDLESS_EXTENSION_COUNT; e++) {
        bindless_ask_loader(bindless_extensions[e]);
    }
    cl_platform_id platforms[BINDLESS_MAX_PLATFORMS];
    cl_uint number = 0;
    if (clGetPlatformIDs(BINDLESS_MAX_PLATFORMS, platforms, &number) != CL_SUCCESS) {
        return;
    }
    unsigned count = number < BINDLESS_MAX_PLATFORMS ? number : BINDLESS_MAX_PLATFORMS;
    bindless_platforms = calloc(count, sizeof *bindless_platforms);
    if (bindless_platforms == NULL) {
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        bindless_platforms[i].dispatch = bindless_dispatch_of(platforms[i]);
        for (int e = 0; e < BINDLESS_EXTENSION_COUNT; e++) {
            const char *symbol = bindless_entries[bindless_extensions[e]].symbol;
            void *address = clGetExtensionFunctionAddressForPlatform(platforms[i], symbol);
            bindless_platforms[i].functions[e] = bindless_as_function(address);
        }
    }
    bindless_platform_count = count;
}

#if defined(_WIN32)
static BOOL CALLBACK bindless_read_platforms_once(PINIT_ONCE once, PVOID parameter, PVOID *context)
{
    (void)once;
    (void)parameter;
    (void)context;
    bindless_read_platforms();
    return TRUE;
}
#endif

static void bindless_need_platforms(void)
{
    if (bindless_library == NULL) {
        return;
    }
#if defined(_WIN32)
    InitOnceExecuteOnce(&bindless_once, bindless_read_platforms_once, NULL, NULL);
#else
    pthread_once(&bindless_once, bindless_read_platforms);
#endif
}

/* Returns the address for the platform that owns object; else the only known one; else the library's own export. */
static bindless_function_t bindless_extension(int extension, const void *object)
{
    bindless_need_platforms();
    bindless_function_t only = NULL;
    unsigned offers = 0;
    int has_platform = 0;
    const void *dispatch = object != NULL && bindless_platform_count > 0 ? bindless_dispatch_of(object) : NULL;
    for (unsigned i = 0; i < bindless_platform_count; i++) {
        bindless_function_t function = bindless_platforms[i].functions[extension];
        if (dispatch != NULL && bindless_platforms[i].dispatch == dispatch) {
            if (function != NULL) {
                return function;
            }
            has_platform = 1;
        }
        if (function != NULL) {
            only = function;
            offers++;
        }
    }
    return offers == 1 && !has_platform ? only : bindless_slots[bindless_extensions[extension]];
}

/* Returns whether any platform, or the library itself, has the function of this index. */
static int bindless_function_available(int index)
{
    if (bindless_function_exported(index)) {
        return 1;
    }
    for (int e = 0; e < BINDLESS_EXTENSION_COUNT; e++) {
        if (bindless_extensions[e] == index) {
            bindless_need_platforms();
            for (unsigned i = 0; i < bindless_platform_count; i++) {
                if (bindless_platforms[i].functions[e] != NULL) {
                    return 1;
                }
            }
            return bindless_function_exported(index);
        }
    }
    return 0;
}

/* Returns whether the platform of owner has the function of this index. */
static int bindless_function_offered(int index, const void *owner)
{
    for (int e = 0; e < BINDLESS_EXTENSION_COUNT; e++) {
        if (bindless_extensions[e] == index) {
            return bindless_extension(e, owner) != NULL;
        }
    }
    return bindless_function_exported(index);
}

#endif
