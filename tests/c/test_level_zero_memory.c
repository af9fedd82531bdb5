/* Memory of the Level Zero driver: kinds, properties, two processes, virtual and physical memory, access. */
#include "fixture.h"
#include "level_zero_tables.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static ze_command_list_handle_t list; /* immediate, synchronous */

static void copy(void *to, const void *from, size_t size)
{
    ZE_OK(ze.CommandList.pfnAppendMemoryCopy(list, to, from, size, NULL, 0, NULL));
}

/* ---------------------------------------------------------------- allocations */

static void kinds_and_queries(void)
{
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *pointers[3];
    ZE_OK(ze.Mem.pfnAllocDevice(context, &device_desc, 1000, 0, device, &pointers[0]));
    ZE_OK(ze.Mem.pfnAllocHost(context, &host_desc, 1000, 1 << 16, &pointers[1]));
    ZE_OK(ze.Mem.pfnAllocShared(context, &device_desc, &host_desc, 1000, 64, NULL, &pointers[2]));
    CHECK((uintptr_t)pointers[1] % (1 << 16) == 0);
    static const ze_memory_type_t types[] = {ZE_MEMORY_TYPE_DEVICE, ZE_MEMORY_TYPE_HOST, ZE_MEMORY_TYPE_SHARED};
    uint64_t ids[3];
    for (int i = 0; i < 3; i++) {
        ze_memory_allocation_properties_t p = {.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
        ze_device_handle_t owner = (ze_device_handle_t)1;
        void *base = NULL;
        size_t size = 0;
        ZE_OK(ze.Mem.pfnGetAllocProperties(context, (char *)pointers[i] + 999, &p, &owner));
        CHECK_EQUAL(types[i], p.type);
        CHECK(p.id != 0 && p.pageSize >= 4096);
        ids[i] = p.id;
        CHECK(owner == (i == 0 ? device : NULL));
        ZE_OK(ze.Mem.pfnGetAddressRange(context, (char *)pointers[i] + 500, &base, &size));
        CHECK(base == pointers[i] && size == 1000);
    }
    CHECK(ids[0] != ids[1] && ids[1] != ids[2]);
    ze_memory_allocation_properties_t p = {.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t other;
    ZE_OK(ze.Context.pfnCreate(driver, &desc, &other));
    ZE_OK(ze.Mem.pfnGetAllocProperties(other, pointers[0], &p, NULL));
    CHECK(p.type == types[0] && p.id == ids[0]); /* of any context */
    ZE_OK(ze.Mem.pfnGetAllocProperties(other, &p, &p, NULL));
    CHECK_EQUAL(ZE_MEMORY_TYPE_UNKNOWN, p.type);
    ZE_FAILS(INVALID_ARGUMENT, ze.Mem.pfnFree(other, pointers[0]), "another context");
    ZE_OK(ze.Mem.pfnGetAddressRange(other, pointers[0], NULL, NULL));
    ZE_FAILS(INVALID_ARGUMENT, ze.Mem.pfnGetAddressRange(other, &p, NULL, NULL), "no allocation");
    ZE_FAILS(INVALID_ARGUMENT, ze.Mem.pfnFree(context, (char *)pointers[0] + 1), "inside");
    ZE_OK(ze.Context.pfnMakeMemoryResident(context, device, pointers[0], 1000));
    ZE_FAILS(INVALID_SIZE, ze.Context.pfnMakeMemoryResident(context, device, pointers[0], 1001), "exceed their allocation");
    ZE_OK(ze.Context.pfnEvictMemory(context, device, pointers[0], 1000));
    ZE_FAILS(INVALID_ARGUMENT, ze.Context.pfnEvictMemory(context, device, &p, 1), "no allocation");
    ZE_OK(ze.CommandList.pfnAppendMemoryPrefetch(list, pointers[2], 1000));
    ZE_OK(ze.CommandList.pfnAppendMemAdvise(list, device, pointers[2], 1000, ZE_MEMORY_ADVICE_SET_READ_MOSTLY));
    ZE_FAILS(INVALID_ENUMERATION, ze.CommandList.pfnAppendMemAdvise(list, device, pointers[2], 1000, 10), "0 to 9");
    ze_memory_free_ext_desc_t policy = {.stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
                                        .freePolicy = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE};
    ZE_OK(ze.Mem.pfnFreeExt(context, &policy, pointers[0]));
    ZE_OK(ze.Mem.pfnFree(context, pointers[1]));
    ZE_OK(ze.Mem.pfnFree(context, pointers[2]));
    ZE_FAILS(INVALID_ARGUMENT, ze.Mem.pfnFree(context, pointers[2]), "no allocation");
    ZE_OK(ze.Context.pfnDestroy(other));
}

static void sizes_that_cannot_be(void)
{
    void *pointer = NULL;
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ZE_FAILS(UNSUPPORTED_SIZE, ze.Mem.pfnAllocDevice(context, &desc, 0, 0, device, &pointer), "0 bytes");
    ZE_FAILS(UNSUPPORTED_SIZE, ze.Mem.pfnAllocDevice(context, &desc, SIZE_MAX, 0, device, &pointer), "possible");
    ZE_FAILS(UNSUPPORTED_SIZE, ze.Mem.pfnAllocDevice(context, &desc, SIZE_MAX / 2, 0, device, &pointer), "possible");
    ZE_FAILS(UNSUPPORTED_ALIGNMENT, ze.Mem.pfnAllocDevice(context, &desc, 64, 3, device, &pointer), "power of two");
    ZE_FAILS(UNSUPPORTED_ALIGNMENT, ze.Mem.pfnAllocDevice(context, &desc, 64, (size_t)1 << 40, device, &pointer), "power of two");
    desc.ordinal = 1;
    ZE_FAILS(INVALID_ARGUMENT, ze.Mem.pfnAllocDevice(context, &desc, 64, 0, device, &pointer), "one memory");
}

/* Copies with row and slice pitches, compared with a loop. */
static void boxes(void)
{
    enum { WIDTH = 7, HEIGHT = 5, DEPTH = 3, PITCH = 11, SLICE = 70, OTHER_PITCH = 9, OTHER_SLICE = 80 };
    unsigned char from[SLICE * 5], to[OTHER_SLICE * 5], expected[OTHER_SLICE * 5];
    for (int i = 0; i < (int)sizeof from; i++)
        from[i] = (unsigned char)(i * 37 + 1);
    ze_copy_region_t source = {2, 1, 1, WIDTH, HEIGHT, DEPTH}, destination = {1, 2, 1, WIDTH, HEIGHT, DEPTH};
    memset(to, 0, sizeof to);
    memset(expected, 0, sizeof expected);
    for (int z = 0; z < DEPTH; z++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                expected[(z + 1) * OTHER_SLICE + (y + 2) * OTHER_PITCH + x + 1] = from[(z + 1) * SLICE + (y + 1) * PITCH + x + 2];
    unsigned char *middle = new_memory(sizeof from);
    copy(middle, from, sizeof from);
    ZE_OK(ze.CommandList.pfnAppendMemoryCopyRegion(list, to, &destination, OTHER_PITCH, OTHER_SLICE, middle, &source, PITCH, SLICE, NULL, 0, NULL));
    CHECK(memcmp(to, expected, sizeof to) == 0);
    ze_copy_region_t nothing[] = {{0}, {2, 1, 1, 0, HEIGHT, DEPTH}, {2, 1, 1, WIDTH, 0, DEPTH}}; /* empty regions, within one allocation too */
    for (int i = 0; i < 3; i++) {
        ZE_OK(ze.CommandList.pfnAppendMemoryCopyRegion(list, to, &nothing[i], 0, 0, middle, &nothing[i], 0, 0, NULL, 0, NULL));
        ZE_OK(ze.CommandList.pfnAppendMemoryCopyRegion(list, middle, &nothing[i], PITCH, SLICE, middle, &nothing[i], PITCH, SLICE, NULL, 0, NULL));
        ZE_FAILS(INVALID_NULL_POINTER, ze.CommandList.pfnAppendMemoryCopyRegion(list, NULL, &nothing[i], 0, 0, middle, &nothing[i], 0, 0, NULL, 0, NULL), "dstptr");
    }
    CHECK(memcmp(to, expected, sizeof to) == 0);
    ze_copy_region_t moved = {3, 1, 1, WIDTH, HEIGHT, DEPTH};
    ZE_FAILS(OVERLAPPING_REGIONS, ze.CommandList.pfnAppendMemoryCopyRegion(list, middle, &moved, PITCH, SLICE, middle, &source, PITCH, SLICE, NULL, 0, NULL), "overlap in memory");
    ze_copy_region_t wide = {2, 1, 1, PITCH + 1, HEIGHT, DEPTH};
    ZE_FAILS(INVALID_SIZE, ze.CommandList.pfnAppendMemoryCopyRegion(list, to, &wide, PITCH, SLICE, middle, &wide, PITCH, SLICE, NULL, 0, NULL), "overlap");
    ze_copy_region_t far_away = {0, 0, UINT32_MAX, 1, 1, 1};
    ZE_FAILS(INVALID_SIZE, ze.CommandList.pfnAppendMemoryCopyRegion(list, middle, &far_away, UINT32_MAX, UINT32_MAX, to, &far_away, 1, UINT32_MAX, NULL, 0, NULL), "");
    ZE_FAILS(INVALID_SIZE, ze.CommandList.pfnAppendMemoryCopyRegion(list, to, &destination, 0, 0, middle, &wide, 0, 0, NULL, 0, NULL), "must be equal");
    ZE_FAILS(INVALID_SIZE, ze.CommandList.pfnAppendMemoryCopy(list, to, middle, sizeof from + 1, NULL, 0, NULL), "exceed their allocation");
    ZE_OK(ze.Mem.pfnFree(context, middle));
}

static void fills(void)
{
    unsigned char pattern[128], *memory = new_memory(4096);
    for (int i = 0; i < 128; i++)
        pattern[i] = (unsigned char)(i + 1);
    for (size_t size = 1; size <= 128; size *= 2) {
        ZE_OK(ze.CommandList.pfnAppendMemoryFill(list, memory, pattern, size, 4096, NULL, 0, NULL));
        for (int i = 0; i < 4096; i++)
            CHECK_EQUAL(pattern[i % size], memory[i]);
    }
    ZE_FAILS(INVALID_SIZE, ze.CommandList.pfnAppendMemoryFill(list, memory, pattern, 3, 12, NULL, 0, NULL), "power of two");
    ZE_FAILS(INVALID_SIZE, ze.CommandList.pfnAppendMemoryFill(list, memory, pattern, 256, 4096, NULL, 0, NULL), "up to 128");
    ZE_FAILS(INVALID_SIZE, ze.CommandList.pfnAppendMemoryFill(list, memory, pattern, 8, 12, NULL, 0, NULL), "multiple");
    ZE_OK(ze.Mem.pfnFree(context, memory));
}

static void copies_between_contexts(void)
{
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_device_mem_alloc_desc_t memory_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_context_handle_t other;
    void *theirs;
    uint64_t *ours = new_memory(64), value[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    ZE_OK(ze.Context.pfnCreate(driver, &desc, &other));
    ZE_OK(ze.Mem.pfnAllocDevice(other, &memory_desc, 64, 0, device, &theirs));
    memcpy(theirs, value, 64);
    ZE_OK(ze.CommandList.pfnAppendMemoryCopy(list, ours, theirs, 32, NULL, 0, NULL));
    CHECK(memcmp(ours, value, 32) == 0 && ours[4] == 0);
    ZE_OK(ze.CommandList.pfnAppendMemoryCopyFromContext(list, ours, other, theirs, 64, NULL, 0, NULL));
    CHECK(memcmp(ours, value, 64) == 0);
    ZE_OK(ze.CommandList.pfnAppendMemoryCopyFromContext(list, theirs, NULL, ours + 4, 8, NULL, 0, NULL));
    CHECK(*(uint64_t *)theirs == 5);
    ZE_FAILS(INVALID_ARGUMENT, ze.CommandList.pfnAppendMemoryCopyFromContext(list, ours, (ze_context_handle_t)ours, theirs, 8, NULL, 0, NULL), "never");
    ZE_OK(ze.Mem.pfnFree(other, theirs));
    ZE_OK(ze.Mem.pfnFree(context, ours));
    ZE_OK(ze.Context.pfnDestroy(other));
}

static void ipc_handles_of_a_kind(void)
{
    ze_ipc_mem_handle_t ipc;
    void *memory = NULL, *opened = NULL;
    ze_ipc_mem_handle_type_ext_desc_t kind = {.stype = ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC, .typeFlags = ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT};
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, .pNext = &kind};
    ZE_OK(ze.Mem.pfnAllocDevice(context, &desc, 4096, 0, device, &memory));
    ZE_OK(ze.Mem.pfnGetIpcHandleWithProperties(context, memory, &kind, &ipc));
    ZE_OK(ze.Mem.pfnOpenIpcHandle(context, device, ipc, 0, &opened));
    *(int *)memory = 31;
    CHECK_EQUAL(31, *(int *)opened);
    ZE_OK(ze.Mem.pfnCloseIpcHandle(context, opened));
    ZE_OK(ze.Mem.pfnGetIpcHandleWithProperties(context, memory, NULL, &ipc));
    kind.typeFlags = ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE;
    ZE_FAILS(UNSUPPORTED_FEATURE, ze.Mem.pfnGetIpcHandleWithProperties(context, memory, &kind, &ipc), "no fabric");
    ZE_FAILS(UNSUPPORTED_FEATURE, ze.Mem.pfnAllocDevice(context, &desc, 4096, 0, device, &opened), "no fabric");
    kind.typeFlags = 4;
    ZE_FAILS(INVALID_ENUMERATION, ze.Mem.pfnGetIpcHandleWithProperties(context, memory, &kind, &ipc), "0x3");
    kind.stype = ZE_STRUCTURE_TYPE_FENCE_DESC;
    ZE_FAILS(UNSUPPORTED_ENUMERATION, ze.Mem.pfnGetIpcHandleWithProperties(context, memory, &kind, &ipc), "known");
    ZE_OK(ze.Mem.pfnFree(context, memory));
}

/* ---------------------------------------------------------------- two processes */

struct letter {
    ze_ipc_mem_handle_t memory;
    ze_ipc_event_pool_handle_t events;
};

enum { SHARED_BYTES = 3 << 20 };

/* The second process: waits for the first event, adds 1 to each byte, signals the second. */
static int other_process(void)
{
    struct letter letter;
    unsigned char *memory = NULL, *copy_of_it = malloc(SHARED_BYTES);
    ze_event_pool_handle_t pool = NULL;
    CHECK(read(STDIN_FILENO, &letter, sizeof letter) == (ssize_t)sizeof letter);
    ZE_OK(ze.Mem.pfnOpenIpcHandle(context, device, letter.memory, 0, (void **)&memory));
    ZE_OK(ze.EventPool.pfnOpenIpcHandle(context, letter.events, &pool));
    ze_event_handle_t ready = new_event(pool, 0), done = new_event(pool, 1);
    ZE_OK(ze.Event.pfnHostSynchronize(ready, UINT64_MAX));
    copy(copy_of_it, memory, SHARED_BYTES);
    for (int i = 0; i < SHARED_BYTES; i++)
        copy_of_it[i]++;
    ZE_OK(ze.CommandList.pfnAppendMemoryCopy(list, memory, copy_of_it, SHARED_BYTES, done, 0, NULL));
    ZE_FAILS(INVALID_ARGUMENT, ze.Mem.pfnFree(context, memory), "zeMemCloseIpcHandle");
    ZE_FAILS(INVALID_ARGUMENT, ze.EventPool.pfnDestroy(pool), "zeEventPoolCloseIpcHandle");
    ZE_OK(ze.Mem.pfnCloseIpcHandle(context, memory));
    ZE_FAILS(INVALID_ARGUMENT, ze.Mem.pfnCloseIpcHandle(context, memory), "no allocation");
    ZE_OK(ze.Event.pfnDestroy(ready));
    ZE_OK(ze.Event.pfnDestroy(done));
    ZE_OK(ze.EventPool.pfnCloseIpcHandle(pool));
    free(copy_of_it);
    return 0;
}

static pid_t start(const char *program, int *letters)
{
    int ends[2];
    pid_t child;
    char *arguments[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)"other", NULL};
    posix_spawn_file_actions_t actions;
    CHECK(pipe(ends) == 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    CHECK(posix_spawn(&child, program, &actions, NULL, arguments, environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    *letters = ends[1];
    return child;
}

static void two_processes(const char *program)
{
    unsigned char *memory = new_memory(SHARED_BYTES);
    for (int i = 0; i < SHARED_BYTES; i++)
        memory[i] = (unsigned char)(i * 13);
    struct letter letter;
    ze_event_pool_handle_t pool = new_pool(ZE_EVENT_POOL_FLAG_IPC | ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 2);
    ze_event_handle_t ready = new_event(pool, 0), done = new_event(pool, 1);
    ZE_OK(ze.Mem.pfnGetIpcHandle(context, memory, &letter.memory));
    ZE_FAILS(INVALID_ARGUMENT, ze.Mem.pfnGetIpcHandle(context, memory + 1, &letter.memory), "inside");
    for (int i = 0; i < SHARED_BYTES; i += 4097)
        CHECK_EQUAL((unsigned char)(i * 13), memory[i]); /* the pages moved with their contents */
    ZE_OK(ze.EventPool.pfnGetIpcHandle(pool, &letter.events));
    int letters;
    pid_t child = start(program, &letters);
    CHECK(write(letters, &letter, sizeof letter) == (ssize_t)sizeof letter);
    close(letters);
    ZE_GIVES(NOT_READY, ze.Event.pfnQueryStatus(done));
    ZE_OK(ze.Event.pfnHostSignal(ready));
    unsigned char *result = malloc(SHARED_BYTES);
    ZE_OK(ze.CommandList.pfnAppendMemoryCopy(list, result, memory, SHARED_BYTES, NULL, 1, &done));
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    for (int i = 0; i < SHARED_BYTES; i++)
        CHECK_EQUAL((unsigned char)(i * 13 + 1), result[i]);
    free(result);
    /* In the same process, opening a handle maps the memory at a second address. */
    unsigned char *second;
    ZE_OK(ze.Mem.pfnOpenIpcHandle(context, device, letter.memory, 0, (void **)&second));
    CHECK(second != memory);
    second[5] = 200;
    CHECK_EQUAL(200, memory[5]);
    ZE_OK(ze.Mem.pfnCloseIpcHandle(context, second));
    ZE_OK(ze.Mem.pfnPutIpcHandle(context, letter.memory));
    ZE_OK(ze.EventPool.pfnPutIpcHandle(context, letter.events));
    ze_event_pool_handle_t opened = NULL;
    ze_ipc_event_pool_handle_t wrong = letter.events;
    wrong.data[9] ^= 1;
    ZE_FAILS(INVALID_ARGUMENT, ze.EventPool.pfnOpenIpcHandle(context, wrong, &opened), "");
    memcpy(&wrong, &letter.memory, sizeof wrong);
    ZE_FAILS(INVALID_ARGUMENT, ze.EventPool.pfnOpenIpcHandle(context, wrong, &opened), "are not a");
    memset(&wrong, 0xff, sizeof wrong);
    ZE_FAILS(INVALID_ARGUMENT, ze.EventPool.pfnOpenIpcHandle(context, wrong, &opened), "are not a");
    ze_event_pool_handle_t plain = new_pool(0, 1);
    ZE_FAILS(INVALID_ARGUMENT, ze.EventPool.pfnGetIpcHandle(plain, &wrong), "FLAG_IPC");
    ZE_OK(ze.EventPool.pfnDestroy(plain));
    ZE_OK(ze.Event.pfnDestroy(ready));
    ZE_OK(ze.Event.pfnDestroy(done));
    ZE_OK(ze.EventPool.pfnDestroy(pool));
    ZE_OK(ze.Mem.pfnFree(context, memory));
}

/* Device memory moves into the store while commands write to it: no write is lost. */
static void memory_moves_while_commands_run(void)
{
    enum { BYTES = 1 << 18, ROUNDS = 40 };
    unsigned char *memory[ROUNDS / 4];
    ze_ipc_mem_handle_t ipc;
    ze_command_list_handle_t writer = new_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    for (int i = 0; i < ROUNDS / 4; i++)
        memory[i] = new_memory(BYTES);
    for (unsigned char round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < ROUNDS / 4; i++)
            ZE_OK(ze.CommandList.pfnAppendMemoryFill(writer, memory[i], &round, 1, BYTES, NULL, 0, NULL));
        if (round % 4 == 0)
            ZE_OK(ze.Mem.pfnGetIpcHandle(context, memory[round / 4 - 1], &ipc));
    }
    ZE_OK(ze.CommandList.pfnHostSynchronize(writer, UINT64_MAX));
    for (int i = 0; i < ROUNDS / 4; i++) {
        for (int at = 0; at < BYTES; at += 997)
            CHECK_EQUAL(ROUNDS, memory[i][at]);
        ZE_OK(ze.Mem.pfnFree(context, memory[i]));
    }
    ZE_OK(ze.CommandList.pfnDestroy(writer));
}

/* ---------------------------------------------------------------- virtual memory */

static ze_physical_mem_handle_t new_physical(uint64_t size)
{
    ze_physical_mem_handle_t physical;
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = size};
    ZE_OK(ze.PhysicalMem.pfnCreate(context, device, &desc, &physical));
    return physical;
}

static void physical_memory_is_mapped_piece_by_piece(void)
{
    size_t page = 0;
    char *virtual = NULL;
    ZE_OK(ze.VirtualMem.pfnQueryPageSize(context, device, 1 << 20, &page));
    CHECK(page >= 4096 && (page & (page - 1)) == 0);
    size_t size = 8 * page;
    ZE_OK(ze.VirtualMem.pfnReserve(context, NULL, size, (void **)&virtual));
    ze_physical_mem_handle_t first = new_physical(2 * page), second = new_physical(3 * page);
    ZE_OK(ze.VirtualMem.pfnMap(context, virtual, 2 * page, first, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    ZE_OK(ze.VirtualMem.pfnMap(context, virtual + 2 * page, 2 * page, second, page, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    unsigned char *bytes = malloc(4 * page), *back = malloc(4 * page);
    for (size_t i = 0; i < 4 * page; i++)
        bytes[i] = (unsigned char)(i * 7 + (i >> 8));
    copy(virtual, bytes, 4 * page); /* through both mappings */
    copy(back, virtual, 4 * page);
    CHECK(memcmp(bytes, back, 4 * page) == 0);
    ZE_FAILS(INVALID_ARGUMENT, ze.CommandList.pfnAppendMemoryCopy(list, virtual, bytes, 4 * page + 1, NULL, 0, NULL), "nothing is mapped");
    ZE_FAILS(INVALID_ARGUMENT, ze.CommandList.pfnAppendMemoryCopy(list, virtual + 5 * page, bytes, 1, NULL, 0, NULL), "nothing is mapped");
    ze_memory_allocation_properties_t p = {.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ZE_OK(ze.Mem.pfnGetAllocProperties(context, virtual + page, &p, NULL));
    CHECK_EQUAL(ZE_MEMORY_TYPE_DEVICE, p.type);
    ZE_FAILS(INVALID_ARGUMENT, ze.Mem.pfnFree(context, virtual), "zeVirtualMemUnmap");
    ZE_FAILS(INVALID_ARGUMENT, ze.VirtualMem.pfnMap(context, virtual + page, 2 * page, second, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE), "overlap a mapping");
    ZE_FAILS(INVALID_SIZE, ze.VirtualMem.pfnMap(context, virtual + 4 * page, 3 * page, second, page, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE), "whole pages");
    ZE_FAILS(INVALID_ARGUMENT, ze.VirtualMem.pfnMap(context, virtual + 7 * page, 2 * page, second, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE), "no reservation");
    ZE_FAILS(UNSUPPORTED_ALIGNMENT, ze.VirtualMem.pfnMap(context, virtual + 1, page, second, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE), "page size");
    ZE_FAILS(UNSUPPORTED_SIZE, ze.VirtualMem.pfnUnmap(context, virtual, page), "whole mappings");
    /* The pages keep their contents wherever they are mapped. */
    ZE_OK(ze.VirtualMem.pfnUnmap(context, virtual, 4 * page));
    ZE_FAILS(INVALID_ARGUMENT, ze.Mem.pfnGetAddressRange(context, virtual, NULL, NULL), "no allocation");
    ZE_OK(ze.VirtualMem.pfnMap(context, virtual + 5 * page, 3 * page, second, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    copy(back, virtual + 6 * page, 2 * page);
    CHECK(memcmp(bytes + 2 * page, back, 2 * page) == 0);
    ZE_OK(ze.PhysicalMem.pfnDestroy(context, first));
    ZE_OK(ze.PhysicalMem.pfnDestroy(context, second)); /* the mapping retains it */
    copy(back, virtual + 6 * page, 2 * page);
    CHECK(memcmp(bytes + 2 * page, back, 2 * page) == 0);
    ZE_FAILS(INVALID_SIZE, ze.VirtualMem.pfnFree(context, virtual, 2 * page), "as a whole");
    ZE_OK(ze.VirtualMem.pfnFree(context, virtual, size));
    ZE_FAILS(INVALID_ARGUMENT, ze.VirtualMem.pfnFree(context, virtual, size), "no reservation");
    free(bytes);
    free(back);
}

static void access_is_what_was_set(void)
{
    size_t page = 0, same = 0;
    unsigned char *virtual = NULL, value = 3, other = 0;
    ze_memory_access_attribute_t access = -1;
    ZE_OK(ze.VirtualMem.pfnQueryPageSize(context, device, 1, &page));
    ZE_OK(ze.VirtualMem.pfnReserve(context, NULL, 4 * page, (void **)&virtual));
    ze_physical_mem_handle_t physical = new_physical(3 * page);
    for (int i = 0; i < 3; i++)
        ZE_OK(ze.VirtualMem.pfnMap(context, virtual + i * page, page, physical, i * page, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    ZE_OK(ze.VirtualMem.pfnGetAccessAttribute(context, virtual, 3 * page, &access, &same));
    CHECK(access == ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE && same == 3 * page);
    copy(virtual, &value, 1);
    ZE_OK(ze.VirtualMem.pfnSetAccessAttribute(context, virtual, 2 * page, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    ZE_OK(ze.VirtualMem.pfnGetAccessAttribute(context, virtual + page, 2 * page, &access, &same));
    CHECK(access == ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY && same == page);
    ze_device_readonly_memory_ext_properties_t read_only = {.stype = ZE_STRUCTURE_TYPE_DEVICE_READONLY_MEMORY_EXT_PROPERTIES};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES, .pNext = &read_only};
    ZE_OK(ze.Device.pfnGetProperties(device, &properties));
    CHECK_EQUAL(ZE_DEVICE_READONLY_MEMORY_CAPABILITY_ENFORCED, read_only.readonlyCapability); /* enforced: a write fails, below */
    copy(&other, virtual, 1);
    CHECK_EQUAL(3, other);
    ZE_FAILS(UNKNOWN, ze.CommandList.pfnAppendMemoryCopy(list, virtual, &value, 1, NULL, 0, NULL), "for reading only");
    ZE_OK(ze.VirtualMem.pfnSetAccessAttribute(context, virtual, page, ZE_MEMORY_ACCESS_ATTRIBUTE_NONE));
    ZE_FAILS(UNKNOWN, ze.CommandList.pfnAppendMemoryCopy(list, &other, virtual, 1, NULL, 0, NULL), "without access");
    ZE_FAILS(INVALID_ENUMERATION, ze.VirtualMem.pfnSetAccessAttribute(context, virtual, page, 3), "read only");
    ZE_OK(ze.VirtualMem.pfnGetAccessAttribute(context, virtual + 3 * page, page, &access, &same)); /* nothing is mapped there */
    CHECK(access == ZE_MEMORY_ACCESS_ATTRIBUTE_NONE && same == page);
    ZE_OK(ze.VirtualMem.pfnUnmap(context, virtual + page, page));
    ZE_OK(ze.VirtualMem.pfnGetAccessAttribute(context, virtual, 4 * page, &access, &same)); /* mapped without access, then not mapped */
    CHECK(access == ZE_MEMORY_ACCESS_ATTRIBUTE_NONE && same == 2 * page);
    ZE_OK(ze.VirtualMem.pfnGetAccessAttribute(context, virtual + page, 3 * page, &access, &same));
    CHECK(access == ZE_MEMORY_ACCESS_ATTRIBUTE_NONE && same == page);
    ZE_OK(ze.VirtualMem.pfnFree(context, virtual, 4 * page));
    ZE_OK(ze.PhysicalMem.pfnDestroy(context, physical));
}

/* Closes a list and executes it once. */
static void execute(ze_command_list_handle_t recorded)
{
    ze_command_queue_handle_t queue = new_queue(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ZE_OK(ze.CommandQueue.pfnExecuteCommandLists(queue, 1, &recorded, NULL));
    ZE_OK(ze.CommandQueue.pfnDestroy(queue));
}

/* An address is remapped while a list refers to it: the list then accesses the new pages. Without a new mapping it
 * keeps the old pages. */
static void addresses_in_lists_are_mapped_again(void)
{
    size_t page = 0;
    unsigned char *virtual = NULL, one = 1, found[3] = {9, 9, 9};
    ZE_OK(ze.VirtualMem.pfnQueryPageSize(context, device, 1, &page));
    ZE_OK(ze.VirtualMem.pfnReserve(context, NULL, 3 * page, (void **)&virtual));
    ze_physical_mem_handle_t physical = new_physical(3 * page), other = new_physical(page);
    ze_command_list_handle_t recorded = new_list(0);
    const ze_memory_access_attribute_t both = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
    ZE_OK(ze.VirtualMem.pfnMap(context, virtual, 3 * page, physical, 0, both));
    ZE_OK(ze.CommandList.pfnAppendMemoryFill(recorded, virtual, &one, 1, 3 * page, NULL, 0, NULL));
    ZE_OK(ze.CommandList.pfnClose(recorded));
    ZE_OK(ze.VirtualMem.pfnUnmap(context, virtual, 3 * page));
    ZE_OK(ze.VirtualMem.pfnMap(context, virtual + page, page, other, 0, both));
    ZE_FAILS(INVALID_ARGUMENT, ze.VirtualMem.pfnMap(context, virtual, 2 * page, physical, 0, both), "overlap a mapping");
    copy(found, virtual + page, 1);
    CHECK_EQUAL(0, found[0]);
    execute(recorded);
    copy(found, virtual + page, 1);
    CHECK_EQUAL(1, found[0]);
    ZE_OK(ze.VirtualMem.pfnUnmap(context, virtual + page, page)); /* the list's old page is visible again */
    execute(recorded);
    ZE_OK(ze.VirtualMem.pfnMap(context, virtual, page, other, 0, both));
    ZE_OK(ze.CommandList.pfnReset(recorded));
    ZE_OK(ze.VirtualMem.pfnMap(context, virtual + page, 2 * page, physical, page, both));
    for (int i = 0; i < 3; i++)
        copy(&found[i], virtual + i * page, 1);
    CHECK(found[0] == 1 && found[1] == 1 && found[2] == 1);
    ZE_OK(ze.CommandList.pfnAppendMemoryFill(recorded, virtual, &one, 1, page, NULL, 0, NULL));
    ZE_OK(ze.CommandList.pfnClose(recorded));
    ZE_OK(ze.VirtualMem.pfnFree(context, virtual, 3 * page)); /* the recorded command retains pages and addresses */
    execute(recorded);
    ZE_OK(ze.CommandList.pfnDestroy(recorded));
    ZE_OK(ze.PhysicalMem.pfnDestroy(context, physical));
    ZE_OK(ze.PhysicalMem.pfnDestroy(context, other));
}

static void reservations_at_an_address(void)
{
    size_t page = 0;
    char *first = NULL, *next = NULL, *again = NULL;
    ZE_OK(ze.VirtualMem.pfnQueryPageSize(context, device, 1, &page));
    ZE_OK(ze.VirtualMem.pfnReserve(context, NULL, 16 * page, (void **)&first));
    ZE_OK(ze.VirtualMem.pfnReserve(context, first, page, (void **)&again));
    CHECK(again != first); /* not free: another address */
    ZE_OK(ze.VirtualMem.pfnFree(context, first, 16 * page));
    ZE_OK(ze.VirtualMem.pfnReserve(context, first, 2 * page, (void **)&next));
    CHECK(next == first);
    ZE_OK(ze.VirtualMem.pfnFree(context, next, 2 * page));
    ZE_OK(ze.VirtualMem.pfnFree(context, again, page));
    ZE_FAILS(UNSUPPORTED_SIZE, ze.VirtualMem.pfnReserve(context, NULL, page + 1, (void **)&first), "multiple");
    ZE_FAILS(UNSUPPORTED_SIZE, ze.VirtualMem.pfnReserve(context, NULL, 0, (void **)&first), "multiple");
    ZE_FAILS(UNSUPPORTED_ALIGNMENT, ze.VirtualMem.pfnReserve(context, (void *)(uintptr_t)1, page, (void **)&first), "multiple");
    ZE_FAILS(OUT_OF_HOST_MEMORY, ze.VirtualMem.pfnReserve(context, NULL, SIZE_MAX / page * page, (void **)&first), "address space has no range");
    ze_physical_mem_handle_t physical;
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = SIZE_MAX / page * page};
    ZE_FAILS(UNSUPPORTED_SIZE, ze.PhysicalMem.pfnCreate(context, device, &desc, &physical), "multiple");
}

int main(int count, char **arguments)
{
    open_driver();
    uint64_t objects = count_objects();
    list = new_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    if (count > 1) {
        int status = other_process();
        ZE_OK(ze.CommandList.pfnDestroy(list));
        close_driver(objects);
        return status;
    }
    kinds_and_queries();
    sizes_that_cannot_be();
    boxes();
    fills();
    copies_between_contexts();
    ipc_handles_of_a_kind();
    two_processes(arguments[0]);
    memory_moves_while_commands_run();
    physical_memory_is_mapped_piece_by_piece();
    access_is_what_was_set();
    addresses_in_lists_are_mapped_again();
    reservations_at_an_address();
    ZE_OK(ze.CommandList.pfnDestroy(list));
    close_driver(objects);
    return 0;
}
