"""The table of names: every ranker, and a model file back into the ranker that wrote it."""
