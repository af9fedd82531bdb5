/*
 * A stand-in for the Linux kernel's Xe driver, preloaded, so that Intel's user-mode driver finds a GPU on a machine without
 * one. It describes a device, gives out buffers of ordinary memory and numbers for everything else. Nothing is executed:
 * a submission signals its fences at once, and no memory changes.
 *
 *   XE_DEVICE   PCI device id (default 0x64a0, Lunar Lake)
 *   XE_VRAM     bytes of memory of its own; 0 (default) for an integrated device
 *   XE_TRACE    1: every request of the driver is told on stderr
 *
 * cc -shared -fPIC -I/usr/include/libdrm -o xe_stand_in.so xe_stand_in.c
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <drm/drm.h>
#include <drm/xe_drm.h>

#define NODE "/dev/dri/renderD128"
#define SPACE (1ll << 40)    /* bytes of the file that all buffers are ranges of */
#define BUFFERS 65536u
#define LARGE_PAGE (2ull << 20)
#define CLOCK 19200000u      /* ticks of the GPU's clock in a second */

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? strtoull(text, NULL, 0) : otherwise;
}

/* ---------------------------------------------------------------------- the device's file */

static int memory = -1; /* an unnamed file; a descriptor of it is a descriptor of the device */

static int open_device(void)
{
    if (memory < 0) {
        memory = (int)syscall(SYS_memfd_create, "xe-stand-in", 1u);
        if (memory < 0 || ftruncate(memory, SPACE) != 0)
            return -1;
    }
    return fcntl(memory, F_DUPFD_CLOEXEC, 3);
}

static int is_device(int descriptor)
{
    struct stat asked, ours;
    return memory >= 0 && fstat(descriptor, &asked) == 0 && fstat(memory, &ours) == 0 && asked.st_ino == ours.st_ino &&
           asked.st_dev == ours.st_dev;
}

static int open_path(const char *path, int flags, mode_t mode)
{
    if (path != NULL && strcmp(path, NODE) == 0)
        return open_device();
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    return open_path(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    return open_path(path, flags, mode);
}

/* ---------------------------------------------------------------------- what the device is */

union answer {
    uint64_t words[512];
    struct drm_xe_query_config config;
    struct drm_xe_query_gt_list gts;
    struct drm_xe_query_engines engines;
    struct drm_xe_query_mem_regions regions;
    struct drm_xe_query_topology_mask topology;
};

static size_t describe_config(union answer *a)
{
    __u64 *info = a->config.info;
    int own = setting("XE_VRAM", 0) != 0;
    a->config.num_params = DRM_XE_QUERY_CONFIG_MAX_EXEC_QUEUE_PRIORITY + 1;
    info[DRM_XE_QUERY_CONFIG_REV_AND_DEVICE_ID] = setting("XE_DEVICE", 0x64a0) | 4u << 16;
    info[DRM_XE_QUERY_CONFIG_FLAGS] = own ? DRM_XE_QUERY_CONFIG_FLAG_HAS_VRAM : 0;
    info[DRM_XE_QUERY_CONFIG_MIN_ALIGNMENT] = own ? 1 << 16 : 1 << 12;
    info[DRM_XE_QUERY_CONFIG_VA_BITS] = 48;
    info[DRM_XE_QUERY_CONFIG_MAX_EXEC_QUEUE_PRIORITY] = 2;
    return sizeof a->config + a->config.num_params * sizeof *info;
}

static size_t describe_gts(union answer *a)
{
    struct drm_xe_gt *gt = a->gts.gt_list;
    int own = setting("XE_VRAM", 0) != 0;
    a->gts.num_gt = 1;
    gt->type = DRM_XE_QUERY_GT_TYPE_MAIN;
    gt->reference_clock = CLOCK;
    gt->near_mem_regions = own ? 2 : 1;
    gt->far_mem_regions = own ? 1 : 0;
    gt->ip_ver_major = 20; /* Xe2: 20.04 is Lunar Lake's, 20.01 Battlemage's */
    gt->ip_ver_minor = own ? 1 : 4;
    gt->ip_ver_rev = 4;
    return sizeof a->gts + sizeof *gt;
}

static size_t describe_engines(union answer *a)
{
    static const uint16_t classes[] = {DRM_XE_ENGINE_CLASS_RENDER, DRM_XE_ENGINE_CLASS_COPY, DRM_XE_ENGINE_CLASS_COMPUTE};
    a->engines.num_engines = sizeof classes / sizeof *classes;
    for (uint32_t i = 0; i < a->engines.num_engines; i++)
        a->engines.engines[i].instance.engine_class = classes[i];
    return sizeof a->engines + a->engines.num_engines * sizeof(struct drm_xe_engine);
}

static size_t describe_memory(union answer *a)
{
    struct drm_xe_mem_region *region = a->regions.mem_regions;
    uint64_t own = setting("XE_VRAM", 0);
    region->mem_class = DRM_XE_MEM_REGION_CLASS_SYSMEM;
    region->min_page_size = 1 << 12;
    region->total_size = 16ull << 30;
    a->regions.num_mem_regions = 1;
    if (own != 0) {
        region++;
        region->mem_class = DRM_XE_MEM_REGION_CLASS_VRAM;
        region->instance = 1;
        region->min_page_size = 1 << 16;
        region->total_size = region->cpu_visible_size = own;
        a->regions.num_mem_regions = 2;
    }
    return sizeof a->regions + a->regions.num_mem_regions * sizeof *region;
}

/* Eight of everything. */
static size_t describe_topology(union answer *a)
{
    static const uint16_t kinds[] = {DRM_XE_TOPO_DSS_GEOMETRY, DRM_XE_TOPO_DSS_COMPUTE, DRM_XE_TOPO_L3_BANK,
                                     DRM_XE_TOPO_SIMD16_EU_PER_DSS};
    unsigned char *place = (unsigned char *)a;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct drm_xe_query_topology_mask *mask = (void *)place;
        mask->type = kinds[i];
        mask->num_bytes = 8;
        mask->mask[0] = 0xff;
        place += sizeof *mask + mask->num_bytes;
    }
    return (size_t)(place - (unsigned char *)a);
}

