"""Nets that follow λ-gradients: plain ones in our own kernels, and torch's modules, over ragged queries.

`torch_net` alone imports torch, which is an extra; `torch_part` of `plain_net` is the way to it.
"""
