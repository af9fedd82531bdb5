/* guide [SECTION...]: runs the named sections, or all, and prints each that succeeds. guide --devices prints the
   devices. */
#include "guide.h"

ze_driver_handle_t driver;
ze_device_handle_t device;
ze_context_handle_t context;
uint32_t compute_ordinal, copy_ordinal;
const char *program;

void guide_failed(const char *file, int line, const char *what, unsigned result)
{
    fprintf(stderr, "%s:%d: %s", file, line, what);
    if (result != 0)
        fprintf(stderr, " gives 0x%x", result);
    fprintf(stderr, "\n");
    fflush(stderr);
    _Exit(1);
}

/* ---------------------------------------------------------------- shared by the sections */

void append_work(ze_command_list_handle_t list, uint32_t *numbers, uint32_t value, uint32_t count, ze_event_handle_t signal,
                 uint32_t wait_count, ze_event_handle_t *waits)
{
    OK(zeCommandListAppendMemoryFill(list, numbers, &value, sizeof value, count * sizeof value, signal, wait_count, waits));
}

bool all_are(const uint32_t *numbers, uint32_t value, uint32_t count)
{
    bool same = true;
    for (uint32_t i = 0; i < count; i++)
        same = same && numbers[i] == value;
    return same;
}

ze_command_queue_handle_t make_queue(void)
{
    ze_command_queue_desc_t desc = {
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, compute_ordinal, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    ze_command_queue_handle_t queue = NULL;
    OK(zeCommandQueueCreate(context, device, &desc, &queue));
    return queue;
}

ze_command_list_handle_t make_list(void)
{
    ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, compute_ordinal, 0};
    ze_command_list_handle_t list = NULL;
    OK(zeCommandListCreate(context, device, &desc, &list));
    return list;
}

uint32_t *make_numbers(uint32_t count)
{
    ze_device_mem_alloc_desc_t device_desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
    ze_host_mem_alloc_desc_t host_desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    void *numbers = NULL;
    OK(zeMemAllocShared(context, &device_desc, &host_desc, count * sizeof(uint32_t), sizeof(uint32_t), device, &numbers));
    memset(numbers, 0, count * sizeof(uint32_t));
    return numbers;
}

ze_event_pool_handle_t make_pool(ze_event_pool_flags_t flags, uint32_t count)
{
    ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, flags, count};
    ze_event_pool_handle_t pool = NULL;
    OK(zeEventPoolCreate(context, &desc, 0, NULL, &pool));
    return pool;
}

ze_event_handle_t make_event(ze_event_pool_handle_t pool, uint32_t index)
{
    ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, index, 0, ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t event = NULL;
    OK(zeEventCreate(pool, &desc, &event));
    return event;
}

void run_list(ze_command_queue_handle_t queue, ze_command_list_handle_t list)
{
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
}

/* ---------------------------------------------------------------- start and end */

/* The first driver that has a device, its first device, and its command queue groups. */
static void open_device(void)
{
    uint32_t driver_count = 0, device_count = 0, group_count = 0;
    OK(zeInit(0));
    OK(zeDriverGet(&driver_count, NULL));
    HOLDS(driver_count > 0);
    ze_driver_handle_t *drivers = calloc(driver_count, sizeof *drivers);
    OK(zeDriverGet(&driver_count, drivers));
    for (uint32_t i = 0; i < driver_count && device_count == 0; i++) {
        driver = drivers[i];
        OK(zeDeviceGet(driver, &device_count, NULL));
    }
    free(drivers);
    HOLDS(device_count > 0);
    device_count = 1;
    OK(zeDeviceGet(driver, &device_count, &device));
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    OK(zeContextCreate(driver, &desc, &context));
    OK(zeDeviceGetCommandQueueGroupProperties(device, &group_count, NULL));
    ze_command_queue_group_properties_t *groups = calloc(group_count, sizeof *groups);
    for (uint32_t i = 0; i < group_count; i++)
        groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    OK(zeDeviceGetCommandQueueGroupProperties(device, &group_count, groups));
    compute_ordinal = copy_ordinal = group_count;
    for (uint32_t i = group_count; i-- > 0;) {
        if (groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE)
            compute_ordinal = i;
        else if (groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY)
            copy_ordinal = i;
    }
    HOLDS(compute_ordinal < group_count);
    if (copy_ordinal == group_count)
        copy_ordinal = compute_ordinal;
    free(groups);
}

/* One line per device: "DEVICE: UUID UUID...", of the device and its sub-devices. */
static int tell_devices(void)
{
    uint32_t driver_count = 1, count = 0;
    const char *hierarchy = getenv("ZE_FLAT_DEVICE_HIERARCHY");
    const bool combined = hierarchy != NULL && strcmp(hierarchy, "COMBINED") == 0; /* the devices are sub-devices */
    OK(zeInit(0));
    OK(zeDriverGet(&driver_count, &driver));
    OK(zeDeviceGet(driver, &count, NULL));
    ze_device_handle_t *devices = calloc(count + 1, sizeof *devices);
    OK(zeDeviceGet(driver, &count, devices));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t part_count = 0;
        OK(zeDeviceGetSubDevices(devices[i], &part_count, NULL));
        ze_device_handle_t *parts = calloc(part_count + 1, sizeof *parts);
        if (part_count > 0)
            OK(zeDeviceGetSubDevices(devices[i], &part_count, parts));
        printf("%u:", i);
        for (uint32_t j = 0; j <= part_count; j++) {
            ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
            OK(zeDeviceGetProperties(j == 0 ? devices[i] : parts[j - 1], &properties));
            HOLDS((j > 0 || combined) == ((properties.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE) != 0));
            HOLDS(combined || properties.subdeviceId == (j == 0 ? 0 : j - 1));
            printf(" ");
            for (size_t k = 0; k < sizeof properties.uuid.id; k++)
                printf("%02x", properties.uuid.id[k]);
        }
        printf("\n");
        free(parts);
    }
    free(devices);
    return 0;
}

static bool is_asked(const char *name, int count, char **arguments)
{
    bool asked = count < 2;
    for (int i = 1; i < count; i++)
        asked = asked || strcmp(arguments[i], name) == 0;
    return asked;
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } sections[] = {
#define ROW(name) {#name, section_##name},
        SECTIONS(ROW)};
    program = arguments[0];
    if (count == 2 && strcmp(arguments[1], "--devices") == 0)
        return tell_devices();
    open_device();
    if (count == 2 && strcmp(arguments[1], "--other") == 0)
        other_process();
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (!is_asked(sections[i].name, count, arguments))
            continue;
        sections[i].run();
        printf("%s\n", sections[i].name);
        fflush(stdout);
    }
    if (!is_asked("unfinished", count, arguments)) /* it leaves an object that uses the context */
        OK(zeContextDestroy(context));
    return 0;
}
