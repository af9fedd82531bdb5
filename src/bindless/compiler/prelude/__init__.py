"""Device primitives as LLVM IR, one module a target, generated from one table of geometries."""
