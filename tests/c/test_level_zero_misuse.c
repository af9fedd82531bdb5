/* Misuse of the Level Zero driver: invalid handles, descriptors and sizes give errors, not crashes. */
#include "fixture.h"
#include "level_zero_tables.h"

#include "level_zero_driver/core/fault_injection.h"
#include "reference/platform/heap.h"

#include <sys/wait.h>
#include <unistd.h>

/* ---------------------------------------------------------------- handles */

static ze_context_handle_t a_context(void)
{
    ze_context_handle_t made = NULL;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ZE_OK(ze.Context.pfnCreate(driver, &desc, &made));
    return made;
}

static ze_physical_mem_handle_t a_physical(void)
{
    ze_physical_mem_handle_t made = NULL;
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = 4096};
    ZE_OK(ze.PhysicalMem.pfnCreate(context, device, &desc, &made));
    return made;
}

static ze_fence_handle_t a_fence(ze_command_queue_handle_t queue)
{
    ze_fence_handle_t made = NULL;
    ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ZE_OK(ze.Fence.pfnCreate(queue, &desc, &made));
    return made;
}

/* A handle of each kind, in order of creation. */
enum { DRIVER, DEVICE, CONTEXT, QUEUE, LIST, IMMEDIATE, POOL, EVENT, FENCE, PHYSICAL, KINDS };

static void make_all(void *handles[KINDS])
{
    handles[DRIVER] = driver;
    handles[DEVICE] = device;
    handles[CONTEXT] = a_context();
    handles[QUEUE] = new_queue(ZE_COMMAND_QUEUE_MODE_DEFAULT);
    handles[LIST] = new_list(0);
    handles[IMMEDIATE] = new_immediate(ZE_COMMAND_QUEUE_MODE_DEFAULT);
    handles[POOL] = new_pool(0, 2);
    handles[EVENT] = new_event(handles[POOL], 0);
    handles[FENCE] = a_fence(handles[QUEUE]);
    handles[PHYSICAL] = a_physical();
}

/* The function that uses a handle of a kind, and the one that destroys it. */
static ze_result_t use(int kind, void *handle)
{
    uint32_t number = 0;
    uint64_t stamp;
    ze_api_version_t version;
    ze_physical_mem_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES};
    switch (kind) {
    case DRIVER: return ze.Driver.pfnGetApiVersion(handle, &version);
    case DEVICE: return ze.Device.pfnGetGlobalTimestamps(handle, &stamp, &stamp);
    case CONTEXT: return ze.Context.pfnGetStatus(handle);
    case QUEUE: return ze.CommandQueue.pfnSynchronize(handle, 0);
    case LIST: return ze.CommandList.pfnReset(handle);
    case IMMEDIATE: return ze.CommandList.pfnHostSynchronize(handle, 0);
    case POOL: return ze.EventPool.pfnGetFlags(handle, &number);
    case EVENT: return ze.Event.pfnHostReset(handle);
    case FENCE: return ze.Fence.pfnReset(handle);
    default: return ze.PhysicalMem.pfnGetProperties(context, handle, &properties);
    }
}

static ze_result_t destroy(int kind, void *handle)
{
    switch (kind) {
    case CONTEXT: return ze.Context.pfnDestroy(handle);
    case QUEUE: return ze.CommandQueue.pfnDestroy(handle);
    case LIST:
    case IMMEDIATE: return ze.CommandList.pfnDestroy(handle);
    case POOL: return ze.EventPool.pfnDestroy(handle);
    case EVENT: return ze.Event.pfnDestroy(handle);
    case FENCE: return ze.Fence.pfnDestroy(handle);
    default: return ze.PhysicalMem.pfnDestroy(context, handle);
    }
}

static void handles_of_every_kind(void)
{
    void *handles[KINDS];
    int anything = 0;
    make_all(handles);
    for (int kind = 0; kind < KINDS; kind++) {
        ZE_OK(use(kind, handles[kind]));
        ZE_FAILS(INVALID_NULL_HANDLE, use(kind, NULL), "NULL");
        ZE_FAILS(INVALID_ARGUMENT, use(kind, &anything), "never made");
        ZE_FAILS(INVALID_ARGUMENT, use(kind, (void *)(uintptr_t)1), "never made");
        ZE_FAILS(INVALID_ARGUMENT, use(kind, (void *)(uintptr_t)UINT64_MAX), "");
        for (int other = 0; other < KINDS; other++)
            if (other != kind && !(kind == LIST && other == IMMEDIATE) && !(kind == IMMEDIATE && other == LIST))
                ZE_FAILS(INVALID_ARGUMENT, use(kind, handles[other]), "is needed");
    }
    for (int kind = KINDS - 1; kind >= CONTEXT; kind--) {
        ZE_FAILS(INVALID_NULL_HANDLE, destroy(kind, NULL), "NULL");
        ZE_FAILS(INVALID_ARGUMENT, destroy(kind, driver), "names a driver");
        ZE_OK(destroy(kind, handles[kind]));
        ZE_FAILS(INVALID_ARGUMENT, destroy(kind, handles[kind]), "destroyed");
        ZE_FAILS(INVALID_ARGUMENT, use(kind, handles[kind]), "destroyed");
    }
    make_all(handles); /* new handles differ from the old ones, whatever the order of destruction */
    for (int kind = CONTEXT; kind < KINDS; kind++)
        ZE_OK(destroy(kind, handles[kind]));
}

