"""Naive twins of the kernels that count clicks."""
