/* Structs of Intel's driver that are no part of the API and that clients pass to any driver. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_CORE_INTEL_EXTENSIONS_H
#define BINDLESS_LEVEL_ZERO_DRIVER_CORE_INTEL_EXTENSIONS_H

/* Chained to the descriptor of a queue or list: a hint that copies may run on another engine. */
#define BLZ_INTEL_COPY_OFFLOAD_HINT_DESC 0x3001b

/* Laid out as ze_event_counter_based_desc_t, with the same flags. */
#define BLZ_INTEL_COUNTER_BASED_EVENT_DESC 0x3001c

#endif
