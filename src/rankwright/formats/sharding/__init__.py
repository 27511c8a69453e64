"""Shards: datasets of many files, how they are divided among workers, and how they are written."""
