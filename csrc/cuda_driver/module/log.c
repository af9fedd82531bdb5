/* Buffers for the messages of compilations. */
#include "cuda_driver/module/log.h"

#include <stdio.h>
#include <string.h>

CUresult bcu_log_read(unsigned count, const CUjit_option *options, void **values, struct bcu_log *log)
{
    *log = (struct bcu_log){0};
    if (count > 0 && (options == NULL || values == NULL))
        return bcu_fail_null("options or optionValues");
    for (unsigned i = 0; i < count; i++) {
        int number = options[i] == CU_JIT_ERROR_LOG_BUFFER || options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
        if (options[i] == CU_JIT_INFO_LOG_BUFFER || options[i] == CU_JIT_ERROR_LOG_BUFFER) {
            log->text[number] = values[i];
        } else if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES || options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
            log->room[number] = (uint32_t)(uintptr_t)values[i];
            log->size[number] = &values[i];
        } else if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS) {
            return bcu_fail(CUDA_ERROR_INVALID_VALUE, "option %d", (int)options[i]);
        }
    }
    return CUDA_SUCCESS;
}

static void write(struct bcu_log *log, int number, const char *message)
{
    size_t size = 0;
    if (log->text[number] != NULL && log->room[number] > 0) {
        int length = snprintf(log->text[number], log->room[number], "%s", message);
        size = length < 0 ? 0 : (size_t)length < log->room[number] ? (size_t)length : log->room[number] - 1;
        if (message[0] != '\0')
            size++; /* the final zero counts */
    }
    if (log->size[number] != NULL)
        *log->size[number] = (void *)(uintptr_t)size;
}

void bcu_log_end(struct bcu_log *log)
{
    write(log, 0, "");
    write(log, 1, "");
}

void bcu_log_fail(struct bcu_log *log, const char *message)
{
    write(log, 0, "");
    write(log, 1, message);
}
