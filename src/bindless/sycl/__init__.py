"""The SYCL 2020 runtime model over any backend: devices, contexts, queues, events, memory and kernels."""
