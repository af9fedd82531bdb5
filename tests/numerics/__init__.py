"""Sampling on the reference device beside independent computations: float64 numpy, OpenCL devices, exact fractions."""
