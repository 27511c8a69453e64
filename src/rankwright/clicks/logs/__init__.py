"""Click logs: what they are, and the files they come in."""
