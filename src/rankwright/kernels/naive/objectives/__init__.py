"""Twins of the kernels that compute forces on documents."""
