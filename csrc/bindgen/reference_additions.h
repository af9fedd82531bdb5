/* What the reference's module offers besides the driver's API: read by cffi and by the compiler. The code is in
 * reference_copy.h. */
/* A copy to be repeated, and the event of the last. */
typedef struct bindless_image_copy {
    blr_queue_t queue;
    blr_copy_region_t region;
    blr_event_t event;
} bindless_image_copy_t;
static int bindless_copy_again(bindless_image_copy_t *copy);
