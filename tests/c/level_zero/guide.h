/* The Level Zero programming guide as a program: each section's sequence of calls, on the first device that the
 * loader finds. It uses only the loader's own header, of API version 1.4 or newer. */
#ifndef GUIDE_H
#define GUIDE_H

#include <level_zero/ze_api.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern ze_driver_handle_t driver;
extern ze_device_handle_t device;
extern ze_context_handle_t context;
extern uint32_t compute_ordinal; /* of a compute command queue group */
extern uint32_t copy_ordinal;    /* of a copy-only group, where one exists */
extern const char *program;      /* the path of this program */

/* Prints an error and ends the program with status 1. */
void guide_failed(const char *file, int line, const char *what, unsigned result);

/* The call succeeds; the condition holds. */
#define OK(call)                                                                                                       \
    do {                                                                                                               \
        ze_result_t result_ = (call);                                                                                  \
        if (result_ != ZE_RESULT_SUCCESS)                                                                              \
            guide_failed(__FILE__, __LINE__, #call, (unsigned)result_);                                                \
    } while (0)
#define HOLDS(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            guide_failed(__FILE__, __LINE__, #condition, 0);                                                           \
    } while (0)

/* Fills count numbers at the address: the command of guide sequences whose kernel does not matter. */
void append_work(ze_command_list_handle_t list, uint32_t *numbers, uint32_t value, uint32_t count, ze_event_handle_t signal,
                 uint32_t wait_count, ze_event_handle_t *waits);
bool all_are(const uint32_t *numbers, uint32_t value, uint32_t count);

/* Common set-up of the sections. */
ze_command_queue_handle_t make_queue(void);
ze_command_list_handle_t make_list(void);
uint32_t *make_numbers(uint32_t count);
ze_event_pool_handle_t make_pool(ze_event_pool_flags_t flags, uint32_t count);
ze_event_handle_t make_event(ze_event_pool_handle_t pool, uint32_t index);
void run_list(ze_command_queue_handle_t queue, ze_command_list_handle_t list); /* closes, executes, waits */

/* Sections, by their names on the command line. */
#define SECTIONS(X)                                                                                                    \
    X(discovery)                                                                                                       \
    X(contexts)                                                                                                        \
    X(memory)                                                                                                          \
    X(reserved_memory)                                                                                                 \
    X(queue_groups)                                                                                                    \
    X(command_lists)                                                                                                   \
    X(immediate_lists)                                                                                                 \
    X(fences)                                                                                                          \
    X(events)                                                                                                          \
    X(timestamps)                                                                                                      \
    X(barriers)                                                                                                        \
    X(residency)                                                                                                       \
    X(subdevices)                                                                                                      \
    X(processes)                                                                                                       \
    X(peers)                                                                                                           \
    X(images)                                                                                                          \
    X(image_scaling)                                                                                                   \
    X(samplers)                                                                                                        \
    X(external_memory)                                                                                                 \
    X(build_options)                                                                                                   \
    X(specialization_constants)                                                                                        \
    X(build_log)                                                                                                       \
    X(dynamic_link)                                                                                                    \
    X(native_binaries)                                                                                                 \
    X(kernels)                                                                                                         \
    X(arguments)                                                                                                       \
    X(indirect_launches)                                                                                               \
    X(cooperative_launches)                                                                                            \
    X(indirect_access)                                                                                                 \
    X(printing)                                                                                                        \
    X(unfinished)

#define DECLARE_SECTION(name) void section_##name(void);
SECTIONS(DECLARE_SECTION)

/* The part of a section that runs in a second process. */
void other_process(void);

#endif
