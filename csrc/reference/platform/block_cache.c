/* Cache of freed blocks, by size class. */
#include "platform/heap.h"

#include "platform/threads.h"

#include <string.h>

#define SMALLEST 256u
#define CLASSES 6u        /* 256 bytes to 8 KiB; larger blocks are not cached */
#define KEPT_OF_CLASS 64u

/* Header in front of each block. */
union head {
    struct {
        union head *next; /* next cached block of the class */
        size_t class;
    } of;
    _Alignas(16) unsigned char alignment[16];
};

static struct {
    blr_mutex_t mutex;
    union head *first[CLASSES];
    uint32_t count[CLASSES];
} store = {.mutex = BLR_MUTEX_INIT};

static union head *take(size_t class)
{
#if defined(BLR_TESTING)
    if (blr_allocate_will_fail())
        return NULL;
#endif
    if (class == CLASSES)
        return NULL;
    blr_mutex_lock(&store.mutex);
    union head *head = store.first[class];
    if (head != NULL) {
        store.first[class] = head->of.next;
        store.count[class]--;
    }
    blr_mutex_unlock(&store.mutex);
    return head;
}

static size_t class_of(size_t size)
{
    size_t class = 0;
    while (class < CLASSES && size > (size_t)SMALLEST << class)
        class++;
    return class;
}

void *blr_block_new(size_t size)
{
    const size_t class = class_of(size);
    union head *head = take(class);
    if (head != NULL)
        memset(head + 1, 0, size);
    else if ((head = blr_new(sizeof *head + (class < CLASSES ? (size_t)SMALLEST << class : size))) == NULL)
        return NULL;
    head->of.class = class;
    return head + 1;
}

void blr_block_delete(void *block)
{
    if (block == NULL)
        return;
    union head *head = (union head *)block - 1;
    const size_t class = head->of.class;
    if (class < CLASSES) {
        blr_mutex_lock(&store.mutex);
        if (store.count[class] < KEPT_OF_CLASS) {
            head->of.next = store.first[class];
            store.first[class] = head;
            store.count[class]++;
            head = NULL;
        }
        blr_mutex_unlock(&store.mutex);
    }
    blr_delete(head);
}
