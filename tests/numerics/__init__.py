"""Sampling on the reference device, compared with independent results: float64 numpy, OpenCL devices, fractions."""
