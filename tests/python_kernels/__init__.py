"""Tests of kernels in Python."""
