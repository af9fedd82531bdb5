/* The table of function pointers of one driver library, opened at run time.
 *
 * Each generated wrapper source includes this file after it has defined BINDLESS_FUNCTION_COUNT and
 * bindless_entries[] (public name, exported symbol). Everything is static: an extension module holds one table. The
 * caller loads the table once, under a lock, before any wrapper is called; afterwards it is read-only. */
#ifndef BINDLESS_DRIVER_CALLS_FUNCTION_TABLE_H
#define BINDLESS_DRIVER_CALLS_FUNCTION_TABLE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if defined(_WIN32)
#  ifndef WIN32_LEAN_AND_MEAN
#    define WIN32_LEAN_AND_MEAN
#  endif
#  include <windows.h>
#else
#  include <dlfcn.h>
#endif

typedef void (*bindless_function_t)(void);

static bindless_function_t bindless_slots[BINDLESS_FUNCTION_COUNT];
static void *bindless_library;

/* ISO C has no conversion between object and function pointers; their bytes are the same on every system here. */
static inline bindless_function_t bindless_as_function(void *address)
{
    bindless_function_t function = NULL;
    memcpy(&function, &address, sizeof function);
    return function;
}

#if defined(_WIN32)

static void bindless_system_error(char *message, size_t size)
{
    DWORD code = GetLastError();
    DWORD flags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
    DWORD length = FormatMessageA(flags, NULL, code, 0, message, (DWORD)size, NULL);
    while (length > 0 && (message[length - 1] == '\n' || message[length - 1] == '\r' || message[length - 1] == ' ')) {
        message[--length] = '\0';
    }
    if (length == 0) {
        snprintf(message, size, "Windows error %lu", (unsigned long)code);
    }
}

static void *bindless_open_library(const char *path, char *message, size_t size)
{
    wchar_t wide[4096];
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, 4096) == 0) {
        snprintf(message, size, "the path is not valid UTF-8 or longer than 4095 characters");
        return NULL;
    }
    /* Neither flag searches the current directory or PATH. */
    DWORD flags = LOAD_LIBRARY_SEARCH_DEFAULT_DIRS;
    if (strchr(path, '\\') != NULL || strchr(path, '/') != NULL) {
        flags |= LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR;
    }
    void *library = (void *)LoadLibraryExW(wide, NULL, flags);
    if (library == NULL) {
        bindless_system_error(message, size);
    }
    return library;
}

static bindless_function_t bindless_find_symbol(void *library, const char *symbol)
{
    return (bindless_function_t)GetProcAddress((HMODULE)library, symbol);
}

static void bindless_close_library(void *library)
{
    FreeLibrary((HMODULE)library);
}

static int bindless_path_of(bindless_function_t function, char *path, size_t size)
{
    (void)function;
    wchar_t wide[4096];
    DWORD length = GetModuleFileNameW((HMODULE)bindless_library, wide, 4096);
    if (length == 0 || length == 4096) {
        return 0;
    }
    return WideCharToMultiByte(CP_UTF8, 0, wide, -1, path, (int)size, NULL, NULL) != 0;
}

#else

static void *bindless_open_library(const char *path, char *message, size_t size)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        snprintf(message, size, "%s", reason != NULL ? reason : "the system gave no reason");
    }
    return library;
}

static bindless_function_t bindless_find_symbol(void *library, const char *symbol)
{
    return bindless_as_function(dlsym(library, symbol));
}

static void bindless_close_library(void *library)
{
    dlclose(library);
}

static int bindless_path_of(bindless_function_t function, char *path, size_t size)
{
    void *address = NULL;
    Dl_info info;
    memcpy(&address, &function, sizeof address);
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL) {
        return 0;
    }
    snprintf(path, size, "%s", info.dli_fname);
    return 1;
}

#endif

/* Opens a library and looks up every function. Returns 1; or 0 with the system's reason in message. */
static int bindless_open(const char *path, char *message, size_t size)
{
    void *library = bindless_open_library(path, message, size);
    if (library == NULL) {
        return 0;
    }
    for (int index = 0; index < BINDLESS_FUNCTION_COUNT; index++) {
        bindless_slots[index] = bindless_find_symbol(library, bindless_entries[index].symbol);
    }
    bindless_library = library;
    return 1;
}

/* Closes a library that is not this driver. None of its objects may be alive. */
static void bindless_close(void)
{
    if (bindless_library != NULL) {
        memset(bindless_slots, 0, sizeof bindless_slots);
        bindless_close_library(bindless_library);
        bindless_library = NULL;
    }
}

/* Returns 1 and the path of the open library; 0 where the system does not report it. */
static int bindless_path(char *path, size_t size)
{
    for (int index = 0; index < BINDLESS_FUNCTION_COUNT; index++) {
        if (bindless_slots[index] != NULL) {
            return bindless_path_of(bindless_slots[index], path, size);
        }
    }
    return 0;
}

static int bindless_is_open(void)
{
    return bindless_library != NULL;
}

static int bindless_function_count(void)
{
    return BINDLESS_FUNCTION_COUNT;
}

static const char *bindless_function_name(int index)
{
    return index >= 0 && index < BINDLESS_FUNCTION_COUNT ? bindless_entries[index].name : NULL;
}

static const char *bindless_function_symbol(int index)
{
    return index >= 0 && index < BINDLESS_FUNCTION_COUNT ? bindless_entries[index].symbol : NULL;
}

static int bindless_function_exported(int index)
{
    return index >= 0 && index < BINDLESS_FUNCTION_COUNT && bindless_slots[index] != NULL;
}

/* Stores three numbers and does nothing else: benchmarks compare the wrappers with cffi's own cost of a call. */
static int bindless_trivial(uint32_t *first, uint32_t *second, uint32_t *third)
{
    *first = 0;
    *second = 1;
    *third = 0;
    return 0;
}

#endif
