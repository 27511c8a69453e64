"""Bags of rankers: the mean of copies that were each trained on a sample of queries."""
