"""Searching an index with trained rankers: in the terminal, and on a local page to compare, try out and judge."""
