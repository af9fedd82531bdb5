/* The device, the library's version, result names and the last error. */
#include "fixture.h"
#include "platform/threads.h"

static void describe(void)
{
    uint32_t count = 0, major = 9, minor = 9, patch = 9;
    OK(blrDeviceGetCount(&count));
    CHECK_EQUAL(1, count);
    OK(blrGetVersion(&major, &minor, &patch));
    CHECK(major == BLR_VERSION_MAJOR && minor == BLR_VERSION_MINOR && patch == BLR_VERSION_PATCH);
    blr_device_t device = open_device(), again = NULL;
    OK(blrDeviceGet(0, &again));
    CHECK(device == again);
    FAILS(INVALID_ARGUMENT, blrDeviceGet(1, &again), "device 1 does not exist");
    CHECK(again == NULL);
    FAILS(INVALID_ARGUMENT, blrDeviceGet(0, NULL), "NULL");
    FAILS(INVALID_ARGUMENT, blrDeviceGetCount(NULL), "NULL");
    FAILS(INVALID_ARGUMENT, blrDeviceGetProperties(device, NULL), "NULL");
    FAILS(INVALID_ARGUMENT, blrDeviceGetTimestamp(device, NULL), "NULL");
    FAILS(INVALID_ARGUMENT, blrDeviceSupportsFormat(device, BLR_CHANNEL_FP32, 4, NULL), "NULL");
    FAILS(INVALID_ARGUMENT, blrGetVersion(NULL, &minor, &patch), "NULL");
    FAILS(INVALID_ARGUMENT, blrGetObjectCount(NULL), "NULL");
    FAILS(INVALID_ARGUMENT, blrContextCreate(device, NULL), "NULL");

    blr_device_properties_t p;
    OK(blrDeviceGetProperties(device, &p));
    CHECK(strlen(p.name) > 0 && strcmp(p.vendor, "bindless") == 0 && strlen(p.driver_version) > 0);
    CHECK(p.global_memory_size >= (uint64_t)64 << 20);
    CHECK(p.max_allocation_size > 0 && p.max_allocation_size <= p.global_memory_size);
    CHECK(p.max_image_2d_width == 131072 && p.max_image_2d_height == 65536);
    CHECK(p.max_image_3d_width == 16384 && p.max_image_3d_height == 16384 && p.max_image_3d_depth == 16384);
    CHECK(p.max_image_layers == 2048 && p.max_mipmap_width == 32768 && p.max_mipmap_height == 32768);
    CHECK(p.image_row_pitch_align == 32 && p.max_anisotropy == 16.0f);
    CHECK(p.max_image_linear_width == 131072 && p.max_image_linear_height == 65000);
    CHECK(p.max_image_linear_row_pitch == 2097120);

    uint64_t first = 0, second = 0;
    OK(blrDeviceGetTimestamp(device, &first));
    OK(blrDeviceGetTimestamp(device, &second));
    CHECK(second >= first && first > 0);
}

static void formats(void)
{
    blr_device_t device = open_device();
    /* Channels from BLR_CHANNEL_UNORM_INT_10_10_10_2 on: packed pixels, sRGB, BC1 to BC3, BC4, BC5, BC6H, BC7. */
    static const uint32_t one[] = {4, 4, 4, 4, 4, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 1, 1, 2, 2, 4, 4, 4, 4};
    const int end = 14 + (int)(sizeof one / sizeof one[0]);
    CHECK_EQUAL(BLR_CHANNEL_BC7_SRGB + 1, end);
    for (int type = -1; type <= end; type++)
        for (uint32_t channels = 0; channels <= 5; channels++) {
            uint32_t supported = 9;
            const bool any = type >= 0 && type < 14 && channels >= 1 && channels <= 4;
            const bool fixed = type >= 14 && type < end && channels == one[type >= 14 && type < end ? type - 14 : 0];
            OK(blrDeviceSupportsFormat(device, (blr_channel_type_t)type, channels, &supported));
            CHECK_EQUAL(any || fixed, supported);
        }
}

static void names(void)
{
    const char *name = NULL;
    for (int code = BLR_RESULT_SUCCESS; code <= BLR_RESULT_UNKNOWN; code++) {
        OK(blrResultGetName((blr_result_t)code, &name));
        CHECK(strlen(name) > 3 && (code == BLR_RESULT_UNKNOWN || strcmp(name, "UNKNOWN") != 0));
    }
    OK(blrResultGetName((blr_result_t)-1, &name));
    CHECK(strcmp(name, "UNKNOWN") == 0);
    OK(blrResultGetName((blr_result_t)1000, &name));
    CHECK(strcmp(name, "UNKNOWN") == 0);
    FAILS(INVALID_ARGUMENT, blrResultGetName(BLR_RESULT_SUCCESS, NULL), "NULL");
}

static void fail_elsewhere(void *argument)
{
    blr_result_t code = BLR_RESULT_UNKNOWN;
    const char *message = NULL;
    OK(blrGetLastError(&code, &message));
    CHECK(code == BLR_RESULT_SUCCESS && strcmp(message, "") == 0);
    FAILS(INVALID_ARGUMENT, blrDeviceGet(77, argument), "device 77");
}

static void errors_are_a_threads_own(void)
{
    blr_device_t device = NULL;
    blr_thread_t thread;
    FAILS(INVALID_ARGUMENT, blrDeviceGet(5, &device), "device 5");
    CHECK(blr_thread_create(&thread, fail_elsewhere, &device));
    blr_thread_join(thread);
    blr_result_t code;
    const char *message;
    OK(blrGetLastError(&code, &message));
    CHECK(code == BLR_RESULT_INVALID_ARGUMENT && strstr(message, "device 5") != NULL);
    OK(blrGetLastError(NULL, NULL));
    OK(blrDeviceGetCount(&(uint32_t){0})); /* success does not change it */
    OK(blrGetLastError(&code, &message));
    CHECK(strstr(message, "device 5") != NULL);
}

/* Checks the environment settings of the test with this name. */
static int settings(const char *which)
{
    blr_device_t device = NULL;
    blr_device_properties_t p;
    if (strcmp(which, "threads=3") == 0) {
        OK(blrDeviceGet(0, &device));
        OK(blrDeviceGetProperties(device, &p));
        CHECK_EQUAL(3, p.compute_units);
    } else if (strcmp(which, "threads=bad") == 0) {
        FAILS(INVALID_ARGUMENT, blrDeviceGet(0, &device), "BINDLESS_REFERENCE_THREADS");
        CHECK(device == NULL);
    } else if (strcmp(which, "filtering=exact") == 0) {
        OK(blrDeviceGet(0, &device));
        OK(blrDeviceGetProperties(device, &p));
        CHECK_EQUAL(1, p.exact_filtering);
    } else if (strcmp(which, "filtering=bad") == 0) {
        FAILS(INVALID_ARGUMENT, blrDeviceGet(0, &device), "BINDLESS_REFERENCE_FILTERING");
    } else {
        check_failed(__FILE__, __LINE__, which, "is no setting of this test");
    }
    return 0;
}

int main(int count, char **arguments)
{
    if (count > 1)
        return settings(arguments[1]);
    describe();
    formats();
    names();
    errors_are_a_threads_own();
    return 0;
}
