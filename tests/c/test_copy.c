/* Copies and fills of memory, and copies of regions between images and memory, compared with loops over pixels. */
#include "fixture.h"

static blr_context_t context;
static blr_queue_t queue;

/* ---------------------------------------------------------------- lines and patterns */

static void lines(void)
{
    static const uint64_t sizes[] = {0, 1, 15, 16, 63, 64, 65, 1000, 4097, 1 << 20, (1 << 20) + 7, (9 << 20) + 3};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (uint64_t shift = 0; shift < 3; shift++) {
            uint64_t size = sizes[i];
            unsigned char *host = malloc(size + 16), *back = malloc(size + 16);
            void *device = NULL;
            CHECK(host != NULL && back != NULL);
            fill_random(host, size + 16, (uint32_t)i + 3);
            memset(back, 0x77, size + 16);
            OK(blrMemoryAllocate(context, BLR_MEMORY_DEVICE, size + 16, 0, &device));
            OK(blrEnqueueCopy(queue, (char *)device + shift, host + 2 * shift, size, 0, NULL, NULL));
            OK(blrEnqueueCopy(queue, back + shift, (char *)device + shift, size, 0, NULL, NULL));
            OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
            CHECK(memcmp(back + shift, host + 2 * shift, size) == 0);
            for (uint64_t k = 0; k < shift; k++)
                CHECK(back[k] == 0x77);
            CHECK(back[shift + size] == 0x77);
            OK(blrMemoryFree(context, device));
            free(host);
            free(back);
        }
}

/* An overlapping copy acts as if through a temporary buffer. */
static void overlapping_lines(void)
{
    enum { SIZE = 3 << 20 };
    unsigned char *bytes = malloc(SIZE), *expected = malloc(SIZE);
    CHECK(bytes != NULL && expected != NULL);
    const int64_t shifts[] = {1, -1, 17, -4096, 1 << 20, 0};
    for (int i = 0; i < 6; i++) {
        uint64_t from = shifts[i] < 0 ? (uint64_t)-shifts[i] : 0, to = shifts[i] > 0 ? (uint64_t)shifts[i] : 0;
        uint64_t size = SIZE - (from > to ? from : to);
        fill_random(bytes, SIZE, 99);
        memcpy(expected, bytes, SIZE);
        for (uint64_t k = 0; k < size; k++) {
            uint64_t at = to > from ? size - 1 - k : k;
            expected[to + at] = expected[from + at];
        }
        OK(blrEnqueueCopy(queue, bytes + to, bytes + from, size, 0, NULL, NULL));
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
        CHECK(memcmp(bytes, expected, SIZE) == 0);
    }
    free(bytes);
    free(expected);
}

static void patterns(void)
{
    static const uint64_t counts[] = {0, 1, 2, 63, 64, 65, 1000, 300007};
    unsigned char pattern[128];
    fill_random(pattern, sizeof pattern, 21);
    for (uint64_t size = 1; size <= 128; size = size < 6 ? size + 1 : size * 2 - 5 <= 128 ? size * 2 - 5 : size == 128 ? 129 : 128)
        for (int i = 0; i < 8; i++) {
            uint64_t count = counts[i];
            unsigned char *bytes = malloc(size * count + 2);
            CHECK(bytes != NULL);
            memset(bytes, 0x33, size * count + 2);
            OK(blrEnqueueFill(queue, bytes + 1, pattern, size, count, 0, NULL, NULL));
            OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
            for (uint64_t k = 0; k < count; k++)
                CHECK(memcmp(bytes + 1 + k * size, pattern, size) == 0);
            CHECK(bytes[0] == 0x33 && bytes[1 + size * count] == 0x33);
            free(bytes);
        }
}

