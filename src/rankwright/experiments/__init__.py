"""Whole experiments, from data to a table: the quickstart, and the papers' tables run again."""
