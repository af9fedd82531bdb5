/* Kernel queries: names, properties, attributes, group size suggestions. */
#include "level_zero_driver/core/two_call_query.h"
#include "level_zero_driver/module/kernel.h"
#include "level_zero_driver/core/descriptor_chain.h"

#include <stdio.h>
#include <string.h>

static uint32_t clamp(uint64_t size) { return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX; }

static void describe(const struct blz_kernel *kernel, ze_kernel_properties_t *properties)
{
    const blr_kernel_properties_t *is = &kernel->properties;
    const uint64_t hash = blz_module_sources_hash(&kernel->module->sources);
    const uint32_t lanes = is->sub_group_size;
    *properties = (ze_kernel_properties_t){
        .stype = properties->stype,
        .pNext = properties->pNext,
        .numKernelArgs = is->argument_count,
        .requiredGroupSizeX = is->required_work_group_size[0],
        .requiredGroupSizeY = is->required_work_group_size[1],
        .requiredGroupSizeZ = is->required_work_group_size[2],
        .requiredSubgroupSize = is->required_sub_group_size,
        .maxSubgroupSize = lanes,
        .maxNumSubgroups = (is->max_work_group_size + lanes - 1) / lanes,
        .localMemSize = clamp(is->local_memory_size),
        .privateMemSize = clamp(is->private_memory_size),
    };
    memcpy(properties->uuid.mid, &hash, sizeof hash);
    for (size_t i = 0; is->name[i] != '\0'; i++)
        properties->uuid.kid[i % sizeof properties->uuid.kid] =
            (uint8_t)(properties->uuid.kid[i % sizeof properties->uuid.kid] * 31u + (uint8_t)is->name[i]);
    ze_kernel_preferred_group_size_properties_t *preferred =
        blz_property_chained(properties, ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES, ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES);
    if (preferred != NULL)
        preferred->preferredMultiple = lanes;
    ze_kernel_max_group_size_properties_ext_t *largest =
        blz_property_chained(properties, ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES, ZE_STRUCTURE_TYPE_KERNEL_MAX_GROUP_SIZE_EXT_PROPERTIES);
    if (largest != NULL)
        largest->maxGroupSize = is->max_work_group_size;
}

ze_result_t zeKernelGetProperties(ze_kernel_handle_t handle, ze_kernel_properties_t *properties)
{
    struct blz_kernel *kernel;
    ze_result_t result = blz_kernel_acquire(handle, &kernel);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_properties(properties, ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES, "pKernelProperties");
    if (result == ZE_RESULT_SUCCESS)
        describe(kernel, properties);
    blz_kernel_release(kernel);
    return result;
}

ze_result_t zeKernelGetName(ze_kernel_handle_t handle, size_t *size, char *name)
{
    struct blz_kernel *kernel;
    ze_result_t result = blz_kernel_acquire(handle, &kernel);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_copy_out(kernel->properties.name, strlen(kernel->properties.name) + 1, size, name);
    blz_kernel_release(kernel);
    return result;
}

/* Source attributes of a kernel, from its SPIR-V module. */
ze_result_t zeKernelGetSourceAttributes(ze_kernel_handle_t handle, uint32_t *size, char **text)
{
    struct blz_kernel *kernel;
    ze_result_t result = blz_kernel_acquire(handle, &kernel);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    const uint32_t *required = kernel->properties.required_work_group_size;
    char attributes[120] = "";
    if (required[0] != 0)
        snprintf(attributes, sizeof attributes, "reqd_work_group_size(%u,%u,%u)", required[0], required[1], required[2]);
    if (kernel->properties.required_sub_group_size != 0) {
        const size_t used = strlen(attributes);
        snprintf(attributes + used, sizeof attributes - used, "%sintel_reqd_sub_group_size(%u)", used > 0 ? " " : "",
                 kernel->properties.required_sub_group_size);
    }
    if (size == NULL) {
        result = blz_fail_null("pSize");
    } else {
        size_t room = *size;
        result = blz_copy_out(attributes, strlen(attributes) + 1, &room, text != NULL ? *text : NULL);
        *size = (uint32_t)room;
    }
    blz_kernel_release(kernel);
    return result;
}
