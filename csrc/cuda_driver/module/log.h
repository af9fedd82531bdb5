/* Options of compilations: the buffers for their messages. */
#ifndef BINDLESS_CUDA_DRIVER_MODULE_LOG_H
#define BINDLESS_CUDA_DRIVER_MODULE_LOG_H

#include "cuda_driver/core/result.h"

struct bcu_log {
    char *text[2];    /* information, errors */
    size_t room[2];
    void **size[2];   /* option values that receive the bytes written, or NULL */
};

/* Reads the options; the values stay the caller's. */
CUresult bcu_log_read(unsigned count, const CUjit_option *options, void **values, struct bcu_log *log);

/* Writes a message to the buffer for errors, and ends both. */
void bcu_log_fail(struct bcu_log *log, const char *message);
void bcu_log_end(struct bcu_log *log);

#endif
