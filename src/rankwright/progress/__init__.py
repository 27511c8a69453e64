"""What a long call is doing, how far it is, and how long it will still take: on a terminal, in a notebook, in a log."""
