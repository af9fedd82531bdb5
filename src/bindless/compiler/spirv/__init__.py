"""Corrections of the SPIR-V that LLVM writes."""