static void refused_lines(void)
{
    void *device = NULL, *foreign = NULL;
    unsigned char bytes[128];
    blr_context_t other = open_context();
    OK(blrMemoryAllocate(context, BLR_MEMORY_DEVICE, 64, 0, &device));
    OK(blrMemoryAllocate(other, BLR_MEMORY_HOST, 64, 0, &foreign));
    FAILS(INVALID_SIZE, blrEnqueueCopy(queue, device, bytes, 65, 0, NULL, NULL), "at most 64 bytes are left");
    FAILS(INVALID_SIZE, blrEnqueueCopy(queue, bytes, (char *)device + 32, 33, 0, NULL, NULL), "offset 32");
    FAILS(INVALID_SIZE, blrEnqueueCopy(queue, bytes, device, UINT64_MAX, 0, NULL, NULL), "address space");
    FAILS(INVALID_ARGUMENT, blrEnqueueCopy(queue, NULL, bytes, 1, 0, NULL, NULL), "destination of the copy is NULL");
    FAILS(INVALID_ARGUMENT, blrEnqueueCopy(queue, bytes, NULL, 1, 0, NULL, NULL), "source of the copy is NULL");
    OK(blrEnqueueCopy(queue, NULL, NULL, 0, 0, NULL, NULL));
    FAILS(INVALID_HANDLE, blrEnqueueCopy(queue, bytes, foreign, 8, 0, NULL, NULL), "another context");
    FAILS(INVALID_HANDLE, blrEnqueueCopy(queue, foreign, bytes, 8, 0, NULL, NULL), "another context");
    FAILS(INVALID_SIZE, blrEnqueueFill(queue, device, bytes, 4, 17, 0, NULL, NULL), "68 bytes");
    FAILS(INVALID_SIZE, blrEnqueueFill(queue, device, bytes, 4, UINT64_MAX / 2, 0, NULL, NULL), "more than memory");
    FAILS(INVALID_SIZE, blrEnqueueFill(queue, device, bytes, 0, 1, 0, NULL, NULL), "pattern of 0 bytes");
    FAILS(INVALID_SIZE, blrEnqueueFill(queue, device, bytes, 129, 1, 0, NULL, NULL), "pattern of 129 bytes");
    FAILS(INVALID_ARGUMENT, blrEnqueueFill(queue, device, NULL, 1, 1, 0, NULL, NULL), "pattern is NULL");
    FAILS(INVALID_ARGUMENT, blrEnqueueFill(queue, NULL, bytes, 1, 1, 0, NULL, NULL), "NULL");
    OK(blrMemoryFree(context, device));
    OK(blrMemoryFree(other, foreign));
    OK(blrContextDestroy(other));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
}

/* ---------------------------------------------------------------- regions */

/* One side of a copy: its bytes, and the position of pixel (x, y, z). */
struct side {
    blr_copy_endpoint_t end;
    unsigned char *bytes;
    uint64_t extent[3];
    uint64_t row_pitch, slice_pitch;
    uint64_t size;
    bool device;
};

static struct side make_side(uint32_t *state, const uint64_t extent[3], uint32_t pixel, bool image, uint32_t seed)
{
    struct side side = {0};
    memcpy(side.extent, extent, sizeof side.extent);
    side.row_pitch = extent[0] * pixel;
    if (!image)
        side.row_pitch += random_next(state) % 40;
    side.slice_pitch = side.row_pitch * extent[1];
    if (!image)
        side.slice_pitch += random_next(state) % 40;
    side.size = side.slice_pitch * extent[2];
    if (image) {
        static const blr_channel_type_t types[] = {BLR_CHANNEL_UNSIGNED_INT8, BLR_CHANNEL_FP16, BLR_CHANNEL_FP32};
        uint32_t bytes = pixel % 4 == 0 ? 4 : pixel % 2 == 0 ? 2 : 1;
        blr_image_desc_t desc = plain_desc(extent[0], extent[1], extent[2], types[bytes / 2], pixel / bytes);
        if (extent[2] == 1)
            desc.depth = 0;
        else if (random_next(state) % 2) {
            desc.depth = 0;
            desc.type = BLR_IMAGE_ARRAY;
            desc.array_size = (uint32_t)extent[2];
        }
        if (desc.depth == 0 && extent[1] == 1)
            desc.height = 0;
        void *pixels = NULL;
        OK(blrImageCreate(context, &desc, &side.end.image));
        OK(blrImageGetPointer(side.end.image, &pixels));
        side.bytes = pixels;
    } else {
        side.device = random_next(state) % 2;
        if (side.device) {
            void *pointer = NULL;
            OK(blrMemoryAllocate(context, BLR_MEMORY_DEVICE, side.size, 0, &pointer));
            side.bytes = pointer;
        } else {
            side.bytes = malloc(side.size);
            CHECK(side.bytes != NULL);
        }
        side.end.pointer = side.bytes;
        side.end.row_pitch = side.row_pitch;
        side.end.slice_pitch = side.slice_pitch;
    }
    fill_random(side.bytes, side.size, seed);
    return side;
}

