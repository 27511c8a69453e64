"""Position bias in clicks: found, measured on held-out queries, and taken out."""
