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

static ze_result_t note(const char *word, size_t length, struct blz_log_text *log)
{
    ze_result_t result = blz_tolerate(blz_fail(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "the build option '%.*s' has no effect: " KNOWN,
                                               (int)(length < 200 ? length : 200), word));
    if (result == ZE_RESULT_SUCCESS)
        blz_log_add(log, blz_failure_text(), "");
    return log->failed ? blz_fail_memory("a build log") : result;
}

ze_result_t blz_build_options_check(const char *options, struct blz_log_text *log)
{
    if (options == NULL)
        return ZE_RESULT_SUCCESS;
    size_t length;
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (const char *word = next_word(&options, &length); length > 0 && result == ZE_RESULT_SUCCESS; word = next_word(&options, &length)) {
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
            result = note(word, length, log);
    }
    return result;
}
