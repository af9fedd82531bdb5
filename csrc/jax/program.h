/* A program: the commands of one custom call, which Python computes from static shapes when it traces a function.
 *
 * XLA stores programs in compiled executables, possibly in a file. So they hold no address: a function is an index into
 * the call's list of names, and a buffer an index into its arguments followed by its results. */
#ifndef BINDLESS_JAX_PROGRAM_H
#define BINDLESS_JAX_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

/* The words of a command. */
enum {
    COMMAND_CLEAR = 0,  /* buffer, bytes: fills with zeros */
    COMMAND_CALL = 1,   /* name, grid (3), block (3), bytes, patches, (offset, buffer, start) for each patch, block of
                         * arguments: calls a function with a pointer to the block, or launches a kernel with the block
                         * as its packed parameters. A patch writes at an offset the address of the byte `start` of a
                         * buffer */
};

enum { MOST_ARGUMENT_WORDS = 1024, MOST_NAMES = 8, MOST_BUFFERS = 128 };

typedef struct {
    const char *text;
    size_t length;
} Name;

typedef struct {
    uint32_t grid[3], block[3];
    size_t bytes;
    void *arguments;
} Call;

/* Where commands run. Both functions return NULL or the reason of a failure. */
typedef struct Target Target;
struct Target {
    const char *(*clear)(Target *target, void *buffer, size_t bytes);
    const char *(*call)(Target *target, Name name, const Call *call);
    char message[256]; /* storage for reasons */
};

/* Runs all commands. Returns NULL or the reason of a failure. */
const char *run_program(Target *target, const int64_t *words, size_t count, const Name *names, size_t name_count,
                        void *const *buffers, size_t buffer_count);

#endif
