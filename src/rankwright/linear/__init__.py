"""Rankers whose score is a weighted sum of features, or of what a kernel makes of them."""
