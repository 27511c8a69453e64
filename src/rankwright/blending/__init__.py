"""Blends: several rankers of any kinds as one, by weights that are learned on scores of queries they never saw."""
