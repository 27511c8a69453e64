"""Bins: from feature values to codes, and back to thresholds."""
