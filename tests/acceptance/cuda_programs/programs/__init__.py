"""Programs through cuda.core, Numba, tinygrad and PyCUDA; each fails with an error."""
