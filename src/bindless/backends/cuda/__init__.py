"""The CUDA back end: libcuda's driver API behind the contract."""
