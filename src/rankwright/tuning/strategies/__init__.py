"""Strategies: each asks for trials in batches of a fixed size and is given their results."""
