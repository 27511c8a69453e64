"""The table of names of all rankers, and reading, describing and comparing their model files."""
