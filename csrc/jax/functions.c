/* The list of functions and kernels. */

#include "functions.h"

#include <stdlib.h>
#include <string.h>

#include "../reference/platform/threads.h"

static _Atomic(Entry *) first;
static blr_mutex_t lock = BLR_MUTEX_INIT; /* of those who add */

Entry *find_entry(Name name, int kernel)
{
    for (Entry *entry = atomic_load(&first); entry != NULL; entry = entry->next)
        if (strlen(entry->name) == name.length && memcmp(entry->name, name.text, name.length) == 0 &&
            (entry->image != NULL) == kernel)
            return entry;
    return NULL;
}

/* One allocation holds the entry, its name and its image. The lock is held. */
static int add_locked(const char *name, HostFunction function, const char *image, size_t size)
{
    size_t length = strlen(name);
    if (find_entry((Name){name, length}, image != NULL) != NULL)
        return 1;
    Entry *entry = calloc(1, sizeof *entry + length + 1 + size + 1);
    if (entry == NULL)
        return 0;
    char *text = (char *)(entry + 1);
    memcpy(text, name, length);
    entry->name = text;
    entry->function = function;
    if (image != NULL)
        entry->image = memcpy(text + length + 1, image, size);
    entry->next = atomic_load(&first);
    atomic_store(&first, entry);
    return 1;
}

static int add(const char *name, HostFunction function, const char *image, size_t size)
{
    blr_mutex_lock(&lock);
    const int done = add_locked(name, function, image, size);
    blr_mutex_unlock(&lock);
    return done;
}

int add_function(const char *name, HostFunction function)
{
    return add(name, function, NULL, 0);
}

int add_kernel(const char *name, const char *image, size_t size)
{
    return add(name, NULL, image, size);
}
