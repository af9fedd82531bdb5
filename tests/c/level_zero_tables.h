/* The Level Zero driver called through its loader tables, and the common set-up of its tests. */
#ifndef BLZ_TEST_TABLES_H
#define BLZ_TEST_TABLES_H

#include "check.h"
#include "level_zero_driver/level_zero_api.h"

#include <time.h>

#define ALL_TABLES(X)                                                                                                  \
    X(global, Global)                                                                                                  \
    X(driver, Driver)                                                                                                  \
    X(device, Device)                                                                                                  \
    X(context, Context)                                                                                                \
    X(command_queue, CommandQueue)                                                                                     \
    X(command_list, CommandList)                                                                                       \
    X(command_list_exp, CommandListExp)                                                                                \
    X(image, Image)                                                                                                    \
    X(image_exp, ImageExp)                                                                                             \
    X(mem, Mem)                                                                                                        \
    X(fence, Fence)                                                                                                    \
    X(event_pool, EventPool)                                                                                           \
    X(event, Event)                                                                                                    \
    X(event_exp, EventExp)                                                                                             \
    X(module, Module)                                                                                                  \
    X(module_build_log, ModuleBuildLog)                                                                                \
    X(kernel, Kernel)                                                                                                  \
    X(kernel_exp, KernelExp)                                                                                           \
    X(sampler, Sampler)                                                                                                \
    X(physical_mem, PhysicalMem)                                                                                       \
    X(virtual_mem, VirtualMem)

#define DECLARE_TABLE(name, member) ze_##name##_dditable_t member;
static struct {
    ALL_TABLES(DECLARE_TABLE)
} ze;

/* ZE_OK: the call succeeds. ZE_FAILS: the call returns ZE_RESULT_code, and the driver's error text contains `text`. */
#define ZE_OK(call) check_ze(__FILE__, __LINE__, #call, ZE_RESULT_SUCCESS, (call), NULL)
#define ZE_FAILS(code, call, text) check_ze(__FILE__, __LINE__, #call, ZE_RESULT_ERROR_##code, (call), (text))
#define ZE_GIVES(code, call) check_ze(__FILE__, __LINE__, #call, ZE_RESULT_##code, (call), NULL)

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;

static inline void check_ze(const char *file, int line, const char *call, ze_result_t expected, ze_result_t actual, const char *text)
{
    char how[2048];
    const char *message = "";
    if (driver != NULL)
        ze.Driver.pfnGetLastErrorDescription(driver, &message);
    if (actual != expected) {
        snprintf(how, sizeof how, "gives 0x%x (%s), expected 0x%x", (unsigned)actual, message, (unsigned)expected);
        check_failed(file, line, call, how);
    }
    if (text != NULL && strstr(message, text) == NULL) {
        snprintf(how, sizeof how, "says \"%s\", expected \"%s\"", message, text);
        check_failed(file, line, call, how);
    }
}

/* Fills the tables, and opens the driver, its first device and a context. */
static inline void open_driver(void)
{
#define FILL_TABLE(name, member) CHECK_EQUAL(ZE_RESULT_SUCCESS, zeGet##member##ProcAddrTable(ZE_API_VERSION_CURRENT, &ze.member));
    ALL_TABLES(FILL_TABLE)
    uint32_t count = 1;
    ZE_OK(ze.Global.pfnInit(0));
    ZE_OK(ze.Driver.pfnGet(&count, &driver));
    count = 1;
    ZE_OK(ze.Device.pfnGet(driver, &count, &device));
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ZE_OK(ze.Context.pfnCreate(driver, &desc, &context));
}

static inline uint64_t count_objects(void)
{
    ze_result_t (*get)(uint64_t *) = NULL;
    uint64_t count = 0;
    void *address = NULL;
    ZE_OK(ze.Driver.pfnGetExtensionFunctionAddress(driver, "bindlessGetObjectCount", &address));
    memcpy(&get, &address, sizeof get);
    ZE_OK(get(&count));
    return count;
}

/* Checks that all objects created since are gone; work of a destroyed queue ends a little later. */
static inline void close_driver(uint64_t objects_before)
{
    for (int i = 0; i < 20000 && count_objects() != objects_before; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CHECK_EQUAL(objects_before, count_objects());
    ZE_OK(ze.Context.pfnDestroy(context));
}

static inline ze_command_list_handle_t new_list(uint32_t ordinal)
{
    ze_command_list_handle_t list = NULL;
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, .commandQueueGroupOrdinal = ordinal};
    ZE_OK(ze.CommandList.pfnCreate(context, device, &desc, &list));
    return list;
}

static inline ze_command_queue_desc_t queue_desc(ze_command_queue_mode_t mode)
{
    return (ze_command_queue_desc_t){.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, .mode = mode};
}

static inline ze_command_queue_handle_t new_queue(ze_command_queue_mode_t mode)
{
    ze_command_queue_handle_t queue = NULL;
    ze_command_queue_desc_t desc = queue_desc(mode);
    ZE_OK(ze.CommandQueue.pfnCreate(context, device, &desc, &queue));
    return queue;
}

static inline ze_command_list_handle_t new_immediate(ze_command_queue_mode_t mode)
{
    ze_command_list_handle_t list = NULL;
    ze_command_queue_desc_t desc = queue_desc(mode);
    ZE_OK(ze.CommandList.pfnCreateImmediate(context, device, &desc, &list));
    return list;
}

static inline ze_event_pool_handle_t new_pool(ze_event_pool_flags_t flags, uint32_t count)
{
    ze_event_pool_handle_t pool = NULL;
    ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .flags = flags, .count = count};
    ZE_OK(ze.EventPool.pfnCreate(context, &desc, 0, NULL, &pool));
    return pool;
}

static inline ze_event_handle_t new_event(ze_event_pool_handle_t pool, uint32_t index)
{
    ze_event_handle_t event = NULL;
    ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = index};
    ZE_OK(ze.Event.pfnCreate(pool, &desc, &event));
    return event;
}

static inline void *new_memory(uint64_t size)
{
    void *pointer = NULL;
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ZE_OK(ze.Mem.pfnAllocDevice(context, &desc, size, 0, device, &pointer));
    return pointer;
}

#endif
