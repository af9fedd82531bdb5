/* A program: the commands of one call, which Python computes from shapes, strides and options.
 *
 * Programs hold no address, since XLA stores them in compiled executables, possibly in a file: a function is an index
 * into a list that belongs to the call, and a buffer an index into its operands followed by its results. */
#ifndef BINDLESS_PROGRAMS_PROGRAM_H
#define BINDLESS_PROGRAMS_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

/* The words of a command. */
enum {
    COMMAND_CLEAR = 0,  /* buffer, bytes: fills with zeros */
    COMMAND_CALL = 1,   /* function, grid (3), block (3), bytes, patches, (offset, buffer, start) for each patch, block of
                         * arguments: calls a function with a pointer to the block, or launches a kernel with the block
                         * as its packed parameters. A patch writes at an offset the address of the byte `start` of a
                         * buffer; after the last buffer comes the texture */
    COMMAND_TEXTURE = 2, /* buffer, start, then the words of a texture: makes the image that begins at the byte `start` of
                          * a buffer the texture of the next calls */
};

/* The words of a texture: texels along the axes, 0 for those that it lacks, and its sampler. CUDA's numbers. */
enum {
    TEXTURE_WIDTH, TEXTURE_HEIGHT, TEXTURE_DEPTH, TEXTURE_FORMAT, TEXTURE_CHANNELS, TEXTURE_ADDRESSING,
    TEXTURE_LINEAR = TEXTURE_ADDRESSING + 3, TEXTURE_NORMALIZED, TEXTURE_WORDS
};

enum { MOST_ARGUMENT_WORDS = 1024, MOST_FUNCTIONS = 8, MOST_BUFFERS = 128 };

typedef struct {
    uint32_t grid[3], block[3];
    size_t bytes;
    void *arguments;
} Call;

/* Where commands run. The functions return NULL or the reason of a failure. */
typedef struct Target Target;
struct Target {
    const char *(*clear)(Target *target, void *buffer, size_t bytes);
    const char *(*call)(Target *target, size_t function, const Call *call);
    const char *(*texture)(Target *target, const void *pixels, const int64_t *words, uint64_t *handle); /* or NULL */
    char message[256]; /* storage for reasons */
};

/* Runs all commands. Returns NULL or the reason of a failure. */
const char *run_program(Target *target, const int64_t *words, size_t count, size_t functions, void *const *buffers,
                        size_t buffer_count);

#endif
