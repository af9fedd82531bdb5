/* Parser of build options. */

#include "level_zero_driver/module/build_options.h"

#include <string.h>

static const char *const plain[] = {
    "-ze-opt-disable",           "-ze-opt-greater-than-4GB-buffer-required", "-ze-opt-large-register-file",
    "-ze-opt-has-buffer-offset-arg", "-g",
};

#define LEVEL "-ze-opt-level"
#define KNOWN                                                                                                            \
    "-ze-opt-disable, -ze-opt-level (0, 1 or 2), -ze-opt-greater-than-4GB-buffer-required, -ze-opt-large-register-file, " \
    "-ze-opt-has-buffer-offset-arg and -g are known"

static bool is(const char *word, size_t length, const char *option) { return strlen(option) == length && strncmp(word, option, length) == 0; }

static bool is_level(const char *word, size_t length) { return length == 1 && *word >= '0' && *word <= '2'; }

/* Returns the next word and moves *text behind it; the length is 0 at the end. */
static const char *next_word(const char **text, size_t *length)
{
    const char *word = *text + strspn(*text, " \t\r\n");
    *length = strcspn(word, " \t\r\n");
    *text = word + *length;
    return word;
}

static ze_result_t refuse(const char *word, size_t length)
{
    return blz_fail(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "the build option '%.*s': " KNOWN, (int)(length < 200 ? length : 200), word);
}

ze_result_t blz_build_options_check(const char *options)
{
    if (options == NULL)
        return ZE_RESULT_SUCCESS;
    size_t length;
    for (const char *word = next_word(&options, &length); length > 0; word = next_word(&options, &length)) {
        bool valid = false;
        for (size_t i = 0; i < sizeof plain / sizeof *plain && !valid; i++)
            valid = is(word, length, plain[i]);
        if (valid)
            continue;
        if (length > strlen(LEVEL) && strncmp(word, LEVEL "=", strlen(LEVEL "=")) == 0) {
            valid = is_level(word + strlen(LEVEL "="), length - strlen(LEVEL "="));
        } else if (is(word, length, LEVEL)) { /* the next word is the level */
            size_t level_length;
            const char *level = next_word(&options, &level_length);
            valid = is_level(level, level_length);
        }
        if (!valid)
            return refuse(word, length);
    }
    return ZE_RESULT_SUCCESS;
}
