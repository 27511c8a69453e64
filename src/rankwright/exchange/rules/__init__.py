"""Strict evaluators of the rules by which engines score, for those that cannot be run here."""
