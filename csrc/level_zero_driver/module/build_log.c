/* Build logs: creation, query and destruction (zeModuleBuildLog*). */

#include "level_zero_driver/module/build_log.h"

#include "level_zero_driver/core/two_call_query.h"

#include <stdio.h>
#include <string.h>

struct build_log {
    struct blr_object object;
    char *text;
};

static void destroy(struct blr_object *object)
{
    struct build_log *log = (struct build_log *)object;
    blr_delete(log->text);
    blr_delete(log);
}

ze_result_t blz_build_log_create(const char *text, ze_module_build_log_handle_t *handle)
{
    if (handle == NULL)
        return ZE_RESULT_SUCCESS;
    struct build_log *log = blr_new(sizeof *log);
    if (log == NULL || (log->text = blr_copy_text(text)) == NULL) {
        blr_delete(log);
        return blz_fail_memory("a build log");
    }
    return blz_register(&log->object, BLR_KIND_ZE_BUILD_LOG, destroy, handle);
}

ze_result_t blz_build_log_tell(ze_result_t result, const char *notes, ze_module_build_log_handle_t *handle)
{
    char *text = blr_copy_text(result == ZE_RESULT_SUCCESS ? notes : blz_failure_text());
    ze_result_t outcome = text == NULL ? blz_fail_memory("a build log") : blz_build_log_create(text, handle);
    blr_delete(text);
    return outcome;
}

void blz_log_add(struct blz_log_text *text, const char *what, const char *name)
{
    size_t length = strlen(what) + strlen(name) + 2;
    if (text->length + length + 1 > text->capacity) {
        size_t capacity = 2 * text->capacity + length + 256;
        char *bytes = blr_new(capacity);
        text->failed = text->failed || bytes == NULL;
        if (bytes == NULL)
            return;
        if (text->bytes != NULL)
            memcpy(bytes, text->bytes, text->length + 1);
        blr_delete(text->bytes);
        text->bytes = bytes;
        text->capacity = capacity;
    }
    text->length += (size_t)snprintf(text->bytes + text->length, text->capacity - text->length, "%s%s\n", what, name);
}

ze_result_t zeModuleBuildLogDestroy(ze_module_build_log_handle_t handle) { return blz_destroy(handle, BLR_KIND_ZE_BUILD_LOG); }

ze_result_t zeModuleBuildLogGetString(ze_module_build_log_handle_t handle, size_t *size, char *text)
{
    struct build_log *log;
    ze_result_t result = blz_acquire(handle, BLR_KIND_ZE_BUILD_LOG, &log);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_copy_out(log->text, strlen(log->text) + 1, size, text);
    blr_object_release(&log->object);
    return result;
}