/* The two clocks are read into the structure that asks. */
static size_t describe_cycles(union answer *a)
{
    struct drm_xe_query_engine_cycles *cycles = (void *)a;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    cycles->width = 36;
    cycles->cpu_timestamp = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    cycles->engine_cycles = (uint64_t)((double)cycles->cpu_timestamp * CLOCK / 1e9);
    cycles->cpu_delta = 1;
    return sizeof *cycles;
}

static int query(struct drm_xe_device_query *asked)
{
    union answer answer;
    memset(&answer, 0, sizeof answer);
    size_t size;
    switch (asked->query) {
    case DRM_XE_DEVICE_QUERY_CONFIG: size = describe_config(&answer); break;
    case DRM_XE_DEVICE_QUERY_GT_LIST: size = describe_gts(&answer); break;
    case DRM_XE_DEVICE_QUERY_ENGINES: size = describe_engines(&answer); break;
    case DRM_XE_DEVICE_QUERY_MEM_REGIONS: size = describe_memory(&answer); break;
    case DRM_XE_DEVICE_QUERY_GT_TOPOLOGY: size = describe_topology(&answer); break;
    case DRM_XE_DEVICE_QUERY_ENGINE_CYCLES: size = describe_cycles(&answer); break;
    case DRM_XE_DEVICE_QUERY_HWCONFIG: size = 0; break;
    default: errno = EINVAL; return -1;
    }
    if (asked->data != 0) {
        if (asked->size < size) {
            errno = EINVAL;
            return -1;
        }
        memcpy((void *)(uintptr_t)asked->data, &answer, size);
    }
    asked->size = (uint32_t)size;
    return 0;
}

/* ---------------------------------------------------------------------- buffers */

static struct {
    uint64_t offset, size;
} buffers[BUFFERS];
static uint64_t used = 1 << 20;
static uint32_t handles, numbers;

static uint32_t new_number(void) { return __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED); }

