/* External semaphores: import from a file descriptor, and release. */

#include "level_zero_driver/sync/external_semaphore.h"

#include "level_zero_driver/driver/driver.h"
#include "level_zero_driver/core/descriptor_chain.h"

static void destroy(struct blr_object *object)
{
    struct blz_semaphore *semaphore = (struct blz_semaphore *)object;
    blr_semaphore_close(&semaphore->semaphore);
    blr_delete(semaphore);
}

static ze_result_t import(const ze_external_semaphore_ext_desc_t *desc,
                          const ze_external_semaphore_fd_ext_desc_t *fd_desc,
                          ze_external_semaphore_ext_handle_t *handle)
{
    bool timeline = desc->flags == ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_VK_TIMELINE_SEMAPHORE_FD;
    if (desc->flags == 0 || (desc->flags & ~(uint32_t)0x1ff) != 0)
        return blz_fail_enumeration("desc->flags", desc->flags, "one of the ZE_EXTERNAL_SEMAPHORE_EXT_FLAGs is needed");
    if (!timeline && desc->flags != ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_OPAQUE_FD)
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                        "desc->flags is 0x%x: OPAQUE_FD (1) or VK_TIMELINE_SEMAPHORE_FD (128) is supported", desc->flags);
    if (fd_desc == NULL)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "desc: chain a ze_external_semaphore_fd_ext_desc_t with the descriptor");
    struct blz_semaphore *semaphore = blr_new(sizeof *semaphore);
    if (semaphore == NULL)
        return blz_fail_memory("a semaphore");
    ze_result_t result = blz_result(blr_semaphore_open(&semaphore->semaphore, timeline, fd_desc->fd, 0));
    if (result == ZE_RESULT_SUCCESS)
        return blz_register(&semaphore->object, BLR_KIND_ZE_SEMAPHORE, destroy, handle);
    blr_delete(semaphore);
    return result;
}

ze_result_t zeDeviceImportExternalSemaphoreExt(ze_device_handle_t device_handle, const ze_external_semaphore_ext_desc_t *desc,
                                               ze_external_semaphore_ext_handle_t *handle)
{
    struct blz_device *device;
    struct blz_extension extensions[] = {{ZE_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_FD_EXT_DESC, NULL},
                                         {ZE_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_WIN32_EXT_DESC, NULL}};
    ze_result_t result = blz_device_check(device_handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_EXT_DESC, "desc", extensions, 2);
    if (result == ZE_RESULT_SUCCESS && handle == NULL)
        result = blz_fail_null("phSemaphore");
    return result == ZE_RESULT_SUCCESS ? import(desc, extensions[0].address, handle) : result;
}

ze_result_t zeDeviceReleaseExternalSemaphoreExt(ze_external_semaphore_ext_handle_t handle)
{
    return blz_destroy(handle, BLR_KIND_ZE_SEMAPHORE);
}
