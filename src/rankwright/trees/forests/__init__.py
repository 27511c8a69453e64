"""Forests: trees as arrays, scored, merged, and made smaller."""
