"""The naive twins, one file a topic; `rankwright.kernels.reference` gathers them."""
