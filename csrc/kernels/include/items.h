/* A kernel's work: every work-item takes the items at its own index and then every global size further on, two at a
 * time; any launch covers any count. Each step is done for both items before the next one begins, so that their memory
 * accesses are under way together. LOAD(i) reads item i's arguments, DO(arguments) accesses the image, and
 * PUT(i, result, together) converts and stores; together says that the row of lanes around item i stores as one. */
#ifndef BINDLESS_KERNELS_ITEMS_H
#define BINDLESS_KERNELS_ITEMS_H

#include "blob.h"

#define FOR_ITEMS(COUNT, ARGUMENTS, LOAD, RESULT, DO, PUT)                                                             \
    do {                                                                                                               \
        const ulong step = bindless_global_size(0);                                                                    \
        const uint lane = (uint)bindless_local_id(0) % LANES;                                                          \
        ulong i = bindless_global_id(0);                                                                               \
        for (; i + step < (COUNT); i += 2 * step) {                                                                    \
            const bool together = i - lane + (LANES - 1) + step < (COUNT);                                             \
            ARGUMENTS first_arguments = LOAD(i);                                                                       \
            ARGUMENTS second_arguments = LOAD(i + step);                                                               \
            RESULT first = DO(first_arguments);                                                                        \
            RESULT second = DO(second_arguments);                                                                      \
            PUT(i, first, together);                                                                                   \
            PUT(i + step, second, together);                                                                           \
        }                                                                                                              \
        if (i < (COUNT)) {                                                                                             \
            /* No lane of the row is past the end, and none took this item's place in the loop. */                     \
            const bool together = i - lane + (LANES - 1) < (COUNT) && i - lane + step >= (COUNT);                      \
            ARGUMENTS last_arguments = LOAD(i);                                                                        \
            RESULT last = DO(last_arguments);                                                                          \
            PUT(i, last, together);                                                                                    \
        }                                                                                                              \
    } while (0)

#endif
