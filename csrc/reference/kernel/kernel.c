/* Kernels: creation, properties, arguments, and the cache of their workers. */
#include "kernel/module.h"

#include "platform/heap.h"
#include "spirv/execute/interpreter.h"

#include <stdio.h>
#include <string.h>

#define MAX_WORK_GROUP_SIZE 1024u
#define MOST_GROUP_BYTES ((uint64_t)64 << 20) /* most bytes of registers and memory of one work-group */
#define MOST_IDLE_BYTES ((uint64_t)4 << 20)   /* most bytes of idle workers that a kernel caches */

struct blr_kernel *blr_kernel_acquire(blr_kernel_t handle)
{
    return (struct blr_kernel *)blr_object_acquire(blr_handle_id(handle), BLR_KIND_KERNEL);
}

void blr_kernel_release(struct blr_kernel *kernel) { blr_object_release(&kernel->object); }

static void destroy(struct blr_object *object)
{
    struct blr_kernel *kernel = (struct blr_kernel *)object;
    for (struct blr_spirv_worker *worker = kernel->idle, *next; worker != NULL; worker = next) {
        next = worker->next;
        blr_spirv_worker_free(worker);
    }
    blr_mutex_destroy(&kernel->mutex);
    blr_object_release(&kernel->module->object);
    blr_delete(kernel);
}

/* ---------------------------------------------------------------- workers */

struct blr_spirv_worker *blr_kernel_take_worker(struct blr_kernel *kernel, struct blr_spirv_launch *launch)
{
    blr_mutex_lock(&kernel->mutex);
    struct blr_spirv_worker **link = &kernel->idle, *worker;
    while ((worker = *link) != NULL && !blr_spirv_worker_fits(worker, launch))
        link = &worker->next;
    if (worker != NULL) {
        *link = worker->next;
        kernel->idle_bytes -= blr_spirv_worker_bytes(worker);
    }
    blr_mutex_unlock(&kernel->mutex);
    if (worker == NULL)
        return blr_spirv_worker_new(launch);
    blr_spirv_worker_start(worker, launch);
    return worker;
}

void blr_kernel_leave_worker(struct blr_kernel *kernel, struct blr_spirv_worker *worker)
{
    const uint64_t bytes = blr_spirv_worker_bytes(worker);
    blr_spirv_worker_rest(worker);
    blr_mutex_lock(&kernel->mutex);
    const bool fits = kernel->idle_bytes + bytes <= MOST_IDLE_BYTES;
    if (fits) {
        worker->next = kernel->idle;
        kernel->idle = worker;
        kernel->idle_bytes += bytes;
    }
    blr_mutex_unlock(&kernel->mutex);
    if (!fits)
        blr_spirv_worker_free(worker);
}

/* ---------------------------------------------------------------- kernels */

/* Largest work-group of a kernel. Groups that wait at barriers have the registers of all their work-items allocated
 * at once. */
static uint32_t largest_group(const struct blr_spirv_program *program)
{
    if (!program->has_barriers && !program->uses_local)
        return MAX_WORK_GROUP_SIZE;
    uint64_t batch = program->register_bytes + program->private_bytes * BLR_LANES + 1;
    uint64_t size = MOST_GROUP_BYTES / batch * BLR_LANES;
    return size < BLR_LANES ? BLR_LANES : size < MAX_WORK_GROUP_SIZE ? (uint32_t)size : MAX_WORK_GROUP_SIZE;
}

