"""Twins of the kernels of nets."""
