"""Studies: running trials, the folder that keeps them, and its summary."""
