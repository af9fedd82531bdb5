/* Table of Intel GPUs: numbers that the compute runtime reports for them. */

#include "level_zero_driver/driver/identity.h"

#include <string.h>

#define IP_VERSION(architecture, release, revision) ((architecture) << 22 | (release) << 14 | (revision))

static const struct blz_identity identities[] = {
    {"arc_a770", "Intel(R) Arc(TM) A770 Graphics", 0x56a0, IP_VERSION(12u, 55u, 8u), 8, 4, 16, 8, 8},
    {"arc_b580", "Intel(R) Arc(TM) B580 Graphics", 0xe20b, IP_VERSION(20u, 1u, 4u), 5, 4, 8, 8, 16},
    {"flex_170", "Intel(R) Data Center GPU Flex 170", 0x56c0, IP_VERSION(12u, 55u, 8u), 8, 4, 16, 8, 8},
    {"iris_xe", "Intel(R) Iris(R) Xe Graphics", 0x9a49, IP_VERSION(12u, 0u, 0u), 1, 6, 16, 7, 8},
    {"max_1550", "Intel(R) Data Center GPU Max 1550", 0x0bd5, IP_VERSION(12u, 60u, 7u), 2, 64, 8, 8, 16},
    {"uhd_770", "Intel(R) UHD Graphics 770", 0x4680, IP_VERSION(12u, 2u, 0u), 1, 2, 16, 7, 8},
};

ze_result_t blz_identity_read(const char *key, const struct blz_identity **identity)
{
    *identity = NULL;
    if (key == NULL || *key == '\0')
        return ZE_RESULT_SUCCESS;
    for (size_t i = 0; i < sizeof identities / sizeof *identities; i++)
        if (strcmp(key, identities[i].key) == 0)
            *identity = &identities[i];
    if (*identity != NULL)
        return ZE_RESULT_SUCCESS;
    return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                    "BINDLESS_LEVEL_ZERO_IDENTITY is '%.60s': arc_a770, arc_b580, flex_170, iris_xe, max_1550 and uhd_770 are known", key);
}
