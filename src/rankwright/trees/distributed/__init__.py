"""One forest grown by several workers, each with its own queries: the forest that one process grows, bit for bit."""
