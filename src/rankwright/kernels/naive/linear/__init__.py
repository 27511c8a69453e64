"""Twins of the kernels of linear rankers and perceptrons."""
