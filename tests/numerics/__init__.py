"""Sampling on the reference device, compared with independent computations: float64 numpy, OpenCL devices, fractions."""
