"""Rankers that add up weak rankers, round after round, and rankers that climb a metric directly."""