/* ---------------------------------------------------------------- contexts */

static void objects_of_another_context(void)
{
    ze_context_handle_t other = a_context(), mine = context;
    ze_command_queue_handle_t queue = new_queue(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_event_pool_handle_t pool = new_pool(0, 1);
    ze_event_handle_t event = new_event(pool, 0);
    ze_physical_mem_handle_t physical = a_physical();
    void *memory = new_memory(4096), *virtual = NULL;
    context = other;
    ze_command_list_handle_t list = new_list(0);
    uint32_t one = 1;
    ZE_OK(ze.CommandList.pfnAppendMemoryFill(list, memory, &one, 4, 64, event, 0, NULL)); /* commands accept memory of other contexts */
    ZE_OK(ze.CommandList.pfnAppendWaitOnEvents(list, 1, &event));
    ZE_OK(ze.CommandList.pfnClose(list));
    ZE_OK(ze.CommandQueue.pfnExecuteCommandLists(queue, 1, &list, NULL));
    ZE_OK(ze.Event.pfnQueryStatus(event));
    CHECK(*(uint32_t *)memory == 1);
    ZE_FAILS(INVALID_ARGUMENT, ze.PhysicalMem.pfnDestroy(other, physical), "another context");
    ZE_OK(ze.VirtualMem.pfnReserve(other, NULL, 4096, &virtual));
    ZE_FAILS(INVALID_ARGUMENT, ze.VirtualMem.pfnMap(other, virtual, 4096, physical, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE), "another context");
    ZE_FAILS(INVALID_ARGUMENT, ze.VirtualMem.pfnFree(mine, virtual, 4096), "no reservation");
    ZE_OK(ze.VirtualMem.pfnFree(other, virtual, 4096));
    ZE_OK(ze.CommandList.pfnDestroy(list));
    context = mine;
    ZE_OK(ze.Context.pfnDestroy(other));
    ZE_OK(ze.CommandQueue.pfnDestroy(queue));
    ZE_OK(ze.Event.pfnDestroy(event));
    ZE_OK(ze.EventPool.pfnDestroy(pool));
    ZE_OK(ze.PhysicalMem.pfnDestroy(context, physical));
    ZE_OK(ze.Mem.pfnFree(context, memory));
    ze_context_handle_t permanent = ze.Driver.pfnGetDefaultContext(driver);
    CHECK(permanent != NULL && permanent == ze.Driver.pfnGetDefaultContext(driver));
    ZE_FAILS(INVALID_ARGUMENT, ze.Context.pfnDestroy(permanent), "belongs to the driver");
    CHECK(ze.Driver.pfnGetDefaultContext(NULL) == NULL);
}

/* ---------------------------------------------------------------- descriptors */

static ze_result_t create_with(int kind, void *desc)
{
    void *made = NULL;
    switch (kind) {
    case CONTEXT: return ze.Context.pfnCreate(driver, desc, (ze_context_handle_t *)&made);
    case QUEUE: return ze.CommandQueue.pfnCreate(context, device, desc, (ze_command_queue_handle_t *)&made);
    case LIST: return ze.CommandList.pfnCreate(context, device, desc, (ze_command_list_handle_t *)&made);
    case IMMEDIATE: return ze.CommandList.pfnCreateImmediate(context, device, desc, (ze_command_list_handle_t *)&made);
    case POOL: return ze.EventPool.pfnCreate(context, desc, 0, NULL, (ze_event_pool_handle_t *)&made);
    case PHYSICAL: return ze.PhysicalMem.pfnCreate(context, device, desc, (ze_physical_mem_handle_t *)&made);
    default: return ze.Mem.pfnAllocDevice(context, desc, 64, 0, device, &made);
    }
}

static void descriptors(void)
{
    static const struct {
        int kind;
        ze_structure_type_t stype;
    } rows[] = {
        {CONTEXT, ZE_STRUCTURE_TYPE_CONTEXT_DESC},    {QUEUE, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC},
        {LIST, ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC},  {IMMEDIATE, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC},
        {POOL, ZE_STRUCTURE_TYPE_EVENT_POOL_DESC},    {PHYSICAL, ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC},
        {KINDS, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        _Alignas(16) unsigned char bytes[256] = {0};
        ze_base_desc_t *desc = (ze_base_desc_t *)bytes, loop = {.stype = 0x7777, .pNext = &loop}, unknown = {.stype = 0x7777};
        ZE_FAILS(INVALID_NULL_POINTER, create_with(rows[i].kind, NULL), "NULL");
        ZE_FAILS(INVALID_ARGUMENT, create_with(rows[i].kind, bytes), "stype is 0x0");
        desc->stype = rows[i].stype + 1;
        ZE_FAILS(INVALID_ARGUMENT, create_with(rows[i].kind, bytes), "stype");
        desc->stype = rows[i].stype;
        desc->pNext = &unknown;
        ZE_FAILS(UNSUPPORTED_ENUMERATION, create_with(rows[i].kind, bytes), "0x7777");
        desc->pNext = &loop;
        ZE_FAILS(INVALID_ARGUMENT, create_with(rows[i].kind, bytes), "more than");
        desc->pNext = NULL;
        memset(bytes + sizeof *desc, 0xff, sizeof bytes - sizeof *desc);
        ze_result_t result = create_with(rows[i].kind, bytes); /* flags and numbers that no header defines */
        CHECK(result == ZE_RESULT_ERROR_INVALID_ENUMERATION || result == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    properties.pNext = (void *)(uintptr_t)0xcdcdcdcdcdcdcdcd; /* as unset as the stype: both are ignored */
    ZE_OK(ze.Device.pfnGetProperties(device, &properties));
    CHECK(properties.stype == ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES && properties.name[0] != '\0');
    properties.pNext = NULL;
    ze_command_queue_group_properties_t groups[2];
    memset(groups, 0xcd, sizeof groups);
    uint32_t group_count = 2;
    ZE_OK(ze.Device.pfnGetCommandQueueGroupProperties(device, &group_count, groups));
    CHECK(groups[0].numQueues == 1 && groups[1].flags == ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
    ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ZE_OK(ze.Device.pfnGetComputeProperties(device, &compute));
    CHECK(compute.maxTotalGroupSize > 0);
    ze_device_image_properties_t images = {.stype = ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES};
    ZE_OK(ze.Device.pfnGetImageProperties(device, &images));
    CHECK(images.maxImageDims2D > 0);
    void *memory = NULL;
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ZE_OK(ze.Mem.pfnAllocDevice(context, &device_desc, 64, 0, device, &memory));
    ze_memory_free_ext_desc_t free_desc = {.stype = ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES};
    ZE_OK(ze.Mem.pfnFreeExt(context, &free_desc, memory));
    ze_base_properties_t other = {.stype = 0x7777}, endless = {.stype = 0x7777, .pNext = &endless};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    properties.pNext = &other; /* a query does not change unknown structs */
    ZE_OK(ze.Device.pfnGetProperties(device, &properties));
    CHECK(properties.pNext == &other && other.stype == 0x7777);
    properties.pNext = &endless;
    ZE_FAILS(INVALID_ARGUMENT, ze.Device.pfnGetProperties(device, &properties), "more than");
    ZE_FAILS(INVALID_NULL_POINTER, ze.Device.pfnGetProperties(device, NULL), "NULL");
}

/* ---------------------------------------------------------------- numbers */

static void counts_and_sizes(void)
{
    uint32_t count = 0;
    ze_device_handle_t found[4] = {NULL};
    ZE_FAILS(INVALID_NULL_POINTER, ze.Device.pfnGet(driver, NULL, found), "pCount");
    ZE_OK(ze.Device.pfnGet(driver, &count, found));
    CHECK(count == 1 && found[0] == NULL);
    count = 4;
    ZE_OK(ze.Device.pfnGet(driver, &count, found));
    CHECK(count == 1 && found[0] == device && found[1] == NULL);
    ze_event_pool_handle_t pool = NULL;
    ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = UINT32_MAX};
    ZE_FAILS(INVALID_SIZE, ze.EventPool.pfnCreate(context, &desc, 0, NULL, &pool), "possible");
    desc.count = 0;
    ZE_FAILS(INVALID_SIZE, ze.EventPool.pfnCreate(context, &desc, 0, NULL, &pool), "possible");
    desc.count = 1;
    ZE_FAILS(INVALID_SIZE, ze.EventPool.pfnCreate(context, &desc, 3, NULL, &pool), "numDevices 3");
    ze_command_queue_desc_t queue = queue_desc(ZE_COMMAND_QUEUE_MODE_DEFAULT);
    ze_command_queue_handle_t made = NULL;
    queue.ordinal = 2;
    ZE_FAILS(INVALID_ARGUMENT, ze.CommandQueue.pfnCreate(context, device, &queue, &made), "2 command queue groups");
    queue.ordinal = 0;
    queue.index = 1;
    ZE_FAILS(INVALID_ARGUMENT, ze.CommandQueue.pfnCreate(context, device, &queue, &made), "index");
    queue.index = 0;
    queue.mode = 3;
    ZE_FAILS(INVALID_ENUMERATION, ze.CommandQueue.pfnCreate(context, device, &queue, &made), "mode");
    ze_command_list_handle_t list = new_list(0);
    ze_event_handle_t none = NULL;
    ZE_FAILS(INVALID_SIZE, ze.CommandList.pfnAppendBarrier(list, NULL, 2, NULL), "numWaitEvents 2");
    ZE_FAILS(INVALID_NULL_HANDLE, ze.CommandList.pfnAppendBarrier(list, NULL, 1, &none), "NULL");
    ZE_FAILS(INVALID_NULL_HANDLE, ze.CommandList.pfnAppendSignalEvent(list, NULL), "NULL");
    ZE_FAILS(INVALID_NULL_POINTER, ze.CommandList.pfnAppendMemoryCopy(list, NULL, &count, 4, NULL, 0, NULL), "dstptr");
    ZE_FAILS(INVALID_SIZE, ze.CommandList.pfnAppendMemoryCopy(list, &count, &count, SIZE_MAX, NULL, 0, NULL), "address space");
    ZE_OK(ze.CommandList.pfnDestroy(list));
}

/* ---------------------------------------------------------------- functions and tables */

static void functions_by_name(void)
{
    void *address = NULL;
    for (uint32_t call = 0; call < BLZ_CALL_COUNT; call++) {
        ZE_OK(ze.Driver.pfnGetExtensionFunctionAddress(driver, blz_call_names[call], &address));
        CHECK(address != NULL);
    }
    ZE_FAILS(INVALID_ARGUMENT, ze.Driver.pfnGetExtensionFunctionAddress(driver, "zeNothing", &address), "zeNothing");
    ze_device_handle_t fabric = NULL;
    ZE_FAILS(UNSUPPORTED_FEATURE, ze.Device.pfnReserveCacheExt(device, 3, 1), "zeDeviceReserveCacheExt is not supported");
    CHECK(fabric == NULL);
}

/* A loader of an older version passes shorter tables: the driver writes only their entries. */
static void tables_of_older_versions(void)
{
    static const int lengths[][2] = {{4, 18}, {7, 19}, {12, 21}, {13, 22}, {14, 23}, {15, 24}, {17, 28}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        void *entries[64];
        memset(entries, 0x5a, sizeof entries);
        CHECK_EQUAL(ZE_RESULT_SUCCESS, zeGetDeviceProcAddrTable(1 << 16 | lengths[i][0], (ze_device_dditable_t *)(void *)entries));
        for (int e = 0; e < 64; e++)
            CHECK((entries[e] == (void *)(uintptr_t)UINT64_C(0x5a5a5a5a5a5a5a5a)) == (e >= lengths[i][1]));
    }
    ze_device_dditable_t table;
    CHECK_EQUAL(ZE_RESULT_ERROR_UNSUPPORTED_VERSION, zeGetDeviceProcAddrTable(2 << 16, &table));
    CHECK_EQUAL(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeGetDeviceProcAddrTable(1 << 16, NULL));
}

/* ---------------------------------------------------------------- failing allocations */

/* Each allocation of the driver fails once: the call fails, and nothing leaks. */
static void without_memory(void)
{
    uint64_t objects = count_objects();
    for (int64_t number = 1;; number++) {
        void *handles[KINDS] = {NULL}, *memory = NULL;
        uint32_t one = 1;
        ze_device_mem_alloc_desc_t memory_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
        ze_command_queue_desc_t queue = queue_desc(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
        ze_command_list_desc_t list = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
        ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 3};
        ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
        ze_fence_desc_t fence = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
        blr_allocate_fail_after(number);
        bool done =
            ze.Mem.pfnAllocDevice(context, &memory_desc, 64, 0, device, &memory) == 0 &&
            ze.CommandQueue.pfnCreate(context, device, &queue, (ze_command_queue_handle_t *)&handles[QUEUE]) == 0 &&
            ze.Fence.pfnCreate(handles[QUEUE], &fence, (ze_fence_handle_t *)&handles[FENCE]) == 0 &&
            ze.CommandList.pfnCreate(context, device, &list, (ze_command_list_handle_t *)&handles[LIST]) == 0 &&
            ze.EventPool.pfnCreate(context, &pool, 0, NULL, (ze_event_pool_handle_t *)&handles[POOL]) == 0 &&
            ze.Event.pfnCreate(handles[POOL], &event, (ze_event_handle_t *)&handles[EVENT]) == 0 &&
            ze.CommandList.pfnAppendMemoryFill(handles[LIST], memory, &one, 4, 64, handles[EVENT], 0, NULL) == 0 &&
            ze.CommandList.pfnAppendBarrier(handles[LIST], NULL, 1, (ze_event_handle_t *)&handles[EVENT]) == 0 &&
            ze.CommandList.pfnClose(handles[LIST]) == 0 &&
            ze.CommandQueue.pfnExecuteCommandLists(handles[QUEUE], 1, (ze_command_list_handle_t *)&handles[LIST], handles[FENCE]) == 0 &&
            ze.CommandList.pfnReset(handles[LIST]) == 0;
        bool failed = blr_allocate_count() >= number;
        blr_allocate_fail_after(0);
        CHECK(done == !failed);
        for (int kind = KINDS - 1; kind > CONTEXT; kind--)
            if (handles[kind] != NULL)
                ZE_OK(destroy(kind, handles[kind]));
        if (memory != NULL)
            ZE_OK(ze.Mem.pfnFree(context, memory));
        CHECK_EQUAL(objects, count_objects());
        if (done)
            break;
        CHECK(number < 1000);
    }
}

/* ---------------------------------------------------------------- injected failures */

static void calls_fail_by_rules(void)
{
    uint64_t count = 0;
    ZE_OK(blz_call_set_rules("zeContextGetStatus:2=ERROR_DEVICE_LOST,5=0x70010001"));
    ZE_OK(ze.Context.pfnGetStatus(context));
    ZE_GIVES(ERROR_DEVICE_LOST, ze.Context.pfnGetStatus(context));
    ZE_OK(ze.Context.pfnGetStatus(context));
    ZE_OK(ze.Context.pfnGetStatus(context));
    ZE_FAILS(NOT_AVAILABLE, ze.Context.pfnGetStatus(context), "zeContextGetStatus was made to fail");
    ZE_OK(ze.Context.pfnGetStatus(context));
    ZE_OK(blz_call_get_count(&count));
    CHECK_EQUAL(6, count);
    ZE_FAILS(INVALID_ARGUMENT, blz_call_set_rules("zeContextGetStatus=ERROR_DEVICE_LOST"), "[FUNCTION:]N=RESULT");
    ZE_FAILS(INVALID_ARGUMENT, blz_call_set_rules("-1=ERROR_DEVICE_LOST"), "[FUNCTION:]N=RESULT");
    ZE_OK(blz_call_set_rules("*=ERROR_DEVICE_LOST"));
    ZE_GIVES(ERROR_DEVICE_LOST, ze.Context.pfnGetStatus(context));
    ZE_GIVES(ERROR_DEVICE_LOST, ze.Context.pfnGetStatus(context));
    ZE_OK(blz_call_set_rules(NULL));
    ZE_OK(ze.Context.pfnGetStatus(context));
}

/* A forked child has no worker threads: every function with a handle parameter fails with a clear error. */
static void a_forked_child(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        void *pointer = NULL;
        ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
        bool refused = ze.Context.pfnGetStatus(context) == ZE_RESULT_ERROR_UNINITIALIZED &&
                       ze.Mem.pfnAllocDevice(context, &desc, 64, 0, device, &pointer) == ZE_RESULT_ERROR_UNINITIALIZED;
        _exit(refused ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ZE_OK(ze.Context.pfnGetStatus(context));
}

int main(void)
{
    open_driver();
    ze.Driver.pfnGetDefaultContext(driver);
    uint64_t objects = count_objects();
    handles_of_every_kind();
    objects_of_another_context();
    descriptors();
    counts_and_sizes();
    functions_by_name();
    tables_of_older_versions();
    without_memory();
    calls_fail_by_rules();
    a_forked_child();
    close_driver(objects);
    return 0;
}
