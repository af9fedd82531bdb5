/* A kernel's work: every work-item takes the items at its own index and then every global size further on, two at a
 * time; any launch covers any count. Each step is done for both items before the next one begins, so that their memory
 * accesses are under way together. LOAD(i) reads item i's arguments, DO(arguments) accesses the image, PUT(i, result)
 * converts and stores. */
#ifndef BINDLESS_KERNELS_ITEMS_H
#define BINDLESS_KERNELS_ITEMS_H

#define FOR_ITEMS(COUNT, ARGUMENTS, LOAD, RESULT, DO, PUT)                                                             \
    do {                                                                                                               \
        const ulong step = bindless_global_size(0);                                                                    \
        ulong i = bindless_global_id(0);                                                                               \
        for (; i + step < (COUNT); i += 2 * step) {                                                                    \
            ARGUMENTS first_arguments = LOAD(i);                                                                       \
            ARGUMENTS second_arguments = LOAD(i + step);                                                               \
            RESULT first = DO(first_arguments);                                                                        \
            RESULT second = DO(second_arguments);                                                                      \
            PUT(i, first);                                                                                             \
            PUT(i + step, second);                                                                                     \
        }                                                                                                              \
        if (i < (COUNT)) {                                                                                             \
            ARGUMENTS last_arguments = LOAD(i);                                                                        \
            RESULT last = DO(last_arguments);                                                                          \
            PUT(i, last);                                                                                              \
        }                                                                                                              \
    } while (0)

#endif
