"""What a dataset holds, and what in it looks suspicious."""
