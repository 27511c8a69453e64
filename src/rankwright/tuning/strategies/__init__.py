"""Ways to search: each asks for trials in batches of a fixed size and is told what they reached."""
