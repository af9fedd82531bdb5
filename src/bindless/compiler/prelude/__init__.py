"""Device primitives as LLVM IR, one module per target, generated from one table of geometries."""
