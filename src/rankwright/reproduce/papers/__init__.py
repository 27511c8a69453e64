"""One experiment a file: its parts, how a part is run, and what follows from the results."""
