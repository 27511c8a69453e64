"""`rankwright inspect`: what a data file holds, what a model file holds, what an objective's forces are."""
