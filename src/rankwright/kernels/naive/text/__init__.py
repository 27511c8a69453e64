"""Twins of the kernels that read and write text files."""
