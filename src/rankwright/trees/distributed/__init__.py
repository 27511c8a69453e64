"""One forest grown by several workers, each with its own queries: the same forest, bit for bit, as one process grows."""
