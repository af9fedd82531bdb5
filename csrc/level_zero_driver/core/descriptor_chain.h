/* Descriptors and properties: checks of their stype and of the structs chained by pNext. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_CORE_DESCRIPTOR_CHAIN_H
#define BINDLESS_LEVEL_ZERO_DRIVER_CORE_DESCRIPTOR_CHAIN_H

#include "level_zero_driver/core/result.h"

/* A struct that can be chained: its stype, and the address that blz_descriptor finds. */
struct blz_extension {
    ze_structure_type_t stype;
    const void *address; /* set by blz_descriptor; NULL when not chained */
};

/* Checks a required descriptor: not NULL, the right stype, and a chain of known structs, each at most once. Fails
 * with UNSUPPORTED_ENUMERATION for an unknown struct, with INVALID_ARGUMENT for a cyclic chain. name is the
 * parameter's name. */
ze_result_t blz_descriptor(const void *descriptor, ze_structure_type_t stype, const char *name,
                           struct blz_extension *extensions, uint32_t count);

/* Checks a required struct: not NULL, the right stype, and a finite chain. */
ze_result_t blz_structure(const void *structure, ze_structure_type_t stype, const char *name);

/* Checks a struct that receives properties: not NULL, and a finite chain. The call determines the struct's type: a
 * struct with an unset or wrong stype is filled too, but its pNext is ignored, since it may be unset as well.
 * Unknown chained structs stay unchanged. */
ze_result_t blz_properties(const void *properties, ze_structure_type_t stype, const char *name);

/* Returns the first struct of this stype in the chain of a struct that blz_properties has checked, or NULL; own is
   the struct's right stype. */
void *blz_property_chained(const void *properties, ze_structure_type_t own, ze_structure_type_t stype);

#endif
