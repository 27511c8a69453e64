"""Rankers that add up weak ones, round after round, and those that climb a metric directly."""
