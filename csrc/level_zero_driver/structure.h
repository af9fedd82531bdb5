/* Descriptors and properties: their stype, and the structs chained to them by pNext. */
#ifndef BLZ_STRUCTURE_H
#define BLZ_STRUCTURE_H

#include "failure.h"

/* A struct that may be chained: its stype, and where to put its address. */
struct blz_extension {
    ze_structure_type_t stype;
    const void *found; /* set by blz_descriptor; NULL when the chain has none */
};

/* Checks a descriptor that has to be there: not NULL, the right stype, and a chain of known structs, each at most once. An unknown
 * one gives UNSUPPORTED_ENUMERATION, a chain without an end INVALID_ARGUMENT. name is that of the parameter. */
ze_result_t blz_descriptor(const void *descriptor, ze_structure_type_t stype, const char *name,
                           struct blz_extension *extensions, uint32_t count);

/* Checks a struct that has to be there: not NULL, the right stype, and a chain that ends. */
ze_result_t blz_structure(const void *structure, ze_structure_type_t stype, const char *name);

/* Checks a struct that receives properties: not NULL, and a chain that ends. The call says what the struct is: one whose stype
 * was left unset or is another is filled too, and its pNext is not looked at, since it may be as unset. What is chained is filled by
 * walking: unknown structs are left as they are. */
ze_result_t blz_properties(const void *properties, ze_structure_type_t stype, const char *name);

/* The first struct of this stype chained to a struct that blz_properties has checked with its own stype, or NULL. */
void *blz_property_chained(const void *properties, ze_structure_type_t own, ze_structure_type_t stype);

#endif
