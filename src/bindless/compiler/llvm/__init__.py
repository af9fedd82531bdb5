"""LLVM's tools and passes over LLVM IR."""
