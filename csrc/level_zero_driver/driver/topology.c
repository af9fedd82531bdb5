/* Parser of BINDLESS_LEVEL_ZERO_DEVICES and ZE_AFFINITY_MASK. */

#include "level_zero_driver/driver/topology.h"

#include <stdlib.h>
#include <string.h>

static ze_result_t read_devices(const char *text, struct blz_topology *topology)
{
    topology->devices = 1;
    topology->subdevices = 0;
    if (text == NULL || *text == '\0')
        return ZE_RESULT_SUCCESS;
    char *end;
    unsigned long devices = strtoul(text, &end, 10), subdevices = 0;
    if (*end == 'x')
        subdevices = strtoul(end + 1, &end, 10);
    if (*end != '\0' || *text == '-' || devices < 1 || devices > BLZ_TOPOLOGY_LIMIT || subdevices > BLZ_TOPOLOGY_LIMIT)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                        "BINDLESS_LEVEL_ZERO_DEVICES is '%.60s': D or DxS is needed, D devices from 1 to %u of S sub-devices from 0 "
                        "to %u each",
                        text, BLZ_TOPOLOGY_LIMIT, BLZ_TOPOLOGY_LIMIT);
    topology->devices = (uint32_t)devices;
    topology->subdevices = (uint32_t)subdevices;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t read_hierarchy(const char *text, struct blz_topology *topology)
{
    static const char *const names[] = {[BLZ_COMPOSITE] = "COMPOSITE", [BLZ_FLAT] = "FLAT", [BLZ_COMBINED] = "COMBINED"};
    topology->hierarchy = BLZ_COMPOSITE;
    if (text == NULL || *text == '\0')
        return ZE_RESULT_SUCCESS;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            topology->hierarchy = (enum blz_hierarchy)i;
            return ZE_RESULT_SUCCESS;
        }
    return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "ZE_FLAT_DEVICE_HIERARCHY is '%.60s': COMPOSITE, FLAT or COMBINED is needed", text);
}

static uint64_t all_of(uint32_t count) { return count >= 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1; }

/* Parses one ordinal of the mask: spaces, a number, optionally a point and a number. */
static void include(const char *text, struct blz_topology *topology)
{
    char *end, *last;
    unsigned long device = strtoul(text, &end, 10);
    if (end == text)
        return;
    if (topology->hierarchy != BLZ_COMPOSITE && topology->subdevices > 0) {
        if (*end != '.' && device / topology->subdevices < topology->devices)
            topology->included[device / topology->subdevices] |= (uint64_t)1 << device % topology->subdevices;
        return;
    }
    if (device >= topology->devices)
        return;
    if (*end != '.') {
        topology->whole[device] = true;
        topology->included[device] = all_of(topology->subdevices);
        return;
    }
    unsigned long subdevice = strtoul(end + 1, &last, 10);
    if (last != end + 1 && subdevice < topology->subdevices)
        topology->included[device] |= (uint64_t)1 << subdevice;
}

ze_result_t blz_topology_read(const char *devices, const char *hierarchy, const char *mask, struct blz_topology *topology)
{
    memset(topology, 0, sizeof *topology);
    ze_result_t result = read_devices(devices, topology);
    if (result == ZE_RESULT_SUCCESS)
        result = read_hierarchy(hierarchy, topology);
    if (result == ZE_RESULT_SUCCESS && topology->hierarchy != BLZ_COMPOSITE && topology->devices * topology->subdevices > BLZ_TOPOLOGY_LIMIT)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "BINDLESS_LEVEL_ZERO_DEVICES asks for %u sub-devices, which ZE_FLAT_DEVICE_HIERARCHY makes devices: %u are possible",
                          topology->devices * topology->subdevices, BLZ_TOPOLOGY_LIMIT);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (mask == NULL || mask[strspn(mask, " ")] == '\0') {
        for (uint32_t d = 0; d < topology->devices; d++) {
            topology->whole[d] = true;
            topology->included[d] = all_of(topology->subdevices);
        }
        return ZE_RESULT_SUCCESS;
    }
    for (const char *entry = mask; entry != NULL; entry = strchr(entry, ',')) {
        entry += *entry == ',';
        include(entry, topology);
    }
    return ZE_RESULT_SUCCESS;
}
