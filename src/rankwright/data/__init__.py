"""Ranking data: the dataset, and everything that makes, reads, writes, splits or scales one."""