static void drop_side(struct side *side)
{
    if (side->end.image != NULL)
        OK(blrImageDestroy(side->end.image));
    else if (side->device)
        OK(blrMemoryFree(context, side->bytes));
    else
        free(side->bytes);
}

/* Thousands of random regions between all kinds of memory and images. */
static void random_regions(void)
{
    static const uint32_t pixels[] = {1, 2, 3, 4, 6, 8, 12, 16};
    uint32_t state = 31;
    for (int round = 0; round < 3000; round++) {
        uint32_t pixel = pixels[random_next(&state) % 8];
        uint64_t extents[2][3];
        blr_copy_region_t region = {.pixel_size = pixel};
        for (int side = 0; side < 2; side++)
            for (int axis = 0; axis < 3; axis++)
                extents[side][axis] = 1 + random_next(&state) % (axis == 0 ? 40 : 9) * (random_next(&state) % 4 != 0);
        struct side source = make_side(&state, extents[0], pixel, random_next(&state) % 2, (uint32_t)round + 1);
        struct side target = make_side(&state, extents[1], pixel, random_next(&state) % 2, (uint32_t)round + 77777);
        region.source = source.end;
        region.destination = target.end;
        for (int axis = 0; axis < 3; axis++) {
            uint64_t most = extents[0][axis] < extents[1][axis] ? extents[0][axis] : extents[1][axis];
            region.extent[axis] = 1 + random_next(&state) % most;
            region.source.offset[axis] = random_next(&state) % (extents[0][axis] - region.extent[axis] + 1);
            region.destination.offset[axis] = random_next(&state) % (extents[1][axis] - region.extent[axis] + 1);
        }
        unsigned char *expected = malloc(target.size);
        CHECK(expected != NULL);
        memcpy(expected, target.bytes, target.size);
        for (uint64_t z = 0; z < region.extent[2]; z++)
            for (uint64_t y = 0; y < region.extent[1]; y++)
                for (uint64_t x = 0; x < region.extent[0]; x++) {
                    const uint64_t *a = region.source.offset, *b = region.destination.offset;
                    memcpy(expected + (b[2] + z) * target.slice_pitch + (b[1] + y) * target.row_pitch + (b[0] + x) * pixel,
                           source.bytes + (a[2] + z) * source.slice_pitch + (a[1] + y) * source.row_pitch + (a[0] + x) * pixel,
                           pixel);
                }
        if (region.extent[2] == 1 && round % 3 == 0)
            region.extent[2] = 0; /* the same as 1 */
        OK(blrEnqueueCopyImage(queue, &region, 0, NULL, NULL));
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
        CHECK(memcmp(expected, target.bytes, target.size) == 0);
        free(expected);
        drop_side(&source);
        drop_side(&target);
    }
}

