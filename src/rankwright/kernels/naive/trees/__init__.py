"""Twins of the kernels that grow a tree."""
