"""Nets that follow λ-gradients: torch's modules, driven by our objectives over ragged queries.

Every module here but `params` imports torch, which is an extra: callers load them only when a net is wanted.
"""
