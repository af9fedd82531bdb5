"""Programs of other packages on the CUDA driver of this one."""
