"""The sampling of the reference device beside independent computations: float64 numpy, OpenCL devices, exact fractions."""
