"""The training loop that every iterative ranker shares: steps, what is watched, when to stop, checkpoints."""
