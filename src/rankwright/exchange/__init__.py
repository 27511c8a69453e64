"""Rankers in the formats of the engines people run, each with proof: one file a target, one line each in `table.py`."""
