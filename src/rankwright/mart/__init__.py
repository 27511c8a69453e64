"""LambdaMART and MART: boosted trees as rankers, on documents in memory, in files and with workers."""
