/* Entry of every API call: call counter and injected failures. */

#include "level_zero_driver/core/fault_injection.h"

#include "level_zero_driver/core/result.h"
#include "reference/platform/threads.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RULES 16u
#define EVERY_CALL UINT64_MAX
#define ANY_FUNCTION BLZ_CALL_COUNT

struct rule {
    unsigned function;
    uint64_t number;
    ze_result_t result;
    uint64_t count;
};

static blr_mutex_t mutex = BLR_MUTEX_INIT;
static struct rule rules[MAX_RULES];
static uint32_t rule_count;
static _Atomic bool has_rules;
static _Atomic bool was_read;
static _Atomic uint64_t calls;

/* Whether a call counts; written once, before was_read. Calls that release an object or query a failure do not count: a
   program makes them to clean up after a failure. */
static bool is_counted[BLZ_CALL_COUNT];

static bool has_word(const char *name)
{
    static const char *const words[] = {"Destroy", "Free", "Close", "Put", "Evict", "Release", "LastError", "FunctionAddress"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]) != NULL)
            return true;
    return false;
}

static unsigned find_function(const char *name, size_t length)
{
    for (unsigned call = 0; call < BLZ_CALL_COUNT; call++)
        if (strlen(blz_call_names[call]) == length && memcmp(blz_call_names[call], name, length) == 0)
            return call;
    return BLZ_CALL_COUNT;
}

static ze_result_t read_rule(const char *text, size_t length, struct rule *rule)
{
    char copy[128];
    *rule = (struct rule){.function = ANY_FUNCTION};
    if (length < sizeof copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
        char *number = copy, *colon = strchr(copy, ':'), *equals = strchr(copy, '=');
        if (colon != NULL) {
            rule->function = find_function(copy, (size_t)(colon - copy));
            number = colon + 1;
        }
        char *end = NULL;
        rule->number = strcmp(number, "*") == 0 ? 0 : strtoull(number, &end, 10);
        if (*number == '*') {
            rule->number = EVERY_CALL;
            end = number + 1;
        }
        if (equals != NULL && end == equals && rule->number != 0 && *number != '-' &&
            (colon == NULL || rule->function != BLZ_CALL_COUNT) && blz_result_named(equals + 1, &rule->result))
            return ZE_RESULT_SUCCESS;
    }
    return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                    "the rule '%.*s': [FUNCTION:]N=RESULT is needed, such as zeMemAllocDevice:2=ERROR_OUT_OF_DEVICE_MEMORY",
                    (int)(length < 200 ? length : 200), text);
}

ze_result_t blz_call_set_rules(const char *text)
{
    struct rule read[MAX_RULES];
    uint32_t count = 0;
    ze_result_t result = ZE_RESULT_SUCCESS;
    while (text != NULL && *text != '\0' && result == ZE_RESULT_SUCCESS) {
        size_t length = strcspn(text, ",");
        if (count == MAX_RULES)
            return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "more than %u rules of failing calls", MAX_RULES);
        result = read_rule(text, length, &read[count++]);
        text += length + (text[length] == ',');
    }
    if (result != ZE_RESULT_SUCCESS)
        return result;
    blr_mutex_lock(&mutex);
    for (unsigned call = 0; call < BLZ_CALL_COUNT && !atomic_load(&was_read); call++)
        is_counted[call] = call == BLZ_CALL_zeCommandListClose || !has_word(blz_call_names[call]);
    memcpy(rules, read, count * sizeof *rules);
    rule_count = count;
    atomic_store(&calls, 0);
    atomic_store(&has_rules, count > 0);
    atomic_store(&was_read, true);
    blr_mutex_unlock(&mutex);
    return ZE_RESULT_SUCCESS;
}

ze_result_t blz_call_get_count(uint64_t *count)
{
    if (count == NULL)
        return blz_fail_null("count");
    *count = atomic_load(&calls);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t apply_rules(unsigned call, bool counted)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    blr_mutex_lock(&mutex);
    for (uint32_t i = 0; i < rule_count; i++) { /* every rule counts the call; the first match decides */
        struct rule *rule = &rules[i];
        if (rule->function != call && !(rule->function == ANY_FUNCTION && counted))
            continue;
        rule->count++;
        if (result == ZE_RESULT_SUCCESS && (rule->number == EVERY_CALL || rule->number == rule->count))
            result = rule->result;
    }
    blr_mutex_unlock(&mutex);
    if (result == ZE_RESULT_SUCCESS)
        return result;
    return blz_fail(result, "%s was made to fail by a rule of BINDLESS_LEVEL_ZERO_FAIL", blz_call_names[call]);
}

ze_result_t blz_call_enter(enum blz_call call)
{
    if (!atomic_load_explicit(&was_read, memory_order_acquire)) {
        ze_result_t result = blz_call_set_rules(getenv("BINDLESS_LEVEL_ZERO_FAIL"));
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    bool counted = is_counted[call];
    if (counted)
        atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    return atomic_load_explicit(&has_rules, memory_order_relaxed) ? apply_rules(call, counted) : ZE_RESULT_SUCCESS;
}

ze_result_t blz_call_unsupported(enum blz_call call)
{
    return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "%s is not supported by this driver", blz_call_names[call]);
}

ze_result_t blz_call_table(ze_api_version_t version, const void *table, int *minor)
{
    if (table == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (version >> 16 != ZE_API_VERSION_CURRENT >> 16)
        return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
    *minor = version & 0xffff;
    return ZE_RESULT_SUCCESS;
}
