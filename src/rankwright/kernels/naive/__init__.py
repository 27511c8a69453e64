"""The naive twins, by the topics of `native/core`; `rankwright.kernels.reference` gathers them."""