static blr_result_t create(struct blr_module *module, const char *name, blr_kernel_t *handle)
{
    if (handle == NULL || name == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "name or kernel is NULL: a name and an output pointer are "
                                                     "required");
    *handle = NULL;
    const struct blr_module_kernel *entry = blr_module_find_kernel(module, name);
    if (entry == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "no kernel is named '%.200s'; the module has %u", name,
                        module->kernel_count);
    const struct blr_spirv_program *program = entry->program;
    if (program == NULL)
        return blr_fail(BLR_RESULT_BUILD_FAILED, "the kernel '%.200s' imports functions or variables of other "
                                                 "modules: link its module with the modules that define them", name);
    struct blr_kernel *kernel = blr_new(sizeof *kernel);
    if (kernel == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for a kernel");
    blr_mutex_init(&kernel->mutex);
    kernel->program = program;
    kernel->max_work_group_size = largest_group(program);
    blr_result_t result = blr_object_register(&kernel->object, BLR_KIND_KERNEL, destroy);
    if (result != BLR_RESULT_SUCCESS) {
        blr_mutex_destroy(&kernel->mutex);
        blr_delete(kernel);
        return result;
    }
    blr_object_retain(&module->object);
    kernel->module = module;
    *handle = (blr_kernel_t)(uintptr_t)kernel->object.id;
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrKernelCreate(blr_module_t module_handle, const char *name, blr_kernel_t *kernel)
{
    struct blr_module *module = blr_module_acquire(module_handle);
    if (module == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = create(module, name, kernel);
    blr_object_release(&module->object);
    return result;
}

blr_result_t blrKernelDestroy(blr_kernel_t handle)
{
    struct blr_kernel *kernel = blr_kernel_acquire(handle);
    if (kernel == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    bool first = blr_object_close(&kernel->object);
    blr_kernel_release(kernel);
    if (!first)
        return blr_fail(BLR_RESULT_INVALID_HANDLE, "the kernel was destroyed by another thread");
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrKernelGetProperties(blr_kernel_t handle, blr_kernel_properties_t *properties)
{
    struct blr_kernel *kernel = blr_kernel_acquire(handle);
    if (kernel == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (properties == NULL) {
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "properties is NULL: an output pointer is required");
    } else {
        const struct blr_spirv_program *program = kernel->program;
        *properties = (blr_kernel_properties_t){.name = program->entry->name,
                                                .argument_count = program->argument_count,
                                                .max_work_group_size = kernel->max_work_group_size,
                                                .sub_group_size = program->sub_group_size,
                                                .required_sub_group_size = program->entry->sub_group_size,
                                                .local_memory_size = program->uses_local ? program->local_bytes : 0,
                                                .private_memory_size = program->private_bytes};
        memcpy(properties->required_work_group_size, program->entry->local_size, sizeof program->entry->local_size);
    }
    blr_kernel_release(kernel);
    return result;
}

blr_result_t blrKernelGetArgument(blr_kernel_t handle, uint32_t index, blr_kernel_argument_t *argument)
{
    struct blr_kernel *kernel = blr_kernel_acquire(handle);
    if (kernel == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    const struct blr_spirv_program *program = kernel->program;
    if (argument == NULL)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "argument is NULL: an output pointer is required");
    else if (index >= program->argument_count)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "argument %u does not exist: kernel '%.80s' has %u", index,
                          program->entry->name, program->argument_count);
    else
        *argument = (blr_kernel_argument_t){.kind = (blr_argument_kind_t)program->arguments[index].kind,
                                            .name = program->arguments[index].name,
                                            .size = program->arguments[index].size};
    blr_kernel_release(kernel);
    return result;
}

/* ---------------------------------------------------------------- native code */

blr_result_t blrKernelGetNativeText(blr_kernel_t handle, char *text, uint64_t *size)
{
    struct blr_kernel *kernel = blr_kernel_acquire(handle);
    if (kernel == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (size == NULL) {
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "size is NULL: an output pointer is required");
    } else {
        char *whole = blr_native_text(kernel->program);
        const uint64_t bytes = whole == NULL ? 0 : strlen(whole) + 1;
        if (text != NULL && bytes > *size)
            result = blr_fail(BLR_RESULT_INVALID_SIZE, "the text needs more room than it was given");
        else if (text != NULL && bytes > 0)
            memcpy(text, whole, bytes);
        *size = bytes;
        blr_delete(whole);
    }
    blr_kernel_release(kernel);
    return result;
}

blr_result_t blrKernelSetNative(blr_kernel_t handle, void *slot)
{
    struct blr_kernel *kernel = blr_kernel_acquire(handle);
    if (kernel == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    atomic_store(&kernel->native, slot);
    blr_kernel_release(kernel);
    return BLR_RESULT_SUCCESS;
}
