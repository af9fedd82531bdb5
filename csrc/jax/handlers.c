/* The handlers that XLA calls: one for processors and one for CUDA. */

#include "handlers.h"

#include <stdio.h>
#include <string.h>

#include "targets.h"

/* XLA asks for the version when a handler is registered, and calls it only if it supports that version. Since layouts
 * are the same in all versions of FFI_MAJOR, the answer is the newest that both know. */
static int answer_metadata(const FfiFrame *frame, uint32_t traits)
{
    for (FfiExtension *extension = frame->extensions; extension != NULL; extension = extension->next)
        if (extension->type == FFI_EXTENSION_METADATA) {
            FfiMetadata *metadata = ((FfiMetadataExtension *)extension)->metadata;
            int minor = FFI_OLDEST_MINOR;
            if (frame->api != NULL && frame->api->version.major == FFI_MAJOR && frame->api->version.minor > minor)
                minor = frame->api->version.minor < FFI_NEWEST_MINOR ? frame->api->version.minor : FFI_NEWEST_MINOR;
            metadata->version.major = FFI_MAJOR;
            metadata->version.minor = minor;
            metadata->traits = traits;
            return 1;
        }
    return 0;
}

static FfiError *fail(const FfiFrame *frame, int code, const char *message)
{
    FfiErrorRequest request = {.size = sizeof request, .message = message, .code = code};
    return frame->api->create_error(&request);
}

static const void *find_attribute(const FfiFrame *frame, const char *name, int kind)
{
    const FfiAttributes *attributes = &frame->attributes;
    for (int64_t i = 0; i < attributes->count; i++) {
        const FfiText *attribute = attributes->names[i];
        if (attribute->length == strlen(name) && memcmp(attribute->text, name, attribute->length) == 0)
            return attributes->kinds[i] == kind ? attributes->values[i] : NULL;
    }
    return NULL;
}

typedef struct {
    const int64_t *words;
    size_t word_count, name_count, buffer_count;
    Name names[MOST_FUNCTIONS];
    void *buffers[MOST_BUFFERS];
} Decoded;

static const char *decode(const FfiFrame *frame, Decoded *decoded)
{
    const FfiArray *program = find_attribute(frame, "program", FFI_ATTRIBUTE_ARRAY);
    const FfiText *names = find_attribute(frame, "names", FFI_ATTRIBUTE_STRING);
    if (program == NULL || program->type != FFI_TYPE_INT64 || names == NULL)
        return "the custom call lacks its attributes 'program' (integers of 64 bits) and 'names' (text)";
    decoded->words = program->data;
    decoded->word_count = program->count;
    /* Names are separated by spaces. */
    const char *text = names->text, *end = text + names->length;
    while (text < end && decoded->name_count < MOST_FUNCTIONS) {
        const char *stop = memchr(text, ' ', (size_t)(end - text));
        stop = stop != NULL ? stop : end;
        decoded->names[decoded->name_count++] = (Name){text, (size_t)(stop - text)};
        text = stop + 1;
    }
    const FfiBuffers *groups[] = {&frame->arguments, &frame->results};
    for (int group = 0; group < 2; group++)
        for (int64_t i = 0; i < groups[group]->count; i++) {
            if (groups[group]->kinds[i] != FFI_ARGUMENT_BUFFER || decoded->buffer_count == MOST_BUFFERS)
                return "the custom call has too many buffers, or a parameter that is no buffer";
            decoded->buffers[decoded->buffer_count++] = ((const FfiBuffer *)groups[group]->items[i])->data;
        }
    return NULL;
}

static const char *run(Target *target, const Decoded *decoded)
{
    return run_program(target, decoded->words, decoded->word_count, decoded->name_count, decoded->buffers,
                       decoded->buffer_count);
}

FfiError *host_handler(FfiFrame *frame)
{
    if (answer_metadata(frame, FFI_TRAIT_COMMAND_BUFFER))
        return NULL;
    Decoded decoded = {0};
    const char *failure = decode(frame, &decoded);
    if (failure != NULL)
        return fail(frame, FFI_INVALID_ARGUMENT, failure);
    HostTarget target = host_target(decoded.names);
    failure = run(&target.base, &decoded);
    return failure == NULL ? NULL : fail(frame, FFI_INTERNAL, failure);
}

static FfiError *run_on_cuda(const FfiFrame *frame)
{
    FfiStreamRequest request = {.size = sizeof request, .context = frame->context};
    FfiError *error = frame->api->get_stream(&request);
    if (error != NULL)
        return error;
    Decoded decoded = {0};
    const char *failure = decode(frame, &decoded);
    if (failure != NULL)
        return fail(frame, FFI_INVALID_ARGUMENT, failure);
    CudaTarget target = cuda_target(request.stream, decoded.names);
    failure = enter_context(&target);
    if (failure != NULL)
        return fail(frame, FFI_FAILED_PRECONDITION, failure);
    if (frame->stage == FFI_STAGE_EXECUTE)
        failure = run(&target.base, &decoded);
    for (size_t i = 0; failure == NULL && frame->stage != FFI_STAGE_EXECUTE && i < decoded.name_count; i++)
        failure = load_kernel(&target.base, decoded.names[i]);
    const char *late = leave_context(&target);
    failure = failure != NULL ? failure : late;
    return failure == NULL ? NULL : fail(frame, FFI_INTERNAL, failure);
}

FfiError *cuda_handler(FfiFrame *frame)
{
    return answer_metadata(frame, FFI_TRAIT_COMMAND_BUFFER) ? NULL : run_on_cuda(frame);
}

FfiError *cuda_texture_handler(FfiFrame *frame)
{
    return answer_metadata(frame, 0) ? NULL : run_on_cuda(frame);
}
