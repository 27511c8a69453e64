"""Bags of rankers: each member learns from its own sample of queries, and what they say is averaged."""
