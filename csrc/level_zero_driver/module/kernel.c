/* Kernels: creation and destruction. */

#include "level_zero_driver/module/kernel.h"

#include "level_zero_driver/core/descriptor_chain.h"

ze_result_t blz_kernel_acquire(ze_kernel_handle_t handle, struct blz_kernel **kernel)
{
    return blz_acquire(handle, BLR_KIND_ZE_KERNEL, kernel);
}

static void destroy(struct blr_object *object)
{
    struct blz_kernel *kernel = (struct blz_kernel *)object;
    for (uint32_t i = 0; kernel->arguments != NULL && i < kernel->properties.argument_count; i++) {
        blr_delete(kernel->arguments[i].value);
        if (kernel->arguments[i].resource != NULL)
            blr_object_release(kernel->arguments[i].resource);
    }
    blr_delete(kernel->arguments);
    if (kernel->native != NULL)
        blrKernelDestroy(kernel->native);
    blz_module_release(kernel->module);
    blr_mutex_destroy(&kernel->mutex);
    blr_delete(kernel);
}

static ze_result_t prepare_arguments(struct blz_kernel *kernel)
{
    kernel->arguments = blr_new((kernel->properties.argument_count + 1u) * sizeof *kernel->arguments);
    if (kernel->arguments == NULL)
        return blz_fail_memory("the arguments of a kernel");
    for (uint32_t i = 0; i < kernel->properties.argument_count; i++) {
        struct blz_argument *argument = &kernel->arguments[i];
        ze_result_t result = blz_result(blrKernelGetArgument(kernel->native, i, &argument->is));
        if (result != ZE_RESULT_SUCCESS)
            return result;
        argument->value = blr_new((size_t)argument->is.size + 1);
        if (argument->value == NULL)
            return blz_fail_memory("an argument of a kernel");
    }
    return ZE_RESULT_SUCCESS;
}

/* Sets the default group size: the size that the kernel requires, else one work-item. */
static void choose_group(struct blz_kernel *kernel)
{
    for (int c = 0; c < 3; c++)
        kernel->group[c] = kernel->properties.required_work_group_size[0] != 0
                               ? kernel->properties.required_work_group_size[c]
                               : 1;
}

static ze_result_t create(struct blz_module *module, const char *name, ze_kernel_handle_t *handle)
{
    struct blz_kernel *kernel = blr_new(sizeof *kernel);
    if (kernel == NULL)
        return blz_fail_memory("a kernel");
    kernel->module = module;
    blr_object_retain(&module->object);
    blr_mutex_init(&kernel->mutex);
    blr_result_t created = blrKernelCreate(blz_module_native(module), name, &kernel->native);
    ze_result_t result = created == BLR_RESULT_INVALID_ARGUMENT ? ZE_RESULT_ERROR_INVALID_KERNEL_NAME
                         : created == BLR_RESULT_OUT_OF_MEMORY  ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                                                              : blz_result(created);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_result(blrKernelGetProperties(kernel->native, &kernel->properties));
    if (result == ZE_RESULT_SUCCESS)
        result = prepare_arguments(kernel);
    if (result == ZE_RESULT_SUCCESS) {
        choose_group(kernel);
        return blz_register(&kernel->object, BLR_KIND_ZE_KERNEL, destroy, handle);
    }
    destroy(&kernel->object);
    return result;
}

/* Whether a kernel calls what its module imports; those that do not need no link. */
static bool calls_imports(struct blz_module *module, const char *name)
{
    struct blr_module *native = blr_module_acquire(module->native);
    const struct blr_module_kernel *kernel = blr_module_find_kernel(native, name);
    const bool result = kernel != NULL && kernel->program == NULL;
    blr_object_release(&native->object);
    return result;
}

ze_result_t zeKernelCreate(ze_module_handle_t module_handle, const ze_kernel_desc_t *desc, ze_kernel_handle_t *handle)
{
    struct blz_module *module;
    ze_result_t result = blz_module_acquire(module_handle, &module);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_KERNEL_DESC, "desc", NULL, 0);
    if (result == ZE_RESULT_SUCCESS && (desc->flags & ~(uint32_t)(ZE_KERNEL_FLAG_FORCE_RESIDENCY | ZE_KERNEL_FLAG_EXPLICIT_RESIDENCY)) != 0)
        result = blz_fail_enumeration("desc->flags", desc->flags,
                                      "ZE_KERNEL_FLAG_FORCE_RESIDENCY (1) and ZE_KERNEL_FLAG_EXPLICIT_RESIDENCY (2) are known");
    if (result == ZE_RESULT_SUCCESS && (desc->pKernelName == NULL || handle == NULL))
        result = blz_fail_null(handle == NULL ? "phKernel" : "desc->pKernelName");
    if (result == ZE_RESULT_SUCCESS && module->imports && module->linked == NULL && calls_imports(module, desc->pKernelName))
        result = blz_fail(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED,
                          "the module imports functions or variables: call zeModuleDynamicLink with the modules that export them");
    if (result == ZE_RESULT_SUCCESS)
        result = create(module, desc->pKernelName, handle);
    blz_module_release(module);
    return result;
}

ze_result_t zeKernelDestroy(ze_kernel_handle_t handle) { return blz_destroy(handle, BLR_KIND_ZE_KERNEL); }
