/* BLR_SHARED: a function of the reference driver that the package's drivers over it call beyond the public API. The
 * library exports it under a version of its own, BINDLESS_PRIVATE with the package's version. */
#ifndef BINDLESS_REFERENCE_PLATFORM_SHARED_H
#define BINDLESS_REFERENCE_PLATFORM_SHARED_H

#if defined(__linux__)
#  define BLR_SHARED __attribute__((visibility("default")))
#else
#  define BLR_SHARED
#endif

#endif
