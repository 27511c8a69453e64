"""What is said of systems that were compared: how large differences are, where they lie, and in which lists."""
