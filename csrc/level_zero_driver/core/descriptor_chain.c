/* Checks of API structs and their pNext chains. */

#include "level_zero_driver/core/descriptor_chain.h"

#define MAX_CHAIN 64u

ze_result_t blz_descriptor(const void *descriptor, ze_structure_type_t stype, const char *name,
                           struct blz_extension *extensions, uint32_t count)
{
    ze_result_t result = blz_structure(descriptor, stype, name);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    for (const ze_base_desc_t *next = ((const ze_base_desc_t *)descriptor)->pNext; next != NULL; next = next->pNext) {
        uint32_t i = 0;
        while (i < count && extensions[i].stype != next->stype)
            i++;
        if (i == count)
            return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                            "%s: a struct with stype 0x%x is chained by pNext, which is not supported", name,
                            (unsigned)next->stype);
        if (extensions[i].address != NULL)
            return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%s: two structs with stype 0x%x are chained by pNext",
                            name, (unsigned)next->stype);
        extensions[i].address = next;
    }
    return ZE_RESULT_SUCCESS;
}

/* Refuses a cyclic chain. */
static ze_result_t check_chain(const ze_base_desc_t *head, const char *name)
{
    uint32_t length = 0;
    for (const ze_base_desc_t *next = head->pNext; next != NULL; next = next->pNext)
        if (++length > MAX_CHAIN)
            return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%s: more than %u structs are chained by pNext", name,
                            MAX_CHAIN);
    return ZE_RESULT_SUCCESS;
}

ze_result_t blz_structure(const void *structure, ze_structure_type_t stype, const char *name)
{
    const ze_base_desc_t *base = structure;
    if (base == NULL)
        return blz_fail_null(name);
    if (base->stype != stype)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%s: its stype is 0x%x, 0x%x is needed", name,
                        (unsigned)base->stype, (unsigned)stype);
    return check_chain(base, name);
}

ze_result_t blz_properties(const void *properties, ze_structure_type_t stype, const char *name)
{
    const ze_base_desc_t *base = properties;
    if (base == NULL)
        return blz_fail_null(name);
    return base->stype == stype ? check_chain(base, name) : ZE_RESULT_SUCCESS;
}

void *blz_property_chained(const void *properties, ze_structure_type_t own, ze_structure_type_t stype)
{
    const ze_base_properties_t *head = properties;
    ze_base_properties_t *next = head->stype == own ? head->pNext : NULL;
    while (next != NULL && next->stype != stype)
        next = next->pNext;
    return next;
}