/* Large enough for several threads and for non-temporal stores. */
static void large_regions(void)
{
    const uint64_t width = 1500, height = 1700;
    blr_image_desc_t desc = plain_desc(width, height, 0, BLR_CHANNEL_FP32, 1);
    blr_image_t image = NULL;
    unsigned char *host = malloc(width * height * 4), *back = calloc(height, width * 4 + 13);
    CHECK(host != NULL && back != NULL);
    fill_random(host, width * height * 4, 4);
    OK(blrImageCreate(context, &desc, &image));
    blr_copy_region_t up = {.source.pointer = host, .destination.image = image, .extent = {width, height, 1}, .pixel_size = 4};
    blr_copy_region_t down = {.source.image = image,
                              .destination = {.pointer = back, .row_pitch = width * 4 + 13},
                              .extent = {width, height, 1},
                              .pixel_size = 4};
    OK(blrEnqueueCopyImage(queue, &up, 0, NULL, NULL));
    OK(blrEnqueueCopyImage(queue, &down, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    for (uint64_t y = 0; y < height; y++) {
        CHECK(memcmp(back + y * (width * 4 + 13), host + y * width * 4, width * 4) == 0);
        for (int k = 0; k < 13; k++)
            CHECK(back[y * (width * 4 + 13) + width * 4 + (uint64_t)k] == 0);
    }
    OK(blrImageDestroy(image));
    free(host);
    free(back);
}

/* Overlaps within one allocation act as if through a temporary buffer; within one image they are refused. */
static void overlapping_regions(void)
{
    enum { WIDTH = 64, HEIGHT = 32 };
    static unsigned char bytes[WIDTH * HEIGHT], expected[WIDTH * HEIGHT];
    for (int dx = -9; dx <= 9; dx += 3)
        for (int dy = -2; dy <= 2; dy++) {
            blr_copy_region_t region = {.extent = {40, 20, 1}, .pixel_size = 1};
            region.source.pointer = region.destination.pointer = bytes;
            region.source.row_pitch = region.destination.row_pitch = WIDTH;
            region.source.offset[0] = region.source.offset[1] = 10;
            region.destination.offset[0] = (uint64_t)(10 + dx);
            region.destination.offset[1] = (uint64_t)(10 + dy);
            fill_random(bytes, sizeof bytes, 5);
            memcpy(expected, bytes, sizeof bytes);
            for (int y = 0; y < 20; y++)
                memcpy(expected + (10 + dy + y) * WIDTH + 10 + dx, bytes + (10 + y) * WIDTH + 10, 40);
            OK(blrEnqueueCopyImage(queue, &region, 0, NULL, NULL));
            OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
            CHECK(memcmp(bytes, expected, sizeof bytes) == 0);
        }
    blr_image_desc_t desc = plain_desc(WIDTH, HEIGHT, 0, BLR_CHANNEL_UNSIGNED_INT8, 1);
    blr_image_t image = NULL;
    void *pixels = NULL;
    OK(blrImageCreate(context, &desc, &image));
    OK(blrImageGetPointer(image, &pixels));
    fill_random(pixels, WIDTH * HEIGHT, 6);
    memcpy(expected, pixels, WIDTH * HEIGHT);
    blr_copy_region_t region = {.source.image = image, .destination.image = image, .extent = {32, 32, 1}, .pixel_size = 1};
    region.destination.offset[0] = 31;
    FAILS(INVALID_ARGUMENT, blrEnqueueCopyImage(queue, &region, 0, NULL, NULL), "overlap in one image");
    region.destination.offset[0] = 32;
    for (int y = 0; y < HEIGHT; y++)
        memcpy(expected + y * WIDTH + 32, expected + y * WIDTH, 32);
    OK(blrEnqueueCopyImage(queue, &region, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    CHECK(memcmp(expected, pixels, WIDTH * HEIGHT) == 0);
    OK(blrImageDestroy(image));
}

static void refused_regions(void)
{
    blr_image_desc_t desc = plain_desc(8, 4, 0, BLR_CHANNEL_FP32, 2);
    blr_image_desc_t layered = plain_desc(8, 0, 0, BLR_CHANNEL_FP32, 2);
    blr_image_desc_t mipmap = plain_desc(8, 4, 0, BLR_CHANNEL_FP32, 2);
    blr_image_t image = NULL, array = NULL, mips = NULL, foreign = NULL;
    blr_context_t other = open_context();
    void *memory = NULL;
    static unsigned char bytes[4096];
    layered.type = BLR_IMAGE_ARRAY;
    layered.array_size = 3;
    mipmap.type = BLR_IMAGE_MIPMAP;
    mipmap.num_levels = 2;
    OK(blrImageCreate(context, &desc, &image));
    OK(blrImageCreate(context, &layered, &array));
    OK(blrImageCreate(context, &mipmap, &mips));
    OK(blrImageCreate(other, &desc, &foreign));
    OK(blrMemoryAllocate(context, BLR_MEMORY_DEVICE, 256, 0, &memory));
    const blr_copy_region_t good = {.source.pointer = bytes, .destination.image = image, .extent = {8, 4, 1}, .pixel_size = 8};
    blr_copy_region_t r;
#define REFUSED(code, change, text)                                                                                    \
    do {                                                                                                               \
        r = good;                                                                                                      \
        change;                                                                                                        \
        FAILS(code, blrEnqueueCopyImage(queue, &r, 0, NULL, NULL), text);                                              \
    } while (0)
    OK(blrEnqueueCopyImage(queue, &good, 0, NULL, NULL));
    FAILS(INVALID_ARGUMENT, blrEnqueueCopyImage(queue, NULL, 0, NULL, NULL), "NULL");
    REFUSED(INVALID_FORMAT, r.pixel_size = 4, "pixels of the destination image have 8 bytes");
    REFUSED(INVALID_FORMAT, r.pixel_size = 0, "pixel size 0");
    REFUSED(INVALID_FORMAT, r.pixel_size = 17, "pixel size 17");
    REFUSED(INVALID_SIZE, r.extent[0] = 0, "width 0");
    REFUSED(INVALID_SIZE, r.extent[0] = 9, "extent 9");
    REFUSED(INVALID_SIZE, r.extent[1] = 5, "extent 5");
    REFUSED(INVALID_SIZE, r.extent[2] = 2, "z: offset 0 and extent 2");
    REFUSED(INVALID_SIZE, r.destination.offset[0] = 1, "x: offset 1");
    REFUSED(INVALID_SIZE, r.destination.offset[1] = UINT64_MAX, "y: offset");
    REFUSED(INVALID_SIZE, r.destination.offset[2] = UINT64_MAX - 1, "z: offset");
    REFUSED(INVALID_SIZE, r.extent[0] = UINT64_MAX, "more than memory");
    REFUSED(INVALID_SIZE, r.source.offset[1] = UINT64_MAX / 8, "more than memory");
    REFUSED(INVALID_SIZE, r.source.row_pitch = 63, "row pitch 63");
    REFUSED(INVALID_SIZE, r.source.row_pitch = UINT64_MAX / 2, "more than memory");
    REFUSED(INVALID_ARGUMENT, r.source.pointer = NULL, "NULL");
    REFUSED(INVALID_SIZE, (r.source.pointer = memory, r.source.offset[0] = 1), "leaves its allocation");
    REFUSED(INVALID_ARGUMENT, r.destination.image = mips, "mipmap");
    REFUSED(INVALID_HANDLE, r.destination.image = foreign, "another context");
    REFUSED(INVALID_SIZE, (r.destination.image = array, r.extent[1] = 1, r.extent[2] = 4), "z: offset 0 and extent 4");
    REFUSED(INVALID_SIZE, (r.destination.image = array, r.extent[1] = 2), "y: offset 0 and extent 2");
    REFUSED(INVALID_SIZE, (r.destination.image = array, r.extent[1] = 1, r.extent[2] = 3, r.source.slice_pitch = 63),
            "slice pitch 63");
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    OK(blrImageDestroy(image));
    OK(blrImageDestroy(array));
    OK(blrImageDestroy(mips));
    OK(blrImageDestroy(foreign));
    OK(blrContextDestroy(other));
    OK(blrMemoryFree(context, memory));
}

int main(void)
{
    context = open_context();
    queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    lines();
    overlapping_lines();
    patterns();
    refused_lines();
    random_regions();
    large_regions();
    overlapping_regions();
    refused_regions();
    OK(blrQueueDestroy(queue));
    OK(blrContextDestroy(context));
    CHECK_EQUAL(0, object_count());
    return 0;
}