static uint32_t new_buffer(uint64_t size)
{
    uint32_t handle = __atomic_add_fetch(&handles, 1, __ATOMIC_RELAXED) % BUFFERS;
    uint64_t pages = (size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    if (handle == 0)
        handle = new_buffer(size);
    buffers[handle].offset = __atomic_fetch_add(&used, pages, __ATOMIC_RELAXED);
    buffers[handle].size = size;
    return handle;
}

static int export_buffer(struct drm_prime_handle *prime)
{
    prime->fd = (int)syscall(SYS_memfd_create, "xe-stand-in-buffer", 1u);
    return prime->fd < 0 ? -1 : ftruncate(prime->fd, (off_t)buffers[prime->handle % BUFFERS].size);
}

static int import_buffer(struct drm_prime_handle *prime)
{
    struct stat told;
    if (fstat(prime->fd, &told) != 0)
        return -1;
    prime->handle = new_buffer((uint64_t)told.st_size);
    return 0;
}

/* ---------------------------------------------------------------------- requests */

static void signal_fences(uint64_t address, uint32_t count)
{
    const struct drm_xe_sync *syncs = (const void *)(uintptr_t)address;
    for (uint32_t i = 0; i < count; i++)
        if (syncs[i].type == DRM_XE_SYNC_TYPE_USER_FENCE && (syncs[i].flags & DRM_XE_SYNC_FLAG_SIGNAL) != 0)
            __atomic_store_n((uint64_t *)(uintptr_t)syncs[i].addr, syncs[i].timeline_value, __ATOMIC_RELEASE);
}

static void name_driver(struct drm_version *version)
{
    version->version_major = version->version_minor = 1;
    if (version->name != NULL && version->name_len >= 2)
        memcpy(version->name, "xe", 2);
    version->name_len = 2;
}

static int request(unsigned long code, void *argument)
{
    switch (code) {
    case DRM_IOCTL_VERSION: name_driver(argument); return 0;
    case DRM_IOCTL_XE_DEVICE_QUERY: return query(argument);
    case DRM_IOCTL_XE_GEM_CREATE: {
        struct drm_xe_gem_create *create = argument;
        create->handle = new_buffer(create->size);
        return 0;
    }
    case DRM_IOCTL_XE_GEM_MMAP_OFFSET: {
        struct drm_xe_gem_mmap_offset *map = argument;
        map->offset = buffers[map->handle % BUFFERS].offset;
        return 0;
    }
    case DRM_IOCTL_XE_VM_CREATE: ((struct drm_xe_vm_create *)argument)->vm_id = new_number(); return 0;
    case DRM_IOCTL_XE_EXEC_QUEUE_CREATE:
        ((struct drm_xe_exec_queue_create *)argument)->exec_queue_id = new_number();
        return 0;
    case DRM_IOCTL_XE_EXEC_QUEUE_GET_PROPERTY:
        ((struct drm_xe_exec_queue_get_property *)argument)->value = 0;
        return 0;
    case DRM_IOCTL_XE_VM_BIND: {
        const struct drm_xe_vm_bind *bind = argument;
        signal_fences(bind->syncs, bind->num_syncs);
        return 0;
    }
    case DRM_IOCTL_XE_EXEC: {
        const struct drm_xe_exec *submitted = argument;
        signal_fences(submitted->syncs, submitted->num_syncs);
        return 0;
    }
    case DRM_IOCTL_PRIME_HANDLE_TO_FD: return export_buffer(argument);
    case DRM_IOCTL_PRIME_FD_TO_HANDLE: return import_buffer(argument);
    case DRM_IOCTL_SYNCOBJ_CREATE: ((struct drm_syncobj_create *)argument)->handle = new_number(); return 0;
    case DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE: ((struct drm_syncobj_handle *)argument)->handle = new_number(); return 0;
    case DRM_IOCTL_GEM_CLOSE:
    case DRM_IOCTL_XE_VM_DESTROY:
    case DRM_IOCTL_XE_EXEC_QUEUE_DESTROY:
    case DRM_IOCTL_XE_EXEC_QUEUE_SET_PROPERTY:
    case DRM_IOCTL_XE_WAIT_USER_FENCE:
    case DRM_IOCTL_SYNCOBJ_DESTROY:
    case DRM_IOCTL_SYNCOBJ_WAIT:
    case DRM_IOCTL_SYNCOBJ_SIGNAL:
    case DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT:
    case DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL: return 0;
    default: errno = EINVAL; return -1;
    }
}

int ioctl(int descriptor, unsigned long code, ...)
{
    va_list rest;
    va_start(rest, code);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (!is_device(descriptor))
        return (int)syscall(SYS_ioctl, descriptor, code, argument);
    int result = request(code, argument);
    if (setting("XE_TRACE", 0) != 0)
        fprintf(stderr, "xe request 0x%02lx: %s\n", code & 0xff, result == 0 ? "done" : strerror(errno));
    return result;
}
