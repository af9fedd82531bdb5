"""Kernel bundles, kernels, arguments and launches."""
