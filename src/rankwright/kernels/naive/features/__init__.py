"""Twins of the kernels that scale features."""
