"""Metrics and the conventions that complete them."""
